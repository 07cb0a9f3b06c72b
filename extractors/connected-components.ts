import type { ChannelPlane } from './color-channels.ts';
import type { Box, Mask } from './image.ts';

/** What the 8-connected components of a mask add up to. Areas are in pixels; the margin is the labeller's. */
export interface ComponentSummary {
  /** Area of the largest component; 0 when no pixel is set. */
  readonly largest: number;
  /** Whether the largest component reaches into the margin. */
  readonly largestInMargin: boolean;
  /** Area of the largest component that reaches into the margin; 0 when none does. */
  readonly marginLargest: number;
  /** Area of all components that reach into the margin. */
  readonly marginTotal: number;
}

/**
 * Finds the largest 8-connected component of `plane > level` for planes of one size, in the same memory each time. A mask
 * is held as its runs, the stretches of set pixels in a row; union–find joins those that touch. Of components of
 * equal area, the one first met in raster order counts as the largest.
 */
export class ComponentLabeller {
  readonly #width: number;
  readonly #height: number;
  /** How many pixels wide the margin along the image's edges is. */
  readonly #margin: number;
  /** Run r covers columns `#start[r]` to `#end[r]` − 1. The runs of row y are `#rowRuns[y]` to `#rowRuns[y + 1]` − 1. */
  readonly #start: Int32Array;
  readonly #end: Int32Array;
  readonly #rowRuns: Int32Array;
  /** The label each run was given. Labels count up in raster order; the root of joined labels is the lowest of them. */
  readonly #label: Int32Array;
  #labels = 0;
  readonly #parent: Int32Array;
  /** For labels that are roots: the area, and 1 when the component reaches into the margin. */
  readonly #area: Int32Array;
  readonly #inMargin: Uint8Array;
  /** The root of the largest component. */
  #largest = 0;

  constructor(width: number, height: number, margin: number) {
    const maxRuns = height * ((width + 1) >> 1);
    this.#width = width;
    this.#height = height;
    this.#margin = margin;
    this.#start = new Int32Array(maxRuns);
    this.#end = new Int32Array(maxRuns);
    this.#rowRuns = new Int32Array(height + 1);
    this.#label = new Int32Array(maxRuns);
    this.#parent = new Int32Array(maxRuns);
    this.#area = new Int32Array(maxRuns);
    this.#inMargin = new Uint8Array(maxRuns);
  }

  /** Labels the pixels with a value above `level`, 0–254. */
  label(plane: ChannelPlane, level: number): ComponentSummary {
    this.#labels = 0;
    this.#rowRuns[0] = 0;
    for (let y = 0; y < this.#height; y++) {
      this.#rowRuns[y + 1] = this.#findRuns(plane, level, y);
      this.#joinRuns(y);
    }
    return this.#summarize();
  }

