import type { Box, Mask } from './image.ts';
import type { PlacedMask } from './placed-mask.ts';

/**
 * A mask as COCO writes it: lengths of runs of clear and set pixels in turn, down the columns from the left, the first of
 * them clear (and possibly 0 long).
 */
export interface RunLengths {
  readonly height: number;
  readonly width: number;
  readonly counts: readonly number[];
}

/** Run lengths that are none, or do not fill their picture. */
export class InvalidRunLengths extends Error {
  override name = 'InvalidRunLengths';
}

/** The run lengths of a mask; no run but the first is 0 long. */
export function encodeRunLengths(mask: Mask): RunLengths {
  const { width, height } = mask;
  return encodePlaced({ mask, box: { left: 0, top: 0, width, height } }, width, height);
}

/**
 * The run lengths of a picture that is clear but for a mask in it.
 * @param placed its box lies within the picture and has the mask's size.
 * @param width of the picture, pixels; so is `height`.
 */
export function encodePlaced({ mask, box }: PlacedMask, width: number, height: number): RunLengths {
  // Row by row, as the mask lies in memory: where it changes from one row to the next, a run of the column begins or ends.
  const crossings: number[] = [];
  const clear = new Uint8Array(box.width);
  let above: Uint8Array = clear;
  for (let row = 0; row <= box.height; row++) {
    const line = row < box.height ? mask.data.subarray(row * box.width, (row + 1) * box.width) : clear;
    for (let column = 0, at = box.left * height + box.top + row; column < box.width; column++, at += height) {
      if (line[column] !== above[column]) crossings.push(at);
    }
    above = line;
  }
  return fromRuns([Float64Array.from(crossings).sort()], width, height);
}

/** The mask of run lengths. @throws InvalidRunLengths */
export function decodeRunLengths(runLengths: RunLengths): Mask {
  const { width, height } = runLengths;
  const data = new Uint8Array(width * height);
  fillRuns(setRuns(runLengths), height, { mask: { data, width, height }, box: { left: 0, top: 0, width, height } });
  return { data, width, height };
}

/**
 * The set pixels cut to the smallest box that holds them, and their number, without a mask of the whole picture;
 * undefined: none is set.
 * @throws InvalidRunLengths
 */
export function placedRunLengths(runLengths: RunLengths): (PlacedMask & { readonly area: number }) | undefined {
  const runs = setRuns(runLengths);
  if (runs.length === 0) return undefined;
  const box = boxOf(runs, runLengths.height);
  const mask = { data: new Uint8Array(box.width * box.height), width: box.width, height: box.height };
  fillRuns(runs, runLengths.height, { mask, box });
  return { mask, box, area: areaOf(runs) };
}

/** Set pixels. @throws InvalidRunLengths */
export function runLengthArea(runLengths: RunLengths): number {
  return areaOf(setRuns(runLengths));
}

/** The smallest box that holds the set pixels; all 0 when there is none, as in pycocotools. @throws InvalidRunLengths */
export function runLengthBox(runLengths: RunLengths): Box {
  return boxOf(setRuns(runLengths), runLengths.height);
}

/**
 * What is set in any of several masks of one size.
 * @param parts at least one.
 * @throws InvalidRunLengths also when they are of different sizes.
 */
export function uniteRunLengths(parts: readonly RunLengths[]): RunLengths {
  const { width, height } = parts[0]!;
  const odd = parts.find(part => part.width !== width || part.height !== height);
  if (odd) {
    throw new InvalidRunLengths(
      `expected masks of ${width} × ${height} pixels, got one of ${odd.width} × ${odd.height}`,
    );
  }
  return fromRuns(parts.map(setRuns), width, height);
}

/**
 * The counts as a string: from the fourth on each is the difference to the count two earlier, in groups of 5 bits, the lowest
 * first, as the characters from "0" on; 32 more: another group follows. The last group's highest bit is the sign.
 * @param counts integers from 0 to 2³¹ − 1.
 */
export function compressCounts(counts: readonly number[]): string {
  let text = '';
  for (let i = 0; i < counts.length; i++) {
    let rest = i > 2 ? counts[i]! - counts[i - 2]! : counts[i]!;
    for (let more = true; more; ) {
      const group = rest & 31;
      rest >>= 5;
      more = rest !== (group & 16 ? -1 : 0);
      text += String.fromCharCode(48 + group + (more ? 32 : 0));
    }
  }
  return text;
}

