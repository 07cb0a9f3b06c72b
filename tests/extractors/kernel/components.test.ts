import { describe, expect, it } from 'vitest';
import type { GreyImage } from '../../../extractors/image.ts';
import { CELL_SIDE, type ChannelMasks, type ComponentSummary } from '../../../extractors/kernel/channel-masks.ts';
import { integer, pick } from '../../../sampling/distributions.ts';
import { rng } from '../../../sampling/rng.ts';
import { connectedComponents, erodedArea } from '../../oracle/opencv.ts';
import { drawn, masksOf, picture, spiral } from './grey-masks.ts';

const SIDES = [3, 11];

/** What is to be known of the mask that `summary` is of. */
function described(masks: ChannelMasks, summary: ComponentSummary) {
  if (summary.largest === 0) return { summary };
  const box = masks.largestBox();
  const eroded = SIDES.map(side => masks.largestEroded(box, side));
  return { summary, box, mask: printed(masks.largestMask(box)), eroded };
}

/** As a string, which is compared a thousand times faster than an array. */
function printed({ width, height, data }: GreyImage): string {
  return `${width}×${height} ${Buffer.from(data).toString('latin1')}`;
}

/** The same from OpenCV's labels. */
function expectedSummary(mask: GreyImage, margin: number) {
  const { width, height } = mask;
  const { labels, components } = connectedComponents(mask);
  const largest = components.reduce((most, { area }) => Math.max(most, area), 0);
  const inMargin = components.filter(
    ({ left, top, ...size }) =>
      left < margin || top < margin || left + size.width > width - margin || top + size.height > height - margin,
  );
  const winner = labels.find(label => label > 0 && components[label - 1]!.area === largest);
  const summary: ComponentSummary = {
    largest,
    largestInMargin: winner !== undefined && inMargin.includes(components[winner - 1]!),
    marginLargest: inMargin.reduce((most, { area }) => Math.max(most, area), 0),
    marginTotal: inMargin.reduce((sum, { area }) => sum + area, 0),
  };
  return { summary, winner, labels, components };
}

function expected(mask: GreyImage, margin: number) {
  const { summary, winner, labels, components } = expectedSummary(mask, margin);
  if (winner === undefined) return { summary };
  const { area: _, ...box } = components[winner - 1]!;
  const largest = picture(
    box.width,
    box.height,
    (x, y) => labels[(box.top + y) * mask.width + box.left + x] === winner,
  );
  return { summary, box, mask: printed(largest), eroded: SIDES.map(side => erodedArea(largest, side)) };
}

const thresholded = (image: GreyImage, isSet: (value: number) => boolean): GreyImage => ({
  ...image,
  data: image.data.map(value => (isSet(value) ? 255 : 0)),
});

/** Compares the mask above a level, and the one of the inverted picture above the same, with OpenCV's. */
function expectComponents(image: GreyImage, level: number, margin: number, masks = masksOf(image)): void {
  const plain = described(masks, masks.label('r', false, level, margin));
  expect(plain).toEqual(
    expected(
      thresholded(image, value => value > level),
      margin,
    ),
  );
  const inverted = described(masks, masks.label('r', true, level, margin));
  expect(inverted).toEqual(
    expected(
      thresholded(image, value => 255 - value > level),
      margin,
    ),
  );
}

/** Cells of pixels that all are in the mask. */
function cellsOf(mask: GreyImage): GreyImage {
  const { width, height, data } = mask;
  return picture(Math.floor(width / CELL_SIDE), Math.floor(height / CELL_SIDE), (column, row) => {
    for (let y = row * CELL_SIDE; y < (row + 1) * CELL_SIDE; y++) {
      for (let x = column * CELL_SIDE; x < (column + 1) * CELL_SIDE; x++) if (data[y * width + x] === 0) return false;
    }
    return true;
  });
}

