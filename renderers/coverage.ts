import type { Box, GreyImage, Mask } from '../extractors/image.ts';
import type { Placement } from '../scenes/scene2d.ts';

/** How much of each pixel a shape covers: 0–255. */
export interface Coverage extends GreyImage {
  /** Nothing is covered outside of this box; the whole image when left out. */
  readonly within?: Box;
}

/**
 * Draws a placed shape as 8-bit coverage: 255 inside, 0 outside, in between the share of the pixel that the shape covers.
 *
 * The shape's outline is the 0.5 level of its bilinearly interpolated mask (pixel centres at half-integers, nothing
 * outside), so that an enlarged shape has slanted edges and no stairs. Coverage is counted on 16 sub-samples, but only in
 * pixels that a piece of the outline may touch; in a row, all pixels between two of them are alike.
 * @param data takes the result, `size` × `size`; new when left out.
 */
export function renderCoverage(
  mask: Mask,
  placement: Placement,
  size: number,
  data = new Uint8Array(size * size),
): Coverage {
  const image: GreyImage = { width: size, height: size, data: data.fill(0) };
  const outline = outlineOf(mask);
  const within = markOutline(image, outline, placement);
  drawRows(image, outline, viewOf(mask, placement), within);
  return { ...image, within };
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
  const words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let [area, left, top, right, bottom] = [0, width, height, -1, -1];
  for (let row = 0; row < height; row++) {
    const start = row * width;
    const end = start + width;
    let first = start;
    while (first + 4 <= end && words.getInt32(first) === 0) first += 4;
    while (first < end && data[first]! < 128) first++;
    if (first === end) continue;
    let last = end - 1;
    while (last - 3 > first && words.getInt32(last - 3) === 0) last -= 4;
    while (data[last]! < 128) last--;
    let i = first;
    // Four bytes at once: their top bits, brought together in the top byte by the product.
    for (; i + 4 <= last; i += 4) area += Math.imul((words.getInt32(i) >>> 7) & 0x01010101, 0x01010101) >>> 24;
    for (; i <= last; i++) area += data[i]! >> 7;
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
  const set = index >> 8;
  const above = (set & 1) * (1 - x) + ((set >> 1) & 1) * x;
  const below = ((set >> 2) & 1) * (1 - x) + (set >> 3) * x;
  return above * (1 - y) + below * y >= 0.5 ? 1 : 0;
});

/**
 * Where the outline runs between four pixel centres, by which of the four are set: the box around all 16ths of
 * {@link INSIDE} that have another value beside them, as its centre and half its sides. Never asked for where none or all
 * four are set: no outline runs there.
 */
const PIECES = Array.from({ length: 16 }, (_, set) => {
  const at = (x: number, y: number) => INSIDE[(set << 8) | (y << 4) | x]!;
  const turns: [x: number, y: number][] = [];
  for (let y = 0; y < 16; y++) {
    for (let x = 0; x < 16; x++) {
      if (x < 15 && at(x, y) !== at(x + 1, y)) turns.push([x, y], [x + 1, y]);
      if (y < 15 && at(x, y) !== at(x, y + 1)) turns.push([x, y], [x, y + 1]);
    }
  }
  const range = (values: number[]): [number, number] => [Math.min(...values) / 16, (Math.max(...values) + 1) / 16];
  const [left, right] = range(turns.map(([x]) => x));
  const [top, bottom] = range(turns.map(([, y]) => y));
  return {
    middle: [(left + right) / 2, (top + bottom) / 2] as const,
    half: [(right - left) / 2, (bottom - top) / 2] as const,
  };
});

/** What is looked up in a mask while it is drawn. */
interface Outline {
  readonly width: number;
  readonly height: number;
  /** For each meeting point of four pixels, also along the edges, which of the four are set; as {@link INSIDE} counts. */
  readonly corners: Uint8Array;
  /** The meeting points that the outline passes, as indices of `corners`. */
  readonly passed: Uint32Array;
}

/** The variations of an instance draw the same mask. */
const knownOutlines = new WeakMap<Mask, Outline>();

function outlineOf(mask: Mask): Outline {
  let outline = knownOutlines.get(mask);
  if (!outline) {
    const corners = cornerSets(mask);
    outline = { width: mask.width, height: mask.height, corners, passed: mixedPoints(corners) };
    knownOutlines.set(mask, outline);
  }
  return outline;
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
  /** No step is longer, along either axis. */
  readonly reach: number;
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
    reach: 16 * (Math.abs(cos) + Math.abs(sin)),
  };
}

/** A pixel that the outline may touch, until it is drawn: no coverage has this value. */
const MARKED = 1;

/**
 * Marks every pixel that a piece of the placed outline may touch.
 * @returns the part of the image that the outline goes round: nothing is covered outside of it.
 */
