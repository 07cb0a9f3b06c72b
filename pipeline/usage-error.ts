import { closest, distance } from 'fastest-levenshtein';

/** Wrong usage or configuration: one clear line and exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** "… expected A, got B": every message about a value reads alike. */
export function invalidValue(name: string, expected: string, actual: unknown): UsageError {
  const got = typeof actual === 'string' ? `"${actual}"` : JSON.stringify(actual);
  return new UsageError(`${name}: expected ${expected}, got ${got ?? 'nothing'}`);
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
