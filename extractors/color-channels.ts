import type { RgbImage } from './image.ts';

export const RGB_CHANNELS = ['r', 'g', 'b'] as const;
export const HSV_CHANNELS = ['h', 's', 'v'] as const;

/** Red, green, blue, hue, saturation or value. */
export type Channel = (typeof RGB_CHANNELS)[number] | (typeof HSV_CHANNELS)[number];

/**
 * One channel of an image, one byte a pixel, laid out so that four pixels can be read as one word: pixel (x, y) is
 * `bytes[y * stride + x]`, `stride` is the width rounded up to a multiple of 32, and the bytes past the width are 0.
 * `words` views the same memory; the first pixel is the lowest byte (little-endian machines only).
 */
export interface ChannelPlane {
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

/** The largest value of a channel: OpenCV's 8-bit hue counts steps of 2°, 0–179; all others run to 255. */
export function channelMaximum(channel: Channel): number {
  return channel === 'h' ? 179 : 255;
}

/** The colour channels of an image, each computed when first asked for. */
export class ColorChannels {
  readonly #image: RgbImage;
  readonly #planes = new Map<string, ChannelPlane>();

  constructor(image: RgbImage) {
    this.#image = image;
  }

  /** A channel, or with `inverted` its maximum minus it; h, s and v bit for bit as OpenCV's 8-bit RGB → HSV. */
  plane(channel: Channel, inverted = false): ChannelPlane {
    const name = inverted ? `inverted ${channel}` : channel;
    let plane = this.#planes.get(name);
    if (!plane) {
      if (inverted) this.#planes.set(name, invertedPlane(this.plane(channel), channelMaximum(channel)));
      else if (channel === 'r' || channel === 'g' || channel === 'b') this.#add(RGB_CHANNELS, rgbPlanes(this.#image));
      else this.#add(HSV_CHANNELS, hsvPlanes(this.#image));
      plane = this.#planes.get(name)!;
    }
    return plane;
  }

  #add(channels: readonly Channel[], planes: readonly ChannelPlane[]): void {
    for (const [i, channel] of channels.entries()) this.#planes.set(channel, planes[i]!);
  }
}

/** How many pixels have a value above each of 0–255: 256 counts. */
export function pixelsAbove({ words }: ChannelPlane): Int32Array {
  // Neighbours are often equal; a histogram for each byte of a word spares one count from waiting for the last.
  const counts = new Int32Array(4 * 256);
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    counts[word & 255]!++;
    counts[256 + ((word >>> 8) & 255)]!++;
    counts[512 + ((word >>> 16) & 255)]!++;
    counts[768 + (word >>> 24)]!++;
  }
  const above = new Int32Array(256);
  for (let level = 254; level >= 0; level--) {
    const value = level + 1; // the bytes past the width are 0: above no level
    above[level] = above[value]! + counts[value]! + counts[256 + value]! + counts[512 + value]! + counts[768 + value]!;
  }
  return above;
}

/** Side of the cells of {@link cellMinima}, in pixels: a word's width. */
export const CELL_SIDE = 4;

/**
 * A plane of cells, each the smallest of its 4 × 4 pixels; what is left over at the right and bottom is dropped. Where a
 * cell is above a level, so are all its pixels.
 */
export function cellMinima({ width, height, stride, words }: ChannelPlane): ChannelPlane {
  const cells = emptyPlane(Math.floor(width / CELL_SIDE), Math.floor(height / CELL_SIDE));
  const wordsInRow = stride >> 2;
  for (let y = 0; y < cells.height; y++) {
    let word = y * CELL_SIDE * wordsInRow;
    for (let x = 0; x < cells.width; x++, word++) {
      const upper = lesserBytes(words[word]!, words[word + wordsInRow]!);
      const lower = lesserBytes(words[word + 2 * wordsInRow]!, words[word + 3 * wordsInRow]!);
      const columns = lesserBytes(upper, lower);
      const pairs = lesserBytes(columns, columns >>> 16);
      cells.bytes[y * cells.stride + x] = lesserBytes(pairs, pairs >>> 8); // keeps the lowest byte
    }
  }
  return cells;
}

