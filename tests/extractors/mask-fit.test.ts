import { describe, expect, it } from 'vitest';
import { hasSameAspect, maskAtSize } from '../../extractors/mask-fit.ts';
import { tightMask } from '../../extractors/placed-mask.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { drawn, rowsOf } from './drawn-masks.ts';

describe('a mask of another size fits its picture', () => {
  const size = (text: string) => {
    const [width, height] = text.split('×').map(Number);
    return { width: width!, height: height! };
  };

  it.each([
    ['500×375', '500×375'],
    ['500×375', '1000×750'],
    ['500×375', '2000×1500'],
    ['500×333', '1024×683'],
    ['1024×683', '500×333'],
    ['500×334', '1024×683'],
    ['33×21', '500×318'],
    ['500×375', '500×376'],
    ['1×1', '1×1'],
    ['5×3', '5×3'],
    ['8×10', '80×104'],
  ])('%s over %s', (mask, picture) => {
    expect(hasSameAspect(size(mask), size(picture))).toBe(true);
  });

  it.each([
    ['500×375', '640×400'],
    ['500×375', '375×500'],
    ['500×375', '500×377'],
    ['500×336', '1024×683'],
    ['1×1', '120×90'],
    ['2×1', '120×90'],
    ['120×90', '4×3'],
    ['8×8', '120×90'],
  ])('not %s over %s', (mask, picture) => {
    expect(hasSameAspect(size(mask), size(picture))).toBe(false);
  });
});

it('a mask fits whose sides are those of the picture by one factor, rounded down or up, or to the nearest', () => {
  const random = rng(1, 'mask-fit', 'factors');
  for (let i = 0; i < 2000; i++) {
    const picture = { width: integer(random, 40, 2000), height: integer(random, 40, 2000) };
    const factor = Math.max(8 / picture.width, 8 / picture.height) + random.next() * 0.9;
    for (const round of [Math.floor, Math.ceil, Math.round]) {
      const mask = { width: round(picture.width * factor), height: round(picture.height * factor) };
      if (Math.min(mask.width, mask.height) < 8) continue;
      expect(hasSameAspect(mask, picture), JSON.stringify([mask, picture])).toBe(true);
      expect(hasSameAspect(picture, mask)).toBe(true);
    }
  }
});

describe('a mask brought to the size of its picture', () => {
  const mask = tightMask(drawn('......', '.##...', '..#...', '......'))!;

  it('has each pixel twice by twice at twice the size', () => {
    const large = maskAtSize(mask, { width: 6, height: 4 }, { width: 12, height: 8 })!;
    expect(large.box).toEqual({ left: 2, top: 2, width: 4, height: 4 });
    expect(rowsOf(large.mask)).toEqual(['####', '####', '..##', '..##']);
    expect(large.area).toBe(12);
  });

  it('has what lies at the pixel centres at half the size', () => {
    // Centres of the smaller picture's pixels lie at columns 1, 3, 5 and rows 1, 3.
    const small = maskAtSize(mask, { width: 6, height: 4 }, { width: 3, height: 2 })!;
    expect([small.box, small.area]).toEqual([{ left: 0, top: 0, width: 1, height: 1 }, 1]);
  });

  it('is nothing when no centre lies on it', () => {
    const speck = tightMask(drawn('#.....', '......'))!;
    expect(maskAtSize(speck, { width: 6, height: 2 }, { width: 3, height: 1 })).toBeUndefined();
  });

  it('is the same at the same size', () => {
    expect(maskAtSize(mask, { width: 6, height: 4 }, { width: 6, height: 4 })).toEqual(mask);
  });
});