  /** The bounding box of the largest component of the mask labelled last, which must have one. */
  largestBox(): Box {
    let left = this.#width;
    let right = 0;
    let top = this.#height;
    let bottom = 0;
    for (let y = 0; y < this.#height; y++) {
      for (let run = this.#rowRuns[y]!; run < this.#rowRuns[y + 1]!; run++) {
        if (this.#root(this.#label[run]!) !== this.#largest) continue;
        left = Math.min(left, this.#start[run]!);
        right = Math.max(right, this.#end[run]!);
        top = Math.min(top, y);
        bottom = y + 1;
      }
    }
    return { left, top, width: right - left, height: bottom - top };
  }

  /** The pixels of the largest component, and of no other, within its bounding box. */
  largestMask(box: Box): Mask {
    const { left, top, width, height } = box;
    const data = new Uint8Array(width * height);
    for (let y = 0; y < height; y++) {
      const rowStart = y * width - left;
      for (let run = this.#rowRuns[top + y]!; run < this.#rowRuns[top + y + 1]!; run++) {
        if (this.#root(this.#label[run]!) !== this.#largest) continue;
        data.fill(255, rowStart + this.#start[run]!, rowStart + this.#end[run]!);
      }
    }
    return { width, height, data };
  }

  /** Appends the runs of row `y`. Returns the number of runs so far. */
  #findRuns({ words, stride }: ChannelPlane, level: number, y: number): number {
    const start = this.#start;
    const end = this.#end;
    let starts = this.#rowRuns[y]!;
    let ends = starts;
    const firstWord = y * (stride >> 2);
    let lastBit = 0;
    for (let x = 0; x < stride; x += 32) {
      const bits = bitsAbove(words, firstWord + (x >> 2), level);
      const bitsBefore = (bits << 1) | lastBit; // each pixel's left neighbour
      lastBit = bits >>> 31;
      for (let edges = bits & ~bitsBefore; edges !== 0; edges &= edges - 1) start[starts++] = x + lowestBit(edges);
      for (let edges = bitsBefore & ~bits; edges !== 0; edges &= edges - 1) end[ends++] = x + lowestBit(edges);
    }
    if (ends < starts) end[ends++] = this.#width; // the bytes past the width end a run, where there are any
    return ends;
  }

  /** Labels the runs of row `y` by the runs they touch in the row above. */
  #joinRuns(y: number): void {
    const start = this.#start;
    const end = this.#end;
    const firstRun = this.#rowRuns[y]!;
    const lastRun = this.#rowRuns[y + 1]!;
    const wholeRowInMargin = y < this.#margin || y >= this.#height - this.#margin;
    const leftMargin = wholeRowInMargin ? this.#width : this.#margin;
    const rightMargin = this.#width - this.#margin;
    let upper = y === 0 ? firstRun : this.#rowRuns[y - 1]!;
    for (let run = firstRun; run < lastRun; run++) {
      const from = start[run]!;
      const to = end[run]!;
      let root = -1;
      while (upper < firstRun && end[upper]! < from) upper++;
      while (upper < firstRun && start[upper]! <= to) {
        const touched = this.#root(this.#label[upper]!);
        root = root < 0 ? touched : this.#join(root, touched);
        if (end[upper]! > to) break; // it may touch the next run as well
        upper++;
      }
      if (root < 0) root = this.#newLabel();
      this.#label[run] = root;
      this.#area[root]! += to - from;
      if (from < leftMargin || to > rightMargin) this.#inMargin[root] = 1;
    }
  }

  #newLabel(): number {
    const label = this.#labels++;
    this.#parent[label] = label;
    this.#area[label] = 0;
    this.#inMargin[label] = 0;
    return label;
  }

  #root(label: number): number {
    const parent = this.#parent;
    let root = label;
    while (parent[root] !== root) {
      parent[root] = parent[parent[root]!]!; // halves the path for the next time
      root = parent[root]!;
    }
    return root;
  }

  #join(a: number, b: number): number {
    if (a === b) return a;
    const root = Math.min(a, b);
    const child = Math.max(a, b);
    this.#parent[child] = root;
    this.#area[root]! += this.#area[child]!;
    this.#inMargin[root]! |= this.#inMargin[child]!;
    return root;
  }

  #summarize(): ComponentSummary {
    let largest = 0;
    let marginLargest = 0;
    let marginTotal = 0;
    for (let label = 0; label < this.#labels; label++) {
      if (this.#parent[label] !== label) continue;
      const area = this.#area[label]!;
      if (area > largest) {
        largest = area;
        this.#largest = label;
      }
      if (this.#inMargin[label] === 1) {
        marginTotal += area;
        marginLargest = Math.max(marginLargest, area);
      }
    }
    return { largest, largestInMargin: largest > 0 && this.#inMargin[this.#largest] === 1, marginLargest, marginTotal };
  }
}

/** Which of the 32 pixels from `words[first]` on have a value above `level`, the first as the lowest bit. */
function bitsAbove(words: Int32Array, first: number, level: number): number {
  // Four comparisons at once: `carry` lifts the low seven bits of a value into its highest when they exceed those of the
  // level. Above a level of 128 or more are the values whose own highest bit is set as well, above a lower level also those
  // with that bit alone.
  const carry = Math.imul(127 - (level & 127), 0x01010101);
  const highLevel = level >= 128;
  let bits = 0;
  for (let i = 0; i < 8; i++) {
    const word = words[first + i]!;
    const lifted = (word & 0x7f7f7f7f) + carry;
    const above = ((highLevel ? lifted & word : lifted | word) >>> 7) & 0x01010101;
    bits |= (Math.imul(above, GATHER_BITS) >>> 28) << (4 * i);
  }
  return bits;
}

/** Multiplied by it, bits 0, 8, 16 and 24 of a word become its highest four. */
const GATHER_BITS = 0x10204080;

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
