import { CellSimilarity } from './cell-similarity.ts';
import type { Box, RgbImage } from './image.ts';
import { boxOverlap } from './overlap.ts';
import { CellGrid } from './texture-channels.ts';

/** The rule for textures of VasTextures (arXiv 2406.17146, the authors' script), with the changes that say "ours". */
export interface TextureOptions {
  /**
   * Side of a cell in pixels of the image looked at, 3–255; 'auto' decides by its short side, {@link defaultCellSize}.
   */
  readonly cellSize: number | 'auto';
  /** Cells a side from which a square is a texture (script: 7, which is 525 px at 75 px a cell). */
  readonly minCells: number;
  /** Lowest similarity of any two cells of a texture, 0–1 (script: 0.5). */
  readonly minSimilarity: number;
  /** Squares a photo after which the search ends, counted before the smooth and overlapping ones go (script: 100). */
  readonly maxRegions: number;
  /**
   * Pairs of cells compared in a photo, after which the search ends with what it has (ours): a picture that is one pattern all
   * over would take minutes otherwise.
   */
  readonly maxComparisons: number;
  /**
   * A texture with a quadrant whose standard deviation is under this is smooth and dropped (script: 3.5). As NumPy's `std` of
   * the RGB quadrant: over all values of all three colours, 0–255.
   */
  readonly smoothDeviation: number;
  /** The same for bright quadrants (script: 6) … */
  readonly brightSmoothDeviation: number;
  /** … those whose mean value is over this (script: 245). */
  readonly brightMean: number;
  /** Of two textures that overlap by more than this share of the smaller one only the better stays, 0–1 (ours: a quarter). */
  readonly maxOverlap: number;
}

export const DEFAULTS: TextureOptions = {
  cellSize: 'auto',
  minCells: 7,
  minSimilarity: 0.5,
  maxRegions: 100,
  maxComparisons: 400_000,
  smoothDeviation: 3.5,
  brightSmoothDeviation: 6,
  brightMean: 245,
  maxOverlap: 0.25,
};

/** A square of a photo that looks alike all over. */
export interface TextureRegion {
  /** In pixels of the image looked at; square. */
  readonly box: Box;
  /** Cells a side. */
  readonly cells: number;
  /** Side of a cell in pixels. */
  readonly cellSize: number;
  /** Lowest similarity of two of its cells, minSimilarity … 1. */
  readonly score: number;
}

/** Why a square of similar cells is no texture. */
export type TextureRejection = 'contained' | 'overlap' | 'smooth';

export interface TextureRegions {
  /** Best score first; equal scores in the order they were found. */
  readonly regions: TextureRegion[];
  readonly rejected: Record<TextureRejection, number>;
}

/** Cells smaller than this hold too few pixels for a histogram. */
const MIN_CELL_SIZE = 3;

/**
 * Cells of a recipe have at least this side, pixels. Below, a histogram of ten bins has fewer than six pixels a bin, and a
 * picture that is one pattern takes ten seconds and a gigabyte (docs/performance.md).
 */
export const SMALLEST_CELL = 8;

/** 75 px for a photo whose short side has 1,500 px or more, else 40 px (the script's size for Open Images photos). */
export function defaultCellSize(shortSide: number): number {
  return shortSide >= 1500 ? 75 : 40;
}

/**
 * Finds the uniform textures of a photo. From every cell (left to right, in a column from the top) a square grows by a row and
 * a column at a time while all its cells are similar; squares of enough cells are kept unless they lie in an earlier one.
 * Then, from the best score down, squares that overlap a better texture and squares with a smooth quadrant are dropped.
 * Memory: at most about 50 bytes a pixel that is looked at, and 16 bytes a pair of cells that could share a square.
 * @param image already shrunk to the size at which cells are meant (script: short side of 2200 px at most).
 * @throws RangeError when the cell size is no whole number from 3 to 255.
 */
export function findTextureRegions(image: RgbImage, options: TextureOptions = DEFAULTS): TextureRegions {
  const cellSize =
    options.cellSize === 'auto' ? defaultCellSize(Math.min(image.width, image.height)) : options.cellSize;
  if (!Number.isInteger(cellSize) || cellSize < MIN_CELL_SIZE || cellSize > 255) {
    throw new RangeError(`expected a whole number from 3 to 255 px as cell size, got ${cellSize}`);
  }
  const rejected = { contained: 0, overlap: 0, smooth: 0 };
  const regions: TextureRegion[] = [];
  for (const region of byScore(similarSquares(image, cellSize, options, rejected))) {
    if (regions.some(better => boxOverlap(better.box, region.box) > options.maxOverlap)) rejected.overlap++;
    else if (hasSmoothQuadrant(image, region.box, options)) rejected.smooth++;
    else regions.push(region);
  }
  return { regions, rejected };
}

