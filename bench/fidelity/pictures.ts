import type { Panorama } from '../../scenes/panorama-format.ts';

/** Linear light, RGBA, rows from the top down; alpha is the object's coverage. */
export interface LinearPicture {
  /** Side of the square, pixels. */
  readonly size: number;
  readonly pixels: Float32Array;
}

/** A picture of so many samples a pixel, and how long they took. */
export interface TimedPicture {
  readonly picture: LinearPicture;
  readonly samples: number;
  readonly seconds: number;
}

/** Pixels of at least this coverage belong to the object and nothing else. */
const WHOLE = 1 - 1e-3;

/** Which pixels all pictures show nothing but the object in: 1, else 0. */
export function commonMask(pictures: readonly LinearPicture[]): Uint8Array {
  const [{ size }] = pictures as [LinearPicture];
  const mask = new Uint8Array(size * size);
  for (let i = 0; i < mask.length; i++) mask[i] = Number(pictures.every(({ pixels }) => pixels[4 * i + 3]! >= WHOLE));
  return mask;
}

/** How far the objects of two pictures cover each other, by coverages: 1 when they are the same. */
export function coverageOverlap(a: LinearPicture, b: LinearPicture): number {
  let [common, either] = [0, 0];
  for (let i = 3; i < a.pixels.length; i += 4) {
    common += Math.min(a.pixels[i]!, b.pixels[i]!);
    either += Math.max(a.pixels[i]!, b.pixels[i]!);
  }
  return common / either;
}

/** sRGB in 0 to 1, clipped: RGB, three a pixel. Beside the mask 0. */
export function displayed({ pixels }: LinearPicture, mask: Uint8Array): Float32Array {
  const shown = new Float32Array(3 * mask.length);
  for (let i = 0; i < mask.length; i++) {
    if (mask[i]) for (let c = 0; c < 3; c++) shown[3 * i + c] = toSrgb(pixels[4 * i + c]!);
  }
  return shown;
}

function toSrgb(light: number): number {
  const clipped = Math.min(1, Math.max(0, light));
  return clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
}

/** Peak signal-to-noise ratio of sRGB values inside the mask, decibels. */
export function psnr(a: LinearPicture, b: LinearPicture, mask: Uint8Array): number {
  const [shownA, shownB] = [displayed(a, mask), displayed(b, mask)];
  let [sum, count] = [0, 0];
  for (let i = 0; i < shownA.length; i++) {
    sum += (shownA[i]! - shownB[i]!) ** 2;
    count += mask[Math.floor(i / 3)]!;
  }
  return 10 * Math.log10(count / sum);
}

/** Root mean square error of linear light inside the mask. */
export function rmse(a: LinearPicture, b: LinearPicture, mask: Uint8Array): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    for (let c = 0; c < 3; c++) sum += (a.pixels[4 * i + c]! - b.pixels[4 * i + c]!) ** 2;
    count += 3;
  }
  return Math.sqrt(sum / count);
}

/** Mean of what is said of every pixel, inside the mask. */
export function meanInside(values: Float32Array, mask: Uint8Array): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < mask.length; i++) {
    sum += mask[i]! * values[i]!;
    count += mask[i]!;
  }
  return sum / count;
}

/** A panorama as RGBA floats, the lowest row first: what Blender and WebGL take. */
export function rgbaUpwards({ width, height, data }: Panorama): Float32Array<ArrayBuffer> {
  const rgba = new Float32Array(4 * width * height).fill(1);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const from = 3 * ((height - 1 - row) * width + column);
      rgba.set(data.subarray(from, from + 3), 4 * (row * width + column));
    }
  }
  return rgba;
}
