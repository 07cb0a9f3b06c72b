import { describe, expect, it } from 'vitest';
import { type CsvValue, csvLine } from '../../pipeline/csv-line.ts';
import { csvRecords } from '../readers/plain-readers.ts';

describe('csvLine', () => {
  it('is read back as it was, whatever the values hold', () => {
    const rows: CsvValue[][] = [
      ['plain', 1, 0.25],
      ['a,b', 'he said "no"', '"'],
      ['two\nlines', 'two\r\nlines', ' blanks '],
      ['', null, 'ü, 中'],
      ['""', ',', '\n'],
    ];
    const text = csvLine(['a', 'b', 'c']) + rows.map(csvLine).join('');
    const read = csvRecords(text).map(({ a, b, c }) => [a, b, c]);
    expect(read).toEqual(rows.map(row => row.map(value => (value === null ? '' : String(value)))));
  });

  it('quotes only what has to be', () => {
    expect(csvLine(['a b', "it's", 'x;y', null, 3])).toBe("a b,it's,x;y,,3\n");
  });
});
