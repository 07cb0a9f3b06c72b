import { describe, expect, it } from 'vitest';
import type { Box, Mask } from '../../extractors/image.ts';
import { overlap } from '../../extractors/overlap.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';

/** A mask drawn with # and ., one mask pixel to a picture pixel unless a box says otherwise. */
function placed(rows: readonly string[], box: Partial<Box> = {}): PlacedMask {
  const [width, height] = [rows[0]!.length, rows.length];
  const mask: Mask = { width, height, data: Uint8Array.from(rows.join(''), c => (c === '#' ? 255 : 0)) };
  return { mask, box: { left: 0, top: 0, width, height, ...box } };
}

const FULL = ['####', '####', '####', '####'];

describe('overlap', () => {
  it('is 1 for a mask and itself and 0 for masks that do not meet', () => {
    expect(overlap(placed(FULL), placed(FULL))).toBe(1);
    expect(overlap(placed(FULL), placed(FULL, { left: 4 }))).toBe(0);
    expect(overlap(placed(FULL), placed(FULL, { top: -4 }))).toBe(0);
    expect(overlap(placed(FULL, { left: 100, top: 100 }), placed(FULL))).toBe(0);
  });

  it('is intersection over union', () => {
    expect(overlap(placed(FULL), placed(FULL, { left: 2 }))).toBeCloseTo(8 / 24, 12);
    expect(overlap(placed(FULL), placed(FULL, { left: 3, top: 3 }))).toBeCloseTo(1 / 31, 12);
    expect(overlap(placed(FULL), placed(['##', '##'], { left: 1, top: 1 }))).toBeCloseTo(4 / 16, 12);
  });

  it('counts what is set, not the boxes', () => {
    const ring = placed(['####', '#..#', '#..#', '####']);
    const core = placed(['##', '##'], { left: 1, top: 1 });
    expect(overlap(ring, core)).toBe(0);
    expect(overlap(ring, placed(FULL))).toBeCloseTo(12 / 16, 12);
  });

  it('compares masks of different resolution by the area they cover in the picture', () => {
    // The same square of the picture, as 4 × 4 and as 1 × 1 pixels.
    const coarse = placed(['#'], { width: 4, height: 4 });
    expect(overlap(placed(FULL), coarse)).toBe(1);
    expect(overlap(coarse, placed(FULL))).toBe(1);
    // A quarter of 8 × 8 picture pixels, seen by a mask of 2 × 2 pixels.
    const quarter = placed(['#.', '..'], { width: 8, height: 8 });
    expect(overlap(placed(FULL), quarter)).toBe(1);
    expect(overlap(placed(FULL, { left: 2 }), quarter)).toBeCloseTo(8 / 24, 12);
    expect(overlap(placed(FULL), placed(['#'], { width: 8, height: 8 }))).toBeCloseTo(16 / 64, 12);
  });

  it('is 0 where there is nothing to compare', () => {
    const empty = placed(['..', '..']);
    expect(overlap(empty, empty)).toBe(0);
    expect(overlap(empty, placed(FULL))).toBe(0);
    expect(overlap(placed(FULL), empty)).toBe(0);
  });

  it('of masks on one pixel grid is what counting pixels gives, either way round', () => {
    for (let i = 0; i < 50; i++) {
      const random = rng(1, 'test', i);
      const rowsOf = () =>
        Array.from({ length: 6 }, () => Array.from({ length: 9 }, () => (random.next() < 0.6 ? '#' : '.')).join(''));
      const [rowsA, rowsB] = [rowsOf(), rowsOf()];
      const [left, top] = [integer(random, -5, 5), integer(random, -3, 3)];
      let [both, either] = [0, 0];
      for (let y = -6; y < 12; y++) {
        for (let x = -9; x < 18; x++) {
          const inA = rowsA[y]?.[x] === '#';
          const inB = rowsB[y - top]?.[x - left] === '#';
          if (inA && inB) both++;
          if (inA || inB) either++;
        }
      }
      const [a, b] = [placed(rowsA), placed(rowsB, { left, top })];
      expect(overlap(a, b)).toBeCloseTo(both / either, 12);
      expect(overlap(b, a)).toBeCloseTo(both / either, 12);
    }
  });
});
