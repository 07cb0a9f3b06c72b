import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { GreyImage, Mask, RgbImage } from '../../extractors/image.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { decodeFault, MAX_PIXELS } from '../photo.ts';
import { decodePng, isPng, type Png } from './png.ts';

/** One whole number a pixel, rows from the top: a class, an object, or a level of grey. */
export interface IndexImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint16Array;
}

/**
 * The numbers that a mask file stores: indices of a palette PNG (not their colours), or levels of grey as they are, so that
 * 1 bit gives 0–1 and 16 bit 0–65,535. Alpha counts for nothing.
 * @throws InputFault when the file is broken, missing or too large, or has colours, which are no numbers.
 */
export async function readIndices(path: string): Promise<IndexImage> {
  const image = await readMaskFile(path);
  const { width, height, channels, data } = image;
  if (channels === 1) return { width, height, data };
  const indices = data instanceof Uint8Array ? new Uint8Array(width * height) : new Uint16Array(width * height);
  for (let i = 0, at = 0; i < indices.length; i++, at += channels) {
    if (channels > 2 && (data[at] !== data[at + 1] || data[at] !== data[at + 2])) {
      throw new InputFault('expected indices in a palette or grey PNG, got colours');
    }
    indices[i] = data[at]!;
  }
  return { width, height, data: indices };
}

/**
 * A mask file as levels: 0 (black, or clear) to 255 (full). Of colours the brightest channel counts, so that an object in any
 * colour on black is seen; palettes count by their colours, other depths are scaled, alpha is laid over black.
 * @throws InputFault when the file is broken, missing or too large.
 */
export async function readLevels(path: string): Promise<GreyImage> {
  const { width, height, channels, depth, data, palette } = await readMaskFile(path);
  if (channels === 1 && depth === 8 && !palette && data instanceof Uint8Array) return { width, height, data };
  const levels = new Uint8Array(width * height);
  if (palette) {
    const byIndex = Uint8Array.from({ length: 256 }, (_, i) =>
      laidOverBlack(palette.subarray(4 * i, 4 * i + 4), 4, 0, 255),
    );
    for (let i = 0; i < levels.length; i++) levels[i] = byIndex[data[i]!]!;
  } else {
    const full = 2 ** depth - 1;
    for (let i = 0, at = 0; i < levels.length; i++, at += channels) levels[i] = laidOverBlack(data, channels, at, full);
  }
  return { width, height, data: levels };
}

/**
 * A mask file of one object as a mask. Grey and colours (the brightest channel, laid over black by alpha) are set from half of
 * the full level up; where none is above 1 as stored, at whatever depth, the file holds 0 and 1 as numbers, and 1 is set. Of a
 * palette the colours that occur count likewise; where all are dark and one of them is not black, that one is set.
 * @throws InputFault when the file is broken, missing or too large, or has levels above 0 and none that is set: then another
 *   rule made it, and it only looks empty.
 */
export async function readSetPixels(path: string): Promise<Mask> {
  const png = await readMaskFile(path);
  return png.palette ? setByColour(png, png.palette) : setByLevel(png);
}

function setByLevel(png: Png): Mask {
  const { width, height, depth } = png;
  const image = { width, height, data: png.channels === 1 ? png.data : storedLevels(png) };
  const half = 2 ** (depth - 1);
  if (image.data.some(level => level >= half)) return maskWhere(image, level => level >= half);
  let highest = 0;
  for (const level of image.data) highest = Math.max(highest, level);
  if (highest > 1) throw new InputFault(`mask: levels up to ${highest}: expected 0 and ${2 ** depth - 1}, or 0 and 1`);
  if (highest === 0 && hasClearAndOpaque(png)) {
    throw new InputFault('mask: black throughout, clear in places: expected the object in white, or another colour');
  }
  return maskWhere(image, level => level === 1);
}

function hasClearAndOpaque({ channels, data }: Png): boolean {
  if (channels % 2 === 1) return false;
  const first = data[channels - 1]!;
  return data.some((sample, i) => i % channels === channels - 1 && sample !== first);
}

/** One level a pixel at the file's own depth. */
function storedLevels({ width, height, channels, depth, data }: Png): Uint8Array | Uint16Array {
  const full = 2 ** depth - 1;
  const levels = depth > 8 ? new Uint16Array(width * height) : new Uint8Array(width * height);
  for (let i = 0, at = 0; i < levels.length; i++, at += channels) {
    levels[i] = laidOverBlack(data, channels, at, full, full);
  }
  return levels;
}

function setByColour({ width, height, data }: Png, palette: Uint8Array): Mask {
  const occurs = new Uint8Array(256);
  for (let i = 0; i < data.length; i++) occurs[data[i]!] = 1;
  const levels = Uint8Array.from(occurs, (is, index) => (is ? laidOverBlack(palette, 4, 4 * index, 255) : 0));
  const colours = new Set<number>();
  for (const [i, level] of levels.entries()) {
    if (level > 0) colours.add((palette[4 * i]! << 16) | (palette[4 * i + 1]! << 8) | palette[4 * i + 2]!);
  }
  const least = colours.size === 1 ? 1 : 128;
  if (colours.size > 1 && levels.every(level => level < least)) {
    const highest = Math.max(...levels);
    throw new InputFault(`mask: levels up to ${highest} in ${colours.size} colours: expected up to 255, or one colour`);
  }
  return maskWhere({ width, height, data: data as Uint8Array }, index => levels[index]! >= least);
}