/** Array.prototype.sort is stable, so equal scores keep their order. */
function byScore(regions: TextureRegion[]): TextureRegion[] {
  return regions.sort((a, b) => b.score - a.score);
}

function similarSquares(
  image: RgbImage,
  cellSize: number,
  options: TextureOptions,
  rejected: Record<TextureRejection, number>,
): TextureRegion[] {
  const grid = new CellGrid(image, cellSize);
  const growth = new SquareGrowth(grid, options);
  const found: TextureRegion[] = [];
  for (let column = 0; column < grid.columns; column++) {
    for (let row = 0; row < grid.rows; row++) {
      const alike = cellsInside(found, column, row);
      if (growth.spent) return found;
      if (alike >= options.minCells && !growth.growsBeyond(column, row, alike)) {
        rejected.contained++;
        continue;
      }
      const square = growth.from(column, row);
      if (square === undefined) continue;
      const side = square.cells * cellSize;
      const box = { left: column * cellSize, top: row * cellSize, width: side, height: side };
      found.push({ box, cells: square.cells, cellSize, score: square.score });
      if (found.length === options.maxRegions) return found;
    }
  }
  return found;
}

/** Cells a side of the largest square from this cell that lies in one of the regions; 0 when none holds the cell. */
function cellsInside(regions: readonly TextureRegion[], column: number, row: number): number {
  let most = 0;
  for (const { box, cells, cellSize } of regions) {
    const columnsIn = column - box.left / cellSize;
    const rowsIn = row - box.top / cellSize;
    if (columnsIn >= 0 && rowsIn >= 0) most = Math.max(most, cells - Math.max(columnsIn, rowsIn));
  }
  return most;
}

/**
 * Grows squares of similar cells. Only squares of `minCells` matter, which saves nearly all comparisons: that smallest square
 * is looked at first, and from its far corner, since two cells found unlike there also rule out many of the starts to come.
 */
class SquareGrowth {
  readonly #grid: CellGrid;
  readonly #similarity: CellSimilarity;
  readonly #minCells: number;
  readonly #minSimilarity: number;
  /** 1 for every start whose smallest square holds two cells known to be unlike. */
  readonly #ruledOut: Uint8Array;
  /** The cells of the square under way. */
  readonly #inside: number[] = [];
  /** Per cell its similarities to later cells, by the difference of their numbers; 0 where not compared yet. */
  readonly #remembered: (Float64Array | undefined)[];
  readonly #rememberedLength: number;
  #comparisonsLeft: number;

  constructor(grid: CellGrid, options: TextureOptions) {
    const { columns, rows } = grid;
    const longest = Math.min(columns, rows);
    this.#grid = grid;
    this.#similarity = new CellSimilarity(grid);
    this.#minCells = options.minCells;
    this.#minSimilarity = options.minSimilarity;
    this.#comparisonsLeft = options.maxComparisons;
    this.#ruledOut = new Uint8Array(columns * rows);
    this.#remembered = new Array(columns * rows).fill(undefined);
    this.#rememberedLength = Math.min(longest * rows, MAX_REMEMBERED);
  }

  /** Whether no more comparisons are allowed. */
  get spent(): boolean {
    return this.#comparisonsLeft <= 0;
  }

