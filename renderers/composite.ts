import type { GreyImage, RgbImage } from '../extractors/image.ts';
import { decodeSrgb, encodeSrgb } from '../scenes/paint.ts';
import type { Paint } from '../scenes/scene2d.ts';

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

/**
 * Lays `fill` over `background` by `coverage` (all of one square size). Fill and background are whole images, so an edge
 * pixel mixes two real colours: there is no third one that could show as a halo.
 * @param canvas takes the result where the background's own pixels cannot; new when left out.
 */
export function composite(
  fill: PaintPixels,
  background: PaintPixels,
  coverage: GreyImage,
  canvas?: Uint8Array,
): RgbImage {
  const size = coverage.width;
  const data = painted(background, size, canvas);
  const { pixels, start, perColumn, perRow } = walk(fill, size);
  lay(data, pixels, coverage.data, size, start, perColumn, perRow);
  return { width: size, height: size, data };
}

/** The image is worked on in blocks: where a turned crop is walked by columns, its lines then stay in the cache. */
const BLOCK = 32;

/** Lays a walked paint over the image. Its numbers come one by one, not as an object: measured, that halves the time. */
function lay(
  data: Uint8Array,
  pixels: Uint8Array,
  alpha: Uint8Array,
  size: number,
  start: number,
  perColumn: number,
  perRow: number,
): void {
  for (let top = 0; top < size; top += BLOCK) {
    const bottom = Math.min(top + BLOCK, size);
    for (let left = 0; left < size; left += BLOCK) {
      const right = Math.min(left + BLOCK, size);
      for (let row = top; row < bottom; row++) {
        let from = start + row * perRow + left * perColumn;
        const end = row * size + right;
        for (let i = row * size + left; i < end; i++, from += perColumn) {
          const a = alpha[i]!;
          if (a === 0) continue;
          const to = 3 * i;
          if (a === 255) {
            data[to] = pixels[from]!;
            data[to + 1] = pixels[from + 1]!;
            data[to + 2] = pixels[from + 2]!;
          } else {
            const share = a / 255;
            data[to] = mix(pixels[from]!, data[to]!, share);
            data[to + 1] = mix(pixels[from + 1]!, data[to + 1]!, share);
            data[to + 2] = mix(pixels[from + 2]!, data[to + 2]!, share);
          }
        }
      }
    }
  }
}

/** Copies a walked paint into the image. */
function copy(
  data: Uint8Array,
  pixels: Uint8Array,
  size: number,
  start: number,
  perColumn: number,
  perRow: number,
): void {
  for (let top = 0; top < size; top += BLOCK) {
    const bottom = Math.min(top + BLOCK, size);
    for (let left = 0; left < size; left += BLOCK) {
      const right = Math.min(left + BLOCK, size);
      for (let row = top; row < bottom; row++) {
        let from = start + row * perRow + left * perColumn;
        const end = 3 * (row * size + right);
        for (let to = 3 * (row * size + left); to < end; to += 3, from += perColumn) {
          data[to] = pixels[from]!;
          data[to + 1] = pixels[from + 1]!;
          data[to + 2] = pixels[from + 2]!;
        }
      }
    }
  }
}

/** Two sRGB bytes mixed as light: `share` of the first, the rest of the second. */
export function mix(above: number, below: number, share: number): number {
  const linear = TO_LINEAR[above]! * share + TO_LINEAR[below]! * (1 - share);
  return TO_SRGB[Math.round(linear * LINEAR_STEPS)]!;
}

/** How to walk over a paint in the image's order: where its upper left pixel is, and the steps to the right and down. */
interface Walk {
  readonly pixels: Uint8Array;
  readonly start: number;
  readonly perColumn: number;
  readonly perRow: number;
}

function walk(paint: PaintPixels, size: number): Walk {
  if (paint.kind === 'colour') return { pixels: Uint8Array.from(paint.rgb), start: 0, perColumn: 0, perRow: 0 };
  const { data, width, height } = paint.crop;
  if (width !== size || height !== size) throw new Error(`expected a crop of ${size}×${size}, got ${width}×${height}`);
  const last = size - 1;
  // Quarter turns clockwise: after one, the image's first row is the crop's first column from the bottom up.
  const [start, perColumn, perRow] = [
    [0, 1, size],
    [last * size, -size, 1],
    [size * size - 1, -1, -size],
    [last, size, -1],
  ][paint.quarterTurns] as [number, number, number];
  // Always a plain Uint8Array, never a Buffer: the inner loops then see one kind of array.
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length);
  return { pixels, start: 3 * start, perColumn: 3 * perColumn, perRow: 3 * perRow };
}

/** A paint as an image. A crop that need not be turned becomes the image itself: nobody else holds it. */
function painted(paint: PaintPixels, size: number, canvas?: Uint8Array): Uint8Array {
  const { pixels, start, perColumn, perRow } = walk(paint, size);
  if (paint.kind === 'texture' && paint.quarterTurns === 0) return pixels;
  const data = canvas ?? new Uint8Array(size * size * 3);
  copy(data, pixels, size, start, perColumn, perRow);
  return data;
}
