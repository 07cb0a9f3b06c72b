import type { Box, RgbImage } from '../extractors/image.ts';
import { decodeSrgb, encodeSrgb } from '../scenes/paint.ts';
import type { Paint } from '../scenes/scene2d.ts';
import type { Coverage } from './coverage.ts';

/** Light is added in linear values: a half-covered edge between black and white is sRGB 188, not 128. */
const TO_LINEAR = Float64Array.from({ length: 256 }, (_, v) => decodeSrgb(v / 255));
/** sRGB bytes of evenly spaced linear values; fine enough that no byte is missed where the curve is steepest. */
const LINEAR_STEPS = 8191;
const TO_SRGB = Uint8Array.from({ length: LINEAR_STEPS + 1 }, (_, v) => Math.round(255 * encodeSrgb(v / LINEAR_STEPS)));

/** A paint with its pixels: one colour, or a square crop (already enlarged and cut, not yet turned). */
export type PaintPixels =
  | { readonly kind: 'colour'; readonly rgb: readonly [number, number, number] }
  | { readonly kind: 'texture'; readonly crop: RgbImage; readonly quarterTurns: number };

/** The pixels of a paint. @param crop the crop that a texture paint names, as large as the image. */
export function paintPixels(paint: Paint, crop: RgbImage | undefined): PaintPixels {
  if (paint.kind === 'colour') return paint;
  if (!crop) throw new Error(`expected the crop of texture ${paint.id}`);
  return { kind: 'texture', crop, quarterTurns: paint.quarterTurns };
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
 * Lays `fill` over `background` by `coverage` (all of one square size). Fill and background are whole images, so an edge
 * pixel mixes two real colours: there is no third one that could show as a halo.
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
  const { within = all } = coverage;
  const data = painted(background, size, all, canvases.background);
  lay(data, painted(fill, size, within, canvases.fill), coverage.data, size * within.top, size * bottomOf(within));
  return { width: size, height: size, data };
}

/** A paint as an image, painted at least within a box. A crop that need not be turned is one already. */
function painted(paint: PaintPixels, size: number, box: Box, canvas: Uint8Array): Uint8Array {
  if (paint.kind === 'colour') {
    canvas.set(paint.rgb);
    // Doubled from 3 bytes on: copies are many times faster than loops.
    for (let done = 3; done < canvas.length; done *= 2) canvas.copyWithin(done, 0, done);
    return canvas;
  }
  const { data, width, height } = paint.crop;
  if (width !== size || height !== size) throw new Error(`expected a crop of ${size}×${size}, got ${width}×${height}`);
  // Always a plain Uint8Array, never a Buffer: the inner loops then see one kind of array.
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length);
  if (paint.quarterTurns === 0) return pixels;
  if (paint.quarterTurns === 2) turnHalf(canvas, pixels, size * box.top, size * bottomOf(box));
  else turnQuarter(canvas, pixels, size, box, paint.quarterTurns === 1);
  return canvas;
}

// Inner loops take four pixels at a time, which are three 32-bit words: a turn of the loop costs more than what it does.
// Words are little-endian: a pixel's red is its lowest byte.

/** Lays one image over another by its coverage, from pixel `first` to before `end`. */
function lay(data: Uint8Array, fill: Uint8Array, alpha: Uint8Array, first: number, end: number): void {
  const [to, from, alphas] = [viewOf(data), viewOf(fill), viewOf(alpha)];
  let i = first;
  for (; i + 4 <= end; i += 4) {
    const four = alphas.getInt32(i, true);
    if (four === 0) continue;
    if (four === -1) {
      to.setInt32(3 * i, from.getInt32(3 * i, true), true);
      to.setInt32(3 * i + 4, from.getInt32(3 * i + 4, true), true);
      to.setInt32(3 * i + 8, from.getInt32(3 * i + 8, true), true);
    } else layPixels(data, fill, alpha, i, i + 4);
  }
  layPixels(data, fill, alpha, i, end);
}

