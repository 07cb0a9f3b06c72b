import { describe, expect, it } from 'vitest';
import { panoramaLight, shrinkPanorama } from '../../../pipeline/panoramas/solid-angle.ts';
import { rng } from '../../../sampling/rng.ts';
import { type Panorama, panoramaDirection } from '../../../scenes/panorama-format.ts';

function panorama(width: number, height: number, pixel: (x: number, y: number) => readonly number[]): Panorama {
  const data = new Float32Array(3 * width * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set(pixel(x, y), 3 * (y * width + x));
  return { width, height, data };
}

/** Noise with a few suns. */
function noise(width: number, height: number): Panorama {
  const { next } = rng(1, 'panorama', width);
  return panorama(width, height, () => [next(), next() < 0.001 ? 5000 * next() : next(), 0.1]);
}

describe('shrinkPanorama', () => {
  it.each([
    [256, 128, 128],
    [256, 128, 100],
    [250, 126, 77],
    [257, 128, 256],
    [100, 50, 2],
  ])('keeps the light of %s×%s at a width of %s', (width, height, to) => {
    const whole = noise(width, height);
    const small = shrinkPanorama(whole, to);
    expect(small.width).toBe(to);
    expect(small.data.length).toBe(3 * small.width * small.height);
    const [before, after] = [panoramaLight(whole).mean, panoramaLight(small).mean];
    for (const c of [0, 1, 2] as const) expect(Math.abs(after[c] / before[c] - 1)).toBeLessThan(1e-6);
  });

  it('leaves even light even, and narrower panoramas as they are', () => {
    const even = panorama(90, 45, () => [0.25, 1, 4]);
    const { data } = shrinkPanorama(even, 40);
    for (let i = 0; i < data.length; i++) expect(data[i]).toBeCloseTo([0.25, 1, 4][i % 3]!, 6);
    expect(shrinkPanorama(even, 90)).toBe(even);
    expect(shrinkPanorama(even, 2048)).toBe(even);
  });

  it('weighs a row by the sphere it covers, a column alike', () => {
    const rows = shrinkPanorama(
      panorama(4, 2, (_, y) => [y, 0, 0]),
      2,
    );
    expect([...rows.data]).toEqual([0.5, 0, 0, 0.5, 0, 0]);
    // Of the upper half of the sphere, what is above 45° is 1 − cos 45°.
    const polar = shrinkPanorama(
      panorama(8, 4, (_, y) => [y === 0 ? 1 : 0, 0, 0]),
      4,
    );
    expect(polar.data[0]).toBeCloseTo(1 - Math.SQRT1_2, 6);
    const columns = shrinkPanorama(
      panorama(6, 3, x => [x, 0, 0]),
      4,
    );
    expect(columns.data[0]).toBeCloseTo((0 + 0.5 * 1) / 1.5, 6);
    expect(columns.data[3]).toBeCloseTo((0.5 * 1 + 2) / 1.5, 6);
  });

  it('keeps what is up and what is left', () => {
    const { width, data } = shrinkPanorama(
      panorama(64, 32, (x, y) => (x < 8 && y < 8 ? [9, 0, 0] : [0, 0, 0])),
      16,
    );
    expect([data[0], data[3 * width], data[3 * 2], data[3 * 2 * width]]).toEqual([9, 9, 0, 0]);
  });
});

describe('panoramaLight', () => {
  it('averages over the sphere', () => {
    // The light from above alone: half of all directions. A sky that is cos θ bright above: a quarter.
    const upper = panoramaLight(panorama(64, 32, (_, y) => (y < 16 ? [2, 0, 0] : [0, 0, 0]))).mean;
    expect(upper[0]).toBeCloseTo(1, 6);
    const cosine = panorama(8, 1024, (_, y) => [Math.max(0, Math.cos(((y + 0.5) / 1024) * Math.PI)), 0, 0]);
    expect(panoramaLight(cosine).mean[0]).toBeCloseTo(0.25, 4);
  });

  it('finds the brightest pixel by luminance', () => {
    const sun = panorama(64, 32, (x, y) => (x === 40 && y === 5 ? [10, 20, 30] : x === 3 ? [80, 0, 90] : [1, 1, 1]));
    const { luminance, color, direction } = panoramaLight(sun).brightest;
    expect(color).toEqual([80, 0, 90]);
    expect(luminance).toBeCloseTo(0.2126 * 80 + 0.0722 * 90, 9);
    expect(direction).toEqual(panoramaDirection(3.5 / 64, 0.5 / 32));
  });
});
