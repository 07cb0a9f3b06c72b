import { describe, expect, it } from 'vitest';
import { relativePath } from '../../../pipeline/packs/manifest.ts';
import { packPath } from '../../../pipeline/packs/pack-path.ts';

describe('packPath', () => {
  it.each(['a.jpg', 'example.org/photos/a-b_c+d.1.jpg', 'überblick/größe.png', '東京/写真.jpg'])(
    'leaves %s as it is',
    name => {
      expect(packPath(name)).toBe(name);
    },
  );

  it.each([
    '../a.jpg',
    'a/../../b.jpg',
    '/etc/passwd',
    'a//b.jpg',
    './a.jpg',
    '.hidden/.adding/a',
    'a\\..\\b.jpg',
    'a b.jpg',
    'a?x=1.jpg',
    'a\0b.jpg',
    'a\nb.jpg',
    '..',
    '',
    '/',
    `${'long'.repeat(100)}.jpg`,
    `${'写真'.repeat(100)}.jpg`,
  ])('makes a safe path of %j that no other name has', name => {
    const path = packPath(name);
    expect(relativePath.safeParse(path).success).toBe(true);
    expect(path).toMatch(/^[\p{L}\p{N}._+/-]+$/u);
    expect(path.split('/').every(part => !part.startsWith('.') && Buffer.byteLength(part) < 230)).toBe(true);
    expect(path).toMatch(/-[0-9a-f]{8}(\.[^.]+)?$/);
    expect(packPath(name)).toBe(path);
  });

  it('keeps the extension, and two names apart that look alike', () => {
    expect(packPath('a b.jpg')).toMatch(/^a_b-[0-9a-f]{8}\.jpg$/);
    expect(packPath('a b.jpg')).not.toBe(packPath('a?b.jpg'));
  });
});
