import type { Box, RgbImage } from './image.ts';

/**
 * A photo is compared cell by cell in 13 channels: the three colours, their mean, and each colour's Sobel derivatives
 * (OpenCV's 3×3 kernels, borders reflected without repeating the edge pixel) and gradient magnitude.
 * Numbering: 0–2 red, green, blue; 3 the grey mean; 4 + 3 · colour + {0 dx, 1 dy, 2 magnitude} with colour 0–2.
 */
export const CHANNELS = 13;

const GREY = 3;
const FIRST_GRADIENT = 4;

/**
 * True for the channels whose value is the square root of its key. A magnitude is kept as dx² + dy², a
 * whole number; all other keys are the values themselves (the grey mean times three, which has the same histogram).
 */
export function isMagnitude(channel: number): boolean {
  return channel >= FIRST_GRADIENT && (channel - FIRST_GRADIENT) % 3 === 2;
}

/**
 * The keys of one cell in one channel, in a form that counts the keys below any number at once: a table over buckets. A
 * bucket is one key, or, where keys range too widely (squares of magnitudes), a step of their square root, along
 * which magnitudes spread evenly; then the keys themselves are there too, to look through one bucket.
 */
export interface KeyCounts {
  readonly min: number;
  readonly max: number;
  /** Buckets per unit of a key's root; 0 where every key has its own bucket. */
  readonly bucketsPerRoot: number;
  /** Number of the first bucket that is not empty, which is the smallest key where every key has its own bucket. */
  readonly first: number;
  /** `below[i]` is how many keys are in buckets before number first + i; the last entry is all of them. */
  readonly below: Uint16Array;
  /** The keys bucket by bucket, in no order inside one; empty where every key has its own bucket. */
  readonly keys: Int32Array;
}

/** How many keys are smaller than `key`. */
export function countBelow({ min, max, bucketsPerRoot, first, below, keys }: KeyCounts, key: number): number {
  if (key <= min) return 0;
  if (key > max) return below[below.length - 1]!;
  if (bucketsPerRoot === 0) return below[key - first]!;
  const bucket = rootBucket(key, bucketsPerRoot) - first;
  const end = below[bucket + 1]!;
  let count = below[bucket]!;
  // One more wherever the difference is negative; written without a branch, since no processor could foresee it.
  for (let i = count; i < end; i++) count -= (keys[i]! - key) >> 31;
  return count;
}

/** It never falls from one key to the next, whatever the rounding: all that counting by buckets needs. */
function rootBucket(key: number, bucketsPerRoot: number): number {
  return (Math.sqrt(key) * bucketsPerRoot) | 0;
}

/** Buckets that can be counted: one for each of the 2041 values of a Sobel derivative, and a round number. */
const MAX_BUCKETS = 2048;
/** All zero between calls; one for all, since allocating it would take longer than counting. */
const histogram = new Int32Array(MAX_BUCKETS);

/**
 * Counts keys with a bucket for each.
 * @param keys at least one, at most 65,535, each from `lowest` to lowest + 2047.
 */
export function countKeys(keys: Int32Array, lowest: number): KeyCounts {
  for (let i = 0; i < keys.length; i++) histogram[keys[i]! - lowest]!++;
  const { first, below } = takeHistogram();
  const min = first + lowest;
  return { min, max: min + below.length - 2, bucketsPerRoot: 0, first: min, below, keys: NO_KEYS };
}

const NO_KEYS = new Int32Array(0);

/**
 * Counts keys that are squares of magnitudes, with buckets by their roots when they range too widely for one each.
 * @param squares at least one, at most 65,535, none negative.
 * @param max the largest of them.
 */
export function countSquares(squares: Int32Array, max: number): KeyCounts {
  if (max < MAX_BUCKETS) return countKeys(squares, 0);
  // No more buckets than there are keys, so that small cells stay small in memory.
  const bucketsPerRoot = (Math.min(MAX_BUCKETS, squares.length) - 1) / Math.sqrt(max);
  for (let i = 0; i < squares.length; i++) histogram[rootBucket(squares[i]!, bucketsPerRoot)]!++;
  const { first, below } = takeHistogram();
  const keys = new Int32Array(squares.length);
  const next = Int32Array.from(below);
  for (let i = 0; i < squares.length; i++) {
    keys[next[rootBucket(squares[i]!, bucketsPerRoot) - first]!++] = squares[i]!;
  }
  let min = max;
  for (let i = 0; i < below[1]!; i++) min = Math.min(min, keys[i]!);
  return { min, max, bucketsPerRoot, first, below, keys };
}

/** Sums up the histogram over the buckets in use, and clears it. */
function takeHistogram(): { first: number; below: Uint16Array } {
  let first = 0;
  while (histogram[first] === 0) first++;
  let last = MAX_BUCKETS - 1;
  while (histogram[last] === 0) last--;
  const below = new Uint16Array(last - first + 2);
  let count = 0;
  for (let bucket = first; bucket <= last; bucket++) {
    count += histogram[bucket]!;
    below[bucket - first + 1] = count;
    histogram[bucket] = 0;
  }
  return { first, below };
}

/**
 * Divides a photo into square cells from the upper left corner (what is left over at the right and bottom is not used) and
 * counts their channels when first asked for: most cells of most photos are told apart by one or two channels.
 * Cells are numbered column by column, the order in which regions are looked for: cell = column · rows + row.
 */