describe('the components of a mask', () => {
  it('agree with OpenCV on random masks of every density and of widths around a word', () => {
    const random = rng(1, 'test', 'masks');
    for (const width of [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 130, 200]) {
      for (const height of [1, 2, 5, 40]) {
        for (const density of [0, 0.02, 0.2, 0.4, 0.5, 0.6, 0.8, 0.98, 1]) {
          const image = picture(width, height, () => random.next() < density);
          expectComponents(image, 128, integer(random, 0, 3));
        }
      }
    }
  });

  it('agree for every kind of level, and keep nothing of the mask before', () => {
    const random = rng(2, 'test', 'levels');
    for (let i = 0; i < 100; i++) {
      const level = pick(random, [0, 1, 126, 127, 128, 129, 253, 254, integer(random, 0, 254)]);
      const near = () => Math.max(0, Math.min(255, level + integer(random, -2, 2)));
      const data = Uint8Array.from({ length: 75 * 30 }, () => (random.next() < 0.6 ? near() : integer(random, 0, 255)));
      const image = { width: 75, height: 30, data };
      const masks = masksOf(image);
      for (const other of [level, integer(random, 0, 254)]) expectComponents(image, other, 2, masks);
    }
  });

  it('agree with OpenCV on drawn masks', () => {
    const square = (size: number, isSet: (x: number, y: number) => boolean) => picture(size, size, isSet);
    const masks = [
      square(33, () => false),
      square(33, () => true),
      square(33, (x, y) => (x + y) % 2 === 0), // one component by its corners
      square(128, (x, y) => (x + y) % 2 === 0),
      square(33, (x, y) => x % 2 === 0 && y % 2 === 0), // 289 components of one pixel
      square(64, x => x % 2 === 0),
      square(64, (x, y) => x % 2 === 0 || y === 63), // joined by the last row only
      square(64, (_, y) => y % 2 === 0),
      ...[9, 32, 33, 64, 65, 200].map(spiral),
      drawn('#'),
      drawn('.'),
      drawn('##.#', '...#', '#..#'),
      drawn('#.#.#.#', '.#.#.#.', '.......', '###.###'),
      drawn('#...#', '#.#.#', '#####'), // one component from three beginnings
    ];
    for (const mask of masks) expectComponents(mask, 0, 1);
  });

  it('agree with OpenCV on long thin masks', () => {
    const random = rng(3, 'test', 'thin');
    for (const [width, height] of [
      [20_000, 10],
      [10, 20_000],
      [70_000, 1],
      [1, 70_000],
    ] as const) {
      const image = picture(width, height, () => random.next() < 0.97);
      expectComponents(image, 0, 1);
      const full = picture(width, height, () => true);
      expectComponents(full, 0, 1);
    }
  });

  it('take, of components of equal area, the one first met in raster order for the largest', () => {
    const boxOfLargest = (mask: GreyImage) => {
      const masks = masksOf(mask);
      masks.label('r', false, 0, 0);
      return masks.largestBox();
    };
    expect(boxOfLargest(drawn('....##', '##....', '##..##'))).toEqual({ left: 0, top: 1, width: 2, height: 2 });
    expect(boxOfLargest(drawn('.....#', '##....', '......', '...##.'))).toMatchObject({ left: 0, top: 1 });
    expect(boxOfLargest(drawn('...##.', '......', '##....'))).toMatchObject({ left: 3, top: 0 });
    // The second is met first in the last row, but begins later.
    expect(boxOfLargest(drawn('....#', '#...#', '#...#', '#....'))).toMatchObject({ left: 4, top: 0 });
  });

  it('agree with OpenCV on cells', () => {
    const random = rng(4, 'test', 'cells');
    for (const [width, height] of [
      [1, 1],
      [3, 9],
      [4, 4],
      [41, 23],
      [132, 20],
      [255, 33],
      [256, 32],
      [258, 50],
      [400, 90],
    ] as const) {
      for (const density of [0.5, 0.9, 0.97, 0.995, 1]) {
        const image = picture(width, height, () => random.next() < density);
        const masks = masksOf(image);
        const margin = integer(random, 0, 2);
        const plain = expectedSummary(cellsOf(image), margin).summary;
        expect(masks.labelCells('r', false, 0, margin)).toEqual(plain);
        const negative = masksOf({ ...image, data: image.data.map(value => 255 - value) });
        expect(negative.labelCells('r', true, 0, margin)).toEqual(plain);
      }
    }
  });
});

describe('the erosion of the largest component', () => {
  it('agrees with OpenCV on random masks', () => {
    const random = rng(1, 'test', 'erosion');
    for (let i = 0; i < 300; i++) {
      const holes = pick(random, [0.001, 0.01, 0.05]);
      const mask = picture(integer(random, 1, 70), integer(random, 1, 70), () => random.next() >= holes);
      expectErosion(mask, pick(random, [1, 3, 5, 11, 15, 141]));
    }
  });

  it('agrees with OpenCV on drawn masks', () => {
    const masks = [
      picture(1, 1, () => true),
      picture(3, 200, () => true),
      picture(60, 60, (x, y) => (x - 30) ** 2 + (y - 30) ** 2 < 900),
      picture(60, 60, (x, y) => (x - 30) ** 2 + (y - 30) ** 2 > 300), // a hole
      picture(60, 60, x => x < 10),
      picture(60, 60, x => x < 11),
      picture(60, 60, (x, y) => x < 10 || y < 10), // an L along two edges
      picture(60, 60, (x, y) => x >= 50 || y >= 48),
      picture(60, 60, (x, y) => Math.abs(x - y) < 9),
    ];
    for (const mask of masks) for (const side of SIDES) expectErosion(mask, side);
  });

  it('does not erode from the edges of its box', () => {
    expectErosion(
      picture(20, 30, () => true),
      11,
      600,
    );
    const cross = picture(20, 30, (x, y) => x !== 10 || y === 29);
    expectErosion(cross, 11);
  });
});

function expectErosion(image: GreyImage, side: number, survivors?: number): void {
  const masks = masksOf(image);
  masks.label('r', false, 0, 0);
  const box = masks.largestBox();
  const eroded = masks.largestEroded(box, side);
  expect(eroded).toBe(erodedArea(masks.largestMask(box), side));
  if (survivors !== undefined) expect(eroded).toBe(survivors);
}
