import { describe, expect, it } from 'vitest';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { type Crop, composite, cropPart, mix, type PaintPixels, paintPixels } from '../../renderers/composite.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';

/** The sRGB transfer functions (IEC 61966-2-1) once more, and light mixed as light. */
function exactMix(above: number, below: number, share: number): number {
  const linear = (byte: number) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  const light = linear(above) * share + linear(below) * (1 - share);
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
}

const colour = (...rgb: [number, number, number]): PaintPixels => ({ kind: 'colour', rgb });
const grey = (size: number, values: readonly number[]): GreyImage => ({
  width: size,
  height: size,
  data: Uint8Array.from(values),
});
/** A crop whose red channel holds the given values; green and blue tell that channels stay in order. */
const crop = (size: number, reds: readonly number[]): RgbImage => ({
  width: size,
  height: size,
  data: Uint8Array.from(reds.flatMap(red => [red, red + 100, 7])),
});
const redsOf = ({ data }: RgbImage) => [...data].filter((_, i) => i % 3 === 0);

describe('mix', () => {
  it('mixes light and not bytes: half black and half white is 188', () => {
    expect(mix(255, 0, 0.5)).toBe(188);
    expect(mix(0, 255, 0.5)).toBe(188);
  });

  it.each([0.05, 0.25, 0.5, 0.9])('is within 1 of the exact result for all pairs of bytes, at a share of %f', share => {
    let worst = 0;
    for (let above = 0; above < 256; above++) {
      for (let below = 0; below < 256; below++) {
        worst = Math.max(worst, Math.abs(mix(above, below, share) - exactMix(above, below, share)));
      }
    }
    expect(worst).toBeLessThan(1);
  });

  it('of a byte with itself is that byte, at every share', () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let share = 0; share <= 255; share++) {
        if (mix(byte, byte, share / 255) !== byte) expect.unreachable(`${byte} at ${share}/255`);
      }
    }
  });

  it('rises with the share of the brighter byte', () => {
    for (const [dark, bright] of [
      [0, 255],
      [3, 20],
      [100, 101],
    ] as const) {
      const ramp = Array.from({ length: 256 }, (_, share) => mix(bright, dark, share / 255));
      expect(ramp).toEqual([...ramp].sort((a, b) => a - b));
      expect([ramp[0], ramp[255]]).toEqual([dark, bright]);
    }
  });
});

const paint = { kind: 'texture', id: 'wood', scale: 1, left: 0, top: 0, quarterTurns: 3 } as const;

