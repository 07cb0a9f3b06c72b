import { closest, distance } from 'fastest-levenshtein';

/** Wrong usage or configuration: one clear line and exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** "… expected A, got B": every message about a value reads alike. */
export function invalidValue(name: string, expected: string, actual: unknown): UsageError {
  // JSON has no NaN and no infinities.
  const got = typeof actual === 'string' ? `"${actual}"` : typeof actual === 'number' ? actual : JSON.stringify(actual);
  return new UsageError(`${name}: expected ${expected}, got ${got ?? 'nothing'}`);
}

/**
 * A message as one line that a terminal takes for text: what files and paths bring along of control characters (line ends,
 * colours) and of marks that turn the direction of writing stands as `\u001b`.
 */
export function printable(message: string): string {
  return message.replace(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    character => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

/** ` (did you mean "x"?)`, or nothing when no name is near. */
export function didYouMean(word: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const nearest = closest(word, names);
  const near = sharesStart(word, nearest) || editsAtMost(word, nearest, 2);
  return near ? ` (did you mean "${nearest}"?)` : '';
}

function sharesStart(a: string, b: string): boolean {
  return a.length >= 3 && (b.startsWith(a) || a.startsWith(b));
}

function editsAtMost(a: string, b: string, most: number): boolean {
  return Math.abs(a.length - b.length) <= most && distance(a, b) <= most;
}
