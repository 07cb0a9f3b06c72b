import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { GreyImage, Mask, RgbImage } from '../../extractors/image.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { decodeFault, MAX_PIXELS, openPhoto } from '../photo.ts';
import type { DecodedPicture } from './dataset.ts';
import { maskWhere, readSetPixels } from './mask-file.ts';
import { decodePng, hasRightSums, isPng, type Png } from './png.ts';

/** The one mask of a file, cut to its box, and the size of the whole. */
export interface BinaryMask extends PlacedMask {
  readonly width: number;
  readonly height: number;
  /** Set pixels. */
  readonly area: number;
}

/**
 * A mask file of one object, with soft edges perhaps, by the rule of {@link readSetPixels}.
 * @returns undefined when nothing is set.
 * @throws InputFault when the file is broken or missing, or its levels are none of a mask.
 */
export async function readBinaryMask(path: string): Promise<BinaryMask | undefined> {
  return placed(await readSetPixels(path));
}

/** The object of a cut-out picture. */
export interface CutOut extends BinaryMask {
  /** Undefined where the picture's alpha alone was decoded. */
  readonly decoded?: DecodedPicture;
}

/**
 * The object of a cut-out picture: where alpha is at least 128 of 255, so that a soft edge is cut in its middle. Colours that
 * the transparent part may have count for nothing.
 * @returns undefined when nothing is that opaque.
 * @throws InputFault when the file cannot be decoded, or is opaque throughout: then nothing was cut out.
 */
export async function readCutOut(path: string): Promise<CutOut | undefined> {
  const { alpha, decoded } = await readAlpha(path);
  if (alpha.data.every(value => value === 255)) throw new InputFault('expected transparency, found none');
  const object = placed(maskWhere(alpha, value => value >= 128));
  return object && { ...object, ...(decoded && { decoded }) };
}

/**
 * A picture's alpha, and its colours with it where that takes the short way: PNG, several times as fast as libvips for small
 * pictures.
 * @throws InputFault when the file is missing or cannot be decoded.
 */
export async function readAlpha(path: string): Promise<{ alpha: GreyImage; decoded?: DecodedPicture }> {
  const bytes = await readFile(path).catch(error => {
    throw asInputFault(error, 'cannot read');
  });
  const png = isPng(bytes) && !bytes.includes('eXIf') ? decodePng(bytes, MAX_PIXELS) : undefined;
  const alpha = png && alphaOfPng(png);
  if (!alpha) return { alpha: await alphaOfPicture(path) };
  const { width, height, depth } = png;
  // Profiles and 16 bits are for libvips, and so is what it may find broken.
  if (depth > 8 || bytes.includes('iCCP') || !hasRightSums(bytes)) return { alpha };
  const space = png.channels === 2 ? 'b-w' : 'srgb';
  const photo = { bytes, width, height, format: 'png', space, depth: 'uchar', orientation: 1 };
  return { alpha, decoded: { photo, picture: overWhite(png) } };
}

/** Stored alpha; undefined where there is none, though a colour may be clear. */
function alphaOfPng({ width, height, channels, depth, data, palette }: Png): GreyImage | undefined {
  const alpha = new Uint8Array(width * height);
  if (palette) {
    for (let i = 0; i < alpha.length; i++) alpha[i] = palette[4 * data[i]! + 3] ?? 255;
  } else if (channels % 2 === 0) {
    for (let i = 0, at = channels - 1; i < alpha.length; i++, at += channels) alpha[i] = data[at]! >> (depth - 8);
  } else return undefined;
  return { width, height, data: alpha };
}

/** The colours of a PNG with alpha, 8 bits at most, laid over white as libvips does it. */
function overWhite({ width, height, channels, data, palette }: Png): RgbImage {
  const rgb = new Uint8Array(3 * width * height);
  const [colours, stride] = palette ? [palette, 4] : [data, channels];
  const [green, blue] = stride === 4 ? [1, 2] : [0, 0];
  for (let i = 0, to = 0; to < rgb.length; i++, to += 3) {
    const at = stride * (palette ? data[i]! : i);
    const alpha = colours[at + stride - 1]!;
    const white = 255 * (255 - alpha);
    rgb[to] = (colours[at]! * alpha + white) / 255;
    rgb[to + 1] = (colours[at + green]! * alpha + white) / 255;
    rgb[to + 2] = (colours[at + blue]! * alpha + white) / 255;
  }
  return { width, height, data: rgb };
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
