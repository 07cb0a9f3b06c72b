/**
 * The 8-connected components of a mask. A mask is held as its runs, the stretches of set pixels in a row; union–find joins
 * those that touch.
 */
import {
  CELL_SIDE,
  cellAddress,
  cellStride,
  height,
  LABEL_BYTES,
  labels,
  planeAddress,
  RUN_BYTES,
  result,
  rows,
  runLabels,
  runs,
  stride,
  width,
} from './memory';

/** The mask that was labelled last: its size, and how far from its edges the margin reaches. */
let columns: i32 = 0;
let lines: i32 = 0;
let margin: i32 = 0;
let lastLabel: usize = 0;
/** The label of the largest component, its root. */
export let largest: usize = 0;

/** Where the sentinel behind a line's last run begins and ends: beyond all columns. */
export const NO_COLUMN: i32 = i32.MAX_VALUE;

/** Address of the first run of line `y`. */
export function firstRun(y: i32): usize {
  return load<u32>(rows + 4 * (y as usize));
}

/**
 * Labels the pixels of a plane with a value of `bound` or more, or with `below` those under it; with `cells`, cells that have
 * only such pixels. Gives the address of four u32: area of the largest component (0 when there is none), whether it reaches
 * into the margin, area of the largest component that does, area of all that do.
 */
export function label(channel: u32, bound: u32, below: bool, cells: bool, pixelsOfMargin: i32): usize {
  margin = pixelsOfMargin;
  columns = (cells ? width / CELL_SIDE : width) as i32;
  lines = (cells ? height / CELL_SIDE : height) as i32;
  const step: usize = cells ? cellStride : stride;
  let line = cells ? cellAddress(channel, below) : planeAddress(channel);
  lastLabel = labels;
  let upper = runs; // nothing but a sentinel above the first line
  store<i32>(upper, NO_COLUMN);
  store<i32>(upper, NO_COLUMN, 4);
  let run = upper + RUN_BYTES;
  for (let y: i32 = 0; y < lines; y++, line += step) {
    store<u32>(rows + 4 * (y as usize), run as u32);
    const sentinel = findRuns(run, line, bound as u8, below);
    joinRuns(upper, run, sentinel, y);
    upper = run;
    run = sentinel + RUN_BYTES;
  }
  return summarize();
}

/** Lays down the runs of a line, and the sentinel, from `run` on. Returns the sentinel's address. */
function findRuns(run: usize, line: usize, bound: u8, below: bool): usize {
  const bounds = i8x16.splat(bound);
  const flip: u64 = below ? -1 : 0;
  const spare = columns & 63;
  let edge = run;
  let last: u64 = 0;
  for (let x: i32 = 0; x < columns; x += 64, line += 64) {
    let bits: u64 =
      (i8x16.bitmask(i8x16.ge_u(v128.load(line), bounds)) as u64) |
      ((i8x16.bitmask(i8x16.ge_u(v128.load(line, 16), bounds)) as u64) << 16) |
      ((i8x16.bitmask(i8x16.ge_u(v128.load(line, 32), bounds)) as u64) << 32) |
      ((i8x16.bitmask(i8x16.ge_u(v128.load(line, 48), bounds)) as u64) << 48);
    bits ^= flip;
    if (columns - x < 64) bits &= ((1 as u64) << spare) - 1;
    // Where a pixel differs from its left neighbour, a run begins or has ended, in turns.
    for (let edges = bits ^ ((bits << 1) | last); edges !== 0; edges &= edges - 1, edge += 4) {
      store<i32>(edge, x + (ctz(edges) as i32));
    }
    last = bits >> 63;
  }
  if (last !== 0) {
    store<i32>(edge, columns);
    edge += 4;
  }
  store<i32>(edge, NO_COLUMN);
  store<i32>(edge, NO_COLUMN, 4);
  return edge;
}

