import { describe, expect, it } from 'vitest';
import type { RgbImage } from '../../extractors/image.ts';
import {
  CANDIDATES,
  type Candidate,
  COLORS,
  DEFAULTS,
  drawMaterial,
  type MapPlan,
  type MaterialPlan,
} from '../../extractors/material-plan.ts';
import { type MaterialMaps, makeMaps } from '../../extractors/pbr-maps.ts';
import { normalsFromHeight } from '../../extractors/relief.ts';
import { rng } from '../../sampling/rng.ts';
import { shareDeviation, worstBin, worstNumber } from '../scenes/statistics.ts';

const DRAWS = 20_000;
const plans = Array.from({ length: DRAWS }, (_, i) => drawMaterial(rng(3, 'test', i)));
type Pattern = Extract<MapPlan, { kind: 'pattern' }>;
const patterns = (map: 'height' | 'roughness' | 'metallic') =>
  plans.map(plan => plan[map]).filter((plan): plan is Pattern => plan.kind === 'pattern');

/** An end of the range is random, and it shows: neither end is, by a chance of 1/256, what it would be if it were not. */
const RANDOM_END = 0.75 * (255 / 256) * (1 - 0.75 / 256);

/** How far the share of what holds is from a probability, in standard deviations. */
function off<T>(items: readonly T[], probability: number, holds: (item: T) => boolean): number {
  return shareDeviation(items.filter(holds).length, items.length, probability);
}

describe('drawMaterial, over 20,000 draws, branches with the published probabilities (4 σ):', () => {
  it.each<[string, number, (plan: MaterialPlan) => boolean]>([
    ['hue shift', 0.22, plan => plan.augmentation.hueShift > 0],
    ['quarter turn', 0.5, plan => plan.augmentation.quarterTurn],
    ['horizontal flip', 0.5, plan => plan.augmentation.flipHorizontal],
    ['vertical flip', 0.5, plan => plan.augmentation.flipVertical],
    ['colour hue shift', 0.2, plan => plan.colorHueShift > 0],
    ['constant height', 0.14, plan => plan.height.kind === 'constant'],
    ['constant roughness', 0.14, plan => plan.roughness.kind === 'constant'],
    ['constant metallic', 0.14, plan => plan.metallic.kind === 'constant'],
    ['metal becomes full', 0.14, plan => plan.metal.full],
    ['full metal is smooth', 0.14 * 0.66, plan => plan.metal.fullIsSmooth],
    ['no metal becomes none', 0.1, plan => plan.metal.restIsNone],
    ['the metal is rough', 0.1 * 0.66, plan => plan.metal.metalIsRough],
    ['normals of strength 1', 0.24 * 0.23, plan => plan.normalStrength === 1],
    ['normals stronger than 16', 0.24 * 0.77 * (1 / 3 + (2 / 3) * Math.log(2 / 3)), plan => plan.normalStrength > 16],
  ])('%s', (_, probability, holds) => {
    expect(off(plans, probability, holds)).toBeLessThan(4);
  });

  it.each([
    ['height', 0.4, 0.24, 0.3],
    ['roughness', 0.2, 0.44, 0.6],
    ['metallic', 0.2, 0.44, 0.3],
  ] as const)('%s: source and negation', (map, grey, candidate, negated) => {
    const drawn = patterns(map);
    expect(off(drawn, grey, ({ source }) => source.kind === 'grey')).toBeLessThan(4);
    expect(off(drawn, candidate, ({ source }) => source.kind === 'candidate')).toBeLessThan(4);
    expect(off(drawn, 0.36, ({ source }) => source.kind === 'channel')).toBeLessThan(4);
    expect(off(drawn, negated, plan => plan.negated)).toBeLessThan(4);
    expect(off(drawn, 0.11, plan => plan.blurKernel !== null)).toBeLessThan(4);
    const candidates = drawn.flatMap(({ source }) => (source.kind === 'candidate' ? [source.candidate] : []));
    expect(
      worstNumber(
        candidates.map(name => CANDIDATES.indexOf(name)),
        0,
        5,
      ),
    ).toBeLessThan(4);
    const channels = drawn.flatMap(({ source }) => (source.kind === 'channel' ? [source] : []));
    expect(
      worstNumber(
        channels.map(({ channel }) => COLORS.indexOf(channel)),
        0,
        2,
      ),
    ).toBeLessThan(4);
    expect(
      worstBin(
        channels.map(({ hueShift }) => hueShift),
        0.5,
        359.5,
        12,
      ),
    ).toBeLessThan(4);
    const kernels = drawn.flatMap(({ blurKernel }) => (blurKernel === null ? [] : [(blurKernel - 3) / 2]));
    expect(worstNumber(kernels, 0, 3)).toBeLessThan(4);
  });

  it.each(['roughness', 'metallic'] as const)('%s: range, floor and constants', map => {
    const drawn = patterns(map);
    expect(off(drawn, 0.2, ({ range }) => range === null)).toBeLessThan(4);
    const ranges = drawn.flatMap(({ range }) => (range === null ? [] : [range]));
    expect(off(ranges, RANDOM_END, ([from]) => from > 0)).toBeLessThan(4);
    expect(off(ranges, RANDOM_END, ([, to]) => to < 255)).toBeLessThan(4);
    expect(ranges.every(([from, to]) => from <= to)).toBe(true);
    expect(off(drawn, 0.11 * RANDOM_END, ({ floor }) => floor !== null)).toBeLessThan(4);
    const constants = plans.map(plan => plan[map]).flatMap(plan => (plan.kind === 'constant' ? [plan.level] : []));
    expect(off(constants, 0.25 + 0.5 / 256, level => level === 0)).toBeLessThan(4);
    expect(off(constants, 0.25 + 0.5 / 256, level => level === 255)).toBeLessThan(4);
  });

  it('height always has its full range, with a floor where the low end is drawn; constants are 0', () => {
    const drawn = patterns('height');
    expect(drawn.every(({ range }) => range?.[0] === 0 && range[1] === 255)).toBe(true);
    expect(off(drawn, RANDOM_END, ({ floor }) => floor !== null)).toBeLessThan(4);
    expect(plans.every(({ height }) => height.kind === 'pattern' || height.level === 0)).toBe(true);
  });

  it('draws opacity and transmission for the shares asked for, for none as published', () => {
    expect(plans.every(({ opacity, transmission }) => opacity === null && transmission === null)).toBe(true);
    const options = { ...DEFAULTS, opacityShare: 0.3, transmissionShare: 0.1 };
    const drawn = Array.from({ length: 4000 }, (_, i) => drawMaterial(rng(3, 'test', i), options));
    expect(off(drawn, 0.3, ({ opacity }) => opacity !== null)).toBeLessThan(4);
    expect(off(drawn, 0.1, ({ transmission }) => transmission !== null)).toBeLessThan(4);
  });
});

