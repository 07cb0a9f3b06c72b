import { describe, expect, it } from 'vitest';
import type { Mask } from '../../extractors/image.ts';
import { tightMask } from '../../extractors/placed-mask.ts';
import {
  compressCounts,
  decodeRunLengths,
  encodePlaced,
  encodeRunLengths,
  expandCounts,
  InvalidRunLengths,
  placedRunLengths,
  polygonRunLengths,
  runLengthArea,
  runLengthBox,
  uniteRunLengths,
} from '../../extractors/run-lengths.ts';
import { integer, uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { literalPolygonMask } from '../literal/polygon-mask.ts';

/** Rows of `#` and `.`. */
function mask(...rows: string[]): Mask {
  const data = Uint8Array.from(rows.join(''), pixel => (pixel === '#' ? 255 : 0));
  return { data, width: rows[0]!.length, height: rows.length };
}
const rows = ({ data, width, height }: Mask): string[] =>
  Array.from({ length: height }, (_, row) =>
    Array.from(data.subarray(row * width, (row + 1) * width), pixel => (pixel === 255 ? '#' : '.')).join(''),
  );

function randomMask(random: Rng, number: number): Mask {
  const width = number % 7 === 1 ? 1 : integer(random, 1, 40);
  const height = number % 7 === 2 ? 1 : integer(random, 1, 40);
  const data = new Uint8Array(width * height);
  const density = [0, 1, 0.5, 0.02, 0.98, uniform(random, 0, 1)][number % 6]!;
  for (let i = 0; i < data.length; i++) data[i] = random.next() < density ? 255 : 0;
  if (number % 11 === 0) data.fill(0)[integer(random, 0, data.length - 1)] = 255;
  return { data, width, height };
}

/** Compared as text, which is much faster. */
const flat = (placed: ReturnType<typeof tightMask>) =>
  placed && { ...placed, mask: { ...placed.mask, data: Buffer.from(placed.mask.data).toString('hex') } };

/** What is set, pixel by pixel. */
function measured({ data, width }: Mask) {
  const places = [...data.keys()].filter(place => data[place] === 255);
  if (places.length === 0) return { area: 0, box: { left: 0, top: 0, width: 0, height: 0 } };
  const columns = places.map(place => place % width);
  const lines = places.map(place => Math.floor(place / width));
  const [left, top] = [Math.min(...columns), Math.min(...lines)];
  return {
    area: places.length,
    box: { left, top, width: Math.max(...columns) - left + 1, height: Math.max(...lines) - top + 1 },
  };
}

describe('run lengths of masks', () => {
  it.each<[string, Mask, number[]]>([
    ['one clear pixel', mask('.'), [1]],
    ['one set pixel', mask('#'), [0, 1]],
    ['a full mask: a run of no clear pixels first', mask('##', '##', '##'), [0, 6]],
    ['an empty mask', mask('...', '...'), [6]],
    ['columns, not rows', mask('.#.', '.#.'), [2, 2, 2]],
    ['a run that goes on at the top of the next column', mask('..#', '.#.', '.#.'), [4, 3, 2]],
    ['the last pixel set', mask('...', '..#'), [5, 1]],
  ])('are worked out by hand: %s', (_, picture, counts) => {
    expect(encodeRunLengths(picture)).toEqual({ width: picture.width, height: picture.height, counts });
    expect(rows(decodeRunLengths({ ...picture, counts }))).toEqual(rows(picture));
  });

  it('give 1,000 random masks back, plain and compressed, with their area and box', () => {
    const random = rng(1, 'run-lengths', 'masks');
    for (let number = 0; number < 1000; number++) {
      const picture = randomMask(random, number);
      const encoded = encodeRunLengths(picture);
      const { counts, width, height } = encoded;
      expect(counts.slice(1).every(count => count > 0)).toBe(true);
      for (const read of [counts, expandCounts(compressCounts(counts))]) {
        const decoded = decodeRunLengths({ width, height, counts: read });
        expect([decoded.width, decoded.height]).toEqual([width, height]);
        expect(Buffer.compare(decoded.data, picture.data)).toBe(0);
      }
      const { area, box } = measured(picture);
      expect([runLengthArea(encoded), runLengthBox(encoded)]).toEqual([area, box]);
      const placed = tightMask(picture);
      expect(flat(placedRunLengths(encoded))).toEqual(flat(placed));
      if (placed) expect(encodePlaced(placed, width, height)).toEqual(encoded);
    }
  });

  it('are taken with empty runs in them', () => {
    const counts = [0, 0, 2, 1, 0, 1, 2, 0, 0];
    const encoded = { width: 2, height: 3, counts };
    expect(rows(decodeRunLengths(encoded))).toEqual(['.#', '..', '#.']);
    expect([runLengthArea(encoded), runLengthBox(encoded)]).toEqual([2, { left: 0, top: 0, width: 2, height: 3 }]);
    expect(uniteRunLengths([encoded]).counts).toEqual([2, 2, 2]);
    expect(placedRunLengths({ width: 2, height: 3, counts: [3, 0, 3, 0] })).toBeUndefined();
  });

  it.each([
    ['too few', [1, 2], 'expected run lengths of 2 × 3 = 6 pixels, got 3 pixels'],
    ['too many', [1, 6], 'got 7 pixels'],
    ['none', [], 'got 0 pixels'],
    ['negative', [7, -1], 'whole numbers from 0, got -1'],
    ['broken', [1.5, 4.5], 'whole numbers from 0, got 1.5'],
    ['no number', [Number.NaN, 6], 'whole numbers from 0, got NaN'],
    ['text', ['6'] as unknown as number[], 'whole numbers from 0, got "6"'],
    ['nothing', [null] as unknown as number[], 'whole numbers from 0, got null'],
  ])('that are %s are refused', (_, counts, message) => {
    for (const use of [decodeRunLengths, placedRunLengths, runLengthArea, runLengthBox]) {
      expect(() => use({ width: 2, height: 3, counts })).toThrow(InvalidRunLengths);
      expect(() => use({ width: 2, height: 3, counts })).toThrow(message);
    }
  });
});

describe('compressed counts', () => {
  it.each<[number[], string]>([
    // "0" is 48. 15 and below (one group whose sign bit is clear): 48 + 15 = "?".
    [[0, 15], '0?'],
    // 16 = 0b10000 would read as negative: low group 16 + 32 + 48 = 96 "`", then 0: "0".
    [[16], '`0'],
    // 1000 = 31 · 32 + 8: 8 + 80 = "X", 31 has the sign bit: 31 + 80 = "o", then "0".
    [[1000], 'Xo0'],
    // The fourth is 3 − 5 = −2 (30 + 48 = "N"), the fifth 7 − 7 = 0; the third is written as it is.
    [[4, 5, 7, 3, 7], '457N0'],
    // −32 = −1 · 32 + 0: low group 0 + 80 = "P", then −1: 31 + 48 = "O".
    [[0, 33, 0, 1], '0Q10PO'],
  ])('%j are %s', (counts, text) => {
    expect(compressCounts(counts)).toBe(text);
    expect(expandCounts(text)).toEqual(counts);
  });

  it('hold every number of 31 bits, and differences of them', () => {
    const largest = 2 ** 31 - 1;
    for (const counts of [[largest], [0, largest, 0, 0, largest, largest, 1], [largest, 1, 2 ** 30, largest, 3, 0]]) {
      expect(expandCounts(compressCounts(counts))).toEqual(counts);
    }
  });

  it.each(['P', '4P', '4 5', '4\n', '4é', 'oooooooo0'])('%j are none', text => {
    expect(() => expandCounts(text)).toThrow(InvalidRunLengths);
  });
});

describe('united run lengths', () => {
  it('are set where any is, and as short as can be', () => {
    const parts = [mask('#..', '...'), mask('##.', '...'), mask('...', '#..'), mask('...', '..#')].map(
      encodeRunLengths,
    );
    expect(uniteRunLengths(parts)).toEqual({ width: 3, height: 2, counts: [0, 3, 2, 1] });
  });

  it('of random masks are those of their pixels', () => {
    const random = rng(1, 'run-lengths', 'unions');
    for (let number = 0; number < 200; number++) {
      const [width, height] = [integer(random, 1, 20), integer(random, 1, 20)];
      const masks = Array.from({ length: integer(random, 1, 5) }, () => {
        const density = uniform(random, 0, 0.6);
        return Uint8Array.from({ length: width * height }, () => (random.next() < density ? 255 : 0));
      });
      const all = masks[0]!.map((_, i) => Math.max(...masks.map(data => data[i]!)));
      const united = uniteRunLengths(masks.map(data => encodeRunLengths({ data, width, height })));
      expect(united).toEqual(encodeRunLengths({ data: all, width, height }));
    }
  });

  it('are of one size', () => {
    const parts = [mask('##'), mask('#', '#')].map(encodeRunLengths);
    expect(() => uniteRunLengths(parts)).toThrow(/expected masks of 2 × 1 pixels, got one of 1 × 2/);
  });
});

describe('polygons', () => {
  const drawn = (polygons: number[][], width: number, height: number) =>
    rows(decodeRunLengths(polygonRunLengths(polygons, width, height)));
  const rectangle = (left: number, top: number, right: number, bottom: number) => [
    ...[left, top, right, top],
    ...[right, bottom, left, bottom],
  ];

  it('with corners at whole numbers are filled exactly, whichever way round', () => {
    const expected = ['.....', '.###.', '.###.', '.....'];
    expect(drawn([rectangle(1, 1, 4, 3)], 5, 4)).toEqual(expected);
    expect(drawn([[1, 1, 1, 3, 4, 3, 4, 1]], 5, 4)).toEqual(expected);
    // The first corner again at the end, and corners twice.
    expect(drawn([[1, 1, 1, 1, 1, 3, 4, 3, 4, 3, 4, 1, 1, 1]], 5, 4)).toEqual(expected);
    const random = rng(1, 'run-lengths', 'rectangles');
    for (let number = 0; number < 100; number++) {
      const [left, top] = [integer(random, 0, 20), integer(random, 0, 20)];
      const box = { left, top, width: integer(random, 1, 20), height: integer(random, 1, 20) };
      const encoded = polygonRunLengths([rectangle(left, top, left + box.width, top + box.height)], 40, 40);
      expect([runLengthArea(encoded), runLengthBox(encoded)]).toEqual([box.width * box.height, box]);
    }
  });

  it('that are triangles have the pixels whose middle column the rule fills', () => {
    // In the middle of column c the line from (4, 0) to (0, 4) is at fine row 17 − 5c or 18 − 5c; the first is 3 − c pixels.
    expect(polygonRunLengths([[0, 0, 4, 0, 0, 4]], 4, 4).counts).toEqual([0, 3, 1, 2, 2, 1, 7]);
    expect(drawn([[0, 0, 4, 0, 0, 4]], 4, 4)).toEqual(['###.', '##..', '#...', '....']);
  });

  it('that touch or cross themselves are clear where they go round twice', () => {
    // Two squares that touch in a corner, as one outline.
    const touching = [0, 0, 2, 0, 2, 4, 4, 4, 4, 2, 0, 2];
    expect(drawn([touching], 4, 4)).toEqual(['##..', '##..', '..##', '..##']);
    // A square in a square, on one line: once round the outer, once round the inner.
    const ring = [...rectangle(0, 0, 5, 5), 0, 0, ...rectangle(1, 1, 4, 4), 1, 1];
    expect(drawn([ring], 5, 5)).toEqual(['#####', '#...#', '#...#', '#...#', '#####']);
  });

  it('are united, not flipped, where several overlap', () => {
    expect(drawn([rectangle(0, 0, 3, 2), rectangle(1, 1, 4, 3)], 4, 3)).toEqual(['###.', '####', '.###']);
  });

  it('are cut off at the edge of the picture', () => {
    expect(drawn([rectangle(-5, -7, 2, 2)], 4, 3)).toEqual(['##..', '##..', '....']);
    expect(drawn([rectangle(2, 1, 90, 80)], 4, 3)).toEqual(['....', '..##', '..##']);
    expect(drawn([rectangle(-9, -9, 9, 9)], 3, 2)).toEqual(['###', '###']);
    expect(drawn([rectangle(10, 0, 20, 2)], 4, 2)).toEqual(['....', '....']);
    expect(drawn([rectangle(0, 10, 4, 20)], 4, 2)).toEqual(['....', '....']);
    // As far as numbers go.
    expect(drawn([rectangle(-1e300, 1, 1e300, 2)], 3, 3)).toEqual(['...', '###', '...']);
    expect(drawn([[-1e12, -1e12, 1e12, -1e12, 1e12, 1e12]], 3, 3)).toEqual(drawn([[-9, -9, 9, -9, 9, 9]], 3, 3));
  });

  it.each([
    ['no polygon', []],
    ['no point', [[]]],
    ['one point', [[1, 1]]],
    ['two points', [[0, 0, 3, 3]]],
    ['three times one point', [[2, 2, 2, 2, 2, 2]]],
    ['a line there and back', [[0, 0, 4, 3, 0, 0]]],
    ['a column', [[1, 0, 1, 3, 1, 2]]],
  ])('that have no inside set nothing: %s', (_, polygons) => {
    expect(polygonRunLengths(polygons, 4, 3)).toEqual({ width: 4, height: 3, counts: [12] });
  });

  it('have the pixels of the plain implementation', () => {
    const random = rng(1, 'run-lengths', 'polygons');
    for (let number = 0; number < 600; number++) {
      const [width, height] = [integer(random, 1, 60), integer(random, 1, 60)];
      const outside = [0, 0, 0.3, 1.5][number % 4]!;
      const grid = [1, 2, 5, 100][integer(random, 0, 3)]!;
      const coordinate = (size: number) =>
        Math.round(grid * uniform(random, -outside * size, (1 + outside) * size)) / grid;
      const polygons = Array.from({ length: integer(random, 1, 3) }, () =>
        Array.from({ length: 2 * integer(random, 3, 12) }, (_, i) => coordinate(i % 2 ? height : width)),
      );
      const expected = encodeRunLengths(literalPolygonMask(polygons, width, height));
      expect(polygonRunLengths(polygons, width, height), JSON.stringify(polygons)).toEqual(expected);
    }
  });

  /** Made once with pycocotools 2.0.11: frPyObjects and merge of the polygons, then counts, area and toBbox. */
  const PYCOCOTOOLS: [
    width: number,
    height: number,
    polygons: number[][],
    counts: string,
    area: number,
    box: number[],
  ][] = [
    [
      34,
      31,
      [[32, 30, 5, 10, 18, 10]],
      'T61n01O1O001O1O001O1O1O00100000O2O001O0O2O00001N101O00P1',
      130,
      [6, 10, 26, 20],
    ],
    [
      39,
      14,
      [[47.97, 10.03, -8.7, -3.44, 37.28, -0.05]],
      'R31=000000001O0000001O0000001O000000001O0000001O0000001O00000010OO',
      132,
      [7, 0, 32, 8],
    ],
    [
      16,
      28,
      [[1, 26, 4, 25, 3, 12, 8, 23, 16, 27, 2, 5, 11, 11, 1, 26]],
      'e1170;0G0M4NN6OL48MIO:2EN;3A1=80EE4;JG5b0O0O2O1N10UO',
      87,
      [1, 5, 15, 22],
    ],
    [
      19,
      35,
      [
        [6.78, 20.07, 11.1, 4.87, 13.27, 32.03, 17.15, 3.33, 3.79, 14.92, 10.86, 3.46, 15.05, 27.76],
        [18.3, 11.95, 6.89, 29.86, 4.66, 30.55, 13.6, 11.7, 13.38, 23.51],
      ],
      'k51`00O2O000G1N1:OF9:HD:<DE<`0B_O>a0G_O10L`0=BD8=GA;8DIc01CMi00h0',
      165,
      [5, 4, 13, 26],
    ],
    [
      33,
      25,
      [
        [
          20.5, -6, 39, 57.5, -43, 11, -31, 37, 7.5, 46.5, 39, 58.5, 27, 22, 79, 43, -5, -27, 72, -31, 72.5, 56, 38,
          57.5, 30.5, 37,
        ],
      ],
      'Wa01k02O0O1O10OYOM00c01^O0c03O010OL',
      42,
      [22, 0, 11, 25],
    ],
    [
      640,
      428,
      [[341.94, 44.11, 397.72, 48.99, 398.42, 100.58, 337.06, 101.28]],
      '[n\\46k<;E;D<E;J60000001O000000000000000000001O00000000000000000000001O000000000000000000001O00000000000000000000001O0000000000WSU3',
      3188,
      [337, 44, 61, 57],
    ],
  ];
  it.each(PYCOCOTOOLS)('in %i × %i have the pixels of pycocotools', (width, height, polygons, counts, area, box) => {
    const encoded = polygonRunLengths(polygons, width, height);
    expect(compressCounts(encoded.counts)).toBe(counts);
    expect(runLengthArea(encoded)).toBe(area);
    expect(Object.values(runLengthBox(encoded))).toEqual(box);
  });
});
