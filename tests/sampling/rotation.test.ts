import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { eulerRotation, product, rotationMatrix, uniformRotation } from '../../sampling/rotation.ts';
import { shareDeviation } from '../scenes/statistics.ts';

const DRAWS = 40_000;

const expectShare = (count: number, probability: number) =>
  expect(shareDeviation(count, DRAWS, probability)).toBeLessThan(4);

describe('uniform rotations', () => {
  const random = rng(1, 'test', 'rotations');
  const rotations = Array.from({ length: DRAWS }, () => uniformRotation(random));

  it('are unit quaternions', () => {
    for (const q of rotations.slice(0, 1000)) expect(Math.hypot(...q)).toBeCloseTo(1, 12);
  });

  it('have axes uniform on the sphere', () => {
    // Archimedes: each coordinate of a uniform direction is uniform in [−1, 1].
    for (let axis = 0; axis < 3; axis++) {
      const bins = new Array<number>(20).fill(0);
      for (const q of rotations) {
        const sign = q[3] < 0 ? -1 : 1;
        const value = (sign * q[axis]!) / Math.hypot(q[0], q[1], q[2]);
        bins[Math.min(19, Math.floor(10 * (value + 1)))]!++;
      }
      for (const count of bins) expectShare(count, 1 / 20);
    }
  });

  it('have angles with density (1 − cos θ)/π', () => {
    const bins = new Array<number>(20).fill(0);
    for (const q of rotations)
      bins[Math.min(19, Math.floor((20 / Math.PI) * 2 * Math.acos(Math.min(1, Math.abs(q[3])))))]!++;
    const cumulative = (angle: number) => (angle - Math.sin(angle)) / Math.PI;
    for (const [i, count] of bins.entries()) {
      expectShare(count, cumulative(((i + 1) * Math.PI) / 20) - cumulative((i * Math.PI) / 20));
    }
  });

  it('turn a fixed point to everywhere alike', () => {
    const bins = new Array<number>(20).fill(0);
    for (const q of rotations) bins[Math.min(19, Math.floor(10 * (rotationMatrix(q)[5]! + 1)))]!++;
    for (const count of bins) expectShare(count, 1 / 20);
  });
});

describe('turns about the axes', () => {
  it('go about x, then y, then z', () => {
    const turned = (q: ReturnType<typeof eulerRotation>, p: readonly number[]) => {
      const m = rotationMatrix(q);
      return [0, 1, 2].map(row => m[3 * row]! * p[0]! + m[3 * row + 1]! * p[1]! + m[3 * row + 2]! * p[2]!);
    };
    const near = (a: number[], b: number[]) => a.forEach((value, i) => void expect(value).toBeCloseTo(b[i]!, 12));
    near(turned(eulerRotation(90, 0, 0), [0, 1, 0]), [0, 0, 1]);
    near(turned(eulerRotation(0, 90, 0), [0, 0, 1]), [1, 0, 0]);
    near(turned(eulerRotation(0, 0, 90), [1, 0, 0]), [0, 1, 0]);
    near(turned(eulerRotation(90, 0, 90), [0, 1, 0]), [0, 0, 1]);
    near(turned(eulerRotation(90, 90, 0), [0, 1, 0]), [1, 0, 0]);
  });

  it('are multiplied the right one first', () => {
    const a = eulerRotation(0, 0, 90);
    const b = eulerRotation(90, 0, 0);
    expect(product(a, b)).toEqual(eulerRotation(90, 0, 90));
  });
});