const PLAIN: MaterialPlan = {
  augmentation: { hueShift: 0, quarterTurn: false, flipHorizontal: false, flipVertical: false },
  colorHueShift: 0,
  height: { kind: 'constant', level: 0 },
  roughness: { kind: 'constant', level: 90 },
  metallic: { kind: 'constant', level: 200 },
  opacity: null,
  transmission: null,
  metal: { level: 160, full: false, fullIsSmooth: false, restIsNone: false, metalIsRough: false },
  normalStrength: 4,
  occlusion: false,
};
const GREY: Pattern = {
  kind: 'pattern',
  source: { kind: 'grey' },
  negated: false,
  blurKernel: null,
  range: null,
  floor: null,
};

function picture(width: number, height: number, pixels: readonly number[]): RgbImage {
  return { width, height, data: Uint8Array.from(pixels) };
}
function noise(side: number): RgbImage {
  const random = rng(5, 'test', 'noise');
  return picture(
    side,
    side,
    Array.from({ length: 3 * side * side }, () => Math.floor(256 * random.next())),
  );
}

/** The roughness map that a pattern gives. */
function mapOf(texture: RgbImage, change: Partial<Pattern>): number[] {
  return [...makeMaps(texture, { ...PLAIN, roughness: { ...GREY, ...change } }).roughness.data];
}

/** Levels are rounded to sixteenths on the way: a half may end up on the other side. */
function expectNear(levels: readonly number[], expected: readonly number[]): void {
  expect(levels).toHaveLength(expected.length);
  expect(Math.max(...levels.map((level, i) => Math.abs(level - expected[i]!)))).toBeLessThanOrEqual(1);
}

function bytesOf(maps: MaterialMaps): Buffer {
  return Buffer.concat(Object.values(maps).map(({ data }) => data));
}

