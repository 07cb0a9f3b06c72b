import { describe, expect, it } from 'vitest';
import type { Mask } from '../../extractors/image.ts';
import { outlinePolygons, type PartOutline, type Polygon } from '../../extractors/outline.ts';
import { polygonRunLengths } from '../../extractors/run-lengths.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { literalPolygonMask } from '../literal/polygon-mask.ts';
import { connectedComponents } from '../oracle/opencv.ts';
import { drawn, placedAt, randomMask, rowsOf } from './drawn-masks.ts';

/** The pixels whose centres lie within an odd number of polygons. */
function evenOdd(polygons: readonly Polygon[], width: number, height: number): Mask {
  const data = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      let inside = false;
      for (const polygon of polygons) {
        for (let i = 0; i < polygon.length; i += 2) {
          const [x1, y1] = [polygon[i]!, polygon[i + 1]!];
          const [x2, y2] = [polygon[(i + 2) % polygon.length]!, polygon[(i + 3) % polygon.length]!];
          const [x, y] = [column + 0.5, row + 0.5];
          if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) inside = !inside;
        }
      }
      if (inside) data[row * width + column] = 255;
    }
  }
  return { data, width, height };
}

/** The shoelace formula; above 0: clockwise where y goes down. */
function signedArea(polygon: Polygon): number {
  let twice = 0;
  for (let i = 0; i < polygon.length; i += 2) {
    const next = (i + 2) % polygon.length;
    twice += polygon[i]! * polygon[next + 1]! - polygon[next]! * polygon[i + 1]!;
  }
  return twice / 2;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const setPixels = (mask: Mask) => mask.data.filter(value => value !== 0).length;

/** Set and clear pixels swapped, in a frame of set ones that stand for the ground outside. */
function groundOf({ data, width, height }: Mask): Mask {
  const ground = new Uint8Array((width + 2) * (height + 2)).fill(255);
  for (let i = 0; i < data.length; i++)
    ground[(Math.floor(i / width) + 1) * (width + 2) + (i % width) + 1] = 255 - data[i]!;
  return { data: ground, width: width + 2, height: height + 2 };
}

/** What has to be true of the outlines of every mask. */
function expectOutlines(mask: Mask): PartOutline[] {
  const { width, height } = mask;
  const parts = outlinePolygons(placedAt(mask));
  const polygons = parts.flatMap(({ outer, holes }) => [outer, ...holes]);
  expect(rowsOf(evenOdd(polygons, width, height))).toEqual(rowsOf(mask));
  expect(sum(polygons.map(signedArea))).toBe(setPixels(mask));
  for (const { outer, holes } of parts) {
    expect(signedArea(outer)).toBeGreaterThan(0);
    for (const hole of holes) expect(signedArea(hole)).toBeLessThan(0);
  }
  for (const polygon of polygons) {
    for (let i = 0; i < polygon.length; i += 2) {
      const [x1, y1] = [polygon[i]!, polygon[i + 1]!];
      const [x2, y2] = [polygon[(i + 2) % polygon.length]!, polygon[(i + 3) % polygon.length]!];
      const [x3, y3] = [polygon[(i + 4) % polygon.length]!, polygon[(i + 5) % polygon.length]!];
      expect((x1 === x2) !== (y1 === y2)).toBe(true);
      expect((x1 === x2) === (y2 === y3) && (y1 === y2) === (x2 === x3)).toBe(true); // no collinear point
    }
  }
  // Each part, cut out by OpenCV, is what its own outline holds.
  const { labels, components } = connectedComponents(mask);
  expect(parts.length).toBe(components.length);
  for (const { outer, holes } of parts) {
    const label = labels[outer[1]! * width + outer[0]!]!;
    const { left, top, ...size } = components[label - 1]!;
    const [xs, ys] = [outer.filter((_, i) => i % 2 === 0), outer.filter((_, i) => i % 2 === 1)];
    expect([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]).toEqual([
      left,
      top,
      left + size.width,
      top + size.height,
    ]);
    const part = { data: Uint8Array.from(labels, value => (value === label ? 255 : 0)), width, height };
    expect(rowsOf(evenOdd([outer, ...holes], width, height))).toEqual(rowsOf(part));
  }
  return parts;
}

describe('outlinePolygons', () => {
  it('goes around a pixel clockwise', () => {
    expect(outlinePolygons(placedAt(drawn('#')))).toEqual([{ outer: [0, 0, 1, 0, 1, 1, 0, 1], holes: [] }]);
  });

  it('goes around a hole counter-clockwise', () => {
    expect(outlinePolygons(placedAt(drawn('###', '#.#', '###')))).toEqual([
      { outer: [0, 0, 3, 0, 3, 3, 0, 3], holes: [[1, 2, 2, 2, 2, 1, 1, 1]] },
    ]);
  });

  it('makes one polygon of pixels that meet at a corner', () => {
    expect(outlinePolygons(placedAt(drawn('#.', '.#')))).toEqual([
      { outer: [0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 1, 2, 1, 1, 0, 1], holes: [] },
    ]);
    expectOutlines(drawn('#..#', '.##.', '#..#'));
  });

  it('keeps apart the holes that meet at a corner', () => {
    const [part, ...others] = expectOutlines(drawn('####', '#.##', '##.#', '####'));
    expect(others).toEqual([]);
    expect(part!.holes.map(signedArea)).toEqual([-1, -1]);
  });

  it('counts in the pixels of the picture', () => {
    const mask = drawn('##', '#.');
    expect(outlinePolygons({ mask, box: { left: 10, top: 20, width: 4, height: 1 } })).toEqual([
      { outer: [10, 20, 14, 20, 14, 20.5, 12, 20.5, 12, 21, 10, 21], holes: [] },
    ]);
  });

  it('gives each hole to its part', () => {
    const parts = expectOutlines(
      drawn('#########', '#.......#', '#.#####.#', '#.#.#.#.#', '#.#####.#', '#.......#', '#########'),
    );
    expect(parts.map(({ outer, holes }) => [signedArea(outer), holes.map(signedArea)])).toEqual([
      [63, [-35]],
      [15, [-1, -1]],
    ]);
  });

  it('finds the part of holes that lie around each other', () => {
    const [part] = expectOutlines(
      drawn(
        '###########',
        '#.........#',
        '#.#######.#',
        '#.#.....#.#',
        '#.#.###.#.#',
        '#.#.#.###.#',
        '#.#.#######',
        '#.#.###...#',
        '#.########.',
        '###########',
      ),
    );
    expect(part!.holes.length).toBeGreaterThan(2);
  });

  it('has nothing to say of an empty mask', () => {
    expect(outlinePolygons(placedAt(drawn('...', '...')))).toEqual([]);
  });

  it('holds exactly the pixels of random masks', () => {
    for (let i = 0; i < 200; i++) {
      const random = rng(1, 'outline', i);
      expectOutlines(randomMask(random, integer(random, 1, 24), integer(random, 1, 24)));
    }
  });

  it('holds exactly the pixels of noise', () => {
    for (let i = 0; i < 200; i++) {
      const random = rng(1, 'noise', i);
      const [width, height] = [integer(random, 1, 14), integer(random, 1, 14)];
      const share = random.next();
      const data = Uint8Array.from({ length: width * height }, () => (random.next() < share ? 255 : 0));
      const mask = { data, width, height };
      const holes = expectOutlines(mask).flatMap(part => part.holes).length;
      // Ground is 4-connected: counted by its 8-connected parts only where no two meet at a corner alone.
      expect(holes).toBeGreaterThanOrEqual(connectedComponents(groundOf(mask)).components.length - 1);
    }
  });

  it('gives the same pixels by the rule of COCO', () => {
    for (let i = 0; i < 100; i++) {
      const random = rng(2, 'outline', i);
      const [width, height] = [integer(random, 1, 30), integer(random, 1, 30)];
      const mask = randomMask(random, width, height);
      const placed = placedAt(mask, integer(random, 0, 9), integer(random, 0, 9));
      const [pictureWidth, pictureHeight] = [width + 20, height + 20];
      for (const { outer, holes } of outlinePolygons(placed)) {
        for (const polygon of [outer, ...holes]) {
          const expected = evenOdd([polygon], pictureWidth, pictureHeight);
          expect(rowsOf(literalPolygonMask([polygon], pictureWidth, pictureHeight))).toEqual(rowsOf(expected));
          const { counts } = polygonRunLengths([polygon], pictureWidth, pictureHeight);
          const set = counts.filter((_, k) => k % 2 === 1);
          expect(sum(set)).toBe(Math.abs(signedArea(polygon)));
          expect(countsOf(expected)).toEqual(counts);
        }
      }
    }
  });
});

/** Lengths of the runs down the columns. */
function countsOf({ data, width, height }: Mask): number[] {
  const counts = [0];
  let value = 0;
  for (let i = 0; i < data.length; i++) {
    const here = data[(i % height) * width + Math.floor(i / height)]!;
    if (here === value) counts[counts.length - 1]!++;
    else counts.push(1);
    value = here;
  }
  return counts;
}
