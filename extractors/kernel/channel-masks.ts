/** Keeps one image a thread in a kernel's memory, which grows to the largest image seen and is used again. */
import { type Channel, channelMaximum, HSV_CHANNELS, RGB_CHANNELS } from '../color-channels.ts';
import type { Box, Mask, RgbImage } from '../image.ts';
import { bytesAt, instantiate, type KernelMemory, reserve } from './instance.ts';

/** What of assembly/index.ts masks are found with. Addresses come as signed numbers. */
interface Kernel extends KernelMemory {
  arrange(width: number, height: number): number;
  rgbAddress(): number;
  planeAddress(channel: number): number;
  split(): void;
  minimaAndMaxima(): void;
  countAbove(channel: number): number;
  label(channel: number, bound: number, below: number, cells: number, margin: number): number;
  findLargest(): number;
  drawLargest(left: number, top: number, width: number, height: number): number;
  erodedLargest(left: number, top: number, width: number, height: number, side: number): number;
}

const kernel = instantiate<Kernel>();

/** What addresses of 32 bits reach. */
const MOST_BYTES = 2 ** 32;

/** In the order of the kernel's planes. */
const CHANNELS: readonly Channel[] = [...RGB_CHANNELS, ...HSV_CHANNELS];

/** Side of a cell, in pixels: see {@link ChannelMasks.labelCells}. */
export const CELL_SIDE = 4;

/** What the 8-connected components of a mask add up to. Areas are in pixels, or in cells. */
export interface ComponentSummary {
  /** Area of the largest component; 0 when no pixel is set. */
  readonly largest: number;
  /** Whether the largest component reaches into the margin. */
  readonly largestInMargin: boolean;
  /** Area of the largest component that reaches into the margin; 0 when none does. */
  readonly marginLargest: number;
  /** Area of all components that reach into the margin. */
  readonly marginTotal: number;
}

/** An image whose masks need more memory than there can be. */
export class ImageTooLarge extends Error {
  override name = 'ImageTooLarge';
}

/**
 * The masks of one image: the pixels at which a channel, or with `inverted` its maximum minus the channel, is above a level.
 * Hue, saturation and value are bit for bit those of OpenCV's 8-bit RGB → HSV. Only the newest of these objects in a thread
 * may be asked: it holds the kernel's memory.
 */
export class ChannelMasks {
  static #newest: ChannelMasks | undefined;
  readonly #width: number;
  readonly #height: number;

  /** @throws ImageTooLarge from about 190 megapixels on, earlier for very narrow images. */
  constructor({ width, height, data }: RgbImage) {
    ChannelMasks.#newest = this;
    this.#width = width;
    this.#height = height;
    const bytes = kernel.arrange(width, height);
    if (bytes > MOST_BYTES) throw new ImageTooLarge(`${width}×${height} pixels are too many to look for shapes in`);
    reserve(kernel, bytes);
    bytesAt(kernel, kernel.rgbAddress(), data.length).set(data);
    kernel.split();
    kernel.minimaAndMaxima();
  }

  /** The values of a channel, rows from the top, without gaps. */
  values(channel: Channel): Uint8Array {
    const address = this.#kernel.planeAddress(CHANNELS.indexOf(channel));
    const stride = Math.ceil(this.#width / 64) * 64;
    const values = new Uint8Array(this.#width * this.#height);
    for (let y = 0; y < this.#height; y++) {
      values.set(bytesAt(kernel, (address >>> 0) + y * stride, this.#width), y * this.#width);
    }
    return values;
  }

  /** How many pixels the mask of each level, 0–255, has: 256 counts. */
  pixelsAbove(channel: Channel, inverted: boolean): Uint32Array {
    const above = numbersAt(this.#kernel.countAbove(CHANNELS.indexOf(channel)), 256).slice();
    if (!inverted) return above;
    const maximum = channelMaximum(channel);
    const pixels = this.#width * this.#height;
    // maximum − value > level where value is not above maximum − level − 1
    return above.map((_, level) => (level < maximum ? pixels - above[maximum - level - 1]! : 0));
  }

  /**
   * Finds the components of a mask, and the largest of them: of equal ones, the first met in raster order.
   * @param level below the channel's maximum.
   * @param margin how many pixels wide the margin along the image's edges is.
   */
  label(channel: Channel, inverted: boolean, level: number, margin: number): ComponentSummary {
    return this.#label(channel, inverted, level, margin, false);
  }

  /**
   * The same for the mask of cells: squares of 4 × 4 pixels that are all in the mask; what is left over at the right and
   * bottom has no cell. It takes a fraction of the time, and where cells are connected, so are their pixels.
   * @param margin in cells.
   */
  labelCells(channel: Channel, inverted: boolean, level: number, margin: number): ComponentSummary {
    return this.#label(channel, inverted, level, margin, true);
  }

  #label(channel: Channel, inverted: boolean, level: number, margin: number, cells: boolean): ComponentSummary {
    const bound = inverted ? channelMaximum(channel) - level : level + 1;
    const address = this.#kernel.label(CHANNELS.indexOf(channel), bound, +inverted, +cells, margin);
    const [largest, inMargin, marginLargest, marginTotal] = numbersAt(address, 4) as unknown as Four;
    return { largest, largestInMargin: inMargin !== 0, marginLargest, marginTotal };
  }

  /** The bounding box of the largest component of the mask labelled last, which must have one. */
  largestBox(): Box {
    const [left, top, width, height] = numbersAt(this.#kernel.findLargest(), 4) as unknown as Four;
    return { left, top, width, height };
  }

  /** The pixels of the largest component, and of no other, within its bounding box. */
  largestMask({ left, top, width, height }: Box): Mask {
    const address = this.#kernel.drawLargest(left, top, width, height);
    return { width, height, data: bytesAt(kernel, address, width * height).slice() };
  }

  /**
   * How many pixels of the largest component survive one binary erosion with a `side` × `side` square: those whose whole
   * square is set. What lies outside its bounding box counts as set, so that the box's edge does not erode (OpenCV's default
   * border for `erode`).
   * @param side odd, in pixels.
   */
  largestEroded({ left, top, width, height }: Box, side: number): number {
    return this.#kernel.erodedLargest(left, top, width, height, side);
  }

  get #kernel(): Kernel {
    if (ChannelMasks.#newest !== this) throw new Error('another image has taken its place');
    return kernel;
  }
}

type Four = [number, number, number, number];

function numbersAt(address: number, length: number): Uint32Array {
  return new Uint32Array(kernel.memory.buffer, address >>> 0, length);
}
