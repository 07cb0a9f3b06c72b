import type { Box, RgbImage } from '../extractors/image.ts';
import { decodeSrgb, encodeSrgb } from '../scenes/paint.ts';
import type { Paint, TexturePaint } from '../scenes/scene2d.ts';
import type { Coverage } from './coverage.ts';

/** Light is added in linear values: a half-covered edge between black and white is sRGB 188, not 128. */
const TO_LINEAR = Float64Array.from({ length: 256 }, (_, v) => decodeSrgb(v / 255));
/** sRGB bytes of evenly spaced linear values; fine enough that no byte is missed where the curve is steepest. */
const LINEAR_STEPS = 8191;
const TO_SRGB = Uint8Array.from({ length: LINEAR_STEPS + 1 }, (_, v) => Math.round(255 * encodeSrgb(v / LINEAR_STEPS)));

/** A square crop as large as the image, or a part of it. */
export interface Crop extends RgbImage {
  /** Where the part lies in the whole crop; at its upper left corner when left out. */
  readonly left?: number;
  readonly top?: number;
}

/** A paint with its pixels: one colour, or a crop (already enlarged and cut, not yet turned). */
export type PaintPixels =
  | { readonly kind: 'colour'; readonly rgb: readonly [number, number, number] }
  | { readonly kind: 'texture'; readonly crop: Crop; readonly quarterTurns: number };

/** The pixels of a paint. @param crop the crop that a texture paint names, at least what of it is to be seen. */
export function paintPixels(paint: Paint, crop: Crop | undefined): PaintPixels {
  if (paint.kind === 'colour') return paint;
  if (!crop) throw new Error(`expected the crop of texture ${paint.id}`);
  return { kind: 'texture', crop, quarterTurns: paint.quarterTurns };
}

/** The part of a paint's crop that is seen in a part of the image of `size` × `size`. */
export function cropPart({ quarterTurns }: TexturePaint, size: number, part: Box): Box {
  return turnedBox(part, size, 4 - quarterTurns);
}

/** Where a part of a square lies when the square is turned clockwise by quarter turns. */
function turnedBox(part: Box, size: number, quarterTurns: number): Box {
  let { left, top, width, height } = part;
  for (let turn = 0; turn < quarterTurns; turn++) {
    [left, top, width, height] = [size - top - height, left, height, width];
  }
  return { left, top, width, height };
}

/** Where {@link composite} works: buffers as large as the image, used again for the next one. */
export interface Canvases {
  readonly fill: Uint8Array;
  readonly background: Uint8Array;
}

/** Canvases for images of `size` × `size`. */
export function newCanvases(size: number): Canvases {
  return { fill: new Uint8Array(3 * size * size), background: new Uint8Array(3 * size * size) };
}

/**
 * Lays `fill` over `background` by `coverage`, all of one square size; of the fill's crop, the part that the shape shows
 * is enough. Both are there wherever the shape has an edge, so that an edge pixel mixes two real colours: there is no
 * third one that could show as a halo.
 * @returns the image, in one of the canvases or in the background's own pixels.
 */
export function composite(
  fill: PaintPixels,
  background: PaintPixels,
  coverage: Coverage,
  canvases: Canvases = newCanvases(coverage.width),
): RgbImage {
  const size = coverage.width;
  const all = { left: 0, top: 0, width: size, height: size };
  const { data } = painted(background, size, all, canvases.background);
  const { within = all } = coverage;
  if (within.width > 0 && within.height > 0) {
    lay(data, painted(fill, size, within, canvases.fill), coverage.data, size, within);
  }
  return { width: size, height: size, data };
}

/** A painted part of the image. */
interface Painting extends Box {
  /** As {@link RgbImage} has it. */
  readonly data: Uint8Array;
}