function markOutline(
  { width: size, data }: GreyImage,
  { width, height, corners, passed }: Outline,
  placement: Placement,
): Box {
  const { scale, rotation, center } = placement;
  const radians = (rotation * Math.PI) / 180;
  const cos = Math.cos(radians) * scale;
  const sin = Math.sin(radians) * scale;
  // Meeting point (c, r) has its four pixel centres half a pixel around (c, r).
  const middleX = PIECES.map(({ middle: [x, y] }) => cos * (x - 0.5) - sin * (y - 0.5));
  const middleY = PIECES.map(({ middle: [x, y] }) => sin * (x - 0.5) + cos * (y - 0.5));
  const halfX = PIECES.map(({ half: [x, y] }) => Math.abs(cos) * x + Math.abs(sin) * y);
  const halfY = PIECES.map(({ half: [x, y] }) => Math.abs(sin) * x + Math.abs(cos) * y);
  const originX = center[0] - (cos * width - sin * height) / 2;
  const originY = center[1] - (sin * width + cos * height) / 2;
  const stride = width + 1;
  let [west, north, east, south] = [size, size, -1, -1];
  for (let i = 0; i < passed.length; i++) {
    const point = passed[i]!;
    const set = corners[point]!;
    const r = Math.floor(point / stride);
    const c = point - r * stride;
    const x = originX + cos * c - sin * r + middleX[set]!;
    const y = originY + sin * c + cos * r + middleY[set]!;
    const left = Math.max(0, Math.floor(x - halfX[set]!));
    const right = Math.min(size - 1, Math.floor(x + halfX[set]!));
    const top = Math.max(0, Math.floor(y - halfY[set]!));
    const bottom = Math.min(size - 1, Math.floor(y + halfY[set]!));
    if (left < west) west = left;
    if (right > east) east = right;
    if (top < north) north = top;
    if (bottom > south) south = bottom;
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) data[row * size + column] = MARKED;
    }
  }
  return { left: west, top: north, width: Math.max(0, east - west + 1), height: Math.max(0, south - north + 1) };
}

/** Draws marked pixels one by one, and those between them at once. */
function drawRows({ width: size, data }: GreyImage, outline: Outline, view: MaskView, box: Box): void {
  const words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let row = box.top; row < box.top + box.height; row++) {
    const start = row * size;
    const end = start + box.left + box.width;
    for (let i = start + box.left; i < end; ) {
      if (data[i] === MARKED) {
        data[i] = pixelCoverage(outline, view, i - start, row);
        i++;
        continue;
      }
      let next = i + 1;
      while (next + 4 <= end && words.getInt32(next, true) === 0) next += 4;
      while (next < end && data[next] === 0) next++;
      if (isInside(outline, view, i - start, row)) data.fill(255, i, next);
      i = next;
    }
  }
}

/** Coverage of one pixel of the image, 0–255. */
function pixelCoverage({ width, height, corners }: Outline, view: MaskView, column: number, row: number): number {
  const { stepsX, stepsY, reach } = view;
  const x = tableX(view, column, row);
  const y = tableY(view, column, row);
  const stride = width + 1;
  const right = 16 * stride;
  const bottom = 16 * (height + 1);
  let inside = 0;
  if (x >= reach && y >= reach && x < right - reach && y < bottom - reach) {
    for (let i = 0; i < SAMPLES; i++) inside += insideAt(corners, stride, (x + stepsX[i]!) | 0, (y + stepsY[i]!) | 0);
  } else {
    for (let i = 0; i < SAMPLES; i++) {
      const u = x + stepsX[i]!;
      const v = y + stepsY[i]!;
      if (u >= 0 && v >= 0 && u < right && v < bottom) inside += insideAt(corners, stride, u | 0, v | 0);
    }
  }
  return Math.round((inside * 255) / SAMPLES);
}

/** Whether the middle of a pixel is inside. */
function isInside({ width, height, corners }: Outline, view: MaskView, column: number, row: number): boolean {
  const x = tableX(view, column + 0.5, row + 0.5);
  const y = tableY(view, column + 0.5, row + 0.5);
  const stride = width + 1;
  return x >= 0 && y >= 0 && x < 16 * stride && y < 16 * (height + 1) && insideAt(corners, stride, x | 0, y | 0) === 1;
}

// A point of the image in 16ths of a mask pixel. Meeting point (c, r) lies half a pixel up and left of pixel (c, r)'s
// centre: hence the 8.
const tableX = ({ x0, cos, sin }: MaskView, x: number, y: number) => 16 * (x0 + cos * x + sin * y) + 8;
const tableY = ({ y0, cos, sin }: MaskView, x: number, y: number) => 16 * (y0 + cos * y - sin * x) + 8;

function insideAt(corners: Uint8Array, stride: number, x: number, y: number): number {
  return INSIDE[(corners[(y >> 4) * stride + (x >> 4)]! << 8) | ((y & 15) << 4) | (x & 15)]!;
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

/** The meeting points of which some pixels are set and some are not. */
function mixedPoints(corners: Uint8Array): Uint32Array {
  const passed: number[] = [];
  for (let i = 0; i < corners.length; i++) if (corners[i] !== 0 && corners[i] !== 15) passed.push(i);
  return Uint32Array.from(passed);
}
