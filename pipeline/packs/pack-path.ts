import { hashId } from '../../sampling/hash.ts';

/** Characters of a part of a path: file systems take 255 bytes. */
const MOST_CHARACTERS = 120;

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
  if (plain.length <= MOST_CHARACTERS) return plain;
  const [extension = ''] = /\.[^.]{1,8}$/.exec(plain) ?? [];
  return plain.slice(0, MOST_CHARACTERS - extension.length) + extension;
}
