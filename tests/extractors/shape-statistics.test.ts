import { describe, expect, it } from 'vitest';
import type { Mask } from '../../extractors/image.ts';
import { largestDistance } from '../../extractors/inscribed-disc.ts';
import { tightMask } from '../../extractors/placed-mask.ts';
import { type ShapeStatistics, shapeStatistics } from '../../extractors/shape-statistics.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { literalShapeStatistics } from '../literal/shape-statistics.ts';
import { connectedComponents, contours, convexHull, distances, moments } from '../oracle/opencv.ts';
import { drawn, randomMask } from './drawn-masks.ts';

/** The tight mask of the pixels of a square picture whose centres, counted from the middle, are inside. */
function filled(side: number, isInside: (x: number, y: number) => boolean): Mask {
  const data = new Uint8Array(side * side);
  const middle = (side - 1) / 2;
  for (let i = 0; i < data.length; i++) {
    if (isInside((i % side) - middle, Math.floor(i / side) - middle)) data[i] = 255;
  }
  return tightMask({ data, width: side, height: side })!.mask;
}

const disc = (radius: number, side = 2 * Math.ceil(radius) + 1) =>
  filled(side, (x, y) => x * x + y * y <= radius * radius);

const isInRectangle = (width: number, height: number, degrees: number) => {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return (x: number, y: number) =>
    Math.abs(x * cos + y * sin) <= width / 2 && Math.abs(y * cos - x * sin) <= height / 2;
};

function expectNear(value: number, expected: number, share: number): void {
  expect(Math.abs(value / expected - 1), `${value}, expected ${expected}`).toBeLessThan(share);
}

/** Random masks of all kinds: blobs with holes and specks, and noise. */
function* randomMasks(name: string, count: number, side: number): Generator<Mask> {
  for (let i = 0; i < count; i++) {
    const random = rng(1, name, i);
    const [width, height] = [integer(random, 1, side), integer(random, 1, side)];
    if (i % 2 === 0) yield tightMask(randomMask(random, width, height))!.mask;
    else {
      const share = random.next();
      const data = Uint8Array.from({ length: width * height }, () => (random.next() < share ? 255 : 0));
      data[0] = 255;
      yield tightMask({ data, width, height })!.mask;
    }
  }
}

