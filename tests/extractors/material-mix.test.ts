import { describe, expect, it } from 'vitest';
import {
  drawMix,
  drawMixCount,
  MIX_DEFAULTS,
  MIXED_MAPS,
  type MixPlan,
  mixMaps,
} from '../../extractors/material-mix.ts';
import type { MaterialMaps } from '../../extractors/pbr-maps.ts';
import { normalsFromHeight } from '../../extractors/relief.ts';
import { rng } from '../../sampling/rng.ts';

const DRAWS = 20_000;
const ON = { ...MIX_DEFAULTS, mixShare: 1 };

function off(count: number, total: number, probability: number): number {
  return Math.abs(count - total * probability) / Math.sqrt(total * probability * (1 - probability));
}

describe('drawing mixes', () => {
  it('mixes none unless asked', () => {
    for (let i = 0; i < 100; i++) expect(drawMixCount(rng(1, 'test', i), MIX_DEFAULTS)).toBe(1);
  });

  it('takes two, and one more with probability 1/2 after each', () => {
    const counts = Array.from({ length: DRAWS }, (_, i) => drawMixCount(rng(1, 'test', i), ON));
    for (const [more, probability] of [
      [2, 1],
      [3, 0.5],
      [4, 0.25],
      [5, 0.125],
    ] as const) {
      const found = counts.filter(count => count >= more).length;
      if (probability === 1) expect(found).toBe(DRAWS);
      else expect(off(found, DRAWS, probability)).toBeLessThan(4);
    }
  });

  it('weighs all maps alike (.28), by their maximum (.27), or each by itself (.45), within 4 σ', () => {
    const mixes = Array.from({ length: DRAWS }, (_, i) => drawMix(rng(2, 'test', i), 3, ON));
    const maximum = mixes.filter(mix => mix.color === null);
    const weighed = mixes.filter(mix => mix.color !== null);
    const shared = weighed.filter(mix => JSON.stringify(mix.color) === JSON.stringify(mix.height));
    expect(off(maximum.length, DRAWS, 0.27)).toBeLessThan(4);
    expect(off(shared.length, DRAWS, 0.28)).toBeLessThan(4);
    expect(maximum.every(mix => MIXED_MAPS.every(map => mix[map] === null))).toBe(true);
    const vectors = weighed.flatMap(mix => MIXED_MAPS.map(map => mix[map]!));
    expect(vectors.every(weights => weights.length === 3)).toBe(true);
    const sums = vectors.map(weights => weights.reduce((a, b) => a + b, 0));
    expect(sums.every(sum => Math.abs(sum - 1) < 1e-9)).toBe(true);
  });
});

function material(level: number, more: Partial<MaterialMaps> = {}): MaterialMaps {
  const grey = (value: number) => ({ width: 2, height: 1, data: Uint8Array.of(value, 255 - value) });
  return {
    color: { width: 2, height: 1, data: new Uint8Array(6).fill(level) },
    height: grey(level),
    roughness: grey(level),
    metallic: grey(level),
    normal: { width: 2, height: 1, data: new Uint8Array(6) },
    ...more,
  };
}

describe('mixMaps', () => {
  const same = (weights: readonly number[] | null) =>
    Object.fromEntries(MIXED_MAPS.map(map => [map, weights])) as MixPlan;

  it('weighs values, and makes normals of the mixed height', () => {
    const mixed = mixMaps([material(200), material(100)], [8, 4], same([0.75, 0.25]), false);
    expect([...mixed.color.data]).toEqual(new Array(6).fill(175));
    expect([...mixed.roughness.data]).toEqual([175, 80]);
    expect(mixed.normal).toEqual(normalsFromHeight({ ...mixed.height, white: 255 }, 7));
    expect(mixed.opacity).toBeUndefined();
  });

  it('takes the largest value', () => {
    const mixed = mixMaps([material(200), material(100)], [8, 4], same(null), true);
    expect([...mixed.metallic.data]).toEqual([200, 155]);
    expect(mixed.normal).toEqual(normalsFromHeight({ ...mixed.height, white: 255 }, 8));
    expect(mixed.occlusion).toBeDefined();
  });

  it('counts a map that is missing as opaque, and as not transmitting', () => {
    const half = { width: 2, height: 1, data: Uint8Array.of(100, 100) };
    const mixed = mixMaps(
      [material(0, { opacity: half, transmission: half }), material(0)],
      [1, 1],
      same([0.5, 0.5]),
      false,
    );
    expect([...mixed.opacity!.data]).toEqual([178, 178]);
    expect([...mixed.transmission!.data]).toEqual([50, 50]);
  });
});