/** Undoes {@link compressCounts}. @throws InvalidRunLengths */
export function expandCounts(text: string): number[] {
  const counts: number[] = [];
  for (let i = 0; i < text.length; ) {
    let value = 0;
    let shift = 0;
    for (let more = true; more; shift += 5) {
      const group = text.charCodeAt(i++) - 48;
      // NaN behind the end; seven groups are 35 bits, more than a count has.
      if (!(group >= 0 && group < 64) || shift > 30) {
        throw new InvalidRunLengths(`expected compressed run lengths, got "${shortened(text)}"`);
      }
      value |= (group & 31) << shift;
      more = group >= 32;
      if (!more && group & 16 && shift < 27) value |= -1 << (shift + 5);
    }
    counts.push(counts.length > 2 ? value + counts[counts.length - 2]! : value);
  }
  return counts;
}

/** What a list of counts from a file may hold, as it stands there. */
const inJson = (value: unknown) => (typeof value === 'number' ? String(value) : shortened(JSON.stringify(value)));

const shortened = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/**
 * The mask of polygons, with the pixels that pycocotools gives them: what is in any of them. An edge is a line on a grid five
 * times as fine as the pixels, and where it crosses the middle of a pixel column, a run begins or ends; places above or below
 * the picture count as its edge.
 * @param polygons x1, y1, x2, y2 … in pixels, pixel corners at whole numbers. Fewer than three points have no inside; what is
 * outside of the picture is left out. Coordinates are finite.
 */
export function polygonRunLengths(polygons: readonly (readonly number[])[], width: number, height: number): RunLengths {
  return fromRuns(
    polygons.map(polygon => polygonRuns(polygon, width, height)),
    width,
    height,
  );
}

/** Starts and ends (exclusive) of runs of set pixels in turn, ascending, counted down the columns. */
type Runs = ArrayLike<number>;

/** Places on the fine grid per pixel. */
const FINE = 5;
/** The last fine column left of a pixel column's middle; the next one is right of it. */
const MIDDLE = 2;
/** Beyond, the places of the fine grid are no 32-bit integers, as pycocotools takes them for. */
const FARTHEST = 2 ** 28;

function polygonRuns(polygon: readonly number[], width: number, height: number): Runs {
  const points = polygon.length >> 1;
  if (points < 3) return [];
  const crossings: number[] = [];
  for (let i = 0; i < points; i++) {
    const next = i + 1 < points ? i + 1 : 0;
    addCrossings(
      crossings,
      fine(polygon[2 * i]!),
      fine(polygon[2 * i + 1]!),
      fine(polygon[2 * next]!),
      fine(polygon[2 * next + 1]!),
      width,
      height,
    );
  }
  // A closed line crosses a column's middle an even number of times, so crossings in order are starts and ends in turn.
  return Float64Array.from(crossings).sort();
}

function fine(coordinate: number): number {
  return Math.trunc(FINE * Math.max(-FARTHEST, Math.min(FARTHEST, coordinate)) + 0.5);
}

/**
 * Where an edge from one place of the fine grid to another crosses the middles of pixel columns: the first pixel below, counted
 * down the columns. Only these places of the line are worked out, with the arithmetic of a walk along its longer side.
 */
function addCrossings(
  crossings: number[],
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  width: number,
  height: number,
): void {
  const [left, right] = x1 < x2 ? [x1, x2] : [x2, x1];
  const first = Math.max(0, Math.ceil((left - MIDDLE) / FINE));
  const last = Math.min(width - 1, Math.floor((right - MIDDLE - 1) / FINE));
  if (first > last) return;
  const flat = right - left >= Math.abs(y2 - y1);
  // The walk goes rightwards on a flat edge, downwards on a steep one.
  const turned = flat ? x1 > x2 : y1 > y2;
  const [xs, ys, xe, ye] = turned ? [x2, y2, x1, y1] : [x1, y1, x2, y2];
  const slope = flat ? (ye - ys) / (xe - xs) : (xe - xs) / (ye - ys);
  for (let column = first; column <= last; column++) {
    const before = FINE * column + MIDDLE;
    let y: number;
    if (flat) {
      const step = before - xs;
      y = Math.min(Math.trunc(ys + slope * step + 0.5), Math.trunc(ys + slope * (step + 1) + 0.5));
    } else {
      y = ys + stepsWithin(xs, slope, before);
    }
    const row = Math.ceil((y + 0.5) / FINE - 0.5);
    crossings.push(column * height + Math.max(0, Math.min(height, row)));
  }
}

