import type { Box, GreyImage, Mask } from '../extractors/image.ts';
import type { Placement } from '../scenes/scene2d.ts';

/** Sub-samples a pixel side: coverage has 64 steps, finer than the eye sees on an edge. */
const GRID = 8;

/**
 * Draws a placed shape as 8-bit coverage: 255 inside, 0 outside, in between the share of the pixel that the shape covers.
 *
 * The shape's outline is the 0.5 level of its bilinearly interpolated mask (pixel centres at half-integers, nothing
 * outside), so that an enlarged shape has slanted edges and no stairs. Coverage is counted on an 8×8 grid of sub-samples,
 * but only where the outline can pass: a summed-area table tells which pixels see nothing but shape or nothing but
 * background.
 */
export function renderCoverage(mask: Mask, placement: Placement, size: number): GreyImage {
  const table = summedAreaTable(mask);
  const data = new Uint8Array(size * size);
  const { width, height } = mask;
  const radians = (placement.rotation * Math.PI) / 180;
  // Image to mask: the inverse of "scale, then turn clockwise" (y runs downwards).
  const cos = Math.cos(radians) / placement.scale;
  const sin = Math.sin(radians) / placement.scale;
  const [centerX, centerY] = placement.center;
  // A pixel sees mask pixels within half its turned extent, and bilinear interpolation half a pixel further.
  const reach = (Math.abs(cos) + Math.abs(sin)) / 2 + 0.5;
  const { left, top, right, bottom } = imageBounds(mask, placement, size);
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const dx = column + 0.5 - centerX;
      const dy = row + 0.5 - centerY;
      const x = cos * dx + sin * dy + width / 2;
      const y = cos * dy - sin * dx + height / 2;
      const seen = seenValue(table, width, height, x, y, reach);
      if (seen === 0) continue;
      data[row * size + column] = seen === 255 ? 255 : sampleCoverage(mask, x, y, cos, sin);
    }
  }
  return { width: size, height: size, data };
}

/** What a placed shape covers, in figures: pixels of at least half coverage, their box, their share of the image. */
export interface CoverageFacts {
  /** Empty (0 wide, 0 high) when nothing is covered. */
  readonly box: Box;
  readonly area: number;
  /** Area as a share of the image. */
  readonly coverage: number;
}

export function coverageFacts({ width, height, data }: GreyImage): CoverageFacts {
  let [area, left, top, right, bottom] = [0, width, height, -1, -1];
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      if (data[i]! < 128) continue;
      area++;
      if (column < left) left = column;
      if (column > right) right = column;
      if (row < top) top = row;
      bottom = row;
    }
  }
  const box =
    area === 0
      ? { left: 0, top: 0, width: 0, height: 0 }
      : { left, top, width: right - left + 1, height: bottom - top + 1 };
  return { box, area, coverage: area / (width * height) };
}

/** `table[(row) * (width + 1) + column]` = set mask pixels above and left of (column, row). */
function summedAreaTable({ width, height, data }: Mask): Int32Array {
  const stride = width + 1;
  const table = new Int32Array(stride * (height + 1));
  for (let row = 0; row < height; row++) {
    let sum = 0;
    for (let column = 0; column < width; column++) {
      if (data[row * width + column] !== 0) sum++;
      table[(row + 1) * stride + column + 1] = table[row * stride + column + 1]! + sum;
    }
  }
  return table;
}

/** 255 or 0 where every mask pixel within `reach` of (x, y) is set or clear; −1 where the outline may pass. */
function seenValue(table: Int32Array, width: number, height: number, x: number, y: number, reach: number): number {
  const x0 = Math.floor(x - reach);
  const x1 = Math.ceil(x + reach);
  const y0 = Math.floor(y - reach);
  const y1 = Math.ceil(y + reach);
  const left = Math.max(x0, 0);
  const right = Math.min(x1, width);
  const top = Math.max(y0, 0);
  const bottom = Math.min(y1, height);
  if (left >= right || top >= bottom) return 0;
  const stride = width + 1;
  const sum =
    table[bottom * stride + right]! -
    table[top * stride + right]! -
    table[bottom * stride + left]! +
    table[top * stride + left]!;
  if (sum === 0) return 0;
  return sum === (x1 - x0) * (y1 - y0) ? 255 : -1;
}

/** Coverage of the pixel whose centre lies at (x, y) in mask coordinates. */
function sampleCoverage(mask: Mask, x: number, y: number, cos: number, sin: number): number {
  let inside = 0;
  for (let j = 0; j < GRID; j++) {
    const dy = (j + 0.5) / GRID - 0.5;
    for (let i = 0; i < GRID; i++) {
      const dx = (i + 0.5) / GRID - 0.5;
      if (isInside(mask, x + cos * dx + sin * dy, y + cos * dy - sin * dx)) inside++;
    }
  }
  return Math.round((inside * 255) / (GRID * GRID));
}

/** Whether the bilinearly interpolated mask is at least one half at (x, y). */
function isInside({ width, height, data }: Mask, x: number, y: number): boolean {
  const u = x - 0.5;
  const v = y - 0.5;
  const column = Math.floor(u);
  const row = Math.floor(v);
  const fx = u - column;
  const fy = v - row;
  const at = (c: number, r: number) => (c < 0 || r < 0 || c >= width || r >= height ? 0 : data[r * width + c]!);
  const above = at(column, row) * (1 - fx) + at(column + 1, row) * fx;
  const below = at(column, row + 1) * (1 - fx) + at(column + 1, row + 1) * fx;
  return above * (1 - fy) + below * fy >= 127.5;
}

/** The part of the image that the placed box can touch. */
function imageBounds(mask: Mask, { scale, rotation, center }: Placement, size: number) {
  const radians = (rotation * Math.PI) / 180;
  const cos = Math.abs(Math.cos(radians)) * scale;
  const sin = Math.abs(Math.sin(radians)) * scale;
  // One pixel more: bilinear interpolation reaches half a mask pixel beyond the box.
  const halfWidth = (mask.width * cos + mask.height * sin) / 2 + scale + 1;
  const halfHeight = (mask.width * sin + mask.height * cos) / 2 + scale + 1;
  return {
    left: Math.max(0, Math.floor(center[0] - halfWidth)),
    right: Math.min(size, Math.ceil(center[0] + halfWidth)),
    top: Math.max(0, Math.floor(center[1] - halfHeight)),
    bottom: Math.min(size, Math.ceil(center[1] + halfHeight)),
  };
}
