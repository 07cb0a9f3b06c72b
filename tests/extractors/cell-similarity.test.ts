import { describe, expect, it } from 'vitest';
import { CellSimilarity } from '../../extractors/cell-similarity.ts';
import type { RgbImage } from '../../extractors/image.ts';
import { CellGrid, CHANNELS } from '../../extractors/texture-channels.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { channelMaps, channelSimilarity } from '../literal/texture-regions.ts';

/** Two grey cells of 2 × 2 side by side, each given as its four values. */
function twoCells(a: number[], b: number[]): CellSimilarity {
  const rows = [a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3]] as number[];
  const data = Uint8Array.from(rows.flatMap(value => [value, value, value]));
  return new CellSimilarity(new CellGrid({ width: 4, height: 2, data }, 2));
}

describe('divergence', () => {
  it('is the Jensen–Shannon divergence of two histograms', () => {
    // p = (1/2, 1/2), q = (3/4, 1/4), m = (5/8, 3/8): (−0.111572 + 0.143841 + 0.136741 − 0.101366) / 2.
    const p = 0.5 * Math.log(0.5 / 0.625) + 0.5 * Math.log(0.5 / 0.375);
    const q = 0.75 * Math.log(0.75 / 0.625) + 0.25 * Math.log(0.25 / 0.375);
    const cells = twoCells([10, 10, 90, 90], [10, 10, 10, 90]);
    expect(cells.divergence(0, 1, 0)).toBeCloseTo(0.033822, 6);
    expect(cells.divergence(0, 1, 0)).toBeCloseTo((p + q) / 2, 12);
    expect(cells.divergence(0, 1, 3)).toBeCloseTo((p + q) / 2, 12);
    expect(cells.divergence(1, 0, 2)).toBeCloseTo((p + q) / 2, 12);
  });

  it('is ln 2 where no value is common, and 0 where histograms are equal or the range is a point', () => {
    expect(twoCells([0, 0, 0, 0], [9, 9, 9, 9]).divergence(0, 1, 0)).toBeCloseTo(Math.LN2, 12);
    expect(twoCells([1, 50, 100, 200], [200, 1, 50, 100]).divergence(0, 1, 0)).toBe(0);
    expect(twoCells([7, 7, 7, 7], [7, 7, 7, 7]).divergence(0, 1, 0)).toBe(0);
  });

  it('closes the last bin, and opens the others at their end', () => {
    // Range 0–10: 9 and 10 share the last bin, 8 does not; 1 begins the second.
    expect(twoCells([0, 9, 9, 9], [0, 10, 10, 10]).divergence(0, 1, 0)).toBe(0);
    expect(twoCells([0, 8, 8, 8], [0, 10, 10, 10]).divergence(0, 1, 0)).toBeCloseTo(0.75 * Math.LN2, 12);
    expect(twoCells([0, 0, 0, 10], [1, 1, 1, 10]).divergence(0, 1, 0)).toBeCloseTo(0.75 * Math.LN2, 12);
    // Range 0–11: 1 is still in the first bin (1 · 10 < 11), 2 is not.
    expect(twoCells([0, 0, 0, 11], [1, 1, 1, 11]).divergence(0, 1, 0)).toBe(0);
    expect(twoCells([0, 0, 0, 11], [2, 2, 2, 11]).divergence(0, 1, 0)).toBeCloseTo(0.75 * Math.LN2, 12);
  });

  // Few grey levels make many magnitudes whole or on a bin's edge; many make buckets with low bits.
  it.each([
    { cellSize: 2, levels: 3 },
    { cellSize: 4, levels: 2 },
    { cellSize: 5, levels: 6 },
    { cellSize: 8, levels: 40 },
    { cellSize: 13, levels: 256 },
    { cellSize: 48, levels: 256 },
  ])(
    'equals counting value by value in all channels: $levels levels, cells of $cellSize px',
    ({ cellSize, levels }) => {
      const random = rng(3, 'divergence', levels * cellSize);
      const columns = cellSize > 20 ? 3 : 12;
      const width = columns * cellSize;
      const height = 3 * cellSize;
      const data = Uint8Array.from({ length: 3 * width * height }, () => integer(random, 0, levels - 1));
      const image: RgbImage = { width, height, data };
      const cells = new CellSimilarity(new CellGrid(image, cellSize));
      const maps = channelMaps(image);
      // The literal maps run B, dx, dy, magnitude, G …, R …, grey.
      const mapOf = [8, 4, 0, 12, 9, 10, 11, 5, 6, 7, 1, 2, 3];
      const values = (cell: number, channel: number) => {
        const [x, y] = [Math.floor(cell / 3) * cellSize, (cell % 3) * cellSize];
        const map = maps[mapOf[channel]!]!;
        return Array.from(
          { length: cellSize ** 2 },
          (_, i) => map[(y + Math.floor(i / cellSize)) * width + x + (i % cellSize)]!,
        );
      };
      for (let a = 0; a < 3 * columns; a++) {
        for (let b = a + 1; b < 3 * columns; b += cellSize > 20 ? 3 : 1) {
          let lowest = 1;
          for (let channel = 0; channel < CHANNELS; channel++) {
            const expected = channelSimilarity(values(a, channel), values(b, channel));
            expect(1 - Math.sqrt(cells.divergence(a, b, channel))).toBeCloseTo(expected, 9);
            lowest = Math.min(lowest, expected);
          }
          expect(cells.between(a, b)).toBeCloseTo(lowest, 9);
        }
      }
    },
  );
});

describe('between', () => {
  it('runs from 1 − √ln 2 to 1', () => {
    expect(twoCells([7, 7, 7, 7], [7, 7, 7, 7]).between(0, 1)).toBe(1);
    expect(twoCells([0, 0, 0, 0], [9, 9, 9, 9]).between(0, 1)).toBeCloseTo(1 - Math.sqrt(Math.LN2), 12);
  });
});

describe('ofPairs', () => {
  const random = rng(7, 'of-pairs', 0);
  // Five cells of noise, the fourth of another kind.
  const data = Uint8Array.from(
    { length: 3 * 16 * 80 },
    (_, i) => integer(random, 0, 90) + (Math.floor(i / 768) === 3 ? 160 : 0),
  );
  const cells = new CellSimilarity(new CellGrid({ width: 16, height: 80, data }, 16));

  it('gives the similarity of each pair', () => {
    const similarities = new Float64Array(3);
    expect(cells.ofPairs([0, 4, 2], [1, 0, 4], 0.5, similarities)).toBe(-1);
    expect([...similarities]).toEqual([cells.between(0, 1), cells.between(0, 4), cells.between(2, 4)]);
  });

  it('ends at a pair that is not similar enough', () => {
    const similarities = new Float64Array(4);
    expect(cells.ofPairs([0, 1, 3, 0], [1, 2, 2, 3], 0.5, similarities)).toBe(2);
    expect(similarities[2]).toBeLessThan(0.5);
    expect(cells.ofPairs([], [], 0.5, similarities)).toBe(-1);
  });
});
