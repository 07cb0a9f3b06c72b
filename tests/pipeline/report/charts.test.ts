import sharp, { type Metadata } from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  type Axis,
  bars,
  binCounts,
  colourPlane,
  hemispheres,
  histogram,
  lambert,
  swatches,
} from '../../../pipeline/report/charts.ts';
import { table } from '../../../pipeline/report/html.ts';
import { CELLS, coveredCells, expectedCells, viewDirection } from '../../../pipeline/report/sphere-cover.ts';
import { rng } from '../../../sampling/rng.ts';
import { rotationMatrix, uniformRotation } from '../../../sampling/rotation.ts';

const AXIS: Axis = { low: 0, high: 10, bins: 5, text: value => `${value} <m>` };
const COLOURS = [
  { rgb: [250, 10, 3.4], lab: [50, 40, 30] },
  { rgb: [0, 0, 0], lab: [0, 0, 0] },
] as const;
const views = (count: number) =>
  Array.from({ length: count }, (_, i) => viewDirection(uniformRotation(rng(1, 'v', i))));

/** The SVG in a figure as a program that is no browser draws it: fails for what is not well-formed. */
function drawn(figure: string): Promise<Metadata> {
  const svg = /<svg [\s\S]*<\/svg>/.exec(figure)![0].replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ');
  return sharp(Buffer.from(svg)).metadata();
}

describe('binCounts', () => {
  it('counts every value once, those beyond the axis at its ends', () => {
    expect(binCounts([-5, 0, 1.99, 2, 9.99, 10, 400], AXIS)).toEqual([3, 1, 0, 0, 3]);
  });
});

describe('charts', () => {
  it.each([
    ['histogram', histogram('a < b & "c"', [1, 1, 9], AXIS)],
    ['histogram of nothing', histogram('none', [], AXIS)],
    ['colour plane', colourPlane('colours', '2 of 5 images', COLOURS)],
    ['swatches', swatches('colours', COLOURS)],
    ['hemispheres', hemispheres('views', 'some', views(50))],
  ])('%s is well-formed', async (_, figure) => {
    expect((await drawn(figure)).format).toBe('svg');
  });

  it('has a bar for each bin that holds something, as high as its share of the highest', () => {
    const figure = histogram('values', [1, 1, 1, 1, 9], AXIS);
    const heights = [...figure.matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));
    expect(heights).toEqual([96, 24]);
    expect(figure).toContain('<title>8 &#60;m&#62; to 10 &#60;m&#62;: 1</title>');
  });

  it('draws colours in their own colour, dark ones first', () => {
    expect([...swatches('', COLOURS).matchAll(/fill="(#\w+)"/g)].map(([, fill]) => fill)).toEqual([
      '#000000',
      '#fa0a03',
    ]);
  });

  it('has rows of bars in per cent of the longest', () => {
    const html = bars([
      { name: 'a', value: 4, text: '4' },
      { name: 'b', value: 1, text: '1' },
    ]);
    expect([...html.matchAll(/width:([\d.]+)%/g)].map(([, width]) => width)).toEqual(['100', '25']);
    expect(bars([])).toBe('');
  });
});

describe('table', () => {
  it('escapes texts and groups numbers', () => {
    const html = table(['name', 'count'], [['<b>', 1_234_567]]);
    expect(html).toContain('<th scope="row">&#60;b&#62;</th><td class="number">1,234,567</td>');
    expect(html).toContain('<th scope="col" class="number">count</th>');
  });
});

describe('viewDirection', () => {
  it('is what the turned object has to be turned back by: the third row of its matrix', () => {
    for (let i = 0; i < 20; i++) {
      const rotation = uniformRotation(rng(2, 'rotation', i));
      const row = rotationMatrix(rotation).slice(6, 9);
      for (const [axis, value] of viewDirection(rotation).entries()) expect(value).toBeCloseTo(row[axis]!, 12);
    }
    expect(viewDirection([0, 0, 0, 1])).toEqual([0, 0, 1]);
    // A quarter turn to the left about y shows the side that was left: −x.
    const side = viewDirection([0, Math.SQRT1_2, 0, Math.SQRT1_2]);
    expect(side.map(value => Number(value.toFixed(12)) + 0)).toEqual([-1, 0, 0]);
  });
});

describe('lambert', () => {
  it('puts uniform directions uniformly into the discs: half of each within 1/√2 of the middle', () => {
    const places = views(20_000).map(lambert);
    const share = (holds: (place: (typeof places)[number]) => boolean) => places.filter(holds).length / places.length;
    expect(share(({ back }) => back)).toBeCloseTo(0.5, 1);
    // Four standard errors of a share of 0.5.
    expect(Math.abs(share(({ x, y }) => Math.hypot(x, y) < Math.SQRT1_2) - 0.5)).toBeLessThan(
      4 * Math.sqrt(0.25 / 20_000),
    );
    for (const { x, y } of places) expect(Math.hypot(x, y)).toBeLessThanOrEqual(1 + 1e-12);
  });
});

describe('cells of the sphere', () => {
  it('are of equal area, and as many are reached as the formula says', () => {
    expect(coveredCells([])).toBe(0);
    expect(coveredCells(views(5000))).toBe(CELLS);
    const sets = Array.from({ length: 300 }, (_, set) =>
      coveredCells(Array.from({ length: 40 }, (_, i) => viewDirection(uniformRotation(rng(3, `set ${set}`, i))))),
    );
    const mean = sets.reduce((a, b) => a + b, 0) / sets.length;
    expect(Math.abs(mean - expectedCells(40))).toBeLessThan(0.7);
    expect(expectedCells(1)).toBeCloseTo(1, 12);
  });
});
