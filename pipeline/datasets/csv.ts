import { createReadStream } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** A record of a CSV file, its values by the names in the first line. */
export interface CsvRecord {
  /** Where it begins, counted from 1: for messages. */
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Streams the records of a CSV file by RFC 4180: values with commas, line ends or doubled quotes stand in quotes; lines end
 * with LF or CRLF. A byte-order mark and blanks around column names are passed over, as are empty lines and columns without a
 * name.
 * @param columns must be among the names in the first line, in any order.
 * @throws UsageError that says which line is not as expected.
 */
export async function* readCsv(path: string, columns: readonly string[]): AsyncGenerator<CsvRecord> {
  let names: string[] | undefined;
  for await (const { line, values } of records(path)) {
    if (!names) {
      names = values.map(name => name.trim());
      const missing = columns.filter(column => !names!.includes(column));
      if (missing.length > 0) {
        const separated = names.length === 1 && /[;\t]/.test(names[0]!) ? ' separated by commas' : '';
        throw new UsageError(
          `${path}: expected the columns ${columns.join(', ')}${separated}, found ${names.join(', ')}`,
        );
      }
      const twice = names.find((name, i) => name !== '' && names!.indexOf(name) < i);
      if (twice !== undefined) throw new UsageError(`${path}: the column ${twice} is there twice`);
      // An object's keys cannot be called so everywhere.
      if (names.includes('__proto__')) throw new UsageError(`${path}: a column may not be called __proto__`);
    } else if (values.length !== names.length) {
      throw new UsageError(`${path}, line ${line}: expected ${names.length} values, found ${values.length}`);
    } else {
      const named = names.map((name, i) => [name, values[i]!] as const).filter(([name]) => name !== '');
      yield { line, values: Object.fromEntries(named) };
    }
  }
  if (!names) throw new UsageError(`${path}: expected the columns ${columns.join(', ')}, found an empty file`);
}

async function* records(path: string): AsyncGenerator<{ line: number; values: string[] }> {
  let values: string[] = [];
  let value = '';
  // A quote within quotes ends them, unless another follows: then it is one of the value.
  let state: 'start' | 'plain' | 'quoted' | 'quote' = 'start';
  let line = 1;
  let first = 1;
  for await (const text of createReadStream(path, 'utf8')) {
    if ((text as string).includes('\uFFFD')) throw new UsageError(`${path}: expected UTF-8, found another encoding`);
    for (const char of text as string) {
      if (char === '\n') line++;
      if (state === 'quoted' ? char !== '"' : state === 'quote' && char === '"') {
        value += char;
        state = 'quoted';
      } else if (state === 'quoted') {
        state = 'quote';
      } else if (char === ',') {
        values.push(value);
        value = '';
        state = 'start';
      } else if (char === '\n') {
        yield* finish();
      } else if (char === '"' && state === 'start') {
        state = 'quoted';
      } else if (!(char === '\uFEFF' && line === 1 && values.length === 0 && value === '')) {
        if (state === 'quote' && char !== '\r')
          throw new UsageError(`${path}, line ${line}: text after a closing quote`);
        if (state === 'start') state = 'plain';
        value += char;
      }
    }
  }
  if (state === 'quoted') throw new UsageError(`${path}, line ${first}: a quote is opened and never closed`);
  line++;
  yield* finish();

  function* finish() {
    values.push(value.endsWith('\r') ? value.slice(0, -1) : value);
    if (values.length > 1 || values[0] !== '') yield { line: first, values };
    values = [];
    value = '';
    state = 'start';
    first = line;
  }
}

/** A value as a label keeps it: a number where it is one and nothing else (`007` is a name), null where it is empty. */
export function csvValue(text: string): string | number | null {
  const value = text.trim();
  if (value === '') return null;
  const number = Number(value);
  return String(number) === value && Number.isFinite(number) ? number : value;
}
