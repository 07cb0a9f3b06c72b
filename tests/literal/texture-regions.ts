import type { Box, RgbImage } from '../../extractors/image.ts';
import type { TextureOptions, TextureRegion } from '../../extractors/texture-regions.ts';

/**
 * The rule for textures written down step by step, for the fast extractor to be compared with: whole channel maps, histograms
 * counted value by value, every square grown from its first cell. It shares nothing with the extractor but types.
 */
export function literalTextureRegions(
  image: RgbImage,
  options: TextureOptions & { cellSize: number },
): { regions: TextureRegion[]; rejected: { contained: number; overlap: number; smooth: number } } {
  const { cellSize } = options;
  const similarity = rememberedSimilarity(channelMaps(image), image.width, cellSize, options.minSimilarity);
  const columns = Math.floor(image.width / cellSize);
  const rows = Math.floor(image.height / cellSize);
  const rejected = { contained: 0, overlap: 0, smooth: 0 };

  const found: TextureRegion[] = [];
  for (let x = 0; x < columns; x++) {
    for (let y = 0; y < rows; y++) {
      if (found.length === options.maxRegions) continue;
      const { cells, score } = grow(x, y, columns, rows, similarity, options.minSimilarity);
      if (cells < options.minCells) continue;
      const box = { left: x * cellSize, top: y * cellSize, width: cells * cellSize, height: cells * cellSize };
      if (found.some(earlier => within(box, earlier.box))) rejected.contained++;
      else found.push({ box, cells, cellSize, score });
    }
  }

  const regions: TextureRegion[] = [];
  for (const region of found.toSorted((a, b) => b.score - a.score)) {
    const overlapping = regions.some(better => {
      const smaller = Math.min(region.box.width ** 2, better.box.width ** 2);
      return commonPixels(region.box, better.box) > options.maxOverlap * smaller;
    });
    if (overlapping) rejected.overlap++;
    else if (isSmooth(image, region.box, options)) rejected.smooth++;
    else regions.push(region);
  }
  return { regions, rejected };
}

type Cell = readonly [x: number, y: number];
type Similarity = (a: Cell, b: Cell) => number;

function grow(x: number, y: number, columns: number, rows: number, similarity: Similarity, minSimilarity: number) {
  let inside: Cell[] = [[x, y]];
  let cells = 1;
  let score = 1;
  while (x + cells < columns && y + cells < rows) {
    const added: Cell[] = [];
    for (let i = 0; i <= cells; i++) added.push([x + cells, y + i]);
    for (let i = 0; i < cells; i++) added.push([x + i, y + cells]);
    let lowest = 1;
    for (const [i, cell] of added.entries()) {
      for (const other of [...inside, ...added.slice(0, i)]) {
        lowest = Math.min(lowest, similarity(cell, other));
        if (lowest < minSimilarity) return { cells, score };
      }
    }
    inside = [...inside, ...added];
    score = Math.min(score, lowest);
    cells++;
  }
  return { cells, score };
}

/** Smallest similarity of all channels; only memory spares comparing the same two cells again. */
function rememberedSimilarity(
  maps: Float64Array[],
  width: number,
  cellSize: number,
  minSimilarity: number,
): Similarity {
  const cells = new Map<string, number[][]>();
  const valuesOf = (cell: Cell) => {
    const known = cells.get(`${cell}`) ?? maps.map(map => cutCell(map, width, cell, cellSize));
    cells.set(`${cell}`, known);
    return known;
  };
  const similarities = new Map<string, number>();
  return (a, b) => {
    const [first, second] = a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? [a, b] : [b, a];
    const known = similarities.get(`${first} ${second}`);
    if (known !== undefined) return known;
    let lowest = 1;
    for (let channel = 0; channel < maps.length && lowest >= minSimilarity; channel++) {
      lowest = Math.min(lowest, channelSimilarity(valuesOf(first)[channel]!, valuesOf(second)[channel]!));
    }
    similarities.set(`${first} ${second}`, lowest);
    return lowest;
  };
}

