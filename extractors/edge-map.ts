import type { GreyImage, Mask } from './image.ts';

/** Lengths of the Sobel gradient (a step of h along an axis has 4h): edges begin above `strong` and go on above `weak`. */
export interface EdgeThresholds {
  readonly weak: number;
  readonly strong: number;
}
export const EDGE_THRESHOLDS: EdgeThresholds = { weak: 80, strong: 160 };

/**
 * The edges of an object, white on black: its outline, one pixel wide, and the edges within it by Canny's rule — Sobel
 * gradients, thinned to their crests, weak ones kept where they hang together with strong ones. No gradient reaches outside of
 * the object, so that the ground draws no second outline. Nothing is smoothed first: resizing did that.
 */
export function edgeMap(luminance: GreyImage, inside: Mask, { weak, strong } = EDGE_THRESHOLDS): GreyImage {
  const { width, height } = inside;
  const scratch = scratchOf(width * height);
  const { squared, crests, pixels, dx, dy } = scratch;
  const edges = new Uint8Array(width * height);
  const count = outlineAndGradients(luminance, inside, weak * weak, edges, scratch);
  const pending: number[] = [];
  for (let n = 0; n < count; n++) {
    const i = pixels[n]!;
    if (!isCrest(squared, i, dx[n]!, dy[n]!, width)) continue;
    crests[i] = CREST;
    if (squared[i]! < strong * strong) continue;
    crests[i] = EDGE;
    pending.push(i);
  }
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    edges[at] = 255;
    for (let row = at - width; row <= at + width; row += width) {
      for (let beside = row - 1; beside <= row + 1; beside++) {
        if (crests[beside] !== CREST) continue;
        crests[beside] = EDGE;
        pending.push(beside);
      }
    }
  }
  return { data: edges, width, height };
}

const CREST = 1;
const EDGE = 2;

/** Where one edge map after the other is worked out: half a megabyte that need not be new each time. */
interface Scratch {
  /** Squared length of the gradient at each pixel; 0 where there is none. */
  readonly squared: Int32Array;
  readonly crests: Uint8Array;
  /** Of the steep pixels in turn: which, and the gradient there. */
  readonly pixels: Int32Array;
  readonly dx: Int16Array;
  readonly dy: Int16Array;
}

let spare: Scratch | undefined;

/** Scratch for so many pixels at least, without gradients and crests. */
function scratchOf(size: number): Scratch {
  if (!spare || spare.squared.length < size) {
    spare = {
      squared: new Int32Array(size),
      crests: new Uint8Array(size),
      pixels: new Int32Array(size),
      dx: new Int16Array(size),
      dy: new Int16Array(size),
    };
  }
  spare.squared.fill(0, 0, size);
  spare.crests.fill(0, 0, size);
  return spare;
}

/**
 * The outline: pixels of a mask beside one that is clear (or beside nothing), above, below, left or right. Sobel gradients,
 * rightwards and downwards, into the scratch: the squares of their lengths, 0 where one of the nine pixels is not inside, and in
 * its list those pixels where the square is `least` at least.
 * @returns how many are in the list.
 */
function outlineAndGradients(
  { data }: GreyImage,
  { data: inside, width, height }: Mask,
  least: number,
  outline: Uint8Array,
  { squared, pixels, dx, dy }: Scratch,
): number {
  let count = 0;
  for (let column = 0, last = (height - 1) * width; column < width; column++, last++) {
    outline[column] = inside[column]!;
    outline[last] = inside[last]!;
  }
  for (let row = 1; row < height - 1; row++) {
    // Of a column of three pixels: the middle one, whether all are inside, their weighted sum, the rise from first to last.
    let [left, middle, inLeft, inMiddle, sumLeft, sumMiddle, riseLeft, riseMiddle] = [0, 0, 0, 0, 0, 0, 0, 0];
    const line = inside.subarray(row * width, (row + 1) * width);
    const first = line.indexOf(255);
    if (first < 0) continue;
    const end = row * width + line.lastIndexOf(255) + 1;
    // One pixel farther than there is something, so that the last one has its neighbour.
    for (let i = row * width + first; i <= end; i++) {
      const right = i === end ? 0 : inside[i]!;
      const above = data[i - width]!;
      const below = data[i + width]!;
      const inRight = right & inside[i - width]! & inside[i + width]!;
      const sumRight = above + 2 * data[i]! + below;
      const riseRight = below - above;
      if ((inLeft & inMiddle & inRight) !== 0) {
        const x = sumRight - sumLeft;
        const y = riseLeft + 2 * riseMiddle + riseRight;
        const square = x * x + y * y;
        squared[i - 1] = square;
        if (square >= least) {
          pixels[count] = i - 1;
          dx[count] = x;
          dy[count++] = y;
        }
      } else if (middle !== 0 && (left & inMiddle & right) === 0) outline[i - 1] = 255;
      left = middle;
      middle = right;
      inLeft = inMiddle;
      inMiddle = inRight;
      sumLeft = sumMiddle;
      sumMiddle = sumRight;
      riseLeft = riseMiddle;
      riseMiddle = riseRight;
    }
  }
  return count;
}

const TAN_22 = Math.SQRT2 - 1;

/** Whether the gradient is longest here along its own direction (to the nearest 45°); of two equal ones the first is. */
function isCrest(squared: Int32Array, i: number, dx: number, dy: number, width: number): boolean {
  const across = Math.abs(dx);
  const down = Math.abs(dy);
  const along =
    down <= TAN_22 * across ? 1 : across <= TAN_22 * down ? width : dx > 0 === dy > 0 ? width + 1 : width - 1;
  return squared[i]! > squared[i - along]! && squared[i]! >= squared[i + along]!;
}
