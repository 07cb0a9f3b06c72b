import { describe, expect, it } from 'vitest';
import { ColorChannels } from '../../extractors/color-channels.ts';
import { ComponentLabeller } from '../../extractors/connected-components.ts';
import type { GreyImage } from '../../extractors/image.ts';
import { integer, pick } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { connectedComponents } from '../oracle/opencv.ts';

function labelled(image: GreyImage, level: number, margin: number, labeller?: ComponentLabeller) {
  const rgb = {
    ...image,
    data: Uint8Array.from({ length: 3 * image.data.length }, (_, i) => image.data[(i / 3) | 0]!),
  };
  const used = labeller ?? new ComponentLabeller(image.width, image.height, margin);
  const summary = used.label(new ColorChannels(rgb).plane('r'), level);
  if (summary.largest === 0) return { summary, box: undefined, mask: undefined };
  const box = used.largestBox();
  return { summary, box, mask: used.largestMask(box) };
}

/** The same from OpenCV's labels. */
function expected(image: GreyImage, level: number, margin: number) {
  const { width, height } = image;
  const { labels, components } = connectedComponents({ ...image, data: image.data.map(v => (v > level ? 255 : 0)) });
  const largest = Math.max(0, ...components.map(component => component.area));
  const inMargin = components.filter(
    ({ left, top, ...size }) =>
      left < margin || top < margin || left + size.width > width - margin || top + size.height > height - margin,
  );
  const winner = labels.find(label => label > 0 && components[label - 1]!.area === largest);
  if (winner === undefined) {
    return {
      summary: { largest: 0, largestInMargin: false, marginLargest: 0, marginTotal: 0 },
      box: undefined,
      mask: undefined,
    };
  }
  const { area, ...box } = components[winner - 1]!;
  const data = new Uint8Array(box.width * box.height);
  for (let i = 0; i < data.length; i++) {
    const pixel = (box.top + Math.floor(i / box.width)) * width + box.left + (i % box.width);
    if (labels[pixel] === winner) data[i] = 255;
  }
  return {
    summary: {
      largest: area,
      largestInMargin: inMargin.includes(components[winner - 1]!),
      marginLargest: Math.max(0, ...inMargin.map(component => component.area)),
      marginTotal: inMargin.reduce((sum, component) => sum + component.area, 0),
    },
    box,
    mask: { width: box.width, height: box.height, data },
  };
}

function drawn(...rows: string[]): GreyImage {
  const data = Uint8Array.from(rows.join(''), pixel => (pixel === '#' ? 255 : 0));
  return { width: rows[0]!.length, height: rows.length, data };
}

/** A line that winds inwards with a gap as wide as itself; every turn of it is one component. */
function spiral(size: number): GreyImage {
  const data = new Uint8Array(size * size);
  let [x, y, dx, dy] = [0, 0, 1, 0] as [number, number, number, number];
  for (let length = size - 1; length > 1; length -= 2) {
    for (let side = 0; side < (length === size - 1 ? 3 : 2); side++) {
      for (let i = 0; i < length; i++, x += dx, y += dy) data[y * size + x] = 255;
      [dx, dy] = [-dy, dx];
    }
  }
  return { width: size, height: size, data };
}

describe('ComponentLabeller', () => {
  it('agrees with OpenCV on random masks of every density and of widths around a word', () => {
    const random = rng(1, 'test', 'masks');
    for (const width of [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 97, 130]) {
      for (const height of [1, 2, 5, 40]) {
        for (const density of [0.02, 0.2, 0.4, 0.5, 0.6, 0.8, 0.98]) {
          const data = Uint8Array.from({ length: width * height }, () => (random.next() < density ? 255 : 0));
          const margin = integer(random, 0, 3);
          const image = { width, height, data };
          expect(labelled(image, 128, margin)).toEqual(expected(image, 128, margin));
        }
      }
    }
  });

  it('compares every value with every kind of level, and keeps nothing of the mask before', () => {
    const random = rng(2, 'test', 'levels');
    const labeller = new ComponentLabeller(75, 30, 2);
    for (let i = 0; i < 100; i++) {
      const level = pick(random, [0, 1, 126, 127, 128, 129, 253, 254, integer(random, 0, 254)]);
      const near = () => Math.max(0, Math.min(255, level + integer(random, -2, 2)));
      const data = Uint8Array.from({ length: 75 * 30 }, () => (random.next() < 0.6 ? near() : integer(random, 0, 255)));
      const image = { width: 75, height: 30, data };
      expect(labelled(image, level, 2, labeller)).toEqual(expected(image, level, 2));
    }
  });

  it('agrees with OpenCV on drawn masks', () => {
    const square = (size: number, pixel: (x: number, y: number) => boolean): GreyImage => ({
      width: size,
      height: size,
      data: Uint8Array.from({ length: size * size }, (_, i) => (pixel(i % size, Math.floor(i / size)) ? 255 : 0)),
    });
    const masks = [
      square(33, () => false),
      square(33, () => true),
      square(33, (x, y) => (x + y) % 2 === 0), // one component by its corners
      square(33, (x, y) => x % 2 === 0 && y % 2 === 0), // 289 components of one pixel
      square(64, x => x % 2 === 0),
      square(64, (x, y) => x % 2 === 0 || y === 63), // joined by the last row only
      square(64, (_, y) => y % 2 === 0),
      ...[9, 32, 33, 65].map(spiral),
      drawn('#'),
      drawn('.'),
      drawn('##.#', '...#', '#..#'),
      drawn('#.#.#.#', '.#.#.#.', '.......', '###.###'),
      drawn('#...#', '#.#.#', '#####'), // one component from three beginnings
    ];
    for (const mask of masks) expect(labelled(mask, 0, 1)).toEqual(expected(mask, 0, 1));
  });

  it('takes, of components of equal area, the one first met in raster order', () => {
    expect(labelled(drawn('....##', '##....', '##..##'), 0, 0).box).toEqual({ left: 0, top: 1, width: 2, height: 2 });
    expect(labelled(drawn('.....#', '##....', '......', '...##.'), 0, 0).box).toMatchObject({ left: 0, top: 1 });
    expect(labelled(drawn('...##.', '......', '##....'), 0, 0).box).toMatchObject({ left: 3, top: 0 });
    // The second is met first in the last row, but begins later.
    expect(labelled(drawn('....#', '#...#', '#...#', '#....'), 0, 0).box).toMatchObject({ left: 4, top: 0 });
  });
});
