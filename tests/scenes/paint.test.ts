import { describe, expect, it } from 'vitest';
import { type Rng, rng } from '../../sampling/rng.ts';
import {
  BLACK,
  decodeSrgb,
  encodeSrgb,
  labToRgb,
  rgbToLab,
  sampleColour,
  sampleColourPair,
  sampleTexturePaint,
  WHITE,
} from '../../scenes/paint.ts';
import { paintSchema } from '../../scenes/scene2d.ts';
import { correlation, worstBin, worstNumber } from './statistics.ts';

const N = 20_000;

/** Gives the numbers of a list, one after another. */
const scripted = (...numbers: number[]): Rng => ({ next: () => numbers.shift()! });

describe('sampleTexturePaint', () => {
  it('crops a larger texture anywhere, in every quarter turn equally often, without scaling it', () => {
    const random = rng(1, 'test', 'crop');
    const paints = Array.from({ length: N }, () =>
      sampleTexturePaint(random, { id: 't', width: 700, height: 600 }, 512),
    );
    expect(new Set(paints.map(({ scale, id }) => `${scale} ${id}`))).toEqual(new Set(['1 t']));
    const lefts = paints.map(({ left }) => left);
    const tops = paints.map(({ top }) => top);
    expect(worstNumber(lefts, 0, 700 - 512)).toBeLessThan(4);
    expect(worstNumber(tops, 0, 600 - 512)).toBeLessThan(4);
    const turns = paints.map(({ quarterTurns }) => quarterTurns);
    expect(worstNumber(turns, 0, 3)).toBeLessThan(4);
    expect(correlation(lefts, tops)).toBeLessThan(4);
    expect(correlation(lefts, turns)).toBeLessThan(4);
  });

  it('enlarges a smaller texture so that its shorter side just fills the image', () => {
    const random = rng(1, 'test', 'enlarged');
    const paints = Array.from({ length: N }, () =>
      sampleTexturePaint(random, { id: 't', width: 141, height: 199 }, 512),
    );
    expect(new Set(paints.map(({ scale, left }) => `${scale} ${left}`))).toEqual(new Set([`${512 / 141} 0`]));
    // 199 · 512/141 = 722.6
    expect(
      worstNumber(
        paints.map(({ top }) => top),
        0,
        723 - 512,
      ),
    ).toBeLessThan(4);
  });

  it('takes a texture of the image’s very size whole', () => {
    const paint = sampleTexturePaint(rng(1, 'test', 0), { id: 't', width: 512, height: 512 }, 512);
    expect(paint).toMatchObject({ scale: 1, left: 0, top: 0 });
  });

  it('names crops that lie inside the enlarged texture, whatever its size', () => {
    const random = rng(1, 'test', 'sizes');
    for (let width = 33; width < 1100; width += 7) {
      for (const height of [40, 511, 512, 513, 1023]) {
        const paint = sampleTexturePaint(random, { id: 't', width, height }, 512);
        expect(paintSchema.parse(paint)).toEqual(paint);
        expect(paint.left + 512).toBeLessThanOrEqual(Math.round(width * paint.scale));
        expect(paint.top + 512).toBeLessThanOrEqual(Math.round(height * paint.scale));
      }
    }
  });
});

