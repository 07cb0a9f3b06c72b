import { describe, expect, it } from 'vitest';
import type { RgbImage } from '../../extractors/image.ts';
import {
  DEFAULTS,
  defaultCellSize,
  findTextureRegions,
  type TextureOptions,
} from '../../extractors/texture-regions.ts';
import { integer, uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { literalTextureRegions } from '../literal/texture-regions.ts';

const CELL = 12;

/** One cell of a test picture: how its pixels are drawn. */
type Paint = (random: Rng) => [red: number, green: number, blue: number];

const noise =
  (low: number, high: number): Paint =>
  random => [integer(random, low, high), integer(random, low, high), integer(random, low, high)];

/** A picture of square cells; cells without paint are flat, each of another level than all near it. */
function paint(columns: number, rows: number, paintAt: (column: number, row: number) => Paint | undefined): RgbImage {
  const random = rng(4, 'paint', 0);
  const width = columns * CELL + 5;
  const height = rows * CELL + 3;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const column = Math.floor(x / CELL);
      const row = Math.floor(y / CELL);
      const level = (column * 16 + row) % 256;
      data.set(paintAt(column, row)?.(random) ?? [level, level, level], 3 * (y * width + x));
    }
  }
  return { width, height, data };
}

const inSquare = (column: number, row: number, left: number, top: number, cells: number) =>
  column >= left && column < left + cells && row >= top && row < top + cells;

const find = (image: RgbImage, options: Partial<TextureOptions> = {}) =>
  findTextureRegions(image, { ...DEFAULTS, cellSize: CELL, ...options });

const boxOf = (left: number, top: number, cells: number) => ({
  left: left * CELL,
  top: top * CELL,
  width: cells * CELL,
  height: cells * CELL,
});