/** A paint as a part of the image that holds a box. A crop that need not be turned is one already. */
function painted(paint: PaintPixels, size: number, box: Box, canvas: Uint8Array): Painting {
  if (paint.kind === 'colour')
    return { ...box, data: uniform(paint.rgb, canvas.subarray(0, 3 * box.width * box.height)) };
  const { data, width, height, left = 0, top = 0 } = paint.crop;
  const part = turnedBox({ left, top, width, height }, size, paint.quarterTurns);
  if (!contains(part, box) || !contains({ left: 0, top: 0, width: size, height: size }, part)) {
    throw new Error(`expected a crop of ${size}×${size}, or what is seen of it; got ${width}×${height}`);
  }
  // Always a plain Uint8Array, never a Buffer: the inner loops then see one kind of array.
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length);
  if (paint.quarterTurns === 0) return { ...part, data: pixels };
  if (paint.quarterTurns === 2) turnHalf(canvas, pixels);
  else turnQuarter(canvas, pixels, width, height, paint.quarterTurns === 1);
  return { ...part, data: canvas };
}

/** Fills an image with one colour. */
function uniform(rgb: readonly [number, number, number], data: Uint8Array): Uint8Array {
  data.set(rgb);
  // Doubled from 3 bytes on: copies are many times faster than loops.
  for (let done = 3; done < data.length; done *= 2) data.copyWithin(done, 0, done);
  return data;
}

function contains(outer: Box, inner: Box): boolean {
  return (
    inner.left >= outer.left &&
    inner.top >= outer.top &&
    inner.left + inner.width <= outer.left + outer.width &&
    inner.top + inner.height <= outer.top + outer.height
  );
}

// Inner loops take four pixels at a time, which are three 32-bit words: a turn of the loop costs more than what it does.
// Words are little-endian: a pixel's red is its lowest byte.

/** Lays a painting over an image of `size` × `size` by the image's coverage, within a box. */
function lay(data: Uint8Array, painting: Painting, alpha: Uint8Array, size: number, box: Box): void {
  const fill = painting.data;
  const [to, from, alphas] = [viewOf(data), viewOf(fill), viewOf(alpha)];
  for (let row = box.top; row < box.top + box.height; row++) {
    let i = row * size + box.left;
    const end = i + box.width;
    // Of the same pixel, from where it lies in the image to where in the painting.
    const shift = (row - painting.top) * painting.width - painting.left - row * size;
    for (; i + 4 <= end; i += 4) {
      const four = alphas.getInt32(i, true);
      if (four === 0) continue;
      if (four === -1) {
        const at = 3 * (i + shift);
        to.setInt32(3 * i, from.getInt32(at, true), true);
        to.setInt32(3 * i + 4, from.getInt32(at + 4, true), true);
        to.setInt32(3 * i + 8, from.getInt32(at + 8, true), true);
      } else layPixels(data, fill, alpha, i, i + 4, shift);
    }
    layPixels(data, fill, alpha, i, end, shift);
  }
}

function layPixels(
  data: Uint8Array,
  fill: Uint8Array,
  alpha: Uint8Array,
  first: number,
  end: number,
  shift: number,
): void {
  for (let i = first; i < end; i++) {
    const at = 3 * i;
    const from = 3 * (i + shift);
    if (alpha[i] === 255) copyPixel(data, at, fill, from);
    else if (alpha[i] !== 0) {
      const share = alpha[i]! / 255;
      data[at] = mix(fill[from]!, data[at]!, share);
      data[at + 1] = mix(fill[from + 1]!, data[at + 1]!, share);
      data[at + 2] = mix(fill[from + 2]!, data[at + 2]!, share);
    }
  }
}

/** Two sRGB bytes mixed as light: `share` of the first, the rest of the second. */
export function mix(above: number, below: number, share: number): number {
  const linear = TO_LINEAR[above]! * share + TO_LINEAR[below]! * (1 - share);
  return TO_SRGB[Math.round(linear * LINEAR_STEPS)]!;
}

