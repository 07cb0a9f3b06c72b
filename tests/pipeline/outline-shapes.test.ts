import { describe, expect, it } from 'vitest';
import type { Box, Mask } from '../../extractors/image.ts';
import { DEFAULTS } from '../../extractors/natural-shape.ts';
import type { NaturalShapesRecipe } from '../../pipeline/configuration.ts';
import type { SegmentedObject } from '../../pipeline/datasets/dataset.ts';
import { findOutlines } from '../../pipeline/stages/outline-shapes.ts';

const RULE: NaturalShapesRecipe = { ...DEFAULTS, rounds: 1, windowMinSide: 512, windowMaxAspect: 1.5, maxOverlap: 0.5 };
const OBJECTS = { masks: 'objects', cutOuts: false } as const;
const SIDE = 512;

const box = (left: number, top: number, width: number, height: number): Box => ({ left, top, width, height });

/** A rectangle with holes (and gaps, which are holes that reach an edge), in a picture. */
function rectangle(
  label: string,
  place: Box,
  holes: readonly Box[] = [],
  picture = box(0, 0, SIDE, SIDE),
): SegmentedObject {
  const data = new Uint8Array(place.width * place.height).fill(255);
  for (const hole of holes) {
    for (let row = hole.top; row < hole.top + hole.height; row++) {
      data.fill(0, row * place.width + hole.left, row * place.width + hole.left + hole.width);
    }
  }
  const mask: Mask = { data, width: place.width, height: place.height };
  const area = data.reduce((sum, value) => sum + (value >> 7), 0);
  const { width, height } = picture;
  return { mask, box: place, area, width, height, label, category: label, instance: null, taxonomy: {} };
}

const labels = ({ outlines }: ReturnType<typeof findOutlines>) => outlines.map(({ object }) => object.label);

describe('outlines of a picture’s objects', () => {
  it('come the largest first, whole, with their holes', () => {
    const holed = rectangle('holed', box(250, 20, 200, 200), [box(50, 50, 100, 100)]);
    const full = rectangle('full', box(20, 250, 250, 200));
    const found = findOutlines([holed, full], OBJECTS, RULE);
    expect(labels(found)).toEqual(['full', 'holed']);
    expect(found.rejections).toEqual({ 'too-small': 0, border: 0, 'too-thin': 0, 'found-before': 0 });
    const { object, ...outline } = found.outlines[1]!;
    expect(outline).toEqual({ mask: holed.mask, box: holed.box, area: 30_000, scale: 1 });
  });

  it.each([
    // 20,000 pixels where the short side has 512.
    [512, 512, 20_000],
    [640, 480, 17_579],
    [3000, 1024, 80_000],
  ])('have to be as large as natural shapes: %i × %i', (width, height, least) => {
    const picture = box(0, 0, width, height);
    const rows = 100;
    const columns = Math.ceil(least / rows);
    // The last row is cut so that exactly the least area is left.
    const exact = (area: number) => {
      const spare = rows * columns - area;
      const cut = box(columns - spare, rows - 1, spare, 1);
      return findOutlines([rectangle('o', box(40, 40, columns, rows), [cut], picture)], OBJECTS, RULE);
    };
    expect(exact(least).outlines).toHaveLength(1);
    const smaller = exact(least - 1);
    expect([smaller.outlines.length, smaller.rejections['too-small']]).toEqual([0, 1]);
  });

  it.each([
    // Five pixels where the short side has 512.
    [box(5, 5, 200, 200), true],
    [box(4, 5, 200, 200), false],
    [box(5, 4, 200, 200), false],
    [box(SIDE - 205, SIDE - 205, 200, 200), true],
    [box(SIDE - 204, SIDE - 205, 200, 200), false],
    [box(SIDE - 205, SIDE - 204, 200, 200), false],
  ])('keep off the edges, unless objects were cut out whole: %o', (place, clear) => {
    const object = rectangle('o', place);
    const { outlines, rejections } = findOutlines([object], OBJECTS, RULE);
    expect([outlines.length, rejections.border]).toEqual(clear ? [1, 0] : [0, 1]);
    expect(findOutlines([object], { ...OBJECTS, cutOuts: true }, RULE).outlines).toHaveLength(1);
  });

  it('of masks of objects keep all their parts, of masks of classes are contiguous areas', () => {
    // A gap cuts it in two: 200 × 110 and 200 × 150.
    const parted = rectangle('parted', box(20, 20, 200, 300), [box(0, 110, 200, 40)]);
    const whole = findOutlines([parted], OBJECTS, RULE);
    expect(whole.outlines.map(({ area, box: at }) => [area, at])).toEqual([[52_000, parted.box]]);
    const parts = findOutlines([parted], { masks: 'classes', cutOuts: false }, RULE);
    expect(parts.outlines.map(({ area, box: at }) => [area, at])).toEqual([
      [30_000, box(20, 170, 200, 150)],
      [22_000, box(20, 20, 200, 110)],
    ]);
    // Parts that touch by a corner are one.
    const aslant = rectangle('aslant', box(20, 20, 300, 300), [box(150, 0, 150, 150), box(0, 150, 150, 150)]);
    expect(findOutlines([aslant], { masks: 'classes', cutOuts: false }, RULE).outlines).toHaveLength(1);
  });

  it('that nearly coincide are one, the largest', () => {
    const first = rectangle('first', box(20, 20, 300, 200));
    // Intersection over union 40,000 / 60,000, and 30,000 / 60,000.
    const inside = rectangle('inside', box(20, 20, 200, 200));
    const half = rectangle('half', box(20, 20, 150, 200));
    const found = findOutlines([inside, half, first], OBJECTS, RULE);
    expect(labels(found)).toEqual(['first', 'half']);
    expect(found.rejections['found-before']).toBe(1);
  });

  it('of large pictures are kept at the working scale, each pixel that is covered to a half', () => {
    const picture = box(0, 0, 2048, 1536);
    const place = box(300, 600, 903, 601);
    const hole = box(300, 150, 240, 240);
    const [outline] = findOutlines([rectangle('large', place, [hole], picture)], OBJECTS, RULE).outlines;
    // A third of everything: 301 × 200.33, a hole of 80 × 80 at (100, 50).
    expect([outline!.mask.width, outline!.mask.height, outline!.scale]).toEqual([301, 200, 1 / 3]);
    expect(outline!.box).toEqual(place);
    expect(outline!.area).toBe(301 * 200 - 80 * 80);
    const { data, width } = outline!.mask;
    expect([data[49 * width + 140], data[50 * width + 140], data[129 * width + 140], data[130 * width + 140]]).toEqual([
      255, 0, 0, 255,
    ]);
    expect(data.every(value => value === 0 || value === 255)).toBe(true);
  });

  it('that nothing is left of at the working scale are left out', () => {
    const picture = box(0, 0, 3072, 3072);
    // Of every seven rows three: large in pixels, nowhere covering a half.
    const gaps = Array.from({ length: 300 }, (_, i) => box(0, 7 * i + 2, 2800, 5));
    const lines = rectangle('lines', box(100, 100, 2800, 2100), gaps, picture);
    const { outlines, rejections } = findOutlines([lines], OBJECTS, RULE);
    expect([outlines.length, rejections['too-thin']]).toEqual([0, 1]);
  });

  it('of no objects are none', () => {
    expect(findOutlines([], OBJECTS, RULE).outlines).toEqual([]);
  });
});
