import { describe, expect, it } from 'vitest';
import type { RgbImage } from '../../extractors/image.ts';
import { CellGrid, countBelow, countKeys, countSquares, sobel } from '../../extractors/texture-channels.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';

/** A grey image from rows of values. */
function grey(rows: number[][]): RgbImage {
  const data = Uint8Array.from(rows.flat().flatMap(value => [value, value, value]));
  return { width: rows[0]!.length, height: rows.length, data };
}

function derivatives(image: RgbImage, colour = 0, box = { left: 0, top: 0, width: image.width, height: image.height }) {
  const dx = new Int32Array(box.width * box.height);
  const dy = new Int32Array(box.width * box.height);
  sobel(image, colour, box, dx, dy);
  return { dx: [...dx], dy: [...dy] };
}

describe('countBelow', () => {
  const random = rng(1, 'count-below', 0);

  it.each([1, 2, 40, 2048])('counts %i neighbouring keys and fewer', spread => {
    for (const size of [1, 2, 40, 900]) {
      const keys = Int32Array.from({ length: size }, () => integer(random, -1020, spread - 1021));
      const counts = countKeys(keys, -1020);
      expect([counts.min, counts.max]).toEqual([Math.min(...keys), Math.max(...keys)]);
      for (let key = -1025; key < spread - 1015; key++) {
        expect(countBelow(counts, key)).toBe(keys.filter(k => k < key).length);
      }
    }
  });

  it.each([1, 45, 46, 300, 1442])('counts squares of magnitudes up to %i', largest => {
    for (const size of [1, 2, 40, 900, 5000]) {
      const squares = Int32Array.from({ length: size }, () => Math.floor((largest * random.next()) ** 2));
      const max = Math.max(...squares);
      const counts = countSquares(squares, max);
      expect([counts.min, counts.max]).toEqual([Math.min(...squares), max]);
      const some = [...squares.subarray(0, 100)];
      for (const key of [...some, ...some.map(square => square + 1), ...some.map(square => square >> 1), 0, max + 1]) {
        expect(countBelow(counts, key)).toBe(squares.filter(square => square < key).length);
      }
    }
  });
});

describe('sobel', () => {
  it('gives the kernels mirrored around a single bright pixel', () => {
    const { dx, dy } = derivatives(
      grey([
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 10, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
      ]),
    );
    expect(dx).toEqual([0, 0, 0, 0, 0, 0, 10, 0, -10, 0, 0, 20, 0, -20, 0, 0, 10, 0, -10, 0, 0, 0, 0, 0, 0]);
    expect(dy).toEqual([0, 0, 0, 0, 0, 0, 10, 20, 10, 0, 0, 0, 0, 0, 0, 0, -10, -20, -10, 0, 0, 0, 0, 0, 0]);
  });

  it('mirrors at the edge pixel, so that a ramp has no slope at its ends', () => {
    const ramp = grey([0, 1, 2].map(() => [0, 3, 6, 9]));
    // Inside: (1 + 2 + 1) · (6 − 0); at the ends the two neighbours are the same pixel.
    expect(derivatives(ramp).dx).toEqual([0, 24, 24, 0, 0, 24, 24, 0, 0, 24, 24, 0]);
    expect(derivatives(ramp).dy).toEqual(new Array(12).fill(0));
    const corner = grey([
      [1, 2],
      [4, 8],
    ]);
    // dx at (0, 0): both neighbours are column 1; dy likewise.
    expect(derivatives(corner)).toEqual({ dx: [0, 0, 0, 0], dy: [0, 0, 0, 0] });
  });

  it('reaches its largest values at a black and white edge', () => {
    const { dx } = derivatives(grey([0, 1, 2].map(() => [255, 255, 0, 0])));
    expect(dx).toEqual([0, -1020, -1020, 0, 0, -1020, -1020, 0, 0, -1020, -1020, 0]);
  });

  it('sees the neighbours of a box, and one colour alone', () => {
    const random = rng(2, 'sobel', 0);
    const data = Uint8Array.from({ length: 3 * 9 * 7 }, () => integer(random, 0, 255));
    const image = { width: 9, height: 7, data };
    const whole = derivatives(image, 1);
    const box = { left: 5, top: 2, width: 4, height: 3 };
    const part = derivatives(image, 1, box);
    const green = grey(
      Array.from({ length: 7 }, (_, y) => Array.from({ length: 9 }, (_, x) => data[3 * (9 * y + x) + 1]!)),
    );
    expect(derivatives(green, 2)).toEqual(whole);
    for (let y = 0; y < box.height; y++) {
      for (let x = 0; x < box.width; x++) {
        expect(part.dx[y * box.width + x]).toBe(whole.dx[(y + box.top) * 9 + x + box.left]);
        expect(part.dy[y * box.width + x]).toBe(whole.dy[(y + box.top) * 9 + x + box.left]);
      }
    }
  });
});

describe('CellGrid', () => {
  // Four cells of 2 × 2, the last column and row left over.
  const image: RgbImage = {
    width: 5,
    height: 5,
    data: Uint8Array.from({ length: 75 }, (_, i) => 3 * Math.floor(i / 3) + [0, 1, 100][i % 3]!),
  };
  const grid = new CellGrid(image, 2);

  it('numbers cells column by column', () => {
    expect([grid.columns, grid.rows]).toEqual([2, 2]);
    // Cell 1 is the lower left one: pixels 10, 11, 15, 16, their red three times that.
    expect(grid.counts(1, 0)).toMatchObject({ min: 30, max: 48 });
    expect(grid.counts(2, 0)).toMatchObject({ min: 6, max: 24 });
    expect(grid.counts(1, 2)).toMatchObject({ min: 130, max: 148 });
  });

  it('has three times the grey mean, dx, dy and the square of the magnitude', () => {
    expect(grid.counts(0, 3)).toMatchObject({ min: 101, max: 3 * 18 + 101 });
    // Upper left cell: at (1, 1) dx = 4 · 6 and dy = 4 · 30; at column 0 dx is 0, at row 0 dy is 0.
    expect(grid.counts(0, 4)).toMatchObject({ min: 0, max: 24 });
    expect(grid.counts(0, 5)).toMatchObject({ min: 0, max: 120 });
    expect(grid.counts(0, 6)).toMatchObject({ min: 0, max: 24 ** 2 + 120 ** 2 });
    const squares = grid.counts(0, 6);
    expect([1, 24 ** 2, 24 ** 2 + 1, 120 ** 2 + 1].map(key => countBelow(squares, key))).toEqual([1, 1, 2, 3]);
  });
});