/** A pixel's level of `top`, from samples of `full`. */
function laidOverBlack(data: ArrayLike<number>, channels: number, at: number, full: number, top = 255): number {
  let level = data[at] ?? 0;
  if (channels > 2) level = Math.max(level, data[at + 1] ?? 0, data[at + 2] ?? 0);
  const alpha = channels % 2 === 0 ? (data[at + channels - 1] ?? 0) / full : 1;
  return Math.round((top * level * alpha) / full);
}

/**
 * A mask file's colours, exact where they are stored as RGB of 8 bits: no profile is applied. Palettes count by their
 * colours, grey thrice, 16 bits by the upper eight; alpha counts for nothing.
 * @throws InputFault when the file is broken, missing or too large.
 */
export async function readColours(path: string): Promise<RgbImage> {
  const { width, height, channels, depth, data, palette } = await readMaskFile(path);
  if (channels === 3 && data instanceof Uint8Array) return { width, height, data };
  const rgb = new Uint8Array(3 * width * height);
  const shift = Math.max(0, depth - 8);
  const scale = palette || depth > 8 ? 1 : 255 / (2 ** depth - 1);
  for (let i = 0, at = 0; i < rgb.length; i += 3, at += channels) {
    for (let channel = 0; channel < 3; channel++) {
      rgb[i + channel] = palette
        ? palette[4 * data[at]! + channel]!
        : (data[at + (channels > 2 ? channel : 0)]! >> shift) * scale;
    }
  }
  return { width, height, data: rgb };
}

/**
 * The pixels whose number belongs to the object.
 * @param isSet asked once for each number that there can be, not for each pixel.
 */
export function maskWhere({ width, height, data }: IndexImage, isSet: (value: number) => boolean): Mask {
  const set = Uint8Array.from({ length: data instanceof Uint8Array ? 256 : 65_536 }, (_, value) =>
    isSet(value) ? 255 : 0,
  );
  const mask = new Uint8Array(width * height);
  for (let i = 0; i < mask.length; i++) mask[i] = set[data[i]!]!;
  return { width, height, data: mask };
}

/**
 * The pixels of each number in an image, cut to the smallest box that holds them; in ascending order of the numbers.
 * @param isObject which numbers are looked for; asked once for each that occurs.
 */
export function masksByIndex(
  { width, height, data }: IndexImage,
  isObject: (value: number) => boolean,
): Map<number, PlacedMask & { readonly area: number }> {
  const extents = new Map<number, { left: number; top: number; right: number; bottom: number; area: number }>();
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; ) {
      const value = data[i]!;
      const left = column;
      // Objects are runs: what is done a run costs next to nothing.
      do {
        column++;
        i++;
      } while (column < width && data[i] === value);
      const extent = extents.get(value);
      if (extent) {
        extent.left = Math.min(extent.left, left);
        extent.right = Math.max(extent.right, column);
        extent.bottom = row + 1;
        extent.area += column - left;
      } else extents.set(value, { left, top: row, right: column, bottom: row + 1, area: column - left });
    }
  }
  const masks = new Map<number, PlacedMask & { readonly area: number }>();
  for (const value of [...extents.keys()].filter(isObject).sort((a, b) => a - b)) {
    const { left, top, right, bottom, area } = extents.get(value)!;
    const box = { left, top, width: right - left, height: bottom - top };
    const mask = new Uint8Array(box.width * box.height);
    for (let row = top, to = 0; row < bottom; row++) {
      for (let i = row * width + left; i < row * width + right; i++) mask[to++] = data[i] === value ? 255 : 0;
    }
    masks.set(value, { mask: { width: box.width, height: box.height, data: mask }, box, area });
  }
  return masks;
}

/** PNG as stored; what else is a picture (JPEG, WebP, TIFF …) as 8-bit sRGB, which is all that it can be. */
async function readMaskFile(path: string): Promise<Png> {
  const bytes = await readFile(path).catch(error => {
    throw asInputFault(error, 'cannot read mask');
  });
  try {
    return isPng(bytes) ? decodePng(bytes, MAX_PIXELS) : await decodeOther(bytes);
  } catch (error) {
    throw error instanceof InputFault ? new InputFault(`mask: ${error.message}`) : error;
  }
}

async function decodeOther(bytes: Buffer): Promise<Png> {
  if (bytes.length === 0) throw new InputFault('the file is empty');
  const { data, info } = await sharp(bytes, { failOn: 'error', limitInputPixels: MAX_PIXELS })
    .autoOrient()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(error => {
      throw decodeFault(error);
    });
  const { width, height, channels } = info;
  return { width, height, channels, depth: 8, data, palette: null };
}