/** The lesser of each pair of bytes. */
function lesserBytes(a: number, b: number): number {
  const lowBitsNotLess = (a | 0x80808080) - (b & 0x7f7f7f7f);
  const notLess = ((a & ~b) | (~(a ^ b) & lowBitsNotLess)) & 0x80808080; // the highest bits decide unless they are equal
  return a ^ ((a ^ b) & Math.imul(notLess >>> 7, 255));
}

function emptyPlane(width: number, height: number): ChannelPlane {
  const stride = (width + 31) & ~31;
  const bytes = new Uint8Array(stride * height);
  return { width, height, stride, bytes, words: new Int32Array(bytes.buffer) };
}

function invertedPlane({ width, height, stride, words }: ChannelPlane, maximum: number): ChannelPlane {
  const inverted = emptyPlane(width, height);
  const fourMaxima = Math.imul(maximum, 0x01010101);
  // No byte exceeds the maximum, so none borrows from the next.
  for (let i = 0; i < words.length; i++) inverted.words[i] = fourMaxima - words[i]!;
  for (let y = 0; y < height; y++) inverted.bytes.fill(0, y * stride + width, (y + 1) * stride);
  return inverted;
}

function rgbPlanes({ width, height, data }: RgbImage): ChannelPlane[] {
  const planes = RGB_CHANNELS.map(() => emptyPlane(width, height));
  const [red, green, blue] = planes.map(plane => plane.bytes) as [Uint8Array, Uint8Array, Uint8Array];
  const { stride } = planes[0]!;
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0, to = y * stride; x < width; x++, to++, from += 3) {
      red[to] = data[from]!;
      green[to] = data[from + 1]!;
      blue[to] = data[from + 2]!;
    }
  }
  return planes;
}

function hsvPlanes({ width, height, data }: RgbImage): ChannelPlane[] {
  const planes = HSV_CHANNELS.map(() => emptyPlane(width, height));
  const [hues, saturations, values] = planes.map(plane => plane.bytes) as [Uint8Array, Uint8Array, Uint8Array];
  const { stride } = planes[0]!;
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0, to = y * stride; x < width; x++, to++, from += 3) {
      const r = data[from]!;
      const g = data[from + 1]!;
      const b = data[from + 2]!;
      const value = greater(greater(r, g), b);
      const range = value - lesser(lesser(r, g), b);
      hues[to] = hue(r, g, b, value, range);
      saturations[to] = (range * SATURATION_FACTOR[value]! + HALF) >> FRACTION_BITS;
      values[to] = value;
    }
  }
  return planes;
}

// OpenCV's division in fixed point: RGB2HSV_b (imgproc, color_hsv) multiplies by reciprocals with 12 fractional bits and
// rounds half up.
const FRACTION_BITS = 12;
const HALF = 1 << (FRACTION_BITS - 1);
const SATURATION_FACTOR = reciprocals(255);
const HUE_FACTOR = reciprocals(180 / 6);

function reciprocals(numerator: number): Int32Array {
  return Int32Array.from({ length: 256 }, (_, i) => (i === 0 ? 0 : Math.round((numerator << FRACTION_BITS) / i)));
}

// No branches from here on: noise in a photo makes them unpredictable, which costs more than the arithmetic.

/** 0–179, in steps of 2°; 0 for grey. `value` is the largest of the colours, `range` what it exceeds the smallest by. */
function hue(r: number, g: number, b: number, value: number, range: number): number {
  const notRed = (r - value) >> 31; // all bits set when another colour is larger, else none
  const notGreen = (g - value) >> 31;
  const afterGreen = (~notGreen & (b - r + 2 * range)) | (notGreen & (r - g + 4 * range));
  const sixths = (~notRed & (g - b)) | (notRed & afterGreen);
  const h = (sixths * HUE_FACTOR[range]! + HALF) >> FRACTION_BITS;
  return h + (180 & (h >> 31));
}

function greater(a: number, b: number): number {
  return a - ((a - b) & ((a - b) >> 31));
}

function lesser(a: number, b: number): number {
  return b + ((a - b) & ((a - b) >> 31));
}
