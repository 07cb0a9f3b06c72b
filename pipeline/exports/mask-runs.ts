import type { Box, GreyImage } from '../../extractors/image.ts';
import type { RunLengths } from '../../extractors/run-lengths.ts';

/** A mask as an annotation has it: its run lengths, and what they come to. */
export interface MaskRuns extends RunLengths {
  /** The smallest box that holds the set pixels; all 0 when there is none. */
  readonly box: Box;
  /** Set pixels. */
  readonly area: number;
}

/** The highest bit of each of four grey values: set in those of at least half coverage. */
const HALVES = 0x80808080 | 0;
/** The same of one of the four, in the order in which they lie in memory. */
const BITS = new Int32Array(Uint8Array.from({ length: 16 }, (_, i) => (i % 5 === 0 ? 0x80 : 0)).buffer);

/**
 * The run lengths of the pixels of at least half coverage. Where they change from one row to the next, a run of the column begins or
 * ends: rows are compared as they lie in memory, 16 pixels at once, and the few changes are put in the order of columns, so that
 * neither a mask nor a turned copy of it is made.
 */
export function halfCoveredRuns({ data, width, height }: GreyImage): MaskRuns {
  const perRow = 4 * Math.ceil(width / 16);
  const words = wordsOf(data, width, height, perRow);
  const changed: number[] = [];
  const bits: number[] = [];
  const add = (word: number, halves: number) => {
    if (halves === 0) return;
    changed.push(word);
    bits.push(halves);
  };
  // Nothing is set above the first row and below the last.
  for (let i = 0; i < perRow; i++) add(i, words[i]! & HALVES);
  for (let i = perRow, above = 0; i < words.length; i += 4, above += 4) {
    const a = (words[i]! ^ words[above]!) & HALVES;
    const b = (words[i + 1]! ^ words[above + 1]!) & HALVES;
    const c = (words[i + 2]! ^ words[above + 2]!) & HALVES;
    const d = (words[i + 3]! ^ words[above + 3]!) & HALVES;
    if ((a | b | c | d) === 0) continue;
    add(i, a);
    add(i + 1, b);
    add(i + 2, c);
    add(i + 3, d);
  }
  for (let i = words.length; i < words.length + perRow; i++) add(i, words[i - perRow]! & HALVES);
  const [top, bottom] = [changed[0]!, changed[changed.length - 1]!].map(word => Math.floor(word / perRow));
  return fromChanges(byColumn(changed, bits, perRow, height), [top!, bottom!], width, height);
}

/** Rows of grey values as words of four: the values as they lie, or a copy whose rows are so many words. */
function wordsOf(data: Uint8Array, width: number, height: number, perRow: number): Int32Array {
  if (width === 4 * perRow && data.byteOffset % 4 === 0) {
    return new Int32Array(data.buffer, data.byteOffset, perRow * height);
  }
  const padded = new Uint8Array(4 * perRow * height);
  for (let row = 0; row < height; row++) padded.set(data.subarray(row * width, (row + 1) * width), 4 * row * perRow);
  return new Int32Array(padded.buffer);
}

/**
 * Places of pixels, counted down the columns and ascending.
 * @param words in which the pixels are, row by row; `bits` tell which of a word they are.
 */
function byColumn(words: readonly number[], bits: readonly number[], perRow: number, height: number): Uint32Array {
  const [first, second, third, fourth] = BITS as unknown as [number, number, number, number];
  const next = new Uint32Array(4 * perRow + 1);
  for (let i = 0; i < words.length; i++) {
    const column = 4 * (words[i]! % perRow);
    const set = bits[i]!;
    if ((set & first) !== 0) next[column + 1]!++;
    if ((set & second) !== 0) next[column + 2]!++;
    if ((set & third) !== 0) next[column + 3]!++;
    if ((set & fourth) !== 0) next[column + 4]!++;
  }
  for (let column = 1; column <= 4 * perRow; column++) next[column]! += next[column - 1]!;
  const places = new Uint32Array(next[4 * perRow]!);
  for (let i = 0; i < words.length; i++) {
    const row = Math.floor(words[i]! / perRow);
    const column = 4 * (words[i]! - row * perRow);
    const place = column * height + row;
    const set = bits[i]!;
    if ((set & first) !== 0) places[next[column]!++] = place;
    if ((set & second) !== 0) places[next[column + 1]!++] = place + height;
    if ((set & third) !== 0) places[next[column + 2]!++] = place + 2 * height;
    if ((set & fourth) !== 0) places[next[column + 3]!++] = place + 3 * height;
  }
  return places;
}

/**
 * @param changes places where runs of a column's set pixels begin and end in turn, ascending, counted down the columns.
 * @param rows the first that has a set pixel, and the first below the last.
 */
function fromChanges(
  changes: ArrayLike<number>,
  [top, bottom]: readonly [number, number],
  width: number,
  height: number,
): MaskRuns {
  const counts: number[] = [];
  let [position, area] = [0, 0];
  for (let i = 0; i < changes.length; i += 2) {
    const start = changes[i]!;
    const end = changes[i + 1]!;
    area += end - start;
    // What goes on at the top of the next column is one run.
    if (start === position && counts.length > 0) counts[counts.length - 1]! += end - start;
    else counts.push(start - position, end - start);
    position = end;
  }
  if (position < width * height) counts.push(width * height - position);
  if (area === 0) return { width, height, counts, area, box: { left: 0, top: 0, width: 0, height: 0 } };
  const left = Math.floor(changes[0]! / height);
  const right = Math.ceil(changes[changes.length - 1]! / height);
  return { width, height, counts, area, box: { left, top, width: right - left, height: bottom - top } };
}

/**
 * The run lengths of what a crop shows of a mask.
 * @param crop lies in the picture, whose size the run lengths have.
 */
export function croppedRuns({ counts, height }: RunLengths, { left, top, ...crop }: Box): MaskRuns {
  const changes: number[] = [];
  let [position, first, last] = [0, crop.height, 0];
  for (const [i, count] of counts.entries()) {
    for (let start = position; i % 2 === 1 && start < position + count; ) {
      const column = Math.floor(start / height);
      const end = Math.min(position + count, (column + 1) * height);
      const origin = column * height + top;
      const from = Math.max(0, start - origin);
      const to = Math.min(crop.height, end - origin);
      if (column >= left && column < left + crop.width && from < to) {
        changes.push((column - left) * crop.height + from, (column - left) * crop.height + to);
        first = Math.min(first, from);
        last = Math.max(last, to);
      }
      start = end;
    }
    position += count;
  }
  return fromChanges(changes, [first, last], crop.width, crop.height);
}