describe('colours', () => {
  it('are drawn from L 20–90, a and b −80–80', () => {
    const end = 1 - 2 ** -32;
    expect(sampleColour(scripted(0, 0.5, 0.5))).toEqual(labToRgb(20, 0, 0));
    expect(sampleColour(scripted(end, 0.5, 0.5))).toEqual(labToRgb(90, 0, 0));
    expect(sampleColour(scripted(0.5, 0, 0.5))).toEqual(labToRgb(55, -80, 0));
    expect(sampleColour(scripted(0.5, end, 0.5))).toEqual(labToRgb(55, 80, 0));
    expect(sampleColour(scripted(0.5, 0.5, 0))).toEqual(labToRgb(55, 0, -80));
    expect(sampleColour(scripted(0.5, 0.5, end))).toEqual(labToRgb(55, 0, 80));
  });

  it('that sRGB can show stay in the range and fill it', () => {
    const random = rng(1, 'test', 'colours');
    const labs: number[][] = [];
    for (let i = 0; i < N; i++) {
      const rgb = sampleColour(random);
      if (rgb.every(v => v > 0 && v < 255)) labs.push(rgbToLab(rgb));
    }
    expect(labs.length).toBeGreaterThan(N / 10);
    // A byte is up to 0.5 off, which is up to 1 in Lab.
    const ranges = [0, 1, 2].map(i => labs.map(lab => lab[i]!)).map(v => [Math.min(...v), Math.max(...v)]);
    for (const [i, [low, high]] of (
      [
        [20, 90],
        [-80, 80],
        [-80, 80],
      ] as const
    ).entries()) {
      expect(ranges[i]![0]).toBeGreaterThan(low - 1);
      expect(ranges[i]![1]).toBeLessThan(high + 1);
      expect(ranges[i]![1]! - ranges[i]![0]!).toBeGreaterThan(0.85 * (high - low));
    }
    // Of near-greys sRGB shows all, so there the lightness keeps its law.
    const greyish = labs.filter(([, a, b]) => Math.hypot(a!, b!) < 20).map(([l]) => l!);
    expect(
      worstBin(
        greyish.filter(l => l >= 35 && l <= 75),
        35,
        75,
        8,
      ),
    ).toBeLessThan(4);
  });

  it('of a pair differ by a ΔE of at least 20, either one the lighter equally often', () => {
    const random = rng(1, 'test', 'pairs');
    let firstLighter = 0;
    let closest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < N; i++) {
      const pair = sampleColourPair(random);
      const [first, second] = [rgbToLab(pair[0]), rgbToLab(pair[1])];
      closest = Math.min(closest, Math.hypot(...first.map((v, k) => v - second[k]!)));
      if (first[0]! > second[0]!) firstLighter++;
    }
    expect(closest).toBeGreaterThanOrEqual(20);
    expect(closest).toBeLessThan(23);
    expect(Math.abs(firstLighter - N / 2)).toBeLessThan(4 * Math.sqrt(N / 4));
  });

  it('black and white are the ends of the range', () => {
    expect([BLACK, WHITE]).toEqual([
      { kind: 'colour', rgb: [0, 0, 0] },
      { kind: 'colour', rgb: [255, 255, 255] },
    ]);
  });
});

describe('Lab and sRGB', () => {
  // Published values for D65 and the 2° observer.
  it.each([
    ['red', [255, 0, 0], [53.24, 80.09, 67.2]],
    ['green', [0, 255, 0], [87.73, -86.18, 83.18]],
    ['blue', [0, 0, 255], [32.3, 79.19, -107.86]],
    ['yellow', [255, 255, 0], [97.14, -21.55, 94.48]],
    ['white', [255, 255, 255], [100, 0, 0]],
    ['middle grey', [119, 119, 119], [50.03, 0, 0]],
    ['black', [0, 0, 0], [0, 0, 0]],
  ] as const)('%s has its published Lab value', (_, rgb, lab) => {
    const found = rgbToLab([...rgb]);
    for (let i = 0; i < 3; i++) expect(Math.abs(found[i]! - lab[i]!)).toBeLessThan(0.03);
    expect(labToRgb(...(lab as unknown as [number, number, number]))).toEqual(rgb);
  });

  it('round trip: every colour comes back', () => {
    for (let r = 0; r < 256; r += 15) {
      for (let g = 0; g < 256; g += 15) {
        for (let b = 0; b < 256; b += 15) {
          if (String(labToRgb(...rgbToLab([r, g, b]))) !== `${r},${g},${b}`) expect.unreachable(`${r}, ${g}, ${b}`);
        }
      }
    }
  });

  it('clips what sRGB cannot show', () => {
    expect(labToRgb(90, 80, -80)).toContain(255);
    expect(labToRgb(20, -80, -80)).toContain(0);
    expect(paintSchema.safeParse({ kind: 'colour', rgb: labToRgb(90, 80, 80) }).success).toBe(true);
  });

  it('the transfer function is the standard’s, both ways', () => {
    expect(decodeSrgb(0.5)).toBeCloseTo(0.21404, 5);
    expect(encodeSrgb(0.5)).toBeCloseTo(0.73536, 5);
    expect(encodeSrgb(0.001)).toBeCloseTo(0.01292, 9);
    for (let v = 0; v < 256; v++) expect(255 * encodeSrgb(decodeSrgb(v / 255))).toBeCloseTo(v, 6);
  });
});
