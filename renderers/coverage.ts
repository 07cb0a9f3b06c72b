import type { Box, GreyImage, Mask } from '../extractors/image.ts';
import type { Placement } from '../scenes/scene2d.ts';

/**
 * Draws a placed shape as 8-bit coverage: 255 inside, 0 outside, in between the share of the pixel that the shape covers.
 *
 * The shape's outline is the 0.5 level of its bilinearly interpolated mask (pixel centres at half-integers, nothing
 * outside), so that an enlarged shape has slanted edges and no stairs. Coverage is counted on 16 sub-samples, but only
 * where the outline can pass: a summed-area table tells which tiles and pixels see nothing but shape or background.
 * @param data takes the result, `size` × `size`; new when left out.
 */
export function renderCoverage(
  mask: Mask,
  placement: Placement,
  size: number,
  data = new Uint8Array(size * size),
): GreyImage {
  const image: GreyImage = { width: size, height: size, data: data.fill(0) };
  const tables = tablesOf(mask);
  const view = viewOf(mask, placement);
  const { left, top, right, bottom } = touchedTiles(mask, placement, size);
  for (let row = top; row < bottom; row += TILE) {
    for (let column = left; column < right; column += TILE) drawTile(image, tables, view, column, row);
  }
  return image;
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
  for (let row = 0; row < height; row++) {
    const start = row * width;
    let first = start;
    const end = start + width;
    while (first < end && data[first]! < 128) first++;
    if (first === end) continue;
    let last = end - 1;
    while (data[last]! < 128) last--;
    for (let i = first; i <= last; i++) area += data[i]! >> 7;
    left = Math.min(left, first - start);
    right = Math.max(right, last - start);
    top = Math.min(top, row);
    bottom = row;
  }
  const box =
    area === 0
      ? { left: 0, top: 0, width: 0, height: 0 }
      : { left, top, width: right - left + 1, height: bottom - top + 1 };
  return { box, area, coverage: area / (width * height) };
}

/** 16 points of a pixel, each in a row and a column of its own (a Hammersley set): any straight edge gives 16 steps. */
const SAMPLES = 16;
const SAMPLE_X = Float64Array.from({ length: SAMPLES }, (_, i) => (i + 0.5) / SAMPLES);
const SAMPLE_Y = Float64Array.from({ length: SAMPLES }, (_, i) => (reverseBits4(i) + 0.5) / SAMPLES);

function reverseBits4(i: number): number {
  return ((i & 1) << 3) | ((i & 2) << 1) | ((i & 4) >> 1) | ((i & 8) >> 3);
}

/**
 * Whether a point between four pixel centres is inside, by which of the four are set (upper left 1, upper right 2, lower
 * left 4, lower right 8) and by its place among them in 16ths: `INSIDE[set << 8 | y << 4 | x]`.
 */
const INSIDE = Uint8Array.from({ length: 16 << 8 }, (_, index) => {
  const x = ((index & 15) + 0.5) / 16;
  const y = (((index >> 4) & 15) + 0.5) / 16;
  const set = (bit: number) => ((index >> 8) & bit ? 1 : 0);
  const above = set(1) * (1 - x) + set(2) * x;
  const below = set(4) * (1 - x) + set(8) * x;
  return above * (1 - y) + below * y >= 0.5 ? 1 : 0;
});

/** What is looked up in a mask while it is drawn. */
interface MaskTables {
  readonly width: number;
  readonly height: number;
  /** `sums[row * (width + 1) + column]`: set mask pixels above and left of (column, row). */
  readonly sums: Int32Array;
  /** For each meeting point of four pixels, also along the edges, which of the four are set; as {@link INSIDE} counts. */
  readonly corners: Uint8Array;
}

/** The variations of an instance draw the same mask. */
const knownTables = new WeakMap<Mask, MaskTables>();

function tablesOf(mask: Mask): MaskTables {
  let tables = knownTables.get(mask);
  if (!tables) {
    tables = { width: mask.width, height: mask.height, sums: summedAreaTable(mask), corners: cornerSets(mask) };
    knownTables.set(mask, tables);
  }
  return tables;
}

/** From image to mask: x' = x0 + cos·x + sin·y, y' = y0 + cos·y − sin·x, the inverse of "scale, then turn clockwise". */
interface MaskView {
  readonly x0: number;
  readonly y0: number;
  readonly cos: number;
  readonly sin: number;
  /** The sub-samples of a pixel, as steps in the mask from its upper left corner, in 16ths of a mask pixel. */
  readonly stepsX: Float64Array;
  readonly stepsY: Float64Array;
}

function viewOf({ width, height }: Mask, { rotation, scale, center }: Placement): MaskView {
  const radians = (rotation * Math.PI) / 180;
  const cos = Math.cos(radians) / scale;
  const sin = Math.sin(radians) / scale;
  return {
    x0: width / 2 - cos * center[0] - sin * center[1],
    y0: height / 2 - cos * center[1] + sin * center[0],
    cos,
    sin,
    stepsX: SAMPLE_X.map((x, i) => 16 * (cos * x + sin * SAMPLE_Y[i]!)),
    stepsY: SAMPLE_Y.map((y, i) => 16 * (cos * y - sin * SAMPLE_X[i]!)),
  };
}

/** Side of a tile, pixels: small enough that few pixels share a tile with an edge. */
const TILE = 8;

/** What an area sees of a mask when it sees both shape and background. */
const MIXED = -1;