describe('findTextureRegions', () => {
  it('cuts two kinds of noise exactly', () => {
    const image = paint(20, 13, (column, row) => {
      if (inSquare(column, row, 1, 2, 8)) return noise(40, 120);
      if (inSquare(column, row, 11, 4, 7)) return noise(100, 255);
      return undefined;
    });
    const { regions, rejected } = find(image);
    expect(regions.map(region => region.box)).toEqual(expect.arrayContaining([boxOf(1, 2, 8), boxOf(11, 4, 7)]));
    expect(regions).toHaveLength(2);
    expect(regions[0]!.score).toBeGreaterThan(regions[1]!.score);
    for (const region of regions) {
      expect(region.cellSize).toBe(CELL);
      expect(region.cells * CELL).toBe(region.box.width);
      expect(region.score).toBeGreaterThanOrEqual(0.5);
      expect(region.score).toBeLessThan(1);
    }
    // The three starts inside the square of 8 that still see 7 cells.
    expect(rejected).toEqual({ contained: 3, overlap: 0, smooth: 0 });
  });

  it('looks at every cell: noise that differs in one cell is no texture, wherever it is', () => {
    for (const [oddColumn, oddRow] of [
      [0, 0],
      [6, 6],
      [6, 0],
      [3, 5],
    ]) {
      const image = paint(7, 7, (column, row) =>
        column === oddColumn && row === oddRow ? noise(200, 255) : noise(0, 90),
      );
      expect(find(image).regions).toEqual([]);
    }
    expect(find(paint(7, 7, () => noise(0, 90))).regions).toHaveLength(1);
  });

  it('drops smooth textures, bright ones sooner', () => {
    const one = (low: number, high: number) => find(paint(7, 7, () => noise(low, high)));
    // Whole numbers over n levels have the variance (n² − 1) / 12: 12 levels 3.45, 13 levels 3.74, 20 levels 5.77.
    expect(one(100, 111)).toEqual({ regions: [], rejected: { contained: 0, overlap: 0, smooth: 1 } });
    expect(one(100, 112).regions).toHaveLength(1);
    expect(one(234, 253).regions).toHaveLength(1);
    expect(one(238, 255).rejected.smooth).toBe(1);
    expect(one(138, 155).regions).toHaveLength(1);
  });

  it('drops a texture for one smooth quadrant', () => {
    const speckled: Paint = random => (random.next() < 0.04 ? [160, 160, 160] : noise(100, 103)(random));
    const image = paint(8, 8, (column, row) => (column < 4 && row >= 4 ? noise(100, 103) : speckled));
    const options = { minSimilarity: 0.2, smoothDeviation: 3.5 };
    expect(find(image, options).rejected.smooth).toBe(1);
    expect(
      find(
        paint(8, 8, () => speckled),
        options,
      ).regions,
    ).toHaveLength(1);
  });

  it('keeps the better of two that overlap by more than a quarter, and both when by less', () => {
    const two = (offset: number) =>
      paint(12, 12, (column, row) =>
        inSquare(column, row, 0, 0, 7) || inSquare(column, row, offset, offset, 7) ? noise(30, 200) : undefined,
      );
    const little = find(two(4)); // 9 of 49 cells
    expect(little.regions.map(region => region.box)).toEqual(expect.arrayContaining([boxOf(0, 0, 7), boxOf(4, 4, 7)]));
    expect(little.rejected.overlap).toBe(0);
    const much = find(two(3)); // 16 of 49 cells
    expect(much.regions).toHaveLength(1);
    expect(much.rejected.overlap).toBe(1);
    const both = find(two(3), { maxOverlap: 0.5 }).regions;
    expect(both).toHaveLength(2);
    expect(both[0]).toEqual(much.regions[0]);
  });

  it('gives equal scores in the order found', () => {
    // Four flat squares: what differs is only the gradient at their inner edges, alike in all four.
    const grey: Paint = () => [90, 90, 90];
    const lines: Paint = () => [0, 0, 0];
    const image = paint(15, 15, (column, row) => (column === 7 || row === 7 ? lines : grey));
    const { regions } = find(image, { smoothDeviation: 0, brightSmoothDeviation: 0, minCells: 6 });
    expect(regions.map(region => [region.box.left / CELL, region.box.top / CELL])).toEqual([
      [0, 0],
      [0, 8],
      [8, 0],
      [8, 8],
    ]);
    expect(new Set(regions.map(region => region.score)).size).toBe(1);
  });

  it('ends the search at the most regions', () => {
    const image = paint(9, 30, () => noise(30, 200));
    const overlapping = { maxOverlap: 1 };
    expect(find(image, overlapping).regions).toHaveLength(22);
    const { regions } = find(image, { ...overlapping, maxRegions: 5 });
    expect(regions.map(region => region.box.top / CELL).sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('finds nothing in a picture smaller than the smallest texture', () => {
    expect(find(paint(6, 20, () => noise(30, 200))).regions).toEqual([]);
    expect(find({ width: 4, height: 4, data: new Uint8Array(48) }).regions).toEqual([]);
  });

  it('takes the cell size from the short side', () => {
    expect([320, 1499, 1500, 2200].map(defaultCellSize)).toEqual([40, 40, 75, 75]);
    const random = rng(5, 'auto', 0);
    const image = {
      width: 330,
      height: 290,
      data: Uint8Array.from({ length: 3 * 330 * 290 }, () => integer(random, 0, 255)),
    };
    expect(findTextureRegions(image).regions).toMatchObject([{ cells: 7, cellSize: 40 }]);
  });

  it.each([2, 256, 20.5, Number.NaN])('refuses a cell size of %d', cellSize => {
    expect(() =>
      find(
        paint(7, 7, () => undefined),
        { cellSize },
      ),
    ).toThrow(`expected a whole number from 3 to 255 px as cell size, got ${cellSize}`);
  });

  it.each([
    { name: 'noise that widens to the right', minCells: 4, minSimilarity: 0.5 },
    { name: 'noise that widens to the right', minCells: 3, minSimilarity: 0.65 },
    { name: 'patches', minCells: 2, minSimilarity: 0.5 },
    { name: 'patches', minCells: 4, minSimilarity: 0.3 },
    { name: 'waves', minCells: 3, minSimilarity: 0.5 },
    { name: 'waves', minCells: 3, minSimilarity: 0.4, maxRegions: 9 },
  ])('equals the literal rule: $name, $minCells cells, similarity $minSimilarity', ({ name, ...changes }) => {
    const options = { ...DEFAULTS, cellSize: CELL, maxOverlap: 0.4, ...changes };
    const image = PICTURES[name]!();
    const fast = findTextureRegions(image, options);
    const literal = literalTextureRegions(image, options);
    expect(fast.regions.length).toBeGreaterThan(0);
    expect(fast.rejected).toEqual(literal.rejected);
    expect(fast.regions.map(region => region.box)).toEqual(literal.regions.map(region => region.box));
    for (const [i, { score }] of fast.regions.entries()) expect(score).toBeCloseTo(literal.regions[i]!.score, 9);
  });
});

const PICTURES: Record<string, () => RgbImage> = {
  'noise that widens to the right': () => paint(14, 10, column => noise(100 - 3 * column, 150 + 4 * column)),
  patches: () => {
    const random = rng(6, 'patches', 0);
    const patches = Array.from({ length: 12 }, () => {
      const low = uniform(random, 0, 150);
      return {
        left: integer(random, 0, 13),
        top: integer(random, 0, 8),
        paint: noise(low, low + uniform(random, 4, 100)),
      };
    });
    return paint(18, 13, (column, row) => patches.find(p => inSquare(column, row, p.left, p.top, 5))?.paint);
  },
  waves: () => {
    const width = 16 * CELL + 1;
    const height = 19 * CELL;
    const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
      const x = Math.floor(i / 3) % width;
      const y = Math.floor(i / 3 / width);
      return 128 + 50 * Math.sin(x / 1.7 + (i % 3)) + (30 + y / 6) * Math.sin(y / 2.3 + (x * y) / 9000);
    });
    return { width, height, data };
  },
};
