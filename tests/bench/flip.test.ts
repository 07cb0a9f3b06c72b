import { expect, test } from 'vitest';
import { flip } from '../../bench/fidelity/flip.ts';

const SIDE = 48;

/** A picture by place. */
function picture(color: (column: number, row: number) => readonly [number, number, number]): Float32Array {
  return Float32Array.from(Array.from({ length: SIDE * SIDE }, (_, i) => color(i % SIDE, Math.floor(i / SIDE))).flat());
}
const even = (...color: [number, number, number]) => picture(() => color);
const grey = (value: number) => even(value, value, value);
const errors = (a: Float32Array, b: Float32Array) => Array.from(flip(a, b, SIDE));
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Lightness of a grey, CIE 1976. */
function lightness(srgb: number): number {
  const linear = srgb <= 0.04045 ? srgb / 12.92 : ((srgb + 0.055) / 1.055) ** 2.4;
  return linear > (6 / 29) ** 3 ? 116 * Math.cbrt(linear) - 16 : linear * (29 / 3) ** 3;
}

test('FLIP of even pictures is the distance of their colours, redistributed', () => {
  // The greatest distance, of green and blue, is 1.
  for (const error of errors(even(0, 1, 0), even(0, 0, 1))) expect(error).toBeCloseTo(1, 5);
  // Hunt-adjusted L*a*b* of sRGB's green and blue under D65, with CIE's tabulated values: HyAB = |87.73 − 32.30| + |(a, b)|.
  const green = [87.735, 0.87735 * -86.183, 0.87735 * 83.18] as const;
  const blue = [32.297, 0.32297 * 79.188, 0.32297 * -107.86] as const;
  const most = (green[0] - blue[0] + Math.hypot(green[1] - blue[1], green[2] - blue[2])) ** 0.7;
  for (const [a, b] of [
    [0.2, 0.21],
    [0.4, 0.6],
    [0, 1],
  ] as const) {
    const distance = (lightness(b) - lightness(a)) ** 0.7;
    const knee = 0.4 * most;
    const expected = distance < knee ? (0.95 * distance) / knee : 0.95 + (0.05 * (distance - knee)) / (most - knee);
    expect(mean(errors(grey(a), grey(b)))).toBeCloseTo(expected, 3);
  }
});

test('FLIP is 0 for equal pictures, the same both ways, and never above 1', () => {
  const wild = picture((x, y) => [((7 * x + 3 * y) % 11) / 10, ((x * y) % 5) / 4, ((x + 2 * y) % 3) / 2]);
  const other = picture((x, y) => [((5 * x + y) % 9) / 8, ((x + y) % 2) / 1, ((3 * x * y) % 7) / 6]);
  expect(Math.max(...errors(wild, wild))).toBe(0);
  const there = errors(wild, other);
  expect(Math.max(...there)).toBeLessThanOrEqual(1);
  expect(Math.min(...there)).toBeGreaterThanOrEqual(0);
  errors(other, wild).forEach((error, i) => {
    expect(error).toBeCloseTo(there[i]!, 6);
  });
});

test('FLIP counts an edge that is missing: beside a step of black and white the feature is 1', () => {
  const step = picture(x => (x < SIDE / 2 ? [0, 0, 0] : [1, 1, 1]));
  const error = errors(step, grey(0));
  const middle = (SIDE / 2) * SIDE;
  // ΔE_f = (1/√2)^½ on both sides of the edge: on the white side the colour error is near that of white, with exponent 1 − ΔE_f.
  const onWhite = mean(errors(grey(1), grey(0)));
  expect(error[middle + SIDE - 1]).toBeCloseTo(onWhite, 3);
  expect(error[middle]).toBeCloseTo(0, 6);
  expect(error[middle + SIDE / 2]).toBeGreaterThan(onWhite * 0.9 ** (1 - Math.SQRT1_2 ** 0.5));
  expect(error[middle + SIDE / 2 - 1]).toBeGreaterThan(0.8);
});

test('FLIP sees a small difference less from afar', () => {
  const dotted = picture((x, y) => ((x + y) % 2 === 0 ? [0.6, 0.4, 0.5] : [0.4, 0.6, 0.5]));
  const plain = even(0.51, 0.51, 0.5);
  const near = mean(Array.from(flip(dotted, plain, SIDE, 10)));
  const far = mean(Array.from(flip(dotted, plain, SIDE, 200)));
  expect(far).toBeLessThan(0.5 * near);
});

test('FLIP refuses pictures of different sizes', () => {
  expect(() => flip(new Float32Array(12), new Float32Array(15), 2)).toThrow('expected two pictures 2 pixels wide');
});