/** One tile: filled at once where it sees one value, else pixel by pixel. */
function drawTile(image: GreyImage, tables: MaskTables, view: MaskView, left: number, top: number): void {
  const { width: size, data } = image;
  const { x0, y0, cos, sin } = view;
  const right = Math.min(left + TILE, size);
  const bottom = Math.min(top + TILE, size);
  // Half a turned pixel, and half a mask pixel that bilinear interpolation reaches further.
  const pixelReach = (Math.abs(cos) + Math.abs(sin)) / 2 + 0.5;
  const tileReach = (TILE * (Math.abs(cos) + Math.abs(sin))) / 2 + 0.5;
  const middleX = left + TILE / 2;
  const middleY = top + TILE / 2;
  const whole = seenValue(tables, x0 + cos * middleX + sin * middleY, y0 + cos * middleY - sin * middleX, tileReach);
  if (whole === 0) return;
  for (let row = top; row < bottom; row++) {
    if (whole === 255) {
      data.fill(255, row * size + left, row * size + right);
      continue;
    }
    for (let column = left; column < right; column++) {
      const x = x0 + cos * (column + 0.5) + sin * (row + 0.5);
      const y = y0 + cos * (row + 0.5) - sin * (column + 0.5);
      const seen = seenValue(tables, x, y, pixelReach);
      data[row * size + column] = seen === MIXED ? pixelCoverage(tables, view, column, row) : seen;
    }
  }
}

/** Added before cutting off the fraction, so that negative numbers round down too. No placed mask lies further out. */
const BIAS = 1 << 20;

/** 255 or 0 where all of the mask within `reach` of (x, y) is set or clear, else MIXED. */
function seenValue({ width, height, sums }: MaskTables, x: number, y: number, reach: number): 0 | 255 | typeof MIXED {
  const x0 = ((x - reach + BIAS) | 0) - BIAS;
  const x1 = ((x + reach + BIAS) | 0) - BIAS + 1;
  const y0 = ((y - reach + BIAS) | 0) - BIAS;
  const y1 = ((y + reach + BIAS) | 0) - BIAS + 1;
  const left = Math.max(x0, 0);
  const right = Math.min(x1, width);
  const top = Math.max(y0, 0);
  const bottom = Math.min(y1, height);
  if (left >= right || top >= bottom) return 0;
  const above = top * (width + 1);
  const below = bottom * (width + 1);
  const set = sums[below + right]! - sums[above + right]! - sums[below + left]! + sums[above + left]!;
  if (set === 0) return 0;
  return set === (x1 - x0) * (y1 - y0) ? 255 : MIXED;
}

/** Coverage of one pixel of the image, 0–255. */
function pixelCoverage(
  { width, height, corners }: MaskTables,
  { x0, y0, cos, sin, stepsX, stepsY }: MaskView,
  column: number,
  row: number,
): number {
  // In 16ths of a mask pixel. Meeting point (c, r) lies half a pixel up and left of pixel (c, r)'s centre: hence the 8.
  const x = 16 * (x0 + cos * column + sin * row) + 8;
  const y = 16 * (y0 + cos * row - sin * column) + 8;
  const stride = width + 1;
  const right = 16 * stride;
  const bottom = 16 * (height + 1);
  let inside = 0;
  for (let i = 0; i < SAMPLES; i++) {
    const u = x + stepsX[i]!;
    const v = y + stepsY[i]!;
    if (u < 0 || v < 0 || u >= right || v >= bottom) continue;
    const c = u | 0;
    const r = v | 0;
    inside += INSIDE[(corners[(r >> 4) * stride + (c >> 4)]! << 8) | ((r & 15) << 4) | (c & 15)]!;
  }
  return Math.round((inside * 255) / SAMPLES);
}

function summedAreaTable({ width, height, data }: Mask): Int32Array {
  const stride = width + 1;
  const table = new Int32Array(stride * (height + 1));
  for (let row = 0, i = 0; row < height; row++) {
    let sum = 0;
    let at = (row + 1) * stride + 1;
    for (let column = 0; column < width; column++, i++, at++) {
      sum += data[i]! >> 7;
      table[at] = table[at - stride]! + sum;
    }
  }
  return table;
}

function cornerSets({ width, height, data }: Mask): Uint8Array {
  const stride = width + 1;
  const corners = new Uint8Array(stride * (height + 1));
  for (let row = 0, i = 0; row < height; row++) {
    let at = row * stride;
    for (let column = 0; column < width; column++, i++, at++) {
      if (data[i] === 0) continue;
      // The pixel is the lower right of the point at its upper left corner, and so on round.
      corners[at] = corners[at]! | 8;
      corners[at + 1] = corners[at + 1]! | 4;
      corners[at + stride] = corners[at + stride]! | 2;
      corners[at + stride + 1] = corners[at + stride + 1]! | 1;
    }
  }
  return corners;
}

/** The tiles of the image that the placed box can touch, in pixels. */
function touchedTiles(mask: Mask, { scale, rotation, center }: Placement, size: number) {
  const radians = (rotation * Math.PI) / 180;
  const cos = Math.abs(Math.cos(radians)) * scale;
  const sin = Math.abs(Math.sin(radians)) * scale;
  // One mask pixel more: the interpolated mask reaches half of one beyond the box.
  const halfWidth = (mask.width * cos + mask.height * sin) / 2 + scale;
  const halfHeight = (mask.width * sin + mask.height * cos) / 2 + scale;
  const start = (at: number) => Math.max(0, Math.floor(at / TILE) * TILE);
  return {
    left: start(center[0] - halfWidth),
    right: Math.min(size, Math.ceil(center[0] + halfWidth)),
    top: start(center[1] - halfHeight),
    bottom: Math.min(size, Math.ceil(center[1] + halfHeight)),
  };
}
