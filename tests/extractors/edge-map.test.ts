import { describe, expect, it } from 'vitest';
import { EDGE_THRESHOLDS, edgeMap } from '../../extractors/edge-map.ts';
import type { GreyImage, Mask } from '../../extractors/image.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { literalEdgeMap } from '../literal/edge-map.ts';
import { drawn, randomMask, rowsOf } from './drawn-masks.ts';

const grey = (mask: Mask, level: (x: number, y: number) => number): GreyImage => ({
  ...mask,
  data: mask.data.map((_, i) => level(i % mask.width, Math.floor(i / mask.width))),
});

describe('an edge map', () => {
  it('of an even object is its outline, one pixel wide, holes included', () => {
    const mask = drawn('.#####.', '#######', '###.###', '#######', '.#####.');
    expect(
      rowsOf(
        edgeMap(
          grey(mask, () => 90),
          mask,
        ),
      ),
    ).toEqual(['.#####.', '#..#..#', '#.#.#.#', '#..#..#', '.#####.']);
  });

  it('has a step within the object on its one side, and no second outline', () => {
    const mask = drawn(...new Array(7).fill('########'));
    const step = grey(mask, x => (x < 4 ? 20 : 220));
    expect(rowsOf(edgeMap(step, mask))).toEqual([
      '########',
      '#..#...#',
      '#..#...#',
      '#..#...#',
      '#..#...#',
      '#..#...#',
      '########',
    ]);
    const { weak } = EDGE_THRESHOLDS;
    const faint = grey(mask, x => (x < 4 ? 100 : 99 + weak / 4));
    expect(rowsOf(edgeMap(faint, mask))).toEqual(
      rowsOf(
        edgeMap(
          grey(mask, () => 0),
          mask,
        ),
      ),
    );
  });

  it('keeps what is weak where it goes on from what is strong', () => {
    const mask = drawn(...new Array(16).fill('#########'));
    // Steps of 160, 148 … 40, then of 30: 120 between the thresholds.
    const weakStep = (EDGE_THRESHOLDS.weak + EDGE_THRESHOLDS.strong) / 8;
    const fading = grey(mask, (x, y) => (x < 4 ? 0 : Math.max(weakStep, 160 - 12 * y)));
    const alone = grey(mask, x => (x < 4 ? 0 : weakStep));
    // Where the step slants, its other side is the steeper one.
    const middle = (image: GreyImage) => rowsOf(edgeMap(image, mask)).map(row => row.slice(3, 5).includes('#'));
    expect(middle(fading)).toEqual(new Array(16).fill(true));
    expect(middle(alone)).toEqual([true, ...new Array(14).fill(false), true]);
  });

  it('is that of the plain implementation', () => {
    const random = rng(1, 'tests', 'edge maps');
    for (let i = 0; i < 40; i++) {
      const mask = randomMask(random, integer(random, 1, 50), integer(random, 1, 50));
      const waves = [integer(random, 2, 9), integer(random, 2, 9), integer(random, 20, 100)] as const;
      const luminance = grey(mask, (x, y) =>
        Math.round(127 + waves[2] * Math.sin(x / waves[0]) * Math.cos(y / waves[1]) + integer(random, -20, 20)),
      );
      const { weak, strong } = EDGE_THRESHOLDS;
      expect(rowsOf(edgeMap(luminance, mask))).toEqual(rowsOf(literalEdgeMap(luminance, mask, weak, strong)));
    }
  });
});