export class CellGrid {
  readonly columns: number;
  readonly rows: number;
  /** Pixels in a cell. */
  readonly pixels: number;
  readonly #image: RgbImage;
  readonly #cellSize: number;
  readonly #counts: (KeyCounts | undefined)[];
  readonly #keys: Int32Array;
  readonly #dx: Int32Array;
  readonly #dy: Int32Array;

  /** @param cellSize side of a cell in pixels, 2–255 (so that counts fit 16 bits). */
  constructor(image: RgbImage, cellSize: number) {
    this.#image = image;
    this.#cellSize = cellSize;
    this.columns = Math.floor(image.width / cellSize);
    this.rows = Math.floor(image.height / cellSize);
    this.pixels = cellSize * cellSize;
    this.#counts = new Array(this.columns * this.rows * CHANNELS).fill(undefined);
    this.#keys = new Int32Array(this.pixels);
    this.#dx = new Int32Array(this.pixels);
    this.#dy = new Int32Array(this.pixels);
  }

  /** The counts of a cell in a channel, made when first asked for. */
  counts(cell: number, channel: number): KeyCounts {
    const at = cell * CHANNELS + channel;
    if (this.#counts[at] === undefined) {
      if (channel < GREY) this.#countColour(cell, channel);
      else if (channel === GREY) this.#countGrey(cell);
      else this.#countGradients(cell, Math.floor((channel - FIRST_GRADIENT) / 3));
    }
    return this.#counts[at]!;
  }

  #box(cell: number): Box {
    const size = this.#cellSize;
    return { left: Math.floor(cell / this.rows) * size, top: (cell % this.rows) * size, width: size, height: size };
  }

  #countColour(cell: number, colour: number): void {
    const { data, width } = this.#image;
    const box = this.#box(cell);
    const keys = this.#keys;
    for (let y = 0, i = 0; y < box.height; y++) {
      let p = 3 * ((box.top + y) * width + box.left) + colour;
      for (let x = 0; x < box.width; x++, p += 3) keys[i++] = data[p]!;
    }
    this.#counts[cell * CHANNELS + colour] = countKeys(keys, 0);
  }

  #countGrey(cell: number): void {
    const { data, width } = this.#image;
    const box = this.#box(cell);
    const keys = this.#keys;
    for (let y = 0, i = 0; y < box.height; y++) {
      let p = 3 * ((box.top + y) * width + box.left);
      for (let x = 0; x < box.width; x++, p += 3) keys[i++] = data[p]! + data[p + 1]! + data[p + 2]!;
    }
    this.#counts[cell * CHANNELS + GREY] = countKeys(keys, 0);
  }

  /** The three gradient channels of a colour come from the same sums, so they are made together. */
  #countGradients(cell: number, colour: number): void {
    const dx = this.#dx;
    const dy = this.#dy;
    const squares = this.#keys;
    sobel(this.#image, colour, this.#box(cell), dx, dy);
    let max = 0;
    for (let i = 0; i < squares.length; i++) {
      const square = Math.imul(dx[i]!, dx[i]!) + Math.imul(dy[i]!, dy[i]!);
      squares[i] = square;
      if (square > max) max = square;
    }
    const at = cell * CHANNELS + FIRST_GRADIENT + 3 * colour;
    this.#counts[at] = countKeys(dx, -MAX_DERIVATIVE);
    this.#counts[at + 1] = countKeys(dy, -MAX_DERIVATIVE);
    this.#counts[at + 2] = countSquares(squares, max);
  }
}

/** Of a Sobel derivative of 8-bit values: (1 + 2 + 1) · 255. */
const MAX_DERIVATIVE = 1020;

/**
 * Sobel derivatives (3×3, unscaled: −1020 … 1020) of one colour in a box, as of the whole image: neighbours outside the box
 * count, and outside the image a neighbour is the pixel mirrored at the edge pixel (OpenCV's default, reflect-101).
 * @param colour 0–2.
 * @param dx receives the derivative along a row, row by row; `dy` the one down a column.
 */
export function sobel(image: RgbImage, colour: number, box: Box, dx: Int32Array, dy: Int32Array): void {
  const { data, width, height } = image;
  let i = 0;
  for (let y = box.top; y < box.top + box.height; y++) {
    const above = 3 * width * reflect(y - 1, height) + colour;
    const here = 3 * width * y + colour;
    const under = 3 * width * reflect(y + 1, height) + colour;
    // A 3×3 Sobel is a smoothing (1 2 1) one way and a difference (−1 0 1) the other: slide over both per column.
    let p = 3 * reflect(box.left - 1, width);
    let smoothLeft = data[above + p]! + 2 * data[here + p]! + data[under + p]!;
    let stepLeft = data[under + p]! - data[above + p]!;
    p = 3 * box.left;
    let smooth = data[above + p]! + 2 * data[here + p]! + data[under + p]!;
    let step = data[under + p]! - data[above + p]!;
    for (let x = box.left; x < box.left + box.width; x++) {
      p = 3 * reflect(x + 1, width);
      const smoothRight = data[above + p]! + 2 * data[here + p]! + data[under + p]!;
      const stepRight = data[under + p]! - data[above + p]!;
      dx[i] = smoothRight - smoothLeft;
      dy[i] = stepLeft + 2 * step + stepRight;
      i++;
      smoothLeft = smooth;
      smooth = smoothRight;
      stepLeft = step;
      step = stepRight;
    }
  }
}

/** Mirrors an index that is at most one outside 0 … length − 1 at the first or last element. */
function reflect(i: number, length: number): number {
  if (i < 0) return -i;
  return i < length ? i : 2 * length - 2 - i;
}
