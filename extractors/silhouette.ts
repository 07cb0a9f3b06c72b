import type { Box, GreyImage, Mask, RgbImage } from './image.ts';
import type { PlacedMask } from './placed-mask.ts';
import { resizeTriangle } from './triangle-filter.ts';

/** What is white and what is black in a silhouette; the first is the paper's canonical form. */
export const POLARITIES = ['white-on-black', 'black-on-white'] as const;
export type Polarity = (typeof POLARITIES)[number];

/** How an object's silhouette is cut out and sized. */
export interface Framing {
  /** Ground around the object on each side, as a share of its longer side; rounded to whole pixels of its picture. */
  readonly margin: number;
  /** Longer side of the silhouette, margin included, pixels. */
  readonly maxSide: number;
}

/** The rectangle of a picture that a silhouette shows, and its own size. */
export interface Frame {
  /** In picture pixels; with a margin it may reach beyond the picture, where there is ground. */
  readonly shown: Box;
  readonly width: number;
  readonly height: number;
  /** Silhouette pixels per picture pixel, along the longer side. */
  readonly scale: number;
}

/** The frame of an object: its box and the margin, the longest side `maxSide`, the other in proportion and at least 1 px. */
export function frameOf({ left, top, width, height }: Box, { margin, maxSide }: Framing): Frame {
  const ground = Math.round(margin * Math.max(width, height));
  const shown = { left: left - ground, top: top - ground, width: width + 2 * ground, height: height + 2 * ground };
  const scale = maxSide / Math.max(shown.width, shown.height);
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  return { shown, width: side(shown.width), height: side(shown.height), scale };
}

/** The share of each pixel of the frame that an object covers, 0–255, by a triangle filter. */
export function objectCoverage({ mask, box }: PlacedMask, frame: Frame): GreyImage {
  return resizeTriangle(mask, frame.width, frame.height, ...shownOf(frame, box, 1, 1));
}

/** BareBones' hard threshold: what an object covers to one half at least belongs to it. */
export function halfCovered({ data, width, height }: GreyImage): Mask {
  const mask = new Uint8Array(data.length);
  const [coverages, halves] = [wordsOf(data), wordsOf(mask)];
  for (let i = 0; i < halves.length; i++) halves[i] = hardened(coverages[i]!);
  for (let i = 4 * halves.length; i < mask.length; i++) mask[i] = hardened(data[i]!);
  return { data: mask, width, height };
}

/** Pixels four at a time; up to three at the end are left over. */
function wordsOf(data: Uint8Array): Int32Array {
  const { buffer, byteOffset } = data.byteOffset % 4 === 0 ? data : new Uint8Array(data);
  return new Int32Array(buffer, byteOffset, data.length >> 2);
}

/** Of four pixels in a word: 255 for each that is 128 at least, 0 for the others. */
const hardened = (four: number) => Math.imul((four >>> 7) & 0x01010101, 255);

/** Visits all pixels that are neither covered whole nor not at all, and a few others beside them. */
function forSoftPixels(covered: Uint8Array, visit: (i: number) => void): void {
  const words = wordsOf(covered);
  for (let word = 0; word < words.length; word++) {
    const four = words[word]!;
    if (hardened(four) === four) continue;
    for (let i = 4 * word; i < 4 * word + 4; i++) visit(i);
  }
  for (let i = 4 * words.length; i < covered.length; i++) visit(i);
}

/** An image with white objects on black as the polarity wants it. */
export function inPolarity(image: GreyImage, polarity: Polarity): GreyImage {
  if (polarity === 'white-on-black') return image;
  const data = new Uint8Array(image.data.length);
  for (let i = 0; i < data.length; i++) data[i] = 255 - image.data[i]!;
  return { ...image, data };
}

/**
 * The luminance (Rec. 601, as Pillow's `L`) of an object in its frame; 0 where nothing of it is. Of its own pixels only: what
 * lies beside the object does not shine in at its edge.
 * @param picture the picture that the object is in, whole, at its own size or smaller.
 * @param size what the object's box counts in: the picture at its own size.
 * @param coverage of the object, in the frame.
 */
