import { describe, expect, it } from 'vitest';
import type { Box, RgbImage } from '../../extractors/image.ts';
import {
  DEFAULTS,
  drawTries,
  findNaturalShape,
  type Rejection,
  scaledRule,
  type Try,
} from '../../extractors/natural-shape.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { literalNaturalShape } from '../literal/natural-shape.ts';
import { syntheticPhoto } from './synthetic-photo.ts';

describe('drawTries', () => {
  it('draws channels, inversions and thresholds as published', () => {
    const counts = new Map<string, number>();
    const images = 2000;
    for (let i = 0; i < images; i++) {
      const tries = drawTries(rng(1, 'test', i), DEFAULTS);
      for (let draw = 0; draw < 15; draw++) {
        const name = `${tries[20 * draw]!.channel}${tries[20 * draw]!.inverted}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(12);
    const mean = (15 * images) / 12;
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(4 * Math.sqrt(mean));
  });

  it('draws 20 thresholds of its own for each of 15 channels', () => {
    const tries = drawTries(rng(1, 'test', 'one'), DEFAULTS);
    expect(tries.length).toBe(300);
    expect(new Set(tries.map(t => t.threshold)).size).toBe(300);
    expect(tries.every(({ threshold }) => threshold >= 0 && threshold < 1)).toBe(true);
    for (let i = 0; i < 300; i++) {
      const { channel, inverted } = tries[i - (i % 20)]!;
      expect(tries[i]).toMatchObject({ channel, inverted });
    }
  });

  it('obeys its probabilities and counts', () => {
    const options = { ...DEFAULTS, channelDraws: 3, thresholds: 2, hsvProbability: 1, invertProbability: 0 };
    const tries = drawTries(rng(1, 'test', 'options'), options);
    expect(tries.length).toBe(6);
    for (const { channel, inverted } of tries) expect('hsv'.includes(channel) && !inverted).toBe(true);
  });
});

describe('scaledRule', () => {
  it('keeps the published sizes at 512 px and scales them elsewhere', () => {
    expect(scaledRule(DEFAULTS, 512)).toEqual({ minArea: 20_000, minErodedArea: 15_000, erosionSide: 11, border: 5 });
    expect(scaledRule(DEFAULTS, 256)).toEqual({ minArea: 5000, minErodedArea: 3750, erosionSide: 5, border: 3 });
    expect(scaledRule(DEFAULTS, 1024)).toMatchObject({ minArea: 80_000, erosionSide: 23, border: 10 });
    expect(scaledRule(DEFAULTS, 32)).toMatchObject({ erosionSide: 3, border: 1 });
    expect(scaledRule(DEFAULTS, 480).erosionSide).toBe(11); // 10.3
  });
});

/** A black image of 512 × 512 with white where `isSet`. */
function drawn(isSet: (x: number, y: number) => boolean, colour = [255, 255, 255]): RgbImage {
  const data = new Uint8Array(3 * 512 * 512);
  for (let i = 0; i < 512 * 512; i++) if (isSet(i % 512, Math.floor(i / 512))) data.set(colour, 3 * i);
  return { width: 512, height: 512, data };
}

const inBox =
  ({ left, top, width, height }: Box) =>
  (x: number, y: number) =>
    x >= left && x < left + width && y >= top && y < top + height;

const RED: Try = { channel: 'r', inverted: false, threshold: 0.5 };

function outcome(image: RgbImage, tries: readonly Try[] = [RED]): Rejection | 'accepted' {
  const { shape, rejections } = findNaturalShape(image, tries, DEFAULTS);
  if (shape) return 'accepted';
  return (Object.keys(rejections) as Rejection[]).find(reason => rejections[reason] > 0)!;
}

describe('findNaturalShape', () => {
  it('accepts a large thick component clear of the edges and cuts it out', () => {
    const box = { left: 100, top: 50, width: 160, height: 170 };
    const ring = drawn((x, y) => inBox(box)(x, y) && !inBox({ left: 150, top: 100, width: 40, height: 40 })(x, y));
    const { shape, rejections } = findNaturalShape(ring, [{ ...RED, threshold: 1 - 2 ** -32 }, RED], DEFAULTS);
    expect(rejections).toEqual({ empty: 0, border: 0, 'too-small': 0, 'too-large': 0, 'too-thin': 0 });
    expect(shape).toMatchObject({ box, area: 160 * 170 - 1600, tryIndex: 0 });
    expect(shape!.mask).toMatchObject({ width: 160, height: 170 });
    const values = shape!.mask.data;
    expect(values.filter(v => v === 255).length).toBe(shape!.area);
    expect(values.filter(v => v === 0).length).toBe(1600); // the hole stays
    expect(values[60 * 160 + 60]).toBe(0);
  });

  it('leaves other components out of the box', () => {
    const c = inBox({ left: 100, top: 100, width: 250, height: 100 });
    const d = inBox({ left: 100, top: 100, width: 100, height: 250 });
    const speck = inBox({ left: 300, top: 300, width: 9, height: 9 });
    const { shape } = findNaturalShape(
      drawn((x, y) => c(x, y) || d(x, y) || speck(x, y)),
      [RED],
      DEFAULTS,
    );
    expect(shape!.box).toEqual({ left: 100, top: 100, width: 250, height: 250 });
    expect(shape!.mask.data[205 * 250 + 205]).toBe(0);
  });

  it('rejects for each reason, and not one pixel earlier', () => {
    const box = (left: number, top: number, width: number, height: number) =>
      drawn(inBox({ left, top, width, height }));
    expect(outcome(drawn(() => false))).toBe('empty');
    expect(outcome(box(5, 5, 150, 150))).toBe('accepted');
    expect(outcome(box(4, 5, 150, 150))).toBe('border');
    expect(outcome(box(5, 4, 150, 150))).toBe('border');
    expect(outcome(box(357, 357, 150, 150))).toBe('accepted');
    expect(outcome(box(358, 357, 150, 150))).toBe('border');
    expect(outcome(box(357, 358, 150, 150))).toBe('border');
    expect(outcome(box(50, 50, 100, 200))).toBe('accepted');
    expect(outcome(box(50, 50, 100, 199))).toBe('too-small');
    expect(outcome(box(5, 5, 502, 261))).toBe('accepted'); // 131,022 of 262,144 pixels
    expect(outcome(box(5, 5, 502, 262))).toBe('too-large'); // 131,524
    const comb = (tooth: number) =>
      drawn((x, y) => inBox({ left: 50, top: 50, width: 400, height: 300 })(x, y) && (y < 60 || (x - 50) % 20 < tooth));
    expect(outcome(comb(11))).toBe('too-thin');
    expect(outcome(comb(18))).toBe('accepted');
  });

  it('looks at the largest component only', () => {
    const edge = inBox({ left: 0, top: 0, width: 512, height: 60 });
    const inside = inBox({ left: 100, top: 100, width: 160, height: 160 });
    expect(outcome(drawn((x, y) => edge(x, y) || inside(x, y)))).toBe('border');
    // Of two of equal size the first counts, so the same squares are a shape one way up only.
    const [above, below] = [100, 300].map(top => inBox({ left: 100, top, width: 160, height: 160 }));
    const tied = drawn((x, y) => above!(x, y) || below!(x, y));
    expect(findNaturalShape(tied, [RED], DEFAULTS).shape!.box.top).toBe(100);
  });

  it('compares exactly: with the share of the full range of the channel', () => {
    const square = inBox({ left: 100, top: 100, width: 200, height: 200 });
    const grey = drawn(square, [51, 51, 51]); // 0.2
    expect(outcome(grey, [{ ...RED, threshold: 0.2 }])).toBe('empty');
    expect(outcome(grey, [{ ...RED, threshold: 0.2 - 2 ** -32 }])).toBe('accepted');
    const cyan = drawn(square, [0, 255, 255]); // hue 90 of 179
    expect(outcome(cyan, [{ channel: 'h', inverted: false, threshold: 0.5 }])).toBe('accepted');
    expect(outcome(cyan, [{ channel: 'h', inverted: false, threshold: 90 / 179 }])).toBe('empty');
    const dark = drawn((x, y) => !square(x, y), [204, 204, 204]);
    expect(outcome(dark, [{ ...RED, inverted: true, threshold: 0.2 }])).toBe('accepted');
    expect(outcome(dark, [{ ...RED, inverted: true, threshold: 0.2 - 2 ** -32 }])).toBe('too-large');
  });

  it('takes the first accepted try in drawing order and says which it was', () => {
    const square = inBox({ left: 100, top: 100, width: 200, height: 200 });
    const image = drawn(square, [200, 100, 0]);
    const tries: Try[] = [0.9, 0.8, 0.7, 0.1, 0.5].map(threshold => ({ ...RED, threshold }));
    const blue: Try = { channel: 'b', inverted: false, threshold: 0.3 };
    const { shape, rejections } = findNaturalShape(image, [blue, ...tries], DEFAULTS);
    expect(shape).toMatchObject({ tryIndex: 3, try: tries[2] });
    expect(rejections).toEqual({ empty: 3, border: 0, 'too-small': 0, 'too-large': 0, 'too-thin': 0 });
  });

  it('copes with images too small for any shape', () => {
    for (const [width, height] of [
      [1, 1],
      [3, 2],
      [1, 40],
    ] as const) {
      const image = syntheticPhoto(rng(1, 'test', 'tiny'), width, height);
      expect(findNaturalShape(image, drawTries(rng(1, 'test', 0), DEFAULTS), DEFAULTS).shape).toBeUndefined();
    }
  });

  it('finds the shapes of the literal version in long thin images', () => {
    for (const [width, height] of [
      [20_000, 10],
      [10, 20_000],
    ] as const) {
      const image = syntheticPhoto(rng(1, 'test', 'thin', width), width, height);
      const tries = drawTries(rng(2, 'test', 'thin'), { ...DEFAULTS, channelDraws: 6, thresholds: 1 });
      const { try: _, ...found } = findNaturalShape(image, tries, DEFAULTS).shape ?? {};
      expect(found).toEqual(literalNaturalShape(image, tries, DEFAULTS).shape ?? {});
    }
  });

  it('finds the shapes of the literal version, bit for bit', () => {
    const totals = { accepted: 0, empty: 0, border: 0, 'too-small': 0, 'too-large': 0, 'too-thin': 0 };
    // Small images scale the border to 1 px and the erosion to 3 × 3, too little for margins of whole cells and thin shapes.
    const coarse = {
      ...DEFAULTS,
      border: 45,
      erosionSide: 41,
      minArea: 12_000,
      minErodedArea: 8_000,
      maxAreaShare: 0.25,
    };
    for (let i = 0; i < 40; i++) {
      const random = rng(1, 'synthetic', i);
      const image = syntheticPhoto(random, integer(random, 48, 110), integer(random, 48, 80));
      const options = i % 2 ? DEFAULTS : coarse;
      let tries: readonly Try[] = drawTries(random, options);
      // After a shape, look on behind it, so that every try is judged.
      while (tries.length > 0) {
        const expected = literalNaturalShape(image, tries, options);
        const { shape, rejections } = findNaturalShape(image, tries, options);
        const { try: tried, ...found } = shape ?? {};
        expect(found).toEqual(expected.shape ?? {});
        expect(tried).toBe(expected.shape && tries[expected.shape.tryIndex]);
        const counted = Object.values(rejections).reduce((a, b) => a + b);
        expect(counted).toBe(expected.shape?.tryIndex ?? tries.length);
        for (const reason of Object.keys(rejections) as Rejection[]) totals[reason] += expected.rejections[reason];
        if (!expected.shape) break;
        totals.accepted++;
        tries = tries.slice(expected.shape.tryIndex + 1);
      }
    }
    expect(Math.min(...Object.values(totals)), JSON.stringify(totals)).toBeGreaterThan(10);
  });
});
