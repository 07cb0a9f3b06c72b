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
 * The keys of one cell in one channel, in a form that counts the keys below any number at once: a table over buckets of
 * 2^shift keys, and the low bits of the keys of each bucket to look through.
 */
export interface KeyCounts {
  readonly min: number;
  readonly max: number;
  readonly shift: number;
  /** `below[i]` is how many keys are in buckets before bucket (min >> shift) + i; the last entry is all of them. */
  readonly below: Uint16Array;
  /** The low `shift` bits of every key, bucket by bucket, in no order inside one; empty when `shift` is 0. */
  readonly low: Uint16Array;
}

/** How many keys are smaller than `key`. */
export function countBelow({ min, max, shift, below, low }: KeyCounts, key: number): number {
  if (key <= min) return 0;
  if (key > max) return below[below.length - 1]!;
  const bucket = (key >> shift) - (min >> shift);
  let count = below[bucket]!;
  if (shift === 0) return count;
  const wanted = lowBits(key, shift);
  for (let i = count, end = below[bucket + 1]!; i < end; i++) if (low[i]! < wanted) count++;
  return count;
}

function lowBits(key: number, shift: number): number {
  return key & ((1 << shift) - 1);
}

/** Buckets counted at once: enough for a Sobel derivative to have one for each of its 2041 values. */
const MAX_BUCKETS = 2048;
/** All zero between calls of {@link countKeys}; one for all, since allocating it would take longer than counting. */
const histogram = new Int32Array(MAX_BUCKETS);

/**
 * Counts keys into a table of buckets.
 * @param keys at least one, at most 65,535.
 * @param lowest no bucket (key >> shift) is under this, and none is as much as 2048 over it.
 * @param shift 0–16.
 */
export function countKeys(keys: Int32Array, lowest: number, shift: number): KeyCounts {
  for (let i = 0; i < keys.length; i++) histogram[(keys[i]! >> shift) - lowest]!++;
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
  const firstKey = first + lowest;
  const lastKey = last + lowest;
  if (shift === 0) return { min: firstKey, max: lastKey, shift, below, low: NOTHING };

  const low = lowBitsByBucket(keys, firstKey, shift, below);
  let min = low[0]!;
  for (let i = 1; i < below[1]!; i++) if (low[i]! < min) min = low[i]!;
  let max = 0;
  for (let i = below[below.length - 2]!; i < low.length; i++) if (low[i]! > max) max = low[i]!;
  return { min: (firstKey << shift) + min, max: (lastKey << shift) + max, shift, below, low };
}

const NOTHING = new Uint16Array(0);

function lowBitsByBucket(keys: Int32Array, firstBucket: number, shift: number, below: Uint16Array): Uint16Array {
  const next = Int32Array.from(below);
  const low = new Uint16Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    low[next[(key >> shift) - firstBucket]!++] = lowBits(key, shift);
  }
  return low;
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
  /** A magnitude's table has about as many buckets as a cell has pixels (2^8 to 2^11), so that small cells need little memory. */
  readonly #bucketBits: number;
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
    this.#bucketBits = Math.min(11, Math.max(8, 32 - Math.clz32(this.pixels)));
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
    this.#counts[cell * CHANNELS + colour] = countKeys(keys, 0, 0);
  }

  #countGrey(cell: number): void {
    const { data, width } = this.#image;
    const box = this.#box(cell);
    const keys = this.#keys;
    for (let y = 0, i = 0; y < box.height; y++) {
      let p = 3 * ((box.top + y) * width + box.left);
      for (let x = 0; x < box.width; x++, p += 3) keys[i++] = data[p]! + data[p + 1]! + data[p + 2]!;
    }
    this.#counts[cell * CHANNELS + GREY] = countKeys(keys, 0, 0);
  }

  /** The three gradient channels of a colour come from the same sums, so they are made together. */
  #countGradients(cell: number, colour: number): void {
    const dx = this.#dx;
    const dy = this.#dy;
    const squares = this.#keys;
    sobel(this.#image, colour, this.#box(cell), dx, dy);
    let bits = 0;
    for (let i = 0; i < squares.length; i++) {
      const square = Math.imul(dx[i]!, dx[i]!) + Math.imul(dy[i]!, dy[i]!);
      squares[i] = square;
      bits |= square;
    }
    const shift = Math.max(0, 32 - Math.clz32(bits) - this.#bucketBits);
    const at = cell * CHANNELS + FIRST_GRADIENT + 3 * colour;
    this.#counts[at] = countKeys(dx, -MAX_DERIVATIVE, 0);
    this.#counts[at + 1] = countKeys(dy, -MAX_DERIVATIVE, 0);
    this.#counts[at + 2] = countKeys(squares, 0, shift);
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
