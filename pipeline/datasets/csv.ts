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
  let names: readonly string[] | undefined;
  for await (const lines of pieces(path)) {
    for (const { line, values } of lines) {
      if (!names) {
        names = columnNames(path, values, columns);
        continue;
      }
      if (values.length !== names.length) {
        throw new UsageError(`${path}, line ${line}: expected ${names.length} values, found ${values.length}`);
      }
      const named: Record<string, string> = {};
      for (let i = 0; i < values.length; i++) if (names[i] !== '') named[names[i]!] = values[i]!;
      yield { line, values: named };
    }
  }
  if (!names) throw new UsageError(`${path}: expected the columns ${columns.join(', ')}, found an empty file`);
}

/** The first line's values as names. @throws UsageError when they cannot be, or lack some of `columns`. */
function columnNames(path: string, values: readonly string[], columns: readonly string[]): readonly string[] {
  const names = values.map(name => name.trim());
  const missing = columns.filter(column => !names.includes(column));
  if (missing.length > 0) {
    const separated = names.length === 1 && /[;\t]/.test(names[0]!) ? ' separated by commas' : '';
    throw new UsageError(`${path}: expected the columns ${columns.join(', ')}${separated}, found ${names.join(', ')}`);
  }
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) < i);
  if (twice !== undefined) throw new UsageError(`${path}: the column ${twice} is there twice`);
  // An object's keys cannot be called so everywhere.
  if (names.includes('__proto__')) throw new UsageError(`${path}: a column may not be called __proto__`);
  return names;
}

/** What is read of a file at once. */
const PIECE_BYTES = 1 << 20;
/** A longer record is none: its quote was opened by mistake. */
const MOST_CHARACTERS = 1 << 24;

interface Line {
  readonly line: number;
  readonly values: string[];
}

/** The records of a file, piece by piece: waiting for each record would take longer than cutting it off. */
async function* pieces(path: string): AsyncGenerator<Iterable<Line>> {
  const splitter = new Splitter(path);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new UsageError(`${path}: expected UTF-8, found another encoding`);
    }
  };
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES })) yield splitter.push(decode(bytes));
  yield splitter.push(decode());
  yield splitter.end();
}

/** Cuts text into records as it comes. Most have no quotes, and those are left to the engine's own search and split. */
class Splitter {
  readonly #path: string;
  /** What is not cut yet: it begins with a record. */
  #text = '';
  /** Of its first character. */
  #line = 1;

  constructor(path: string) {
    this.#path = path;
  }

  *push(piece: string): Generator<Line> {
    this.#text += piece;
    yield* this.#cut();
    if (this.#text.length > MOST_CHARACTERS) throw this.#neverClosed();
  }

  *end(): Generator<Line> {
    if (this.#text === '') return;
    this.#text += '\n';
    yield* this.#cut();
    if (this.#text !== '') throw this.#neverClosed();
  }

  /** Takes off the records that are complete. */
  *#cut(): Generator<Line> {
    const text = this.#text;
    let at = 0;
    let quote = text.indexOf('"');
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      if (quote >= 0 && quote < at) quote = text.indexOf('"', at);
      const line = this.#line;
      let values: string[];
      if (quote < 0 || quote > end) {
        values = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end).split(',');
        this.#line++;
        at = end + 1;
      } else {
        const quoted = this.#quotedRecord(text, at);
        if (!quoted) break;
        ({ values, at } = quoted);
      }
      if (values.length > 1 || values[0] !== '') yield { line, values };
    }
    this.#text = text.slice(at);
  }

  /** A record with a quote somewhere, and where the next one begins; undefined when its end is not there yet. */
  #quotedRecord(text: string, start: number): { values: string[]; at: number } | undefined {
    const values: string[] = [];
    let lines = 0;
    for (let at = start; ; ) {
      let value = '';
      if (text[at] === '"') {
        // A quote within quotes ends them, unless another follows: then it is one of the value.
        for (let from = at + 1; ; from = at + 1) {
          at = text.indexOf('"', from);
          if (at < 0) return undefined;
          value += text.slice(from, at++);
          if (text[at] !== '"') break;
          value += '"';
        }
        for (let i = value.indexOf('\n'); i >= 0; i = value.indexOf('\n', i + 1)) lines++;
        if (text[at] === '\r') at++;
        if (at === text.length) return undefined;
        if (text[at] !== ',' && text[at] !== '\n') {
          throw new UsageError(`${this.#path}, line ${this.#line + lines}: text after a closing quote`);
        }
      } else {
        const from = at;
        while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
        if (at === text.length) return undefined;
        value = text.slice(from, text[at] === '\n' && text[at - 1] === '\r' && at > from ? at - 1 : at);
      }
      values.push(value);
      if (text[at++] === ',') continue;
      this.#line += lines + 1;
      return { values, at };
    }
  }

  #neverClosed(): UsageError {
    return new UsageError(`${this.#path}, line ${this.#line}: a quote is opened and never closed`);
  }
}

/** A value as a label keeps it: a number where it is one and nothing else (`007` is a name), null where it is empty. */
export function csvValue(text: string): string | number | null {
  const value = text.trim();
  if (value === '') return null;
  const number = Number(value);
  return String(number) === value && Number.isFinite(number) ? number : value;
}
