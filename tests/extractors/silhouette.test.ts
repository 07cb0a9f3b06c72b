import { describe, expect, it } from 'vitest';
import type { GreyImage, Mask, RgbImage } from '../../extractors/image.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import {
  type Framing,
  frameOf,
  greyObject,
  halfCovered,
  inPolarity,
  objectCoverage,
  objectLuminance,
} from '../../extractors/silhouette.ts';
import { resizeTriangle } from '../../extractors/triangle-filter.ts';
import { integer, uniform } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { literalCoverage, literalCrop, literalResize } from '../literal/silhouette.ts';
import { drawn, placedAt, randomMask, rowsOf } from './drawn-masks.ts';

const PAPER: Framing = { margin: 0, maxSide: 200 };

function coverageOf(mask: Mask, framing: Partial<Framing> = {}): GreyImage {
  const placed = tightMask(mask)!;
  return objectCoverage(placed, frameOf(placed.box, { ...PAPER, ...framing }));
}
const silhouetteOf = (mask: Mask, framing: Partial<Framing> = {}) => halfCovered(coverageOf(mask, framing));
const full = (width: number, height: number): Mask => ({
  width,
  height,
  data: new Uint8Array(width * height).fill(255),
});

describe('a canonical silhouette', () => {
  it.each([
    ['a square', full(40, 40), 200, 200],
    ['a larger square', full(640, 640), 200, 200],
    ['2 : 1, lying', full(50, 25), 200, 100],
    ['1 : 2, standing', full(300, 600), 100, 200],
    ['3 : 2, not divisible', full(301, 200), 200, 133],
    ['one pixel', full(1, 1), 200, 200],
    ['a line of one pixel', full(300, 1), 200, 1],
    ['a line that would be thinner than a pixel', full(1, 900), 1, 200],
  ])('of %s has its longest side 200 px and is white', (_, mask, width, height) => {
    const silhouette = silhouetteOf(mask);
    expect([silhouette.width, silhouette.height]).toEqual([width, height]);
    expect(silhouette.data.every(value => value === 255)).toBe(true);
  });

  it('is cropped tightly, wherever the object lies', () => {
    const alone = silhouetteOf(drawn('##.', '###'), { maxSide: 6 });
    expect(silhouetteOf(drawn('.......', '..##...', '..###..', '.......'), { maxSide: 6 })).toEqual(alone);
    expect([alone.width, alone.height]).toEqual([6, 4]);
  });

  it('keeps holes', () => {
    const ring = drawn('####', '#..#', '#..#', '####');
    expect(rowsOf(silhouetteOf(ring, { maxSide: 4 }))).toEqual(rowsOf(ring));
    // Twice as large, the share left uncovered is a(x) · a(y) with a = 0, ¼, ¾, 1, 1, ¾, ¼, 0: ⁹⁄₁₆ in the hole's corners.
    expect(rowsOf(silhouetteOf(ring, { maxSide: 8 }))).toEqual([
      '########',
      '########',
      '##....##',
      '##....##',
      '##....##',
      '##....##',
      '########',
      '########',
    ]);
  });

  it('loses what is thinner than half a pixel', () => {
    const side = 1000;
    const diagonal = { width: side, height: side, data: new Uint8Array(side * side) };
    for (let i = 0; i < side; i++) diagonal.data[i * (side + 1)] = 255;
    expect(silhouetteOf(diagonal).data.includes(255)).toBe(false);
  });

  it('weighs all pixels that it shrinks', () => {
    // To half its size: ¾, ¾, ¼ of 1¾ on the left, ¼, ¾, ¾ on the right.
    const soft = coverageOf(drawn('##.#'), { maxSide: 2 });
    expect([...soft.data]).toEqual([Math.round((255 * 1.5) / 1.75), Math.round(255 / 1.75)]);
  });

  it('is white from one half of a pixel up', () => {
    expect([...halfCovered({ width: 4, height: 1, data: Uint8Array.of(0, 127, 128, 255) }).data]).toEqual([
      0, 0, 255, 255,
    ]);
    // A mask of every second column, shrunk by a power of two, covers one half everywhere but at its ends.
    const stripes = drawn('#.'.repeat(512).slice(0, -1));
    expect(Math.max(...coverageOf(stripes, { maxSide: 8 }).data)).toBeLessThan(130);
  });
});

describe('options of a silhouette', () => {
  it('margin is a share of the longer side on each side, and counts to the size', () => {
    const frame = frameOf({ left: 10, top: 20, width: 80, height: 40 }, { margin: 0.1, maxSide: 200 });
    expect(frame).toEqual({
      shown: { left: 2, top: 12, width: 96, height: 56 },
      width: 200,
      height: Math.round((56 * 200) / 96),
      scale: 200 / 96,
    });
    expect(rowsOf(silhouetteOf(drawn('##.#', '####'), { margin: 0.25, maxSide: 6 }))).toEqual([
      '......',
      '.##.#.',
      '.####.',
      '......',
    ]);
  });

  it('polarity changes black and white', () => {
    const image: GreyImage = { width: 3, height: 1, data: Uint8Array.of(0, 100, 255) };
    expect(inPolarity(image, 'white-on-black')).toBe(image);
    expect([...inPolarity(image, 'black-on-white').data]).toEqual([255, 155, 0]);
  });
});

