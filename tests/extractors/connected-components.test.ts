import { describe, expect, it } from 'vitest';
import { componentMask, connectedComponents } from '../../extractors/connected-components.ts';
import type { Mask } from '../../extractors/image.ts';
import { chance, integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { floodAreas } from '../literal/silhouette.ts';
import * as opencv from '../oracle/opencv.ts';
import { drawn, randomMask, rowsOf } from './drawn-masks.ts';

describe('contiguous areas', () => {
  it('are none in an empty mask, and all of a full one', () => {
    expect(connectedComponents(drawn('...', '...'))).toEqual([]);
    expect(connectedComponents(drawn('###', '###'))).toEqual([
      { area: 6, box: { left: 0, top: 0, width: 3, height: 2 }, runs: [0, 0, 3, 1, 0, 3] },
    ]);
  });

  it('hang together across corners, and are joined from below', () => {
    const areas = connectedComponents(drawn('#...#', '.#.#.', '..#..'));
    expect(areas.map(({ area, box }) => [area, box])).toEqual([[5, { left: 0, top: 0, width: 5, height: 3 }]]);
  });

  it.each([
    [['....', '....'], 0],
    [['#..#', '.#.#'], 2],
    [['#.#', '.#.', '#.#'], 5],
    [['##.#', '...#', '####'], 6],
    [['#'], 1],
  ])('of %j: the largest has %i pixels', (rows, area) =>
    expect(connectedComponents(drawn(...rows)).reduce((most, part) => Math.max(most, part.area), 0)).toBe(area),
  );

  it('come in the order of their first pixel and are cut out alone', () => {
    const areas = connectedComponents(drawn('.####', '.#..#', '.#.#.', '#...#'));
    expect(areas.map(componentMask).map(rowsOf)).toEqual([['.####', '.#..#', '.#.#.', '#...#']]);
    const two = connectedComponents(drawn('..###', '#.#..', '#.###'));
    expect(two.map(componentMask).map(rowsOf)).toEqual([
      ['###', '#..', '###'],
      ['#', '#'],
    ]);
  });
});

describe('on random masks contiguous areas', () => {
  const random = rng(1, 'tests', 'connected components');
  const noise = (width: number, height: number, density: number): Mask => ({
    width,
    height,
    data: Uint8Array.from({ length: width * height }, () => (chance(random, density) ? 255 : 0)),
  });

  it('are those of a flood fill', () => {
    for (let i = 0; i < 200; i++) {
      const mask = noise(integer(random, 1, 40), integer(random, 1, 40), [0.05, 0.3, 0.5, 0.9][i % 4]!);
      const pixels = connectedComponents(mask).map(({ runs }) => {
        const own: number[] = [];
        for (let r = 0; r < runs.length; r += 3) {
          for (let x = runs[r + 1]!; x < runs[r + 2]!; x++) own.push(runs[r]! * mask.width + x);
        }
        return own;
      });
      expect(pixels).toEqual(floodAreas(mask));
    }
  });

  it('are those of OpenCV', () => {
    for (let i = 0; i < 40; i++) {
      const mask = i % 2 === 0 ? noise(97, 61, 0.4) : randomMask(random, 120, 90);
      const ours = connectedComponents(mask).map(({ area, box }) => ({ ...box, area }));
      const byPlace = (a: (typeof ours)[0], b: (typeof ours)[0]) =>
        a.top - b.top || a.left - b.left || a.area - b.area || a.width - b.width || a.height - b.height;
      expect(ours.sort(byPlace)).toEqual(opencv.connectedComponents(mask).components.sort(byPlace));
    }
  });
});
