import { describe, expect, it } from 'vitest';
import { chance, integer, logUniform, permutation, pick, uniform } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';

const N = 20_000;

describe('rng', () => {
  it('depends on every part of its name and on nothing else', () => {
    const draw = (...name: Parameters<typeof rng>) => Array.from({ length: 4 }, rng(...name).next);
    expect(draw(1, 'shapes2d', 7, 0)).toEqual(draw(1, 'shapes2d', 7, 0));
    const others = [
      draw(2, 'shapes2d', 7, 0),
      draw(1, 'textures2d', 7, 0),
      draw(1, 'shapes2d', 8, 0),
      draw(1, 'shapes2d', 7, 1),
    ];
    for (const other of others) expect(other).not.toEqual(draw(1, 'shapes2d', 7, 0));
  });

  it('is uniform, and the first draws of neighbouring items are uncorrelated', () => {
    let sum = 0;
    let product = 0;
    let previous = 0.5;
    for (let i = 0; i < N; i++) {
      const x = rng(1, 'stage', i).next();
      sum += x;
      product += (x - 0.5) * (previous - 0.5);
      previous = x;
    }
    expect(Math.abs(sum / N - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / N));
    expect(Math.abs(product / N)).toBeLessThan(4 * (1 / 12 / Math.sqrt(N)));
  });
});

describe('distributions', () => {
  const r = rng(1, 'test', 'distributions');

  it('chance is true with the stated probability', () => {
    let hits = 0;
    for (let i = 0; i < N; i++) if (chance(r, 0.3)) hits++;
    expect(Math.abs(hits - 0.3 * N)).toBeLessThan(4 * Math.sqrt(N * 0.3 * 0.7));
  });

  it('integer reaches both ends equally often', () => {
    const counts = new Map<number, number>();
    for (let i = 0; i < N; i++) {
      const k = integer(r, 0, 3);
      counts.set(k, (counts.get(k) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3]);
    for (const count of counts.values()) expect(Math.abs(count - N / 4)).toBeLessThan(4 * Math.sqrt((N * 3) / 16));
  });

  it('uniform and log-uniform stay in range and have the right middle', () => {
    let belowUniform = 0;
    let belowLog = 0;
    for (let i = 0; i < N; i++) {
      const u = uniform(r, -2, 6);
      const l = logUniform(r, 1, 100);
      expect(u >= -2 && u < 6 && l >= 1 && l < 100).toBe(true);
      if (u < 2) belowUniform++;
      if (l < 10) belowLog++;
    }
    expect(Math.abs(belowUniform - N / 2)).toBeLessThan(4 * Math.sqrt(N / 4));
    expect(Math.abs(belowLog - N / 2)).toBeLessThan(4 * Math.sqrt(N / 4));
  });

  it('permutation holds every index once; pick reaches every element', () => {
    expect([...permutation(r, 1000)].sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(permutation(r, 0)).toHaveLength(0);
    expect(new Set(Array.from({ length: 200 }, () => pick(r, ['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
  });
});