describe('on random masks', () => {
  const random = rng(1, 'tests', 'silhouettes');

  it('coverage is that of the plain implementation, bit for bit', () => {
    for (let i = 0; i < 60; i++) {
      const mask = randomMask(random, integer(random, 1, 70), integer(random, 1, 70));
      const margin = i % 3 === 0 ? uniform(random, 0, 0.6) : 0;
      const maxSide = integer(random, 8, 90);
      expect(coverageOf(mask, { margin, maxSide })).toEqual(literalCoverage(mask, margin, maxSide));
    }
  });

  it('so are grey images', () => {
    for (let i = 0; i < 30; i++) {
      const [width, height] = [integer(random, 1, 50), integer(random, 1, 50)];
      const image = { width, height, data: Uint8Array.from({ length: width * height }, () => integer(random, 0, 255)) };
      const size = [integer(random, 1, 80), integer(random, 1, 80)] as const;
      expect(resizeTriangle(image, ...size)).toEqual(literalResize(image, ...size));
    }
  });

  it('a part is what its crop gives, also where it reaches beyond the image', () => {
    for (let i = 0; i < 30; i++) {
      const image = randomMask(random, integer(random, 5, 40), integer(random, 5, 40));
      const part = {
        left: integer(random, -9, 4),
        top: integer(random, -9, 4),
        width: integer(random, 3, 60),
        height: integer(random, 3, 60),
      };
      const columns = { from: part.left, to: part.left + part.width };
      const rows = { from: part.top, to: part.top + part.height };
      const size = [integer(random, 1, 60), integer(random, 1, 60)] as const;
      expect(resizeTriangle(image, ...size, columns, rows)).toEqual(literalResize(literalCrop(image, part), ...size));
    }
  });
});

describe("an object's luminance", () => {
  /** A picture of one colour with another where the object is. */
  function picture(
    { mask, box }: PlacedMask,
    width: number,
    height: number,
    inside: number[],
    outside: number[],
  ): RgbImage {
    const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => outside[i % 3]!);
    for (let y = 0; y < mask.height; y++) {
      for (let x = 0; x < mask.width; x++) {
        if (mask.data[y * mask.width + x]) data.set(inside, 3 * ((box.top + y) * width + box.left + x));
      }
    }
    return { width, height, data };
  }
  const disc = tightMask(randomMask(rng(3, 'tests', 'luminance'), 80, 60))!;
  const size = { width: 100, height: 90 };

  it.each([
    ['red', [255, 0, 0], 76],
    ['green', [0, 255, 0], 150],
    ['blue', [0, 0, 255], 29],
    ['grey', [90, 90, 90], 90],
    ['white', [255, 255, 255], 255],
  ])('%s is by Rec. 601, and nothing beside the object shines in', (_, colour, expected) => {
    const frame = frameOf(disc.box, { margin: 0, maxSide: 41 });
    const coverage = objectCoverage(disc, frame);
    const inside = halfCovered(coverage);
    const found = objectLuminance(picture(disc, 100, 90, colour, [255, 255, 0]), size, disc, frame, coverage);
    expect([found.width, found.height]).toEqual([frame.width, frame.height]);
    // The quotient of two values of 8 bits, the lower of them half of 255 at least.
    for (const [i, value] of found.data.entries()) {
      if (inside.data[i]) expect(Math.abs(value - expected)).toBeLessThanOrEqual(1);
    }
  });

  it('is the same from a picture that was shrunk, as near as its pixels tell', () => {
    const square = { ...placedAt(full(64, 48)), box: { left: 16, top: 8, width: 64, height: 48 } };
    const whole = picture(square, 128, 64, [200, 200, 200], [0, 0, 0]);
    for (let y = 8; y < 56; y++) whole.data.fill(60, 3 * (y * 128 + 16), 3 * (y * 128 + 48));
    const small: RgbImage = { width: 64, height: 32, data: new Uint8Array(3 * 64 * 32) };
    for (let i = 0; i < 64 * 32; i++)
      small.data.fill(whole.data[3 * (2 * (i >> 6) * 128 + 2 * (i & 63))]!, 3 * i, 3 * i + 3);
    const frame = frameOf(square.box, { margin: 0.25, maxSide: 48 });
    const coverage = objectCoverage(square, frame);
    const inside = halfCovered(coverage);
    const [a, b] = [whole, small].map(
      image => objectLuminance(image, { width: 128, height: 64 }, square, frame, coverage).data,
    );
    const differences = [...a!.keys()].filter(i => inside.data[i]).map(i => Math.abs(a![i]! - b![i]!));
    expect(Math.max(...differences)).toBeLessThan(40);
    expect(differences.filter(difference => difference > 0).length).toBeLessThan(0.2 * differences.length);
  });

  it('lies on the ground that the polarity has', () => {
    const luminance: GreyImage = { width: 3, height: 1, data: Uint8Array.of(100, 100, 0) };
    const inside: GreyImage = { width: 3, height: 1, data: Uint8Array.of(255, 128, 0) };
    expect([...greyObject(luminance, inside, 'white-on-black').data]).toEqual([100, 50, 0]);
    expect([...greyObject(luminance, inside, 'black-on-white').data]).toEqual([100, 177, 255]);
  });
});
