import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import {
  decodePanorama,
  encodePanorama,
  type Panorama,
  packRgb9e5,
  panoramaDirection,
  RGB9E5_MAX,
  readPackedPanorama,
} from '../../scenes/panorama-format.ts';
import { literalFromRgb9e5, literalRgb9e5 } from '../literal/rgb9e5.ts';

/** A panorama whose pixels are what `pixel` says. */
function panorama(width: number, height: number, pixel: (x: number, y: number) => [number, number, number]): Panorama {
  const data = new Float32Array(3 * width * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set(pixel(x, y), 3 * (y * width + x));
  return { width, height, data };
}

const fround = (color: [number, number, number]) => color.map(Math.fround) as [number, number, number];

describe('RGB9E5', () => {
  it('is what the specification says, for every exponent', () => {
    const { next } = rng(1, 'rgb9e5', 0);
    const wrong: number[][] = [];
    for (let exponent = -30; exponent <= 17; exponent++) {
      for (let i = 0; i < 500; i++) {
        const color = fround([0, 0, 0].map(() => next() * 2 ** exponent) as [number, number, number]);
        if (packRgb9e5(...color) !== literalRgb9e5(color)) wrong.push(color);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is what the specification says where a mantissa rounds up to the next exponent, and at powers of two', () => {
    for (let exponent = -26; exponent <= 16; exponent++) {
      for (const part of [1, 1 - 2 ** -24, 511.4 / 512, 511.5 / 512, 511.6 / 512, 1 + 2 ** -23, 0.5]) {
        const value = Math.fround(part * 2 ** exponent);
        const color: [number, number, number] = [value, value / 3, 0];
        expect(packRgb9e5(...color)).toBe(literalRgb9e5(color));
      }
    }
  });

  it('keeps its own words', () => {
    for (let exponent = 0; exponent < 32; exponent++) {
      for (const mantissa of [256, 300, 511]) {
        const word = exponent * 2 ** 27 + 7 * 2 ** 18 + 99 * 2 ** 9 + mantissa;
        expect(packRgb9e5(...literalFromRgb9e5(word))).toBe(word);
      }
    }
  });

  it('clamps what it cannot hold', () => {
    expect(literalFromRgb9e5(packRgb9e5(1e9, RGB9E5_MAX, -3))).toEqual([RGB9E5_MAX, RGB9E5_MAX, 0]);
    expect(packRgb9e5(Number.NaN, 0, 0)).toBe(0);
    expect(literalFromRgb9e5(packRgb9e5(Number.POSITIVE_INFINITY, 0, 0))[0]).toBe(RGB9E5_MAX);
  });

  it('is off by at most a 2^-9 part of the largest channel, and by 2^-25 below 2^-16', () => {
    const { next } = rng(2, 'rgb9e5', 0);
    let worst = 0;
    let excess = 0;
    for (let i = 0; i < 200_000; i++) {
      const scale = 2 ** (next() * 40 - 24);
      const color = fround([next() * scale, next() * scale, next() * scale]);
      const largest = Math.max(...color);
      if (largest > RGB9E5_MAX) continue;
      const got = literalFromRgb9e5(packRgb9e5(...color));
      const error = Math.max(...got.map((value, c) => Math.abs(value - color[c]!)));
      excess = Math.max(excess, error - Math.max(largest * 2 ** -9, 2 ** -25));
      worst = Math.max(worst, largest > 2 ** -16 ? error / largest : 0);
    }
    expect(excess).toBe(0);
    expect(worst).toBeGreaterThan(0.95 * 2 ** -9);
  });
});

describe('a packed panorama', () => {
  const marked = panorama(8, 4, (x, y) => (x === 0 && y === 0 ? [100, 0, 0] : [0.25, 0.5, y]));

  it('comes back with the zenith first', () => {
    const { bytes, clamped } = encodePanorama(marked);
    expect(clamped).toBe(0);
    expect(decodePanorama(bytes)).toEqual(marked);
  });

  it('lies in its file from the nadir up, after a header of twelve bytes', () => {
    const { bytes } = encodePanorama(marked);
    const view = new DataView(bytes.buffer);
    expect(new TextDecoder().decode(bytes.subarray(0, 4))).toBe('PAN1');
    expect([view.getUint32(4, true), view.getUint32(8, true), bytes.length]).toEqual([8, 4, 12 + 4 * 32]);
    expect(literalFromRgb9e5(view.getUint32(12, true))).toEqual([0.25, 0.5, 3]);
    expect(literalFromRgb9e5(view.getUint32(12 + 4 * 24, true))).toEqual([100, 0, 0]);
  });

  it('is read without a copy, and with one where its bytes are not aligned', () => {
    const { bytes } = encodePanorama(marked);
    const { words, width, height } = readPackedPanorama(bytes);
    expect([width, height, words.buffer]).toEqual([8, 4, bytes.buffer]);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(readPackedPanorama(shifted.subarray(1)).words).toEqual(words);
  });

  it('counts the pixels that are brighter than it can hold', () => {
    const bright = panorama(4, 2, x => (x === 1 ? [7e4, 1, 9e9] : [65408, 0, 0]));
    const { bytes, clamped } = encodePanorama(bright);
    expect(clamped).toBe(2);
    expect([...decodePanorama(bytes).data.slice(3, 6)]).toEqual([65408, 0, 65408]);
  });

  it('refuses other files and parts of files', () => {
    const { bytes } = encodePanorama(marked);
    expect(() => readPackedPanorama(bytes.subarray(0, 8))).toThrow('got 8 bytes');
    expect(() => readPackedPanorama(bytes.subarray(0, 100))).toThrow('expected 140 bytes for 8×4 pixels, got 100');
    expect(() => readPackedPanorama(new Uint8Array(140))).toThrow('got another file');
  });
});

describe('panoramaDirection', () => {
  it('has the zenith on top, +x in the middle and +z right of it', () => {
    const near = (got: readonly number[], want: readonly number[]) =>
      got.forEach((value, i) => {
        expect(value).toBeCloseTo(want[i]!, 12);
      });
    near(panoramaDirection(0.3, 0), [0, 1, 0]);
    near(panoramaDirection(0.3, 1), [0, -1, 0]);
    near(panoramaDirection(0.5, 0.5), [1, 0, 0]);
    near(panoramaDirection(0.75, 0.5), [0, 0, 1]);
    near(panoramaDirection(0, 0.5), [-1, 0, 0]);
  });
});
