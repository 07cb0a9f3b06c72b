import { createReadStream } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** An element of one of the arrays that were asked for. */
export interface JsonElement {
  /** The array's key. */
  readonly key: string;
  readonly value: unknown;
  /** The element as JSON in one line. */
  readonly text: string;
}

/** What is read of a file at once. */
export const PIECE_BYTES = 1 << 20;

/**
 * Streams the elements of arrays that are members of a JSON file's outermost object, in lists of those that end in one
 * piece of the file: what is held is a piece and the longest element. Only brackets and strings are looked at to find an
 * element's end, and V8 parses it: that is several times as fast as a parser that makes a token of every number
 * (`bench annotations`). What other members hold is passed over. NaN and infinities, which JSON has not but Python writes,
 * are read as null.
 * @param keys of the arrays.
 * @param pieceBytes how much is read at once.
 * @throws UsageError when it is no such file, is cut short, or lacks one of the arrays in `required`.
 */
export async function* jsonArrays(
  path: string,
  keys: readonly string[],
  required: readonly string[],
  pieceBytes = PIECE_BYTES,
): AsyncGenerator<JsonElement[]> {
  yield* jsonArraysOf(createReadStream(path, { highWaterMark: pieceBytes }), path, keys, required);
}

/** {@link jsonArrays} of a file that comes in pieces, such as a member of an archive. @param path its name in messages. */
export async function* jsonArraysOf(
  pieces: AsyncIterable<Buffer>,
  path: string,
  keys: readonly string[],
  required: readonly string[],
): AsyncGenerator<JsonElement[]> {
  const scanner = new Scanner(path, new Set(keys));
  for await (const bytes of pieces) yield scanner.push(bytes);
  scanner.end();
  const missing = required.filter(key => !scanner.found.has(key));
  if (missing.length === 0) return;
  throw new UsageError(
    `${path}: expected the arrays ${required.join(', ')}, found ${[...scanner.found].join(', ') || 'nothing'}`,
  );
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Bytes within an object or array that say something about where it ends: 1 quote, 2 opening, 3 closing. */
const BOUNDS = new Uint8Array(256);
BOUNDS[QUOTE] = 1;
for (const byte of [OPEN_BRACKET, OPEN_BRACE]) BOUNDS[byte] = 2;
for (const byte of [CLOSE_BRACKET, CLOSE_BRACE]) BOUNDS[byte] = 3;

/** What may come next between values. */
type Expected = 'object' | 'key' | 'colon' | 'member' | 'after member' | 'element' | 'after element' | 'end';

class Scanner {
  /** Keys of the outermost object. */
  readonly found = new Set<string>();
  readonly #path: string;
  readonly #keys: ReadonlySet<string>;
  #expected: Expected = 'object';
  #key = '';
  /** Bytes before the piece that is looked at. */
  #offset = 0;
  /** The value that is not at its end: whether an object or array, how deep in it, whether in a string, after a backslash. */
  #value: 'none' | 'nested' | 'string' | 'plain' = 'none';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The pieces of it so far, when it is kept. */
  #pieces: Buffer[] = [];

  constructor(path: string, keys: ReadonlySet<string>) {
    this.#path = path;
    this.#keys = keys;
  }

  /** Looks at the next piece of the file and returns the elements that end in it. */
  push(bytes: Buffer): JsonElement[] {
    const elements: JsonElement[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#value === 'none' && !this.#begins(bytes, at)) {
        at++;
        continue;
      }
      const end = this.#skip(bytes, at);
      const kept = this.#expected !== 'member';
      if (kept) this.#pieces.push(bytes.subarray(at, end));
      at = end;
      if (this.#value === 'none') this.#finish(elements, this.#offset + at);
    }
    this.#offset += bytes.length;
    return elements;
  }

  /** @throws UsageError when the file is not at its end. */
  end(): void {
    if (this.#expected === 'end') return;
    throw new UsageError(
      this.#offset === 0
        ? `${this.#path}: expected JSON, got an empty file`
        : `${this.#path}: expected JSON, but the file is cut short: it ends after ${this.#offset} bytes in a value`,
    );
  }

  /** Whether a value begins here; else what stands between values is taken in. */
  #begins(bytes: Buffer, at: number): boolean {
    const byte = bytes[at]!;
    if (isBlank(byte)) return false;
    const expected = this.#expected;
    if (expected === 'object' && byte === OPEN_BRACE) this.#expected = 'key';
    else if (expected === 'object' && byte === BYTE_ORDER_MARK[this.#offset + at]) return false;
    else if (expected === 'colon' && byte === COLON) this.#expected = 'member';
    else if (expected === 'after member' && byte === COMMA) this.#expected = 'key';
    else if ((expected === 'after member' || expected === 'key') && byte === CLOSE_BRACE) this.#expected = 'end';
    else if (expected === 'after element' && byte === COMMA) this.#expected = 'element';
    else if ((expected === 'after element' || expected === 'element') && byte === CLOSE_BRACKET) {
      this.#expected = 'after member';
    } else if (expected === 'member' && byte === OPEN_BRACKET && this.#keys.has(this.#key)) this.#expected = 'element';
    else if (expected === 'member' || expected === 'element' || (expected === 'key' && byte === QUOTE)) {
      this.#value = byte === QUOTE ? 'string' : BOUNDS[byte] === 2 ? 'nested' : 'plain';
      this.#depth = 0;
      return true;
    } else throw this.#broken(this.#offset + at, `expected ${WORDS[expected]}, got "${String.fromCharCode(byte)}"`);
    return false;
  }

  /** Where the value ends that the bytes from `at` on belong to; their end, when that is not among them. */
  #skip(bytes: Buffer, at: number): number {
    if (this.#value === 'plain') return this.#skipPlain(bytes, at);
    for (let i = at; i < bytes.length; i++) {
      if (this.#inString) {
        const byte = bytes[i]!;
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        if (this.#inString || this.#depth > 0) continue;
      } else {
        const bound = BOUNDS[bytes[i]!]!;
        if (bound === 0) continue;
        if (bound === 1) this.#inString = true;
        else this.#depth += bound === 2 ? 1 : -1;
        if (bound !== 3 || this.#depth > 0) continue;
      }
      this.#value = 'none';
      return i + 1;
    }
    return bytes.length;
  }

  /** A number, true, false, null ends before what cannot be part of it. */
  #skipPlain(bytes: Buffer, at: number): number {
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte !== COMMA && byte !== CLOSE_BRACKET && byte !== CLOSE_BRACE && !isBlank(byte)) continue;
      this.#value = 'none';
      return i;
    }
    return bytes.length;
  }

  /** Takes in a value that ends here. */
  #finish(elements: JsonElement[], end: number): void {
    if (this.#expected === 'member') {
      this.#expected = 'after member';
      return;
    }
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    const element = this.#parse(bytes.toString('utf8'), end);
    if (this.#expected === 'key') {
      this.#key = element.value as string;
      this.found.add(this.#key);
      this.#expected = 'colon';
    } else {
      elements.push({ key: this.#key, ...element });
      this.#expected = 'after element';
    }
  }

  #parse(json: string, end: number): { value: unknown; text: string } {
    // Line ends stand between the values of JSON, never in one.
    const text = json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json;
    try {
      return { value: JSON.parse(text), text };
    } catch {
      const repaired = text.replace(STRING_OR_NO_NUMBER, part => (part.startsWith('"') ? part : 'null'));
      try {
        return { value: JSON.parse(repaired), text: repaired };
      } catch (error) {
        throw this.#broken(end, (error as Error).message);
      }
    }
  }

  #broken(offset: number, what: string): UsageError {
    return new UsageError(`${this.#path}: expected JSON, but it is broken before byte ${offset + 1}: ${what}`);
  }
}

/** A string, or what Python writes for floats that are no numbers. */
const STRING_OR_NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/** {@link Expected} for people. */
const WORDS: Readonly<Record<Expected, string>> = {
  object: 'an object',
  key: 'a key',
  colon: 'a colon',
  member: 'a value',
  'after member': 'a comma or the end of the object',
  element: 'an element',
  'after element': 'a comma or the end of the array',
  end: 'the end of the file',
};
