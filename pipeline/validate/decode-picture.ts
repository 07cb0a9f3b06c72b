import sharp from 'sharp';
import type { GreyImage } from '../../extractors/image.ts';
import type { DeepImage, Picture, Sample } from './check.ts';

/** Longer side that colour is looked at in, pixels: where JPEG is decoded at an eighth, all of its data is read all the same. */
const COLOUR_SIDE = 128;

/** Whether a field is a picture, by its last extension. */
export function isPicture(field: string): boolean {
  return /(^|\.)(jpg|png)$/.test(field);
}

/**
 * Decodes a picture to its end.
 * @param lenient takes what decoders only warn of: of a user's own file, not of one that was encoded here.
 */
export async function decodePicture(bytes: Buffer, lenient: boolean): Promise<Picture> {
  if (bytes.length === 0) return { broken: 'an empty file' };
  try {
    const image = sharp(bytes, {
      failOn: lenient ? 'error' : 'warning',
      limitInputPixels: false,
      sequentialRead: true,
    });
    const { width, height, channels, depth } = await image.metadata();
    const facts = { width, height, channels, bits: depth === 'ushort' ? 16 : 8 } as const;
    if (facts.bits === 16) {
      const space = channels === 1 ? 'grey16' : 'rgb16';
      const bytes = await image.toColourspace(space).raw({ depth: 'ushort' }).toBuffer();
      const data = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
      return { ...facts, pixels: { deep: { width, height, data } } };
    }
    if (channels <= 2) {
      const data = await image.extractChannel(0).raw({ depth: 'uchar' }).toBuffer();
      return { ...facts, pixels: { grey: { width, height, data } } };
    }
    const { data, info } = await image
      .resize({ width: COLOUR_SIDE, height: COLOUR_SIDE, fit: 'inside', withoutEnlargement: true, kernel: 'linear' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const colour = { width: info.width, height: info.height, data };
    return { ...facts, pixels: { colour } };
  } catch (error) {
    return { broken: (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, '; ') };
  }
}

/** A picture of one channel; undefined where it is broken, or of another form, which is told elsewhere. */
export function greyOf({ pictures }: Sample, field: string): GreyImage | undefined {
  const picture = pictures.get(field);
  return picture && 'pixels' in picture && 'grey' in picture.pixels ? picture.pixels.grey : undefined;
}

/** A picture of 16 bits; undefined where it is broken, or of another form, which is told elsewhere. */
export function deepOf({ pictures }: Sample, field: string, channels: number): DeepImage | undefined {
  const picture = pictures.get(field);
  return picture && 'pixels' in picture && 'deep' in picture.pixels && picture.channels === channels
    ? picture.pixels.deep
    : undefined;
}