function cutCell(map: Float64Array, width: number, [x, y]: Cell, cellSize: number): number[] {
  const cell: number[] = [];
  for (let row = y * cellSize; row < (y + 1) * cellSize; row++) {
    for (let column = x * cellSize; column < (x + 1) * cellSize; column++) cell.push(map[row * width + column]!);
  }
  return cell;
}

/** 1 − Jensen–Shannon distance of two lists of values, from histograms of ten bins over their joint range. */
export function channelSimilarity(a: number[], b: number[]): number {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const values of [a, b]) {
    for (const value of values) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  }
  if (min === max) return 1;
  const histogram = (values: number[]) => {
    const counts = new Array<number>(10).fill(0);
    for (const v of values) counts[Math.min(9, Math.floor(((v - min) * 10) / (max - min)))]!++;
    return counts.map(count => count / values.length);
  };
  return 1 - jensenShannonDistance(histogram(a), histogram(b));
}

function jensenShannonDistance(p: number[], q: number[]): number {
  let divergence = 0;
  for (let i = 0; i < p.length; i++) {
    const middle = (p[i]! + q[i]!) / 2;
    if (p[i]! > 0) divergence += (p[i]! * Math.log(p[i]! / middle)) / 2;
    if (q[i]! > 0) divergence += (q[i]! * Math.log(q[i]! / middle)) / 2;
  }
  return Math.sqrt(Math.max(0, divergence));
}

/** Blue, green, red, three times the grey mean (exact), and dx, dy, magnitude of each colour. */
export function channelMaps(image: RgbImage): Float64Array[] {
  const { width, height, data } = image;
  const plane = (value: (x: number, y: number) => number) =>
    Float64Array.from({ length: width * height }, (_, i) => value(i % width, Math.floor(i / width)));
  const mirrored = (i: number, length: number) => (i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i);
  const maps: Float64Array[] = [];
  for (const colour of [2, 1, 0]) {
    const at = (x: number, y: number) => data[3 * (mirrored(y, height) * width + mirrored(x, width)) + colour]!;
    const dx = plane(
      (x, y) =>
        at(x + 1, y - 1) - at(x - 1, y - 1) + 2 * (at(x + 1, y) - at(x - 1, y)) + at(x + 1, y + 1) - at(x - 1, y + 1),
    );
    const dy = plane(
      (x, y) =>
        at(x - 1, y + 1) - at(x - 1, y - 1) + 2 * (at(x, y + 1) - at(x, y - 1)) + at(x + 1, y + 1) - at(x + 1, y - 1),
    );
    maps.push(
      plane(at),
      dx,
      dy,
      dx.map((value, i) => Math.sqrt(value ** 2 + dy[i]! ** 2)),
    );
  }
  maps.push(plane((x, y) => [0, 1, 2].reduce((sum, colour) => sum + data[3 * (y * width + x) + colour]!, 0)));
  return maps;
}

function within(inner: Box, outer: Box): boolean {
  return commonPixels(inner, outer) === inner.width * inner.height;
}

function commonPixels(a: Box, b: Box): number {
  const width = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
  const height = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
  return Math.max(0, width) * Math.max(0, height);
}

function isSmooth(image: RgbImage, box: Box, options: TextureOptions): boolean {
  const half = Math.floor(box.width / 2);
  for (const [left, right] of [
    [0, half],
    [half, box.width],
  ] as const) {
    for (const [top, bottom] of [
      [0, half],
      [half, box.height],
    ] as const) {
      const values: number[] = [];
      for (let y = box.top + top; y < box.top + bottom; y++) {
        for (let x = box.left + left; x < box.left + right; x++) {
          for (let colour = 0; colour < 3; colour++) values.push(image.data[3 * (y * image.width + x) + colour]!);
        }
      }
      const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
      const deviation = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length);
      if (deviation < options.smoothDeviation) return true;
      if (deviation < options.brightSmoothDeviation && mean > options.brightMean) return true;
    }
  }
  return false;
}
