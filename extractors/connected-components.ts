import type { Box, Mask } from './image.ts';

/** A contiguous area of a mask. */
export interface ConnectedComponent {
  /** Pixels. */
  readonly area: number;
  readonly box: Box;
  /** Its runs of set pixels in threes: row, first column, column behind the last. */
  readonly runs: readonly number[];
}

/**
 * The contiguous areas (8-connected) of a mask, in the order of their first pixel. Rows become runs, and union–find joins the
 * runs that touch, so that the time goes with the outline and not with the pixels. Planes of a photograph are labelled by the
 * kernel (`kernel/`), which splits them off on the way.
 */
export function connectedComponents({ data, width, height }: Mask): ConnectedComponent[] {
  const runs: number[] = [];
  const parents: number[] = [];
  const rootOf = (run: number): number => {
    let root = run;
    while (parents[root] !== root) root = parents[root]!;
    for (let at = run; at !== root; ) {
      const next = parents[at]!;
      parents[at] = root;
      at = next;
    }
    return root;
  };
  // Runs of the row above: from `above` up to where this row begins.
  let [above, begin] = [0, 0];
  for (let row = 0; row < height; row++) {
    const line = data.subarray(row * width, (row + 1) * width);
    let candidate = above;
    for (let first = line.indexOf(255); first >= 0; ) {
      const clear = line.indexOf(0, first);
      const end = clear < 0 ? width : clear;
      const run = parents.push(parents.length) - 1;
      runs.push(row, first, end);
      while (candidate < begin && runs[3 * candidate + 2]! < first) candidate++;
      for (let other = candidate; other < begin && runs[3 * other + 1]! <= end; other++) {
        const [a, b] = [rootOf(other), rootOf(run)];
        parents[Math.max(a, b)] = Math.min(a, b);
      }
      first = clear < 0 ? -1 : line.indexOf(255, clear);
    }
    above = begin;
    begin = parents.length;
  }
  const byRoot = new Map<number, number[]>();
  for (let run = 0; run < parents.length; run++) {
    const root = rootOf(run);
    const own = byRoot.get(root);
    if (own) own.push(runs[3 * run]!, runs[3 * run + 1]!, runs[3 * run + 2]!);
    else byRoot.set(root, runs.slice(3 * run, 3 * run + 3));
  }
  return Array.from(byRoot.values(), componentOf);
}

function componentOf(runs: number[]): ConnectedComponent {
  let [area, left, right] = [0, Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < runs.length; i += 3) {
    area += runs[i + 2]! - runs[i + 1]!;
    left = Math.min(left, runs[i + 1]!);
    right = Math.max(right, runs[i + 2]!);
  }
  const top = runs[0]!;
  const box = { left, top, width: right - left, height: runs[runs.length - 3]! - top + 1 };
  return { area, box, runs };
}

/** A component alone, cut to its box. */
export function componentMask({ box: { left, top, width, height }, runs }: ConnectedComponent): Mask {
  const data = new Uint8Array(width * height);
  for (let i = 0; i < runs.length; i += 3) {
    const start = (runs[i]! - top) * width - left;
    data.fill(255, start + runs[i + 1]!, start + runs[i + 2]!);
  }
  return { data, width, height };
}
