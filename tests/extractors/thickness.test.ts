import { describe, expect, it } from 'vitest';
import type { Mask } from '../../extractors/image.ts';
import { erodedArea } from '../../extractors/thickness.ts';
import { integer, pick } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { erodedArea as openCvErodedArea } from '../oracle/opencv.ts';

function mask(width: number, height: number, isSet: (x: number, y: number) => boolean): Mask {
  const data = Uint8Array.from({ length: width * height }, (_, i) =>
    isSet(i % width, Math.floor(i / width)) ? 255 : 0,
  );
  return { width, height, data };
}

describe('erodedArea', () => {
  it('agrees with OpenCV on random masks', () => {
    const random = rng(1, 'test', 'erosion');
    for (let i = 0; i < 300; i++) {
      const holes = pick(random, [0.001, 0.01, 0.05]);
      const random01 = mask(integer(random, 1, 70), integer(random, 1, 70), () => random.next() >= holes);
      const side = pick(random, [1, 3, 5, 11, 15]);
      expect(erodedArea(random01, side)).toBe(openCvErodedArea(random01, side));
    }
  });

  it('agrees with OpenCV on drawn masks', () => {
    const masks = [
      mask(1, 1, () => true),
      mask(1, 1, () => false),
      mask(3, 200, () => true),
      mask(60, 60, (x, y) => (x - 30) ** 2 + (y - 30) ** 2 < 900),
      mask(60, 60, (x, y) => (x - 30) ** 2 + (y - 30) ** 2 > 300), // a hole
      mask(60, 60, x => x < 10),
      mask(60, 60, x => x < 11),
      mask(60, 60, (x, y) => x < 10 || y < 10), // an L along two edges
      mask(60, 60, (x, y) => x >= 50 || y >= 48),
      mask(60, 60, (x, y) => Math.abs(x - y) < 9),
    ];
    for (const drawn of masks) {
      for (const side of [3, 11]) expect(erodedArea(drawn, side)).toBe(openCvErodedArea(drawn, side));
    }
  });

  it('does not erode from the edges of the mask', () => {
    expect(
      erodedArea(
        mask(20, 30, () => true),
        11,
      ),
    ).toBe(600);
    expect(
      erodedArea(
        mask(20, 30, x => x !== 10),
        11,
      ),
    ).toBe(5 * 30 + 4 * 30);
  });
});
