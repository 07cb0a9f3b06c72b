import type { Box } from './image.ts';
import { type PlacedMask, tightMask } from './placed-mask.ts';

type Size = Pick<Box, 'width' | 'height'>;

/**
 * Whether a mask drawn for a picture of one size can lie over one of another: one is the other resized, its sides rounded up or
 * down.
 */
export function hasSameAspect(a: Size, b: Size): boolean {
  return isResized(a, b) || isResized(b, a);
}

/** Whether a factor takes the sides of `large` to those of `small`, to less than one pixel. */
function isResized(small: Size, large: Size): boolean {
  const least = Math.max((small.width - 1) / large.width, (small.height - 1) / large.height);
  const most = Math.min((small.width + 1) / large.width, (small.height + 1) / large.height);
  return least < most;
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