/** Labels the runs of line `y`, from `run` to before `sentinel`, by those they touch of the line above, from `upper` on. */
function joinRuns(upper: usize, run: usize, sentinel: usize, y: i32): void {
  const lineInMargin = y < margin || y >= lines - margin;
  const leftMargin = lineInMargin ? columns : margin;
  const rightMargin = columns - margin;
  for (; run < sentinel; run += RUN_BYTES) {
    const from = load<i32>(run);
    const to = load<i32>(run, 4);
    while (load<i32>(upper, 4) < from) upper += RUN_BYTES;
    let root: usize;
    if (load<i32>(upper) <= to) {
      root = rootOf(load<u32>(labelOf(upper)));
      while (load<i32>(upper, 4) <= to) {
        upper += RUN_BYTES; // what reaches beyond this run may touch the next as well
        if (load<i32>(upper) > to) break;
        root = join(root, rootOf(load<u32>(labelOf(upper))));
      }
    } else {
      root = lastLabel;
      lastLabel += LABEL_BYTES;
      store<u32>(root, root as u32);
      store<u32>(root, 0, 4);
      store<u32>(root, 0, 8);
    }
    store<u32>(labelOf(run), root as u32);
    store<u32>(root, load<u32>(root, 4) + (to - from), 4);
    if (from < leftMargin || to > rightMargin) store<u32>(root, 1, 8);
  }
}

/** Where the label of a run is kept. */
export function labelOf(run: usize): usize {
  return runLabels + ((run - runs) >> 1);
}

export function rootOf(label: usize): usize {
  let parent: usize = load<u32>(label);
  while (parent !== label) {
    const grandparent: usize = load<u32>(parent);
    store<u32>(label, grandparent as u32); // halves the path for the next time
    label = grandparent;
    parent = load<u32>(label);
  }
  return label;
}

/** Labels count up in raster order; of two, the lower becomes the root. */
function join(a: usize, b: usize): usize {
  if (a === b) return a;
  const root = min(a, b);
  const child = max(a, b);
  store<u32>(child, root as u32);
  store<u32>(root, load<u32>(root, 4) + load<u32>(child, 4), 4);
  store<u32>(root, load<u32>(root, 8) | load<u32>(child, 8), 8);
  return root;
}

/** Of components of equal area, the one first met in raster order counts as the largest. */
function summarize(): usize {
  let largestArea: u32 = 0;
  let marginLargest: u32 = 0;
  let marginTotal: u32 = 0;
  largest = 0;
  for (let label = labels; label < lastLabel; label += LABEL_BYTES) {
    if (load<u32>(label) !== (label as u32)) continue;
    const area = load<u32>(label, 4);
    if (area > largestArea) {
      largestArea = area;
      largest = label;
    }
    if (load<u32>(label, 8) !== 0) {
      marginTotal += area;
      marginLargest = max(marginLargest, area);
    }
  }
  store<u32>(result, largestArea);
  store<u32>(result, largest !== 0 ? load<u32>(largest, 8) : 0, 4);
  store<u32>(result, marginLargest, 8);
  store<u32>(result, marginTotal, 12);
  return result;
}

/** The bounding box of the largest component of the mask labelled last: the address of left, top, width, height as u32. */
export function findLargest(): usize {
  let left = columns;
  let right = 0;
  let top = lines;
  let bottom = 0;
  for (let y: i32 = 0; y < lines; y++) {
    for (let run = firstRun(y); load<i32>(run) !== NO_COLUMN; run += RUN_BYTES) {
      if (rootOf(load<u32>(labelOf(run))) !== largest) continue;
      left = min(left, load<i32>(run));
      right = max(right, load<i32>(run, 4));
      top = min(top, y);
      bottom = y + 1;
    }
  }
  store<u32>(result, left);
  store<u32>(result, top, 4);
  store<u32>(result, right - left, 8);
  store<u32>(result, bottom - top, 12);
  return result;
}
