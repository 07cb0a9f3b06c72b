import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildPhotoIndex, digestSources } from '../../pipeline/photo-index.ts';
import { resolveSources, type SourceFile } from '../../pipeline/photo-sources.ts';
import { UsageError } from '../../pipeline/usage-error.ts';

/** `photos` in it holds three pictures in two folders, and what is none. Nothing is decoded, so all files are empty. */
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-sources-'));
  for (const file of ['photos/a.jpg', 'photos/deep/b.PNG', 'photos/deep/c.tiff', 'photos/notes.txt', 'photos/d.gif'])
    await write(file);
});
afterEach(() => rm(folder, { recursive: true }));

async function write(file: string, content = ''): Promise<string> {
  const path = join(folder, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function filesOf(name: string, licences: readonly string[] | null = null): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const source of await resolveSources([name], licences))
    for await (const file of source.files()) files.push(file);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
const shown = async (name: string) => (await filesOf(name)).map(({ file, path }) => [file, relative(folder, path)]);
const packOf = async (name: string) => (await resolveSources([name], null))[0]!.pack;

describe('a folder', () => {
  it('gives its pictures, also those of folders in it, and nothing else', async () => {
    const name = join(folder, 'photos');
    const expected = [
      ['a.jpg', 'photos/a.jpg'],
      ['deep/b.PNG', 'photos/deep/b.PNG'],
      ['deep/c.tiff', 'photos/deep/c.tiff'],
    ];
    expect(await shown(name)).toEqual(expected);
    expect(await shown(`${name}/`)).toEqual(expected);
    expect(await shown(relative(process.cwd(), name))).toEqual(expected);
    expect(await packOf(`${name}/`)).toBe('photos');
  });

  it('says nothing about licence, author and split', async () => {
    expect((await filesOf(join(folder, 'photos')))[0]).toEqual({
      path: join(folder, 'photos/a.jpg'),
      file: 'a.jpg',
      split: null,
      licence: null,
      author: null,
      url: null,
    });
  });

  it('may hold every format that is taken', async () => {
    const names = ['1.jpeg', '2.jpe', '3.JPG', '4.png', '5.webp', '6.avif', '7.tif', '8.TIFF', '9.WEBP'];
    for (const name of names) await write(`formats/${name}`);
    expect((await filesOf(join(folder, 'formats'))).map(({ file }) => file)).toEqual(names);
  });

  // Brackets make a glob of a name, though a folder of that name is there: it gives nothing, without a word.
  it('may have brackets in its name', async () => {
    await write('[2019] trip/a.jpg');
    const name = relative(process.cwd(), join(folder, '[2019] trip'));
    expect((await filesOf(name)).map(({ file }) => file)).toEqual(['a.jpg']);
  });
});

describe('a glob', () => {
  it('gives what it matches, named from its first special part on', async () => {
    const name = relative(process.cwd(), join(folder, 'photos'));
    expect(await shown(`${name}/**/*.{jpg,tiff}`)).toEqual([
      ['a.jpg', 'photos/a.jpg'],
      ['deep/c.tiff', 'photos/deep/c.tiff'],
    ]);
    expect(await shown(`${name}/*/b.*`)).toEqual([['deep/b.PNG', 'photos/deep/b.PNG']]);
    expect(await packOf(`${name}/**/*.jpg`)).toBe('photos');
  });

  it('may be absolute', async () => {
    expect(await shown(`${folder}/photos/**/*.jpg`)).toEqual([['a.jpg', 'photos/a.jpg']]);
    expect(await packOf(`${folder}/photos/**/*.jpg`)).toBe('photos');
  });
});

describe('a list file', () => {
  it('names a path a line, relative ones counted from its folder; blank lines and comments are skipped', async () => {
    const absolute = join(folder, 'photos/deep/b.PNG');
    const list = await write(
      'lists/mine.txt',
      `# my photos\n../photos/a.jpg\n\n  ${absolute}  \n# more\nnear.jpg\n   \nwith space.jpg`,
    );
    expect(await shown(list)).toEqual([
      ['near.jpg', 'lists/near.jpg'],
      ['with space.jpg', 'lists/with space.jpg'],
      ['../photos/a.jpg', 'photos/a.jpg'],
      [absolute, 'photos/deep/b.PNG'],
    ]);
    expect(await packOf(list)).toBe('mine');
  });

  it('may have Windows line ends', async () => {
    const list = await write('crlf.txt', 'photos/a.jpg\r\n# a comment\r\n\r\nphotos/deep/c.tiff\r\n');
    expect((await filesOf(list)).map(({ file }) => file)).toEqual(['photos/a.jpg', 'photos/deep/c.tiff']);
  });

  it('may be empty', async () => {
    expect(await filesOf(await write('empty.txt'))).toEqual([]);
  });
});

describe('a single picture', () => {
  it('is a source of one file, with the name it has in its folder', async () => {
    expect(await shown(join(folder, 'photos/deep/b.PNG'))).toEqual([['b.PNG', 'photos/deep/b.PNG']]);
    expect(await packOf(join(folder, 'photos/a.jpg'))).toBe('photos');
  });
});

describe('an asset pack', () => {
  it('gives its files with licence, author, address and split', async () => {
    const files = await filesOf('starter-photos');
    expect(files.length).toBeGreaterThanOrEqual(30);
    for (const { path, file, licence, author, url, split } of files) {
      expect(path.endsWith(`/assets/starter/photos/${file}`)).toBe(true);
      expect(licence).toMatch(/^(CC|LicenseRef)/);
      expect([typeof author, typeof url]).toEqual(['string', 'string']);
      expect(['train', 'val', 'test']).toContain(split);
    }
    expect(new Set(files.map(({ split }) => split)).size).toBe(3);
    expect(await packOf('starter-photos')).toBe('starter-photos');
  });

  it('that is not added yet is a usage error that says how to add it', async () => {
    vi.stubEnv('SHAPEMILL_DATA', join(folder, 'no data'));
    try {
      await expect(resolveSources(['debian-photos'], null)).rejects.toThrow(
        new UsageError('asset pack debian-photos is not here yet: npm run assets -- add debian-photos'),
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('licences', () => {
  it('keep only files under one of them, in whatever case', async () => {
    const all = await filesOf('starter-photos');
    const chosen = await filesOf('starter-photos', ['cc0-1.0', 'CC-BY-4.0']);
    expect(chosen).toEqual(all.filter(({ licence }) => licence === 'CC0-1.0' || licence === 'CC-BY-4.0'));
    expect(chosen.length).toBeGreaterThan(0);
    expect(chosen.length).toBeLessThan(all.length);
  });

  it('keep no file whose licence is not known', async () => {
    expect(await filesOf(join(folder, 'photos'), ['CC0-1.0'])).toEqual([]);
  });

  it('leave the name of the source as it is', async () => {
    expect((await resolveSources(['starter-photos'], ['CC0-1.0']))[0]!.pack).toBe('starter-photos');
  });
});

describe('a name that is nothing', () => {
  it('is a usage error, with the nearest pack', async () => {
    await expect(resolveSources(['starter-photo'], null)).rejects.toThrow(UsageError);
    await expect(resolveSources(['starter-photo'], null)).rejects.toThrow(
      /^expected an asset pack \(.*starter-photos.*\), folder, glob, list file, or JPEG, PNG, WebP, AVIF or TIFF files, got "starter-photo" \(did you mean "starter-photos"\?\)$/,
    );
  });

  it('is a usage error also among good ones, without a suggestion where none is near', async () => {
    const names = ['starter-photos', join(folder, 'nowhere')];
    await expect(resolveSources(names, null)).rejects.toThrow(/nowhere"$/);
  });

  it('is a usage error when it is empty', async () => {
    await expect(resolveSources([''], null)).rejects.toThrow(UsageError);
  });
});

describe('ids', () => {
  it('do not depend on where a folder lies', async () => {
    const idsOf = async (name: string) => {
      const index = await buildPhotoIndex(join(folder, 'index'), await resolveSources([name], null), 1);
      return (await index.block(0, 1000)).map(({ id, path }) => `${id} ${relative(name, path)}`);
    };
    const before = await idsOf(join(folder, 'photos'));
    await mkdir(join(folder, 'elsewhere/far'), { recursive: true });
    await rename(join(folder, 'photos'), join(folder, 'elsewhere/far/photos'));
    expect(await idsOf(join(folder, 'elsewhere/far/photos'))).toEqual(before);
    expect(new Set(before.map(line => line.split(' ')[0])).size).toBe(3);
  });

  /** Stands for the set of ids. */
  const idsOf = async (name: string) => digestSources(await resolveSources([name], null));

  it('are the same for a folder and for a glob or a picture of it', async () => {
    const name = relative(process.cwd(), join(folder, 'photos'));
    expect(await idsOf(`${name}/**/*.{jpg,PNG,tiff}`)).toBe(await idsOf(name));
    expect(await idsOf(join(folder, 'photos/a.jpg'))).toBe(await idsOf(`${name}/*.jpg`));
  });

  it('differ between files, and between sources of different names', async () => {
    const photos = [await write('one/a.jpg'), await write('one/b.jpg'), await write('two/a.jpg')];
    expect(new Set(await Promise.all(photos.map(idsOf))).size).toBe(3);
  });

  // Of files with one path in "2019/photos" and "2020/photos" only one is kept, without a word.
  it('cannot be told apart for two folders of one name, which is a usage error', async () => {
    await write('other/photos/a.jpg', 'another picture');
    const names = [join(folder, 'photos'), join(folder, 'other/photos')];
    await expect(resolveSources(names, null)).rejects.toThrow(UsageError);
  });
});
