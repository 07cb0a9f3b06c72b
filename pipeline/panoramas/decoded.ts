import type { Panorama } from '../../scenes/panorama-format.ts';
import { InputFault } from '../faults.ts';

/** What a decoder gives: the file's values as they are, NaN and negative ones too. */
export interface DecodedPanorama extends Panorama {
  readonly format: 'hdr' | 'exr';
  /** As the format names it. */
  readonly compression: string;
}

/** Refuses a size before anything is allocated for it. @throws InputFault for what is no whole panorama, or too large. */
export function checkPanoramaSize(width: number, height: number, maxPixels: number): void {
  if (width * height > maxPixels) throw new InputFault(`${width}×${height} exceeds the limit of ${maxPixels} pixels`);
  if (height === 0 || Math.abs(width - 2 * height) > MAX_ASPECT_ERROR * 2 * height) {
    throw new InputFault(`expected a panorama twice as wide as high (equirectangular), got ${width}×${height}`);
  }
}

/** Some panoramas are a row or two off. */
const MAX_ASPECT_ERROR = 0.01;

/**
 * Chromaticities of red, green, blue and white, x and y each: Rec. 709; the same adapted to D50, as colour profiles have
 * it; and Radiance's default, which every program reads as Rec. 709.
 */
const PRIMARIES = {
  rec709: [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329],
  rec709AtD50: [0.6484, 0.3309, 0.3212, 0.5979, 0.1559, 0.066, 0.3457, 0.3585],
  radiance: [0.64, 0.33, 0.29, 0.6, 0.15, 0.06, 1 / 3, 1 / 3],
};
const MAX_CHROMATICITY_ERROR = 0.01;

/** @throws InputFault for a file whose colours are not of Rec. 709 primaries (as those of sRGB are). */
export function checkPrimaries(chromaticities: readonly number[]): void {
  const agrees = (primaries: readonly number[]) =>
    primaries.every((value, i) => Math.abs(value - (chromaticities[i] ?? Number.NaN)) <= MAX_CHROMATICITY_ERROR);
  // Eight zeros are written by programs that do not know.
  if (chromaticities.every(value => value === 0) || Object.values(PRIMARIES).some(agrees)) return;
  const got = chromaticities.map(value => Number(value.toFixed(4))).join(' ');
  throw new InputFault(`expected Rec. 709 primaries, got the chromaticities ${got}`);
}
