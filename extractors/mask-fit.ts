import type { Box } from './image.ts';
import { type PlacedMask, tightMask } from './placed-mask.ts';

type Size = Pick<Box, 'width' | 'height'>;

/** Sides of less say nothing about a picture's shape: one pixel more or less is a fifth of them, or all. */
const SHORTEST = 8;

/**
 * Whether a mask drawn for a picture of one size can lie over one of another: they are equal, or one is the other resized, its
 * sides rounded up or down. Of another size, both have at least 8 pixels a side.
 */
export function hasSameAspect(a: Size, b: Size): boolean {
  if (a.width === b.width && a.height === b.height) return true;
  return Math.min(a.width, a.height, b.width, b.height) >= SHORTEST && (isResized(a, b) || isResized(b, a));
}

/**
 * Whether `small` has the shape of `large` but for the rounding of one side: where it is as wide (or high) as it is, its height
 * (or width) is right to a pixel. Rounding both sides the same way makes no larger difference.
 */
function isResized(small: Size, large: Size): boolean {
  const height = (small.width * large.height) / large.width;
  const width = (small.height * large.width) / large.height;
  return Math.abs(small.height - height) <= 1 || Math.abs(small.width - width) <= 1;
}

/**
 * A mask in the pixels of a picture of another size: each takes the mask's value at its centre.
 * @param from the picture that the mask was drawn for. @param to the picture that it shall lie over.
 * @returns tight, with its area; undefined when nothing of it is left.
 */
export function maskAtSize(
  { mask, box }: PlacedMask,
  from: Size,
  to: Size,
): (PlacedMask & { readonly area: number }) | undefined {
  const columns = span(box.left, box.width, to.width / from.width, to.width);
  const rows = span(box.top, box.height, to.height / from.height, to.height);
  const width = columns.sources.length;
  const height = rows.sources.length;
  const data = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const source = rows.sources[y]! * mask.width;
    for (let x = 0; x < width; x++) data[y * width + x] = mask.data[source + columns.sources[x]!]!;
  }
  const tight = tightMask({ data, width, height });
  if (!tight) return undefined;
  const { left, top } = tight.box;
  return { ...tight, box: { ...tight.box, left: columns.first + left, top: rows.first + top } };
}

/** Pixels of one axis whose centres lie on `length` mask pixels from `start`, and the mask pixel at each. */
function span(start: number, length: number, scale: number, limit: number): { first: number; sources: number[] } {
  const sourceOf = (pixel: number) => Math.floor((pixel + 0.5) / scale) - start;
  let first = Math.max(0, Math.floor(start * scale) - 1);
  while (first < limit && sourceOf(first) < 0) first++;
  const sources: number[] = [];
  for (let pixel = first; pixel < limit && sourceOf(pixel) < length; pixel++) sources.push(sourceOf(pixel));
  return { first, sources };
}