  /** The largest square whose upper left cell is this, and its lowest similarity; undefined when it has too few cells. */
  from(column: number, row: number): { cells: number; score: number } | undefined {
    const { columns, rows } = this.#grid;
    const start = column * rows + row;
    const most = Math.min(columns - column, rows - row);
    let cells = this.#minCells;
    if (most < cells || this.#ruledOut[start] === 1) return undefined;

    this.#inside.length = 0;
    let score = 1;
    for (let corner = cells - 1; corner >= 0; corner--) {
      score = Math.min(score, this.#addCorner(start, corner, corner, cells - 1));
      if (score < this.#minSimilarity) return undefined;
    }
    for (; cells < most && !this.spent; cells++) {
      const grown = this.#addCorner(start, cells, 0, cells);
      if (grown < this.#minSimilarity) break;
      score = Math.min(score, grown);
    }
    return { cells, score };
  }

  /** Whether a square whose cells are known to be similar can have one row and column more. */
  growsBeyond(column: number, row: number, cells: number): boolean {
    const { columns, rows } = this.#grid;
    if (Math.min(columns - column, rows - row) === cells) return false;
    const start = column * rows + row;
    this.#inside.length = 0;
    for (let i = 0; i < cells; i++) for (let j = 0; j < cells; j++) this.#inside.push(start + i * rows + j);
    return this.#addCorner(start, cells, 0, cells) >= this.#minSimilarity;
  }

  /**
   * Adds the cells (corner, i) and (i, corner), counted from the start, for i in `from` … `to`.
   * @returns the lowest similarity of the added cells to each other and those inside, or one that is too low.
   */
  #addCorner(start: number, corner: number, from: number, to: number): number {
    const { rows } = this.#grid;
    const added = [start + corner * rows + corner];
    for (let i = from; i <= to; i++) {
      if (i !== corner) added.push(start + corner * rows + i, start + i * rows + corner);
    }
    const lowest = this.#lowestSimilarity(added);
    this.#inside.push(...added);
    return lowest;
  }

  #lowestSimilarity(added: readonly number[]): number {
    const a: number[] = [];
    const b: number[] = [];
    let lowest = 1;
    const compare = (first: number, second: number) => {
      const similarity = this.#recall(first, second);
      if (similarity === 0) {
        a.push(first);
        b.push(second);
      } else if (similarity < lowest) lowest = similarity;
    };
    for (const cell of this.#inside) for (const other of added) compare(cell, other);
    for (let i = 1; i < added.length; i++) for (let j = 0; j < i; j++) compare(added[i]!, added[j]!);
    if (lowest < this.#minSimilarity) return lowest;

    this.#comparisonsLeft -= a.length;
    const similarities = new Float64Array(a.length);
    const unlike = this.#similarity.ofPairs(a, b, this.#minSimilarity, similarities);
    if (unlike >= 0) {
      this.#remember(a[unlike]!, b[unlike]!, similarities[unlike]!);
      this.#ruleOut(a[unlike]!, b[unlike]!);
      return similarities[unlike]!;
    }
    for (let i = 0; i < a.length; i++) {
      this.#remember(a[i]!, b[i]!, similarities[i]!);
      lowest = Math.min(lowest, similarities[i]!);
    }
    return lowest;
  }

  #recall(a: number, b: number): number {
    return this.#remembered[Math.min(a, b)]?.[Math.abs(a - b)] ?? 0;
  }

  #remember(a: number, b: number, similarity: number): void {
    const distance = Math.abs(a - b);
    if (distance >= this.#rememberedLength) return;
    this.#remembered[Math.min(a, b)] ??= new Float64Array(this.#rememberedLength);
    this.#remembered[Math.min(a, b)]![distance] = similarity;
  }

  /** Marks the starts whose smallest square holds both cells. */
  #ruleOut(a: number, b: number): void {
    const { rows } = this.#grid;
    const span = this.#minCells - 1;
    const left = Math.floor(Math.min(a, b) / rows);
    const right = Math.floor(Math.max(a, b) / rows);
    const top = Math.min(a % rows, b % rows);
    const bottom = Math.max(a % rows, b % rows);
    for (let column = Math.max(0, right - span); column <= left; column++) {
      for (let row = Math.max(0, bottom - span); row <= top; row++) this.#ruledOut[column * rows + row] = 1;
    }
  }
}

/** Similarities remembered per cell: enough for any photo at 75 px a cell and most at 40; it bounds tiny cells to 26 kB each. */
const MAX_REMEMBERED = 3200;

function hasSmoothQuadrant(image: RgbImage, box: Box, options: TextureOptions): boolean {
  return quadrants(box).some(quadrant => {
    const { mean, deviation } = brightness(image, quadrant);
    if (deviation < options.smoothDeviation) return true;
    return deviation < options.brightSmoothDeviation && mean > options.brightMean;
  });
}

/** Of an odd side the middle row and column belong to the later half. */
function quadrants({ left, top, width, height }: Box): Box[] {
  const halfWidth = Math.floor(width / 2);
  const halfHeight = Math.floor(height / 2);
  const columns = [
    { left, width: halfWidth },
    { left: left + halfWidth, width: width - halfWidth },
  ];
  const rows = [
    { top, height: halfHeight },
    { top: top + halfHeight, height: height - halfHeight },
  ];
  return columns.flatMap(column => rows.map(row => ({ ...column, ...row })));
}

/** Mean and standard deviation of all values of all three colours in a box. */
function brightness(image: RgbImage, box: Box): { mean: number; deviation: number } {
  let sum = 0;
  let squares = 0;
  for (let row = box.top; row < box.top + box.height; row++) {
    const from = 3 * (row * image.width + box.left);
    for (let i = from; i < from + 3 * box.width; i++) {
      const value = image.data[i]!;
      sum += value;
      squares += value * value;
    }
  }
  const count = 3 * box.width * box.height;
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)) };
}