function layPixels(data: Uint8Array, fill: Uint8Array, alpha: Uint8Array, first: number, end: number): void {
  for (let i = first; i < end; i++) {
    const at = 3 * i;
    if (alpha[i] === 255) copyPixel(data, at, fill, at);
    else if (alpha[i] !== 0) {
      const share = alpha[i]! / 255;
      data[at] = mix(fill[at]!, data[at]!, share);
      data[at + 1] = mix(fill[at + 1]!, data[at + 1]!, share);
      data[at + 2] = mix(fill[at + 2]!, data[at + 2]!, share);
    }
  }
}

/** Two sRGB bytes mixed as light: `share` of the first, the rest of the second. */
export function mix(above: number, below: number, share: number): number {
  const linear = TO_LINEAR[above]! * share + TO_LINEAR[below]! * (1 - share);
  return TO_SRGB[Math.round(linear * LINEAR_STEPS)]!;
}

/** Turns an image by 180°, which puts its pixels backwards; paints pixels `first` to before `end`. */
function turnHalf(data: Uint8Array, pixels: Uint8Array, first: number, end: number): void {
  const [to, from] = [viewOf(data), viewOf(pixels)];
  const { length } = pixels;
  let i = 3 * first;
  for (; i + 12 <= 3 * end; i += 12) {
    const x = from.getInt32(length - 12 - i, true);
    const y = from.getInt32(length - 8 - i, true);
    const z = from.getInt32(length - 4 - i, true);
    putFour(to, i, fourthOf(z), thirdOf(y, z), secondOf(x, y), firstOf(x));
  }
  for (; i < 3 * end; i += 3) copyPixel(data, i, pixels, length - 3 - i);
}

/** Turns an image by 90°, clockwise or back, in blocks of 4 × 4 pixels; paints at least those that meet the box. */
function turnQuarter(data: Uint8Array, pixels: Uint8Array, size: number, box: Box, clockwise: boolean): void {
  const [to, from] = [viewOf(data), viewOf(pixels)];
  const stride = 3 * size;
  // Clockwise, the image's first row is the crop's first column from the bottom up, else its last from the top down.
  const across = clockwise ? -stride : stride;
  const down = clockwise ? stride : -stride;
  const whole = size - (size % 4);
  const right = Math.min(whole, box.left + box.width);
  const bottom = Math.min(whole, bottomOf(box));
  // Columns outside, rows inside: so the crop, which another thread has just written, is read line by line.
  for (let column = box.left - (box.left % 4); column < right; column += 4) {
    for (let row = box.top - (box.top % 4); row < bottom; row += 4) {
      // Four rows of the crop, which become the block's columns.
      const a = 3 * (clockwise ? (size - 1 - column) * size + row : column * size + size - 4 - row);
      const b = a + across;
      const c = b + across;
      const d = c + across;
      const [ax, ay, az] = [from.getInt32(a, true), from.getInt32(a + 4, true), from.getInt32(a + 8, true)];
      const [bx, by, bz] = [from.getInt32(b, true), from.getInt32(b + 4, true), from.getInt32(b + 8, true)];
      const [cx, cy, cz] = [from.getInt32(c, true), from.getInt32(c + 4, true), from.getInt32(c + 8, true)];
      const [dx, dy, dz] = [from.getInt32(d, true), from.getInt32(d + 4, true), from.getInt32(d + 8, true)];
      const at = 3 * ((clockwise ? row : row + 3) * size + column);
      putFour(to, at, firstOf(ax), firstOf(bx), firstOf(cx), firstOf(dx));
      putFour(to, at + down, secondOf(ax, ay), secondOf(bx, by), secondOf(cx, cy), secondOf(dx, dy));
      putFour(to, at + 2 * down, thirdOf(ay, az), thirdOf(by, bz), thirdOf(cy, cz), thirdOf(dy, dz));
      putFour(to, at + 3 * down, fourthOf(az), fourthOf(bz), fourthOf(cz), fourthOf(dz));
    }
  }
  for (let row = 0; row < size; row++) {
    for (let column = row < whole ? whole : 0; column < size; column++) {
      const crop = clockwise ? (size - 1 - column) * size + row : column * size + size - 1 - row;
      copyPixel(data, 3 * (row * size + column), pixels, 3 * crop);
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

const bottomOf = ({ top, height }: Box) => top + height;
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);