describe('makeMaps', () => {
  const four = picture(2, 2, [255, 0, 0, 90, 90, 90, 10, 200, 30, 0, 0, 0]);

  it('makes constants and leaves the colour alone', () => {
    const maps = makeMaps(four, PLAIN);
    expect(maps.color.data).toEqual(four.data);
    expect([...maps.height.data, ...maps.roughness.data, ...maps.metallic.data]).toEqual(
      [0, 90, 200].flatMap(v => [v, v, v, v]),
    );
    expect([...maps.normal.data]).toEqual([1, 2, 3, 4].flatMap(() => [128, 128, 255]));
    expect(Object.keys(maps)).toHaveLength(5);
  });

  it('takes the mean of the colours for grey', () => {
    expect(mapOf(four, {})).toEqual([85, 90, 80, 0]);
  });

  it.each<[Candidate, number[]]>([
    // c / (mean + 10), 0 to 3, as 0 to 255.
    ['red-share', [255 / 95, 90 / 100, 10 / 90, 0].map(share => Math.round(85 * share))],
    ['green-share', [0, 90 / 100, 200 / 90, 0].map(share => Math.round(85 * share))],
    ['blue-share', [0, 90 / 100, 30 / 90, 0].map(share => Math.round(85 * share))],
    // Green 10/190 of a sixth of the circle beyond pure green.
    ['hue', [0, 0, Math.round((255 / 6) * (2 + 20 / 190)), 0]],
    ['saturation', [255, 0, Math.round((255 * 190) / 200), 0]],
    ['value', [255, 90, 200, 0]],
  ])('scales the candidate %s to 0–255', (candidate, expected) => {
    expectNear(mapOf(four, { source: { kind: 'candidate', candidate } }), expected);
  });

  it('takes a channel of the colours after their hues were moved', () => {
    const channel = (name: 'r' | 'g' | 'b', hueShift: number) =>
      mapOf(four, { source: { kind: 'channel', channel: name, hueShift } });
    // Red becomes green, grey stays.
    expect(channel('g', 120).slice(0, 2)).toEqual([255, 90]);
    expect(channel('r', 120).slice(0, 2)).toEqual([0, 90]);
    expect([channel('r', 60)[0], channel('g', 60)[0], channel('b', 60)[0]]).toEqual([255, 255, 0]);
    const texture = noise(16);
    for (const hueShift of [1, 77, 200, 359]) {
      const { color } = makeMaps(texture, { ...PLAIN, colorHueShift: hueShift });
      for (const [i, name] of COLORS.entries()) {
        const expected = [...color.data].filter((_, k) => k % 3 === i);
        expectNear(mapOf(texture, { source: { kind: 'channel', channel: name, hueShift } }), expected);
      }
    }
  });

  it('moves hues there and back, and all around', () => {
    const texture = picture(3, 1, [200, 40, 60, 10, 10, 200, 77, 130, 12]);
    const there = makeMaps(texture, { ...PLAIN, colorHueShift: 100 }).color;
    const back = makeMaps(there, { ...PLAIN, colorHueShift: 260 }).color;
    for (const [i, value] of back.data.entries()) expect(Math.abs(value - texture.data[i]!)).toBeLessThanOrEqual(2);
  });

  it('negates, stretches and cuts', () => {
    const steps = picture(
      5,
      1,
      [50, 75, 100, 125, 150].flatMap(v => [v, v, v]),
    );
    expect(mapOf(steps, { negated: true })).toEqual([205, 180, 155, 130, 105]);
    expect(mapOf(steps, { range: [0, 255] })).toEqual([0, 64, 128, 191, 255]);
    expect(mapOf(steps, { range: [100, 200] })).toEqual([100, 125, 150, 175, 200]);
    expect(mapOf(steps, { range: [100, 200], negated: true })).toEqual([200, 175, 150, 125, 100]);
    // The floor counts at full range: the first two steps are 0 and 64 there.
    expect(mapOf(steps, { range: [100, 200], floor: 100 })).toEqual([0, 0, 150, 175, 200]);
    expect(mapOf(steps, { floor: 100 })).toEqual([0, 0, 100, 125, 150]);
    const flat = picture(2, 1, [7, 7, 7, 7, 7, 7]);
    expect(mapOf(flat, { range: [30, 60] })).toEqual([30, 30]);
  });

  it('stretches a faint pattern without losing steps', () => {
    // A ramp from 100 to 110 in thirds of a level, as a mean of three colours has them.
    const ramp = Array.from({ length: 31 }, (_, i) => [0, 1, 2].map(c => 100 + Math.floor((i + c) / 3)));
    const levels = mapOf(picture(31, 1, ramp.flat()), { range: [0, 255] });
    expect(new Set(levels).size).toBe(31);
  });

  it('blurs by the mean of a square, the edge going on', () => {
    const dot = picture(
      7,
      7,
      Array.from({ length: 147 }, (_, i) => (Math.floor(i / 3) === 24 ? 225 : 0)),
    );
    const blurred = mapOf(dot, { blurKernel: 5 });
    for (let row = 0; row < 7; row++)
      for (let column = 0; column < 7; column++) {
        const near = Math.abs(row - 3) <= 2 && Math.abs(column - 3) <= 2;
        expect(blurred[row * 7 + column]).toBe(near ? 9 : 0);
      }
    expect(new Set(mapOf(picture(4, 3, new Array(36).fill(80)), { blurKernel: 9 }))).toEqual(new Set([80]));
  });

  it('turns clockwise, then flips, all maps alike', () => {
    const six = picture(
      3,
      2,
      [1, 2, 3, 4, 5, 6].flatMap(v => [v, v, v]),
    );
    const turn = (change: Partial<MaterialPlan['augmentation']>) => {
      const maps = makeMaps(six, {
        ...PLAIN,
        roughness: GREY,
        augmentation: { ...PLAIN.augmentation, ...change },
      });
      expect(maps.color.width).toBe(maps.roughness.width);
      return [maps.color.width, ...maps.roughness.data];
    };
    expect(turn({ quarterTurn: true })).toEqual([2, 4, 1, 5, 2, 6, 3]);
    expect(turn({ flipHorizontal: true })).toEqual([3, 3, 2, 1, 6, 5, 4]);
    expect(turn({ flipVertical: true })).toEqual([3, 4, 5, 6, 1, 2, 3]);
    expect(turn({ quarterTurn: true, flipHorizontal: true, flipVertical: true })).toEqual([2, 3, 6, 2, 5, 1, 4]);
    const wide = noise(150);
    const turned = makeMaps(wide, { ...PLAIN, augmentation: { ...PLAIN.augmentation, quarterTurn: true } }).color;
    for (const [column, row] of [
      [0, 0],
      [70, 3],
      [149, 149],
      [64, 128],
    ] as const) {
      expect(turned.data[3 * (row * 150 + column) + 1]).toBe(wide.data[3 * ((149 - column) * 150 + row) + 1]);
    }
  });

  it('treats metal as drawn', () => {
    const steps = picture(
      3,
      1,
      [100, 160, 161].flatMap(v => [v, v, v]),
    );
    const treat = (metal: Partial<MaterialPlan['metal']>) => {
      const maps = makeMaps(steps, { ...PLAIN, metallic: GREY, metal: { ...PLAIN.metal, ...metal } });
      return [[...maps.metallic.data], [...maps.roughness.data]];
    };
    expect(treat({})).toEqual([
      [100, 160, 161],
      [90, 90, 90],
    ]);
    expect(treat({ full: true })[0]).toEqual([100, 160, 255]);
    expect(treat({ full: true, fullIsSmooth: true })[1]).toEqual([90, 90, 0]);
    expect(treat({ restIsNone: true })[0]).toEqual([0, 160, 161]);
    expect(treat({ restIsNone: true, metalIsRough: true })[1]).toEqual([90, 90, 255]);
  });

  it('makes normals of the height', () => {
    const texture = noise(12);
    const { height, normal } = makeMaps(texture, { ...PLAIN, height: GREY, normalStrength: 6 });
    const coarse = normalsFromHeight({ ...height, white: 255 }, 6);
    for (const [i, value] of normal.data.entries()) expect(Math.abs(value - coarse.data[i]!)).toBeLessThanOrEqual(2);
  });

  it('adds occlusion, opacity and transmission where the plan has them', () => {
    const maps = makeMaps(noise(12), {
      ...PLAIN,
      height: GREY,
      occlusion: true,
      opacity: { kind: 'constant', level: 77 },
      transmission: GREY,
    });
    expect(Math.min(...maps.occlusion!.data)).toBeLessThan(200);
    expect(new Set(maps.opacity!.data)).toEqual(new Set([77]));
    expect(maps.transmission!.data).toHaveLength(144);
  });

  it('gives the same bytes for the same plan, also when that was written and read', () => {
    const texture = noise(40);
    for (const plan of plans.slice(0, 40)) {
      const before = Buffer.from(texture.data);
      const bytes = bytesOf(makeMaps(texture, plan));
      expect(bytesOf(makeMaps(texture, JSON.parse(JSON.stringify(plan)))).equals(bytes)).toBe(true);
      expect(before.equals(texture.data)).toBe(true);
    }
    expect(drawMaterial(rng(3, 'test', 7))).toEqual(plans[7]);
  });
});
