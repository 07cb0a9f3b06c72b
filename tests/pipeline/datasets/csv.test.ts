import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CsvRecord, csvValue, readCsv } from '../../../pipeline/datasets/csv.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { rng } from '../../../sampling/rng.ts';
import { put, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();

async function parse(text: string, columns: readonly string[] = []): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const record of readCsv(await put(join(folder(), 't.csv'), text), columns)) records.push(record);
  return records;
}
const values = async (text: string) => (await parse(text)).map(record => Object.values(record.values));

it.each([
  ['a,b\n1,2\n', [['1', '2']]],
  [
    'a,b\r\n1,2\r\n3,4',
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['\uFEFFa,b\n1,2', [['1', '2']]],
  ['\uFEFF"a",b\n1,2', [['1', '2']]],
  ['a,b\n\n,\n\n', [['', '']]],
  ['a\n"x, y"\n', [['x, y']]],
  ['a\n"say ""hi"""\n""\n', [['say "hi"']]],
  ['a,b\r\n"two\r\nlines",x\r\n', [['two\r\nlines', 'x']]],
  ['a\nin "the" middle\n', [['in "the" middle']]],
  ['a,b\nä,𝄞\n', [['ä', '𝄞']]],
  ['a,b\n,\uFEFF\n', [['', '\uFEFF']]],
])('%j', async (text, expected) => {
  expect(await values(text)).toEqual(expected);
});

it('tells columns by their names, and lines', async () => {
  expect(await parse(' b , a\n"1\n2",3\n4,5\n', ['a'])).toEqual([
    { line: 2, values: { b: '1\n2', a: '3' } },
    { line: 4, values: { b: '4', a: '5' } },
  ]);
});

it('reads what is longer than a piece of the stream', async () => {
  const cells = Array.from({ length: 40_000 }, (_, i) => `"${i}, ""ü"""`);
  const records = await values(`n\r\n${cells.join('\r\n')}\r\n`);
  expect(records).toEqual(cells.map((_, i) => [`${i}, "ü"`]));
});

it('reads any text as a plain reading of characters does', async () => {
  const random = rng(1, 'csv', 0);
  const pick = (texts: readonly string[]) => texts[Math.floor(random.next() * texts.length)]!;
  const quoted = () => `"${Array.from({ length: 3 }, () => pick(['x', ',', '\n', '\r\n', '""', 'ü', ''])).join('')}"`;
  const plain = () => pick(['', 'y', 'in "side"', '\uFFFD', ' z ', 'a\rb']);
  const line = () => [0, 1, 2].map(() => (random.next() < 0.3 ? quoted() : plain())).join(',');
  for (let i = 0; i < 200; i++) {
    const text = `a,b,c\n${Array.from({ length: 5 }, () => line() + pick(['\n', '\r\n'])).join('')}`;
    expect(await values(text), JSON.stringify(text)).toEqual(plainly(text).slice(1));
  }
});

/** Records of well-formed text, character by character. */
function plainly(text: string): string[][] {
  const records: string[][] = [];
  let [values, value, quotes, opened]: [string[], string, boolean, boolean] = [[], '', false, false];
  for (const [i, char] of [...text].entries()) {
    if (quotes ? char !== '"' : !/[",\n]/.test(char) || (char === '"' && value !== '' && !opened)) value += char;
    else if (char === '"') {
      if (opened && !quotes) value += '"';
      quotes = !quotes;
      opened = true;
    } else {
      const ends = char === '\n' && [...text][i - 1] === '\r';
      values.push(ends ? value.slice(0, -1) : value);
      [value, opened] = ['', false];
      if (char === '\n') {
        records.push(values);
        values = [];
      }
    }
  }
  return records;
}

it('tells another encoding from text that has been through one', async () => {
  expect(await values('a\nm\uFFFDnchen\n')).toEqual([['m\uFFFDnchen']]);
  const latin = await put(join(folder(), 'latin.csv'), Buffer.from('a\nm\xfcnchen\n', 'latin1'));
  await expect(readCsv(latin, ['a']).next()).rejects.toThrow(/expected UTF-8, found another encoding/);
});

it.each([
  ['', 'expected the columns a, found an empty file'],
  ['b,c\n', 'expected the columns a, found b, c'],
  ['a,b\n1\n', ', line 2: expected 2 values, found 1'],
  ['a\n"1\n\n1" x\n', ', line 4: text after a closing quote'],
  ['a\n1\n"2\n3\n', ', line 3: a quote is opened and never closed'],
])('refuses %j', async (text, message) => {
  const error = await parse(text, ['a']).catch(error => error);
  expect(error).toBeInstanceOf(UsageError);
  expect(error.message).toContain(message);
});

it('takes values for numbers where they are nothing else', () => {
  expect(['12', ' -1.5 ', '007', '1e3', 'Infinity', 'NaN', '', ' ', 'x'].map(csvValue)).toEqual([
    12,
    -1.5,
    '007',
    '1e3',
    'Infinity',
    'NaN',
    null,
    null,
    'x',
  ]);
});