/** Turns an image by 180°, which puts its pixels backwards. */
function turnHalf(data: Uint8Array, pixels: Uint8Array): void {
  const [to, from] = [viewOf(data), viewOf(pixels)];
  const { length } = pixels;
  let i = 0;
  for (; i + 12 <= length; i += 12) {
    const x = from.getInt32(length - 12 - i, true);
    const y = from.getInt32(length - 8 - i, true);
    const z = from.getInt32(length - 4 - i, true);
    putFour(to, i, fourthOf(z), thirdOf(y, z), secondOf(x, y), firstOf(x));
  }
  for (; i < length; i += 3) copyPixel(data, i, pixels, length - 3 - i);
}

/** Turns an image of `width` × `height` by 90°, clockwise or back, in blocks of 4 × 4 pixels. */
function turnQuarter(data: Uint8Array, pixels: Uint8Array, width: number, height: number, clockwise: boolean): void {
  const [to, from] = [viewOf(data), viewOf(pixels)];
  // The turned image is `height` wide and `width` high. Clockwise, its first row is the image's first column from the
  // bottom up, else the last one from the top down.
  const across = clockwise ? -3 * width : 3 * width;
  const down = clockwise ? 3 * height : -3 * height;
  const right = height - (height % 4);
  const bottom = width - (width % 4);
  // Columns outside, rows inside: so the image, which another thread has just written, is read line by line.
  for (let column = 0; column < right; column += 4) {
    for (let row = 0; row < bottom; row += 4) {
      // Four rows of the image, which become the block's columns.
      const a = 3 * (clockwise ? (height - 1 - column) * width + row : column * width + width - 4 - row);
      const b = a + across;
      const c = b + across;
      const d = c + across;
      const [ax, ay, az] = [from.getInt32(a, true), from.getInt32(a + 4, true), from.getInt32(a + 8, true)];
      const [bx, by, bz] = [from.getInt32(b, true), from.getInt32(b + 4, true), from.getInt32(b + 8, true)];
      const [cx, cy, cz] = [from.getInt32(c, true), from.getInt32(c + 4, true), from.getInt32(c + 8, true)];
      const [dx, dy, dz] = [from.getInt32(d, true), from.getInt32(d + 4, true), from.getInt32(d + 8, true)];
      const at = 3 * ((clockwise ? row : row + 3) * height + column);
      putFour(to, at, firstOf(ax), firstOf(bx), firstOf(cx), firstOf(dx));
      putFour(to, at + down, secondOf(ax, ay), secondOf(bx, by), secondOf(cx, cy), secondOf(dx, dy));
      putFour(to, at + 2 * down, thirdOf(ay, az), thirdOf(by, bz), thirdOf(cy, cz), thirdOf(dy, dz));
      putFour(to, at + 3 * down, fourthOf(az), fourthOf(bz), fourthOf(cz), fourthOf(dz));
    }
  }
  for (let row = 0; row < width; row++) {
    for (let column = row < bottom ? right : 0; column < height; column++) {
      const at = clockwise ? (height - 1 - column) * width + row : column * width + width - 1 - row;
      copyPixel(data, 3 * (row * height + column), pixels, 3 * at);
    }
  }
}

/** The pixels in three words. */
const firstOf = (x: number) => x & 0xffffff;
const secondOf = (x: number, y: number) => (x >>> 24) | ((y & 0xffff) << 8);
const thirdOf = (y: number, z: number) => (y >>> 16) | ((z & 0xff) << 16);
const fourthOf = (z: number) => z >>> 8;

/** Four pixels as three words. */
function putFour(to: DataView, at: number, a: number, b: number, c: number, d: number): void {
  to.setInt32(at, a | (b << 24), true);
  to.setInt32(at + 4, (b >> 8) | (c << 16), true);
  to.setInt32(at + 8, (c >> 16) | (d << 8), true);
}

function copyPixel(data: Uint8Array, to: number, pixels: Uint8Array, from: number): void {
  data[to] = pixels[from]!;
  data[to + 1] = pixels[from + 1]!;
  data[to + 2] = pixels[from + 2]!;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);
