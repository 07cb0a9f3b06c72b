import { describe, expect, it } from 'vitest';
import type { Box } from '../../../extractors/image.ts';
import { croppedRuns, halfCoveredRuns } from '../../../pipeline/exports/mask-runs.ts';
import { integer } from '../../../sampling/distributions.ts';
import { type Rng, rng } from '../../../sampling/rng.ts';

/** Runs, area and box of a picture, by looking at one pixel after the other. */
function literalRuns(width: number, height: number, isSet: (x: number, y: number) => boolean) {
  const counts = [0];
  const xs: number[] = [];
  const ys: number[] = [];
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) {
      const set = isSet(x, y);
      if (set) {
        xs.push(x);
        ys.push(y);
      }
      if (set !== (counts.length % 2 === 0)) counts.push(0);
      counts[counts.length - 1]!++;
    }
  }
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const box =
    xs.length === 0
      ? { left: 0, top: 0, width: 0, height: 0 }
      : { left, top, width: Math.max(...xs) - left + 1, height: Math.max(...ys) - top + 1 };
  return { width, height, counts, area: xs.length, box };
}

/** Grey values, in a part of a picture; some pictures are all clear or all set. */
function randomGrey(random: Rng, number: number) {
  const [width, height] = [integer(random, 1, 40), integer(random, 1, 24)];
  // Also where the values do not begin at a whole word.
  const data = new Uint8Array(width * height + 1).subarray(number % 2);
  const [left, top] = [integer(random, 0, width - 1), integer(random, 0, height - 1)];
  const [right, bottom] =
    number % 3 === 0 ? [width, height] : [integer(random, left, width), integer(random, top, height)];
  const values = [[0, 127, 128, 255], [255], [0, 0, 0, 200], [127]][number % 4]!;
  for (let y = number % 3 === 0 ? 0 : top; y < bottom; y++) {
    for (let x = number % 3 === 0 ? 0 : left; x < right; x++) {
      data[y * width + x] = values[integer(random, 0, values.length - 1)]!;
    }
  }
  return { data: data.subarray(0, width * height), width, height };
}

describe('masks as run lengths', () => {
  it('have the pixels of at least half coverage, whatever the size', () => {
    const random = rng(1, 'tests', 'half-covered runs');
    for (let i = 0; i < 300; i++) {
      const grey = randomGrey(random, i);
      const { width, height, data } = grey;
      expect(halfCoveredRuns(grey)).toEqual(literalRuns(width, height, (x, y) => data[y * width + x]! >= 128));
    }
  });

  it('have of a crop what it shows', () => {
    const random = rng(1, 'tests', 'cropped runs');
    for (let i = 0; i < 300; i++) {
      const grey = randomGrey(random, i);
      const [left, top] = [integer(random, 0, grey.width - 1), integer(random, 0, grey.height - 1)];
      const crop: Box = {
        left,
        top,
        width: integer(random, 1, grey.width - left),
        height: integer(random, 1, grey.height - top),
      };
      const isSet = (x: number, y: number) => grey.data[(y + top) * grey.width + x + left]! >= 128;
      expect(croppedRuns(halfCoveredRuns(grey), crop)).toEqual(literalRuns(crop.width, crop.height, isSet));
    }
  });
});
