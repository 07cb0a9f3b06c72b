import type { Panorama } from '../../scenes/panorama-format.ts';
import { RGB9E5_MAX } from '../../scenes/panorama-format.ts';
import { InputFault } from '../faults.ts';
import type { DecodedPanorama } from './decoded.ts';
import { decodeOpenExr } from './openexr.ts';
import { decodeRadianceHdr } from './radiance-hdr.ts';

/** Pixels that were not light, by what was wrong with them first: NaN, then infinite, then negative. */
export interface CleanedPixels {
  readonly nan: number;
  readonly infinite: number;
  readonly negative: number;
}

/** A panorama fit for use: finite and not negative. */
export interface PanoramaFile extends Panorama, Pick<DecodedPanorama, 'format' | 'compression'> {
  readonly cleaned: CleanedPixels;
}

/** What a panorama may be like at most. */
export interface PanoramaLimits {
  /** While it is decoded, a pixel takes 12 bytes of an HDR file, 16 of an EXR file, beside the file itself. */
  readonly maxPixels: number;
  /** Refuses a panorama with a larger share of NaN and infinite pixels. */
  readonly maxBrokenShare: number;
}

/**
 * Decodes an HDR or EXR panorama, told apart by their first bytes, to linear light.
 *
 * NaN and negative values become 0; +Infinity, which is a sun that a half float could not hold, becomes the largest value
 * of the stored form.
 * @throws InputFault for other files, what the decoders refuse, and more broken pixels than the limit.
 */
export async function decodePanoramaFile(bytes: Uint8Array, limits: PanoramaLimits): Promise<PanoramaFile> {
  const decoded = await decode(bytes, limits.maxPixels);
  const cleaned = clean(decoded.data);
  const broken = cleaned.nan + cleaned.infinite;
  const pixels = decoded.width * decoded.height;
  if (broken > limits.maxBrokenShare * pixels) {
    throw new InputFault(`${broken} of ${pixels} pixels are NaN or infinite`);
  }
  return { ...decoded, cleaned };
}

async function decode(bytes: Uint8Array, maxPixels: number): Promise<DecodedPanorama> {
  if (bytes.length === 0) throw new InputFault('expected an HDR or EXR panorama, got an empty file');
  if (bytes[0] === 0x76 && bytes[1] === 0x2f) return decodeOpenExr(bytes, maxPixels);
  if (bytes[0] === 0x23 && bytes[1] === 0x3f) return decodeRadianceHdr(bytes, maxPixels);
  throw new InputFault('expected an HDR or EXR panorama, got another file');
}

/** Replaces what is no light, in place. */
function clean(data: Float32Array): CleanedPixels {
  const counts = { nan: 0, infinite: 0, negative: 0 };
  for (let at = 0; at < data.length; at += 3) {
    const least = Math.min(data[at]!, data[at + 1]!, data[at + 2]!);
    const most = Math.max(data[at]!, data[at + 1]!, data[at + 2]!);
    // Both are NaN when one value is; no branch is taken by the pixels that are well.
    if (least >= 0 && most < Number.POSITIVE_INFINITY) continue;
    if (Number.isNaN(least)) counts.nan++;
    else if (most === Number.POSITIVE_INFINITY || least === Number.NEGATIVE_INFINITY) counts.infinite++;
    else counts.negative++;
    for (let i = at; i < at + 3; i++) data[i] = data[i]! > 0 ? Math.min(data[i]!, RGB9E5_MAX) : 0;
  }
  return counts;
}