describe('closed forms', () => {
  it.each([10, 20, 35.5, 50, 100, 200])('a disc of radius %s', radius => {
    const { area, perimeter, ...rest } = shapeStatistics(disc(radius));
    const share = radius < 20 ? 0.03 : 0.015;
    expectNear(area, Math.PI * radius ** 2, share);
    expectNear(perimeter, 2 * Math.PI * radius, share);
    expect(rest).toMatchObject({ solidity: 1, convexity: 1, holes: 0, eulerNumber: 1 });
    expect(rest.elongation).toBeLessThan(0.01);
    expectNear(rest.complexity, 1, 2 * share);
    expect(rest.thickness).toBeGreaterThan(1 - 0.6 / radius);
    expect(rest.thickness).toBeLessThanOrEqual(1);
  });

  it('has no bias for discs anywhere on the grid', () => {
    const [discs, random] = [200, rng(1, 'discs', 0)];
    let ratio = 0;
    for (let i = 0; i < discs; i++) {
      const [cx, cy, radius] = [random.next(), random.next(), 20 + 60 * random.next()];
      const mask = filled(165, (x, y) => (x - cx) ** 2 + (y - cy) ** 2 <= radius ** 2);
      ratio += shapeStatistics(mask).perimeter / (2 * Math.PI * radius) / discs;
    }
    expectNear(ratio, 1, 0.01);
  });

  it.each([0, 10, 22.5, 30, 45, 77])('a square turned by %s°', degrees => {
    const { area, perimeter, ...rest } = shapeStatistics(filled(301, isInRectangle(200, 200, degrees)));
    expectNear(area, 200 ** 2, 0.011);
    expectNear(perimeter, 800, 0.025);
    expect(rest).toMatchObject({ solidity: 1, convexity: 1, holes: 0, eulerNumber: 1 });
    expect(rest.elongation).toBeLessThan(0.005);
    expectNear(rest.complexity, 4 / Math.PI, 0.05);
    expectNear(rest.thickness, Math.sqrt(Math.PI) / 2, 0.01);
  });

  it('a ring', () => {
    const ring = filled(201, (x, y) => Math.hypot(x, y) <= 100 && Math.hypot(x, y) > 50);
    const { area, perimeter, holes, eulerNumber, solidity, convexity, thickness } = shapeStatistics(ring);
    expectNear(area, Math.PI * (100 ** 2 - 50 ** 2), 0.01);
    expectNear(perimeter, 2 * Math.PI * 150, 0.015);
    expect({ holes, eulerNumber, convexity }).toEqual({ holes: 1, eulerNumber: 0, convexity: 1 });
    expectNear(solidity, 0.75, 0.01);
    expectNear(thickness, 25 / Math.sqrt(100 ** 2 - 50 ** 2), 0.03);
  });

  it.each([0, 30, 45])('a needle turned by %s°', degrees => {
    const { elongation, solidity, convexity, perimeter } = shapeStatistics(filled(301, isInRectangle(240, 8, degrees)));
    expectNear(1 - elongation, 8 / 240, 0.15);
    expectNear(perimeter, 2 * 248, 0.04);
    expect({ solidity, convexity }).toEqual({ solidity: 1, convexity: 1 });
  });

  it('an ellipse', () => {
    const { elongation } = shapeStatistics(filled(401, (x, y) => ((x + y) / 150) ** 2 + ((x - y) / 50) ** 2 <= 2));
    expectNear(1 - elongation, 1 / 3, 0.01);
  });

  it('a U', () => {
    const u = shapeStatistics(filled(100, (x, y) => Math.abs(x) > 30 || y > 30));
    expect(u).toMatchObject({ area: 5200, solidity: 0.52, holes: 0, eulerNumber: 1 });
    expectNear(u.perimeter, 560, 0.03);
    expectNear(u.convexity, 400 / 560, 0.005);
  });

  it('a comb', () => {
    const comb = shapeStatistics(filled(101, (x, y) => y < -40 || (x + 50) % 10 < 5));
    expect(comb.convexity).toBeLessThan(0.25);
    expectNear(comb.solidity, (101 * 10 + 51 * 91) / 101 ** 2, 0.01);
    expect(comb).toMatchObject({ holes: 0, eulerNumber: 1 });
    // The disc touches the top and the two corners at the root of a tooth: 2r − (r − √(r² − 2.5²)) = 10.
    expectNear(comb.thickness, 10.6 / (2 * Math.sqrt(comb.area / Math.PI)), 0.06);
  });

  it('one pixel', () => {
    const { perimeter, complexity, thickness, ...rest } = shapeStatistics(drawn('#'));
    expect(perimeter).toBeGreaterThan(0);
    expect(complexity).toBeGreaterThan(0);
    expect(rest).toEqual({
      area: 1,
      solidity: 1,
      convexity: 1,
      holes: 0,
      eulerNumber: 1,
      elongation: 0,
    });
    expectNear(thickness, Math.sqrt(Math.PI) / 2, 1e-9);
  });

  it('lines of one pixel', () => {
    const straight = shapeStatistics(drawn('#'.repeat(50)));
    expect(straight).toMatchObject({ solidity: 1, convexity: 1, eulerNumber: 1 });
    expectNear(1 - straight.elongation, 1 / 50, 1e-9);
    const diagonal = shapeStatistics(filled(50, (x, y) => x === y));
    expect(diagonal).toMatchObject({ area: 50, solidity: 1, convexity: 1, holes: 0, eulerNumber: 1 });
    expectNear(diagonal.perimeter, 100 * Math.SQRT2, 0.01);
  });

  it('several parts', () => {
    const parts = shapeStatistics(drawn('###....', '#.#....', '###....', '......#', '......#'));
    expect(parts).toMatchObject({ area: 10, holes: 1, eulerNumber: 1, convexity: 1 });
    expect(shapeStatistics(drawn('#.#', '...', '#.#'))).toMatchObject({ holes: 0, eulerNumber: 4, solidity: 4 / 9 });
  });

  it('ground is 4-connected, the shape 8-connected', () => {
    expect(shapeStatistics(drawn('####', '#.##', '##.#', '####'))).toMatchObject({ holes: 2, eulerNumber: -1 });
    expect(shapeStatistics(drawn('.#.', '#.#', '.#.'))).toMatchObject({ holes: 1, eulerNumber: 0 });
  });

  it('a full picture', () => {
    const full = shapeStatistics({ data: new Uint8Array(30 * 20).fill(255), width: 30, height: 20 });
    expect(full).toMatchObject({ area: 600, solidity: 1, convexity: 1, holes: 0, eulerNumber: 1 });
    expectNear(full.elongation, 1 - 20 / 30, 1e-9);
  });

  it('refuses an empty mask', () => {
    expect(() => shapeStatistics(drawn('...'))).toThrow(RangeError);
  });
});

describe('ranges', () => {
  it('hold for any mask', () => {
    for (const mask of randomMasks('ranges', 600, 40)) {
      const s = shapeStatistics(mask);
      for (const share of [s.solidity, s.convexity, s.thickness]) {
        expect(share).toBeGreaterThan(0);
        expect(share).toBeLessThanOrEqual(1);
      }
      expect(s.elongation).toBeGreaterThanOrEqual(0);
      expect(s.elongation).toBeLessThan(1);
      expect(s.perimeter).toBeGreaterThan(0);
    }
  });
});

/** The mask's pixels rearranged. */
function rearranged(mask: Mask, width: number, height: number, from: (x: number, y: number) => [number, number]): Mask {
  const data = Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = from(i % width, Math.floor(i / width));
    return mask.data[y * mask.width + x]!;
  });
  return { data, width, height };
}

