import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonArrays } from '../../../pipeline/datasets/json-arrays.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { put, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();

async function elementsOf(
  content: string | Uint8Array,
  required = ['images'],
  pieceBytes?: number,
): Promise<[string, unknown][]> {
  const path = await put(join(folder(), 'file.json'), content);
  const found: [string, unknown][] = [];
  for await (const elements of jsonArrays(path, ['images', 'other'], required, pieceBytes)) {
    for (const { key, value, text } of elements) {
      expect(text).not.toMatch(/[\r\n]/);
      expect(JSON.parse(text)).toEqual(value);
      found.push([key, value]);
    }
  }
  return found;
}

/** What gives every rule of the scanner something to do. */
const ELEMENTS = [
  { id: 1, name: 'brackets ]}[{ and a comma, in a string', deep: [[{ a: [[]] }], {}] },
  { id: 2, 'key "quoted"': '\\', path: 'C:\\', end: '\\"]', text: 'ü€😀\u2028' },
  [1, [2, [3]], -1.5e-7],
  'text ] "}',
  12.5,
  -3,
  true,
  null,
  {},
  [],
];

describe('the elements of arrays', () => {
  it.each([
    ['compact', JSON.stringify({ info: { images: [1] }, images: ELEMENTS, other: [5] })],
    ['as Python writes it', JSON.stringify({ info: {}, images: ELEMENTS, other: [5] }, null, 1).replaceAll('\n', ' ')],
    [
      'indented, with carriage returns',
      JSON.stringify({ images: ELEMENTS, other: [5] }, null, 2).replaceAll('\n', '\r\n'),
    ],
    ['after a byte order mark', `\ufeff${JSON.stringify({ images: ELEMENTS, other: [5] })}\n`],
    [
      'between others',
      JSON.stringify({ a: 'images": [1]', b: [[{}]], c: -1, images: ELEMENTS, d: null, other: [5], e: '' }),
    ],
  ])('are those that JSON.parse finds: %s', async (_, text) => {
    const expected = [...ELEMENTS.map(element => ['images', element]), ['other', 5]];
    expect(await elementsOf(text)).toEqual(expected);
  });

  it.each([1, 2, 3, 7, 64])('may lie across the pieces that are read: %i bytes', async pieceBytes => {
    const text = JSON.stringify({ info: { a: ['\\"', {}] }, images: ELEMENTS, n: 12, other: [5] });
    const found = await elementsOf(`\ufeff${text}`, ['images'], pieceBytes);
    expect(found.map(([, value]) => value)).toEqual([...ELEMENTS, 5]);
  });

  it('may be none, and their arrays in any order', async () => {
    expect(await elementsOf('{"other": [], "images": [ ]}')).toEqual([]);
    expect(await elementsOf('{"other": [1], "images": [2]}')).toEqual([
      ['other', 1],
      ['images', 2],
    ]);
  });

  it('have null for what Python writes of floats that are no numbers, but not in strings', async () => {
    const text = '{"images": [{"a": [NaN, -Infinity, Infinity, 1], "b": "NaN \\"Infinity"}, NaN]}';
    expect(await elementsOf(text)).toEqual([
      ['images', { a: [null, null, null, 1], b: 'NaN "Infinity' }],
      ['images', null],
    ]);
  });
});

describe('a file that is none', () => {
  it.each([
    ['', /file\.json: expected JSON, got an empty file/],
    ['[{"image_id": 1}]', /broken before byte 1: expected an object, got "\["/],
    ['\x89PNG', /expected an object/],
    ['{"images": [{"a": 1} {"a": 2}]}', /broken before byte 22: expected a comma or the end of the array, got "{"/],
    ['{"images": [{"a": 1,}]}', /file\.json: expected JSON, but it is broken before byte 22: /],
    ['{"images": [{"a": tru}]}', /broken/],
    ['{"images": [{]]}', /broken|cut short/],
    ['{"images" [1]}', /expected a colon, got "\["/],
    ['{images: [1]}', /expected a key, got "i"/],
    ['{"images": []} {}', /expected the end of the file, got "{"/],
    ['{"annotations": [], "info": {}}', /file\.json: expected the arrays images, found annotations, info/],
    ['{}', /found nothing/],
  ])('is refused: %s', async (text, message) => {
    await expect(elementsOf(text)).rejects.toThrow(UsageError);
    await expect(elementsOf(text)).rejects.toThrow(message);
  });

  it('is known wherever it was cut', async () => {
    const text = JSON.stringify({ info: { a: [1] }, images: ELEMENTS.slice(0, 5), n: 12, other: [5] });
    for (let length = 1; length < text.length; length++) {
      await expect(elementsOf(text.slice(0, length))).rejects.toThrow(
        /file\.json: expected JSON, but the file is cut short/,
      );
    }
  });
});
