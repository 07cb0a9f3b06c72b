import { describe, expect, it } from 'vitest';
import { hash128, hashId, hashUnit } from '../../sampling/hash.ts';

const hex = (text: string, seed = 0) =>
  hash128(text, seed)
    .map(word => word.toString(16).padStart(8, '0'))
    .join('');

describe('hash128', () => {
  it('gives the published MurmurHash3_x86_128 values', () => {
    expect(hex('')).toBe('00000000000000000000000000000000');
    expect(hex('', 1)).toBe('88c4adec54d201b954d201b954d201b9');
    expect(hex('I will not buy this record, it is scratched.')).toBe('a0a9683b25ac5e40d9af2895890dddf5');
  });

  it('changes every part of an id with any byte', () => {
    const ids = new Set(Array.from({ length: 10_000 }, (_, i) => hashId(`photo-${i}.jpg`)));
    expect(ids.size).toBe(10_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('spreads a unit value evenly', () => {
    const n = 20_000;
    const counts = new Array(10).fill(0);
    for (let i = 0; i < n; i++) counts[Math.floor(hashUnit(`item ${i}`) * 10)]++;
    const sigma = Math.sqrt(n * 0.1 * 0.9);
    for (const count of counts) expect(Math.abs(count - n / 10)).toBeLessThan(4 * sigma);
  });
});
