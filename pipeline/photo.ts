import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { Box, RgbImage } from '../extractors/image.ts';
import { asInputFault, InputFault } from './faults.ts';

/** What `--photos` takes, by the name libvips gives the format (AVIF is a kind of HEIF). */
const FORMATS = new Set(['jpeg', 'png', 'webp', 'heif', 'tiff']);
const EXPECTED = 'expected JPEG, PNG, WebP, AVIF or TIFF';

/** 250 megapixels: above any camera, below what a decompression bomb needs to hurt. */
export const MAX_PIXELS = 250_000_000;

/** A photo in memory, still encoded: read once, decoded as often as windows of it are looked at. */
export interface Photo {
  readonly bytes: Buffer;
  /** Size in pixels after the EXIF orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** What libvips says of the file: format (`jpeg`), colour space (`srgb`, `b-w`, `cmyk` …), type of its samples (`uchar`). */
  readonly format: string;
  readonly space: string;
  readonly depth: string;
  /** EXIF orientation, 1–8; 1: stored upright. */
  readonly orientation: number;
  /** Leaves the orientation out: size and pixels are as stored. */
  readonly asStored?: true;
}

/** A photo without its EXIF orientation. */
export function photoAsStored(photo: Photo): Photo {
  const [width, height] = photo.orientation > 4 ? [photo.height, photo.width] : [photo.width, photo.height];
  return { ...photo, width, height, asStored: true };
}

/**
 * Reads a photo's file and header.
 * @throws InputFault when there is no such file, or it is none of JPEG, PNG, WebP, AVIF, TIFF, or it exceeds `maxPixels`.
 */
export async function openPhoto(path: string, maxPixels = MAX_PIXELS): Promise<Photo> {
  const bytes = await readFile(path).catch(error => {
    throw asInputFault(error, 'cannot read');
  });
  if (bytes.length === 0) throw new InputFault(`${EXPECTED}, got an empty file`);
  const {
    format,
    autoOrient,
    space,
    depth,
    orientation = 1,
  } = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(error => {
      throw decodeFault(error);
    });
  if (!FORMATS.has(format)) throw new InputFault(`${EXPECTED}, got ${format}`);
  const { width, height } = autoOrient;
  refuseAbove(maxPixels, { width, height });
  return { bytes, width, height, format, space, depth, orientation };
}

/** @throws InputFault for a picture of more pixels. */
export function refuseAbove(maxPixels: number, { width, height }: Pick<Photo, 'width' | 'height'>): void {
  if (width * height > maxPixels) throw new InputFault(`${width}×${height} exceeds the limit of ${maxPixels} pixels`);
}

/**
 * Decodes a photo, or a window of it, to 8-bit sRGB: EXIF orientation applied; grey, CMYK and 16-bit converted; alpha laid
 * over white, as a viewer would show it.
 * @param window in oriented photo pixels; the whole photo when left out.
 * @param shortSide shrinks the result to this shorter side in pixels (libvips' Lanczos 3, with shrink-on-load for JPEG and
 *   WebP); never enlarges.
 * @throws InputFault when the data is truncated or broken.
 */
export async function decodePhoto(photo: Photo, options: { window?: Box; shortSide?: number } = {}): Promise<RgbImage> {
  const { window, shortSide } = options;
  const { width, height } = window ?? photo;
  let image = sharp(photo.bytes, { failOn: 'error', limitInputPixels: false, sequentialRead: true });
  if (!photo.asStored) image = image.autoOrient();
  if (window) image = image.extract({ ...window });
  if (shortSide !== undefined && Math.min(width, height) > shortSide) {
    const scale = shortSide / Math.min(width, height);
    image = image.resize({
      width: Math.max(1, Math.round(width * scale)),
      height: Math.max(1, Math.round(height * scale)),
      fit: 'fill',
    });
  }
  const { data, info } = await image
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(error => {
      throw decodeFault(error);
    });
  if (info.channels !== 3) throw new InputFault(`expected 3 colour channels after decoding, got ${info.channels}`);
  return { width: info.width, height: info.height, data };
}

/**
 * libvips' error as an {@link InputFault}: it speaks of the data it reads, except where it has no memory left (libheif's limits
 * are named alike, and are not). What it says is not kept: libvips collects the messages of all threads in one place, so that
 * the same file would have one reason or another.
 */
export function decodeFault(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (/memory|alloc/i.test(message) && !/security limit/i.test(message)) return error as Error;
  if (/unsupported image format/.test(message)) return new InputFault(`${EXPECTED}, got no picture`);
  return new InputFault('the image data are cut off or damaged');
}
