import { hashId } from '../../sampling/hash.ts';
import { relativePath } from './manifest.ts';

/** Names at a pack's root that are not a file's. */
const RESERVED = new Set(['index.jsonl', 'failures.jsonl']);

/**
 * Whether a file of a pack may lie there: below the pack's folder, and not in the place of what the pack keeps for itself (its
 * index, unfinished files, names that begin with a dot).
 */
export function isPackPath(path: string): boolean {
  const parts = path.split('/');
  return (
    relativePath.safeParse(path).success &&
    !parts.some(part => part.startsWith('.')) &&
    !RESERVED.has(path) &&
    !/\.partial(\.json)?$/.test(path)
  );
}

/** Of a part of a path, in UTF-8: file systems take 255, and what is unfinished has a longer name. */
const MOST_BYTES = 200;

/**
 * A path in a pack for something that is called otherwise elsewhere (an address, a member of an archive): letters, digits and `.-_+` stay,
 * others become `_`, and `.` or `..` are no parts. What had to be changed gets eight digits of a hash of the whole name, so that two names never
 * become one.
 * @param name with `/` between its parts.
 */
export function packPath(name: string): string {
  const parts = name.split('/').filter(part => part !== '');
  const safe = parts.map(part => safePart(part));
  const path = safe.join('/');
  if (path === name && path !== '') return path;
  const dot = path.lastIndexOf('.');
  const end = dot > path.lastIndexOf('/') + 1 ? dot : path.length;
  return `${path.slice(0, end)}-${hashId(name).slice(0, 8)}${path.slice(end)}`;
}

function safePart(part: string): string {
  const plain = part.replace(/[^\p{L}\p{N}._+-]/gu, '_').replace(/^\.+/, dots => '_'.repeat(dots.length));
  if (Buffer.byteLength(plain) <= MOST_BYTES) return plain;
  const [extension = ''] = /\.[A-Za-z0-9]{1,8}$/.exec(plain) ?? [];
  const start = Buffer.from(plain).subarray(0, MOST_BYTES - extension.length);
  // A character may be cut in the middle.
  return start.toString('utf8').replace(/\uFFFD+$/, '') + extension;
}
