import sharp from 'sharp';
import type { Mask } from '../../extractors/image.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import { InputFault } from '../faults.ts';
import { decodeFault, openPhoto } from '../photo.ts';
import { maskWhere, readLevels } from './mask-file.ts';

/** The one mask of a file, cut to its box, and the size of the whole. */
export interface BinaryMask extends PlacedMask {
  readonly width: number;
  readonly height: number;
  /** Set pixels. */
  readonly area: number;
}

/**
 * A mask file of two levels, with soft edges perhaps: set where the level is at least 128 of 255. Where none is above 1, the
 * file holds 0 and 1 as numbers, and 1 is set.
 * @returns undefined when nothing is set.
 * @throws InputFault when the file is broken or missing.
 */
export async function readBinaryMask(path: string): Promise<BinaryMask | undefined> {
  const levels = await readLevels(path);
  const asNumbers = levels.data.every(level => level <= 1);
  return placed(maskWhere(levels, level => level >= (asNumbers ? 1 : 128)));
}

/**
 * The object of a cut-out picture: where alpha is at least 128 of 255, so that a soft edge is cut in its middle. Colours that
 * the transparent part may have count for nothing.
 * @returns undefined when nothing is that opaque.
 * @throws InputFault when the file cannot be decoded, or is opaque throughout: then nothing was cut out.
 */
export async function readCutOut(path: string): Promise<BinaryMask | undefined> {
  const { bytes } = await openPhoto(path);
  const { data, info } = await sharp(bytes, { failOn: 'error', limitInputPixels: false })
    .autoOrient()
    .ensureAlpha()
    // 16 bits become 8 here; without it the raw output would clip them.
    .toColourspace('srgb')
    .extractChannel('alpha')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(error => {
      throw decodeFault(error);
    });
  if (data.every(alpha => alpha === 255)) throw new InputFault('expected transparency, found none');
  return placed(maskWhere({ data, width: info.width, height: info.height }, alpha => alpha >= 128));
}

function placed(mask: Mask): BinaryMask | undefined {
  const tight = tightMask(mask);
  return tight && { ...tight, width: mask.width, height: mask.height };
}
