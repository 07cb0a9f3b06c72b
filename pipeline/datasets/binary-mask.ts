import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { GreyImage, Mask } from '../../extractors/image.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { decodeFault, MAX_PIXELS, openPhoto } from '../photo.ts';
import { maskWhere, readLevels } from './mask-file.ts';
import { decodePng, isPng } from './png.ts';

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
  const alpha = (await alphaOfPng(path)) ?? (await alphaOfPicture(path));
  if (alpha.data.every(value => value === 255)) throw new InputFault('expected transparency, found none');
  return placed(maskWhere(alpha, value => value >= 128));
}

/**
 * The short way for small pictures, several times as fast as libvips: a PNG's stored alpha.
 * @returns undefined where the file is none, or may have alpha of another kind (a colour that is clear) or a turn (EXIF).
 */
async function alphaOfPng(path: string): Promise<GreyImage | undefined> {
  const bytes = await readFile(path).catch(error => {
    throw asInputFault(error, 'cannot read');
  });
  if (!isPng(bytes) || bytes.includes('eXIf')) return undefined;
  const { width, height, channels, depth, data, palette } = decodePng(bytes, MAX_PIXELS);
  const alpha = new Uint8Array(width * height);
  if (palette) {
    for (let i = 0; i < alpha.length; i++) alpha[i] = palette[4 * data[i]! + 3] ?? 255;
  } else if (channels % 2 === 0) {
    for (let i = 0, at = channels - 1; i < alpha.length; i++, at += channels) alpha[i] = data[at]! >> (depth - 8);
  } else return undefined;
  return { width, height, data: alpha };
}

async function alphaOfPicture(path: string): Promise<GreyImage> {
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
  return { width: info.width, height: info.height, data };
}

function placed(mask: Mask): BinaryMask | undefined {
  const tight = tightMask(mask);
  return tight && { ...tight, width: mask.width, height: mask.height };
}