export function objectLuminance(
  picture: RgbImage,
  size: Pick<Box, 'width' | 'height'>,
  { mask, box }: PlacedMask,
  frame: Frame,
  coverage: GreyImage,
): GreyImage {
  const [scaleX, scaleY] = [picture.width / size.width, picture.height / size.height];
  const left = Math.floor(box.left * scaleX);
  const top = Math.floor(box.top * scaleY);
  const width = Math.min(picture.width, Math.ceil((box.left + box.width) * scaleX)) - left;
  const height = Math.min(picture.height, Math.ceil((box.top + box.height) * scaleY)) - top;
  // At the picture's own size the mask's pixels are the picture's, and what they cover is known.
  const inside = scaleX === 1 && scaleY === 1 ? null : new Uint8Array(width * height);
  const shine = new Uint8Array(width * height);
  const pixels = picture.data;
  // The mask's column or row at the centre of each of the picture's.
  const maskColumns = nearest(width, left, scaleX, box.left, mask.width);
  const maskRows = nearest(height, top, scaleY, box.top, mask.height);
  for (let y = 0; y < height; y++) {
    const maskRow = maskRows[y]! * mask.width;
    let p = 3 * ((top + y) * picture.width + left);
    for (let x = 0, i = y * width; x < width; x++, i++, p += 3) {
      if (mask.data[maskRow + maskColumns[x]!] === 0) continue;
      if (inside) inside[i] = 255;
      shine[i] = (19_595 * pixels[p]! + 38_470 * pixels[p + 1]! + 7471 * pixels[p + 2]! + 32_768) >> 16;
    }
  }
  const place = { left: left / scaleX, top: top / scaleY };
  const shown = shownOf(frame, place, scaleX, scaleY);
  const resized = (data: Uint8Array) =>
    resizeTriangle({ data, width, height }, frame.width, frame.height, ...shown).data;
  const covered = inside ? resized(inside) : coverage.data;
  const light = resized(shine);
  forSoftPixels(covered, i => {
    if (covered[i] === 0) return;
    // Rounded; of what covers next to nothing, rounding may go beyond white.
    light[i] = Math.min(255, ((255 * light[i]! + (covered[i]! >> 1)) / covered[i]!) | 0);
  });
  return { data: light, width: frame.width, height: frame.height };
}

/** The part that a frame shows of an image which begins at `left`, `top` of the picture and has `scale` pixels a picture pixel. */
function shownOf({ shown }: Frame, { left, top }: Pick<Box, 'left' | 'top'>, scaleX: number, scaleY: number) {
  const part = (start: number, length: number, origin: number, scale: number) => ({
    from: (start - origin) * scale,
    to: (start + length - origin) * scale,
  });
  return [part(shown.left, shown.width, left, scaleX), part(shown.top, shown.height, top, scaleY)] as const;
}

function nearest(length: number, start: number, scale: number, origin: number, limit: number): Int32Array {
  const places = new Int32Array(length);
  for (let i = 0; i < length; i++) {
    const at = Math.floor((start + i + 0.5) / scale - origin);
    places[i] = Math.min(Math.max(at, 0), limit - 1);
  }
  return places;
}

/** An object's luminance on plain ground: black for white objects, white for black ones. */
export function greyObject(luminance: GreyImage, inside: GreyImage, polarity: Polarity): GreyImage {
  const ground = polarity === 'white-on-black' ? 0 : 255;
  const grounds = ground === 0 ? 0 : -1;
  const [light, covered] = [luminance.data, inside.data];
  const data = new Uint8Array(light.length);
  const [lights, coverages, words] = [wordsOf(light), wordsOf(covered), wordsOf(data)];
  // Light where it is covered, ground where it is not.
  for (let i = 0; i < words.length; i++) words[i] = (lights[i]! & coverages[i]!) | (grounds & ~coverages[i]!);
  forSoftPixels(covered, i => {
    data[i] = (light[i]! * covered[i]! + ground * (255 - covered[i]!) + 127) / 255;
  });
  return { ...luminance, data };
}
