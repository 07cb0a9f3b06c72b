import sharp, { type Sharp } from 'sharp';
import type { Box, GreyImage, Mask, RgbImage } from '../extractors/image.ts';
import type { Crop } from '../renderers/composite.ts';
import type { TexturePaint } from '../scenes/scene2d.ts';
import { InputFault } from './faults.ts';
import { decodeFault } from './photo.ts';

/** 8-bit greyscale PNG of a mask or a coverage. Level 2 is where more effort stops paying (docs/performance.md). */
export function encodeGrey({ data, width, height }: GreyImage): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 1 }, limitInputPixels: false })
    .toColourspace('b-w')
    .png({ compressionLevel: 2 })
    .toBuffer();
}

/** JPEG of a picture. @param fullColour keeps colour at full resolution (4:4:4), for pictures that are cropped again. */
export function encodeJpeg({ data, width, height }: RgbImage, quality: number, fullColour = false): Promise<Buffer> {
  const chromaSubsampling = fullColour ? '4:4:4' : '4:2:0';
  return sharp(data, { raw: { width, height, channels: 3 }, limitInputPixels: false })
    .jpeg({ quality, chromaSubsampling })
    .toBuffer();
}

/** A bank shape's PNG as a mask. @throws InputFault when it cannot be decoded. */
export async function decodeMask(bytes: Uint8Array): Promise<Mask> {
  const { data, info } = await encodedImage(bytes)
    .flatten({ background: '#000000' })
    .toColourspace('b-w')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(asFault);
  for (let i = 0; i < data.length; i++) data[i] = data[i]! < 128 ? 0 : 255;
  return { data, width: info.width, height: info.height };
}

/**
 * The crop that a texture paint names, `size` × `size`, from the encoded texture.
 * @param seen the part of the crop that is needed; all of it when left out. What lies below it in the file is not decoded.
 * @returns at least that part. @throws InputFault likewise.
 */
export async function decodeCrop(
  bytes: Uint8Array,
  texture: TextureSize,
  paint: TexturePaint,
  size: number,
  seen: Box = { left: 0, top: 0, width: size, height: size },
): Promise<Required<Crop>> {
  if (seen.width === 0 || seen.height === 0) return { ...seen, data: new Uint8Array(0) };
  let image = encodedImage(bytes);
  let part = seen;
  if (paint.scale > 1) {
    image = image.resize({
      width: Math.round(texture.width * paint.scale),
      height: Math.round(texture.height * paint.scale),
      fit: 'fill',
    });
    // Whole rows: libvips adds up the places of enlarged pixels from the first that it is asked for.
    part = { ...seen, left: 0, width: size };
  }
  const { data } = await image
    .extract({ ...part, left: paint.left + part.left, top: paint.top + part.top })
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch(asFault);
  return { ...part, data };
}

type TextureSize = Pick<Box, 'width' | 'height'>;

/** sharp itself refuses empty data before it looks at any, with an error of its own. */
function encodedImage(bytes: Uint8Array): Sharp {
  if (bytes.length === 0) throw new InputFault('expected an image, got an empty file');
  return sharp(bytes, { failOn: 'error' });
}

function asFault(error: unknown): never {
  throw decodeFault(error);
}