/** The last step of a steep walk, down from x = `start`, on the side of column `before` that it comes from. */
function stepsWithin(start: number, slope: number, before: number): number {
  const isOver =
    slope > 0
      ? (step: number) => start + slope * step + 0.5 >= before + 1
      : (step: number) => start + slope * step + 0.5 < before + 1;
  // The division is off by a rounding error at most.
  let step = Math.floor((before + 0.5 - start) / slope);
  while (isOver(step)) step--;
  while (!isOver(step + 1)) step++;
  return step;
}

/** The runs of set pixels. @throws InvalidRunLengths when the counts do not fill the picture. */
function setRuns({ width, height, counts }: RunLengths): Runs {
  const runs: number[] = [];
  let position = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if (!(Number.isInteger(count) && count >= 0)) {
      throw new InvalidRunLengths(`expected run lengths that are whole numbers from 0, got ${inJson(count)}`);
    }
    if (i % 2 === 1 && count > 0) {
      // Runs with nothing between them are one.
      if (runs.at(-1) === position) runs.pop();
      else runs.push(position);
      runs.push(position + count);
    }
    position += count;
  }
  if (position !== width * height) {
    throw new InvalidRunLengths(
      `expected run lengths of ${width} × ${height} = ${width * height} pixels, got ${position} pixels`,
    );
  }
  return runs;
}

/** The run lengths of what is in any of several lists of runs, which may overlap and touch, and be empty. */
function fromRuns(parts: readonly Runs[], width: number, height: number): RunLengths {
  const number = parts.reduce((sum, runs) => sum + runs.length / 2, 0);
  const starts = new Float64Array(number);
  const ends = new Float64Array(number);
  let filled = 0;
  for (const runs of parts) {
    for (let i = 0; i < runs.length; i += 2, filled++) {
      starts[filled] = runs[i]!;
      ends[filled] = runs[i + 1]!;
    }
  }
  starts.sort();
  ends.sort();
  const counts: number[] = [];
  let position = 0;
  let begun = 0;
  let first = 0;
  for (let ended = 0; ended < number; ended++) {
    while (begun < number && starts[begun]! <= ends[ended]!) begun++;
    // When all that have begun have ended, there is a gap or the picture's end.
    if (begun > ended + 1) continue;
    const [start, end] = [starts[first]!, ends[ended]!];
    if (start < end) {
      counts.push(start - position, end - start);
      position = end;
    }
    first = begun;
  }
  if (position < width * height || counts.length === 0) counts.push(width * height - position);
  return { height, width, counts };
}

function areaOf(runs: Runs): number {
  let area = 0;
  for (let i = 0; i < runs.length; i += 2) area += runs[i + 1]! - runs[i]!;
  return area;
}

function boxOf(runs: Runs, height: number): Box {
  if (runs.length === 0) return { left: 0, top: 0, width: 0, height: 0 };
  const left = Math.floor(runs[0]! / height);
  const right = Math.floor((runs[runs.length - 1]! - 1) / height);
  let [top, bottom] = [height, -1];
  for (let i = 0; i < runs.length; i += 2) {
    const first = runs[i]! % height;
    const last = first + runs[i + 1]! - runs[i]! - 1;
    // What goes on in the next column goes down to the bottom of this one, and begins at the top of that.
    top = Math.min(top, last < height ? first : 0);
    bottom = Math.max(bottom, Math.min(last, height - 1));
  }
  return { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Sets the runs' pixels in a clear mask, whose box holds them all. */
function fillRuns(runs: Runs, height: number, { mask: { data }, box }: PlacedMask): void {
  for (let i = 0; i < runs.length; i += 2) {
    for (let start = runs[i]!; start < runs[i + 1]!; ) {
      const column = Math.floor(start / height);
      const end = Math.min(runs[i + 1]!, (column + 1) * height);
      const first = (start - column * height - box.top) * box.width + column - box.left;
      const last = first + (end - start) * box.width;
      for (let at = first; at < last; at += box.width) data[at] = 255;
      start = end;
    }
  }
}
