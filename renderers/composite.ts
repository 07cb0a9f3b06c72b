import type { GreyImage, RgbImage } from '../extractors/image.ts';
import { decodeSrgb, encodeSrgb } from '../scenes/paint.ts';
import type { Paint } from '../scenes/scene2d.ts';

/** Light is added in linear values: a half-covered edge between black and white is sRGB 188, not 128. */
const TO_LINEAR = Float32Array.from({ length: 256 }, (_, v) => decodeSrgb(v / 255));
/** sRGB bytes of 4,096 linear values; the error against the exact curve is below half a step from value 13 on. */
const LINEAR_STEPS = 4095;
const TO_SRGB = Uint8Array.from({ length: LINEAR_STEPS + 1 }, (_, v) => Math.round(255 * encodeSrgb(v / LINEAR_STEPS)));

/** A paint with its pixels: one colour, or a square crop (already enlarged and cut, not yet turned). */
export type PaintPixels =
  | { readonly kind: 'colour'; readonly rgb: readonly [number, number, number] }
  | { readonly kind: 'texture'; readonly crop: RgbImage; readonly quarterTurns: number };

/** The pixels of a paint. @param crop the crop that a texture paint names, `size` × `size`. */
export function paintPixels(paint: Paint, crop: RgbImage | undefined): PaintPixels {
  if (paint.kind === 'colour') return paint;
  if (!crop) throw new Error(`expected the crop of texture ${paint.id}`);
  return { kind: 'texture', crop, quarterTurns: paint.quarterTurns };
}

/**
 * Lays `fill` over `background` by `coverage` (all of one square size). Fill and background are whole images, so an edge
 * pixel mixes two real colours: there is no third one that could show as a halo.
 */
export function composite(fill: PaintPixels, background: PaintPixels, coverage: GreyImage): RgbImage {
  const { width: size, data: alpha } = coverage;
  const above = turned(fill, size);
  const below = turned(background, size);
  // The lower picture becomes the result; where it comes straight from the decoder nobody else holds it.
  for (let i = 0, p = 0; i < alpha.length; i++, p += 3) {
    const a = alpha[i]!;
    if (a === 0) continue;
    if (a === 255) {
      below[p] = above[p]!;
      below[p + 1] = above[p + 1]!;
      below[p + 2] = above[p + 2]!;
    } else {
      const share = a / 255;
      below[p] = mix(above[p]!, below[p]!, share);
      below[p + 1] = mix(above[p + 1]!, below[p + 1]!, share);
      below[p + 2] = mix(above[p + 2]!, below[p + 2]!, share);
    }
  }
  return { width: size, height: size, data: below };
}

/** Two sRGB bytes mixed as light. */
export function mix(above: number, below: number, share: number): number {
  const linear = TO_LINEAR[above]! * share + TO_LINEAR[below]! * (1 - share);
  return TO_SRGB[Math.round(linear * LINEAR_STEPS)]!;
}

/** A paint as its own interleaved RGB buffer, quarter turns (clockwise) applied. */
function turned(paint: PaintPixels, size: number): Uint8Array {
  const out = new Uint8Array(size * size * 3);
  if (paint.kind === 'colour') {
    const [red, green, blue] = paint.rgb;
    for (let p = 0; p < out.length; p += 3) {
      out[p] = red;
      out[p + 1] = green;
      out[p + 2] = blue;
    }
    return out;
  }
  const { data, width, height } = paint.crop;
  if (width !== size || height !== size) throw new Error(`expected a crop of ${size}×${size}, got ${width}×${height}`);
  if (paint.quarterTurns === 0) {
    out.set(data);
    return out;
  }
  // Where the picture's pixel (0, 0) comes from, and how the source moves with a column and a row of the picture.
  const last = size - 1;
  const [start, perColumn, perRow] = {
    1: [last * size, -size, 1],
    2: [size * size - 1, -1, -size],
    3: [last, size, -1],
  }[paint.quarterTurns as 1 | 2 | 3] as [number, number, number];
  for (let row = 0, p = 0; row < size; row++) {
    let source = 3 * (start + row * perRow);
    for (let column = 0; column < size; column++, p += 3, source += 3 * perColumn) {
      out[p] = data[source]!;
      out[p + 1] = data[source + 1]!;
      out[p + 2] = data[source + 2]!;
    }
  }
  return out;
}
