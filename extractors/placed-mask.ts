import type { Box, Mask } from './image.ts';

/** A mask and the rectangle that it covers in some larger picture; one mask pixel need not be one picture pixel. */
export interface PlacedMask {
  readonly mask: Mask;
  readonly box: Box;
}

/** The set pixels of a picture-sized mask, cut to the smallest box that holds them, and their number; undefined: none is set. */
export function tightMask({ data, width, height }: Mask): (PlacedMask & { readonly area: number }) | undefined {
  let [left, top, right, bottom, area] = [width, height, -1, -1, 0];
  for (let row = 0; row < height; row++) {
    const start = row * width;
    const line = data.subarray(start, start + width);
    const first = line.indexOf(255);
    if (first < 0) continue;
    const last = line.lastIndexOf(255);
    left = Math.min(left, first);
    right = Math.max(right, last);
    top = Math.min(top, row);
    bottom = row;
    for (let column = first; column <= last; column++) if (line[column] !== 0) area++;
  }
  if (area === 0) return undefined;
  const box = { left, top, width: right - left + 1, height: bottom - top + 1 };
  const cut = new Uint8Array(box.width * box.height);
  for (let row = 0; row < box.height; row++) {
    const start = (top + row) * width + left;
    cut.set(data.subarray(start, start + box.width), row * box.width);
  }
  return { mask: { data: cut, width: box.width, height: box.height }, box, area };
}
