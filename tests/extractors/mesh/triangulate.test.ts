import { describe, expect, test } from 'vitest';
import { triangulate } from '../../../extractors/mesh/triangulate.ts';

type Point = readonly [number, number, number];

const cut = (points: readonly Point[]) => triangulate(Float64Array.from(points.flat()));

/** Area of each triangle as seen from above; negative for one that is wound the other way. */
function areas(points: readonly Point[]): number[] {
  const triangles = cut(points);
  return Array.from({ length: triangles.length / 3 }, (_, t) => {
    const [a, b, c] = [0, 1, 2].map(k => points[triangles[t * 3 + k]!]!);
    return ((b![0] - a![0]) * (c![1] - a![1]) - (b![1] - a![1]) * (c![0] - a![0])) / 2;
  });
}

const flat = (points: readonly (readonly [number, number])[]): Point[] => points.map(([x, y]) => [x, y, 7]);

describe('triangulate', () => {
  test('a convex polygon is a fan', () => {
    expect(
      cut(
        flat([
          [0, 0],
          [2, 0],
          [3, 1],
          [1, 2],
        ]),
      ),
    ).toEqual([0, 1, 2, 0, 2, 3]);
    expect(cut([])).toEqual([]);
    expect(cut(flat([[0, 0]]))).toEqual([]);
  });

  test.each([
    [
      'an arrow',
      [
        [0, 0],
        [4, 2],
        [0, 4],
        [1, 2],
      ],
      6,
    ],
    [
      'an L',
      [
        [3, 0],
        [3, 1],
        [1, 1],
        [1, 3],
        [0, 3],
        [0, 0],
      ],
      5,
    ],
    [
      'a U',
      [
        [0, 0],
        [3, 0],
        [3, 3],
        [2, 3],
        [2, 1],
        [1, 1],
        [1, 3],
        [0, 3],
      ],
      7,
    ],
    [
      'with corners on a line',
      [
        [0, 0],
        [1, 0],
        [2, 0],
        [2, 2],
        [1, 1],
        [0, 2],
      ],
      3,
    ],
  ] as [string, [number, number][], number][])(
    '%s is covered once, all triangles the same way round',
    (_, points, area) => {
      for (let shift = 0; shift < points.length; shift++) {
        const turned = flat([...points.slice(shift), ...points.slice(0, shift)]);
        const parts = areas(turned);
        expect(parts.length).toBe(points.length - 2);
        for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(area);
      }
    },
  );

  test('a polygon that is a knot gives something, and ends', () => {
    expect(
      cut(
        flat([
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [1, -3],
        ]),
      ).length,
    ).toBe(9);
  });
});