describe('invariance', () => {
  it('is exact under quarter turns and mirroring', () => {
    for (const mask of randomMasks('turns', 200, 60)) {
      const { width, height } = mask;
      const expected = shapeStatistics(mask);
      for (const other of [
        rearranged(mask, width, height, (x, y) => [width - 1 - x, y]),
        rearranged(mask, width, height, (x, y) => [x, height - 1 - y]),
        rearranged(mask, width, height, (x, y) => [width - 1 - x, height - 1 - y]),
        rearranged(mask, height, width, (x, y) => [y, x]),
        rearranged(mask, height, width, (x, y) => [y, height - 1 - x]),
      ]) {
        expect(shapeStatistics(other)).toEqual(expected);
      }
    }
  });

  it('holds for shapes drawn at another size', () => {
    const flower = (size: number) =>
      shapeStatistics(
        filled(2 * size + 41, (x, y) => {
          const [angle, radius] = [Math.atan2(y, x), Math.hypot(x, y)];
          return radius <= size * (0.8 + 0.2 * Math.sin(5 * angle)) && Math.hypot(x - size / 5, y) > size / 6;
        }),
      );
    const one = flower(60);
    for (const scale of [2, 3, 4]) {
      const other = flower(60 * scale);
      expectNear(other.area, one.area * scale ** 2, 0.02);
      expectNear(other.perimeter, one.perimeter * scale, 0.02);
      for (const name of ['solidity', 'convexity', 'complexity', 'thickness'] as const) {
        expectNear(other[name], one[name], 0.04);
      }
      expect(Math.abs(other.elongation - one.elongation)).toBeLessThan(0.01);
      expect(other).toMatchObject({ holes: 1, eulerNumber: 0 });
    }
  });
});

describe('the literal version', () => {
  it('agrees on random masks', () => {
    for (const mask of randomMasks('literal', 300, 18)) {
      const [found, expected] = [shapeStatistics(mask), literalShapeStatistics(mask)];
      for (const name of Object.keys(expected) as (keyof ShapeStatistics)[]) {
        // Of what is nearly round, the axes are a difference of two like numbers.
        expect(Math.abs(found[name] - expected[name]), name).toBeLessThan(name === 'elongation' ? 1e-7 : 1e-9);
      }
    }
  });
});

/** A frame of clear pixels around, as OpenCV needs it. */
function framed({ data, width, height }: Mask): Mask {
  const wide = width + 2;
  const frame = new Uint8Array(wide * (height + 2));
  for (let row = 0; row < height; row++) frame.set(data.subarray(row * width, (row + 1) * width), (row + 1) * wide + 1);
  return { data: frame, width: wide, height: height + 2 };
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

describe('OpenCV', () => {
  it('has the same parts, holes, hulls, moments and distances', () => {
    for (const mask of randomMasks('opencv', 200, 60)) {
      const found = shapeStatistics(mask);
      const frame = framed(mask);
      const borders = contours(frame);
      const { components } = connectedComponents(mask);
      expect(found.holes).toBe(borders.filter(({ isHole }) => isHole).length);
      expect(found.eulerNumber).toBe(components.length - found.holes);

      const hull = convexHull(borders.filter(({ isHole }) => !isHole).flatMap(({ points }) => [...points]));
      let [twiceArea, onBorder] = [0, 0];
      for (let i = 0; i < hull.length; i += 2) {
        const [x1, y1] = [hull[i]!, hull[i + 1]!];
        const [x2, y2] = [hull[(i + 2) % hull.length]!, hull[(i + 3) % hull.length]!];
        twiceArea += x1 * y2 - x2 * y1;
        onBorder += greatestCommonDivisor(Math.abs(x2 - x1), Math.abs(y2 - y1));
      }
      expect(found.solidity).toBeCloseTo(found.area / ((Math.abs(twiceArea) + onBorder) / 2 + 1), 12);

      const { m00, mu20, mu02, mu11 } = moments(mask);
      const [xx, yy, xy] = [mu20 / m00 + 1 / 12, mu02 / m00 + 1 / 12, mu11 / m00];
      const spread = Math.sqrt((xx - yy) ** 2 + 4 * xy ** 2);
      expect(found.elongation).toBeCloseTo(1 - Math.sqrt((xx + yy - spread) / (xx + yy + spread)), 6);

      expect(largestDistance(mask)).toBeCloseTo(
        distances(frame).reduce((a, b) => Math.max(a, b)),
        3,
      );
    }
  });

  it('has outlines that run half a pixel farther in', () => {
    for (const radius of [15, 30, 60]) {
      const [outer] = contours(framed(disc(radius)));
      const { area, perimeter } = shapeStatistics(disc(radius));
      // Its steps of 1 and √2 are 8/π · (√2 − 1) too long on average; area by Pick's theorem.
      expectNear(perimeter, (outer!.length * Math.PI) / 8 / (Math.SQRT2 - 1) + Math.PI, 0.02);
      expect(area).toBe(outer!.area + outer!.points.length / 4 + 1);
    }
  });
});