describe('composite', () => {
  it('takes the fill where it covers all, the background where it covers nothing, and mixes in between', () => {
    const { width, height, data } = composite(
      colour(255, 10, 0),
      colour(0, 10, 255),
      grey(2, [0, 255, 128, 51]),
    ) satisfies RgbImage;
    expect([width, height]).toEqual([2, 2]);
    expect([...data.subarray(0, 6)]).toEqual([0, 10, 255, 255, 10, 0]);
    for (const [pixel, share] of [
      [2, 128 / 255],
      [3, 51 / 255],
    ] as const) {
      expect(Math.abs(data[3 * pixel]! - exactMix(255, 0, share))).toBeLessThan(1);
      expect(data[3 * pixel + 1]).toBe(10);
      expect(Math.abs(data[3 * pixel + 2]! - exactMix(0, 255, share))).toBeLessThan(1);
    }
  });

  it('shows nothing of an edge when fill and background have one colour', () => {
    const random = rng(1, 'test', 'halo');
    for (let i = 0; i < 50; i++) {
      const rgb: [number, number, number] = [integer(random, 0, 255), integer(random, 0, 255), integer(random, 0, 255)];
      const coverage = grey(
        16,
        Array.from({ length: 256 }, (_, value) => value),
      );
      const { data } = composite(colour(...rgb), colour(...rgb), coverage);
      expect([...data]).toEqual(Array.from({ length: 3 * 256 }, (_, k) => rgb[k % 3]!));
    }
  });

  it('keeps every pixel between the two colours it mixes, in each channel', () => {
    const random = rng(1, 'test', 'between');
    const bytes = (count: number) => Array.from({ length: count }, () => integer(random, 0, 255));
    const size = 64;
    const [fill, background] = [0, 1].map(() => Uint8Array.from(bytes(3 * size * size))) as [Uint8Array, Uint8Array];
    const texture = (data: Uint8Array): PaintPixels => ({
      kind: 'texture',
      crop: { width: size, height: size, data: Uint8Array.from(data) },
      quarterTurns: 0,
    });
    const { data } = composite(texture(fill), texture(background), grey(size, bytes(size * size)));
    const outside = data.filter(
      (value, i) => value < Math.min(fill[i]!, background[i]!) || value > Math.max(fill[i]!, background[i]!),
    );
    expect(outside).toHaveLength(0);
  });

  // Clockwise: what was left goes up.
  const TURNED = [
    { turns: 0, two: [1, 2, 3, 4], three: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
    { turns: 1, two: [3, 1, 4, 2], three: [7, 4, 1, 8, 5, 2, 9, 6, 3] },
    { turns: 2, two: [4, 3, 2, 1], three: [9, 8, 7, 6, 5, 4, 3, 2, 1] },
    { turns: 3, two: [2, 4, 1, 3], three: [3, 6, 9, 2, 5, 8, 1, 4, 7] },
  ];

  it.each(TURNED)('turns fill and background clockwise by $turns quarter turns', ({ turns, two, three }) => {
    for (const [size, expected] of [
      [2, two],
      [3, three],
    ] as const) {
      const numbers = Array.from({ length: size * size }, (_, i) => i + 1);
      const paint = (): PaintPixels => ({ kind: 'texture', crop: crop(size, numbers), quarterTurns: turns });
      const full = grey(size, new Array(size * size).fill(255));
      const none = grey(size, new Array(size * size).fill(0));
      const asFill = composite(paint(), colour(0, 0, 0), full);
      const asBackground = composite(colour(0, 0, 0), paint(), none);
      expect(redsOf(asFill)).toEqual(expected);
      expect(redsOf(asBackground)).toEqual(expected);
      expect([...asFill.data]).toEqual(expected.flatMap(red => [red, red + 100, 7]));
      expect([...asBackground.data]).toEqual([...asFill.data]);
    }
  });

  it.each(TURNED)('mixes a fill turned $turns times with the background pixel by pixel', ({ turns, two }) => {
    const fill: PaintPixels = { kind: 'texture', crop: crop(2, [10, 60, 110, 150]), quarterTurns: turns };
    const background: PaintPixels = { kind: 'texture', crop: crop(2, [5, 6, 7, 8]), quarterTurns: 0 };
    const turned = two.map(number => [10, 60, 110, 150][number - 1]!);
    const { data } = composite(fill, background, grey(2, [102, 102, 102, 102]));
    for (const [pixel, red] of turned.entries()) {
      expect(Math.abs(data[3 * pixel]! - exactMix(red, 5 + pixel, 0.4))).toBeLessThan(1);
      expect(Math.abs(data[3 * pixel + 1]! - exactMix(red + 100, 105 + pixel, 0.4))).toBeLessThan(1);
    }
  });

  it('leaves the crop of the fill as it is', () => {
    for (const quarterTurns of [0, 1, 2, 3]) {
      const fill = crop(3, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
      composite({ kind: 'texture', crop: fill, quarterTurns }, colour(200, 200, 200), grey(3, new Array(9).fill(99)));
      expect(fill).toEqual(crop(3, [1, 2, 3, 4, 5, 6, 7, 8, 9]));
    }
  });

  it.each(TURNED)('paints a fill turned $turns times wherever the shape is, when told its box', ({ turns }) => {
    const random = rng(1, 'test/within', turns);
    for (let i = 0; i < 40; i++) {
      const size = integer(random, 1, 40);
      const [left, top] = [integer(random, 0, size - 1), integer(random, 0, size - 1)];
      const within = { left, top, width: integer(random, 0, size - left), height: integer(random, 0, size - top) };
      const inBox = (x: number, y: number) =>
        x >= left && y >= top && x < left + within.width && y < top + within.height;
      const coverage = grey(
        size,
        Array.from({ length: size * size }, (_, k) => {
          const value = [0, 255, integer(random, 0, 255)][(k >> 2) % 3]!;
          return inBox(k % size, Math.floor(k / size)) ? value : 0;
        }),
      );
      const reds = Array.from({ length: size * size }, () => integer(random, 0, 155));
      const fill: PaintPixels = { kind: 'texture', crop: crop(size, reds), quarterTurns: turns };
      const expected = composite(fill, colour(9, 8, 7), coverage);
      expect(composite(fill, colour(9, 8, 7), { ...coverage, within })).toEqual(expected);
    }
  });

  it.each(TURNED)('needs no more of a fill turned $turns times than the part that the shape shows', ({ turns }) => {
    const random = rng(1, 'test/part', turns);
    for (let i = 0; i < 60; i++) {
      const size = integer(random, 1, 40);
      const [left, top] = [integer(random, 0, size - 1), integer(random, 0, size - 1)];
      const within = { left, top, width: integer(random, 1, size - left), height: integer(random, 1, size - top) };
      const coverage = grey(size, new Array(size * size).fill(0));
      for (let y = top; y < top + within.height; y++) {
        for (let x = left; x < left + within.width; x++) coverage.data[y * size + x] = [0, 255, 255, 77][(x >> 2) % 4]!;
      }
      const reds = Array.from({ length: size * size }, () => integer(random, 0, 155));
      const whole = crop(size, reds);
      // As scenes have it, or a little more than is needed.
      const seen = cropPart({ ...paint, quarterTurns: turns }, size, within);
      const part = i % 2 ? seen : { ...seen, left: 0, width: size };
      const data = Uint8Array.from({ length: 3 * part.width * part.height }, (_, k) => {
        const pixel = Math.floor(k / 3);
        const [x, y] = [pixel % part.width, Math.floor(pixel / part.width)];
        return whole.data[3 * ((part.top + y) * size + part.left + x) + (k % 3)]!;
      });
      const lay = (pixels: Crop) =>
        composite({ kind: 'texture', crop: pixels, quarterTurns: turns }, colour(9, 8, 7), { ...coverage, within });
      expect(Buffer.compare(lay({ ...part, data }).data, lay(whole).data)).toBe(0);
      if (seen.width > 1) {
        const short = { ...seen, width: seen.width - 1 };
        expect(() => lay({ ...short, data: data.subarray(0, 3 * short.width * short.height) })).toThrow('what is seen');
      }
    }
  });

  it.each(TURNED)('turns images of any side $turns times, to the last pixel', ({ turns }) => {
    for (let size = 1; size <= 13; size++) {
      const reds = Array.from({ length: size * size }, (_, i) => (31 * i) % 156);
      const turned = Array.from({ length: size * size }, (_, i) => {
        const [x, y, last] = [i % size, Math.floor(i / size), size - 1];
        const [column, row] = [
          [x, y],
          [y, last - x],
          [last - x, last - y],
          [last - y, x],
        ][turns]!;
        return reds[row! * size + column!]!;
      });
      const paint: PaintPixels = { kind: 'texture', crop: crop(size, reds), quarterTurns: turns };
      const { data } = composite(colour(0, 0, 0), paint, grey(size, new Array(size * size).fill(0)));
      expect([...data]).toEqual([...crop(size, turned).data]);
    }
  });

  it('refuses crops of another size than the image', () => {
    const texture: PaintPixels = { kind: 'texture', crop: crop(3, [1, 2, 3, 4, 5, 6, 7, 8, 9]), quarterTurns: 0 };
    const two = grey(2, [0, 1, 2, 3]);
    expect(() => composite(texture, colour(0, 0, 0), two)).toThrow(
      'expected a crop of 2×2, or what is seen of it; got 3×3',
    );
    expect(() => composite(colour(0, 0, 0), texture, two)).toThrow(
      'expected a crop of 2×2, or what is seen of it; got 3×3',
    );
  });
});

describe('paintPixels', () => {
  it('takes a colour as it is, a texture with its crop and its turns', () => {
    expect(paintPixels({ kind: 'colour', rgb: [1, 2, 3] }, undefined)).toEqual({ kind: 'colour', rgb: [1, 2, 3] });
    const pixels = crop(2, [1, 2, 3, 4]);
    expect(paintPixels(paint, pixels)).toEqual({ kind: 'texture', crop: pixels, quarterTurns: 3 });
  });

  it('misses the crop of a texture', () => {
    expect(() => paintPixels(paint, undefined)).toThrow('expected the crop of texture wood');
  });
});
