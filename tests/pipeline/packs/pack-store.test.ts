import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Manifest } from '../../../pipeline/packs/manifest.ts';
import { type PackEntry, writePackIndex } from '../../../pipeline/packs/pack-index.ts';
import {
  defaultDataFolder,
  type LocatedFile,
  listPacks,
  packFiles,
  verifyPack,
} from '../../../pipeline/packs/pack-store.ts';

const manifest: Manifest = {
  packs: [
    {
      id: 'remote',
      kind: 'photos',
      title: 'T',
      licence: 'CC0-1.0',
      attribution: 'A',
      source: 'S',
      obtained: {
        via: 'debian',
        packages: [{ name: 'some-data', version: '1', expected: 2, include: [{ folder: 'usr', match: ['*'] }] }],
      },
    },
  ],
};

let dataFolder: string;
let folder: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'shapemill-packs-'));
  folder = join(dataFolder, 'packs', 'remote');
});
afterEach(() => rm(dataFolder, { recursive: true }));

async function addPack(contents: Record<string, string>): Promise<void> {
  const files: PackEntry[] = [];
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    files.push({
      id: path,
      path,
      bytes: text.length,
      sha256,
      author: 'A',
      url: 'https://example.org',
      licence: 'CC0-1.0',
    });
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const header = {
    pack: manifest.packs[0]!,
    order: {},
    files: files.length,
    bytes,
    unusable: 0,
    failed: 0,
    passing: 0,
  };
  await writePackIndex(folder, header, files);
}

describe('listPacks', () => {
  it('tells packs that are added from those that are not', async () => {
    const [before] = await listPacks({ manifest, dataFolder });
    expect(before).toMatchObject({ state: 'not added', files: 0, bytes: 0, folder });
    await addPack({ 'a.jpg': 'one', 'sub/b.jpg': 'three' });
    const [after] = await listPacks({ manifest, dataFolder });
    expect(after).toMatchObject({ state: 'added', files: 2, bytes: 8 });
  });
});

describe('packFiles', () => {
  it('gives absolute paths with their records, in the order of the index', async () => {
    await addPack({ 'sub/b.jpg': 'three', 'a.jpg': 'one' });
    const located: LocatedFile[] = [];
    for await (const file of packFiles('remote', { manifest, dataFolder })) located.push(file);
    expect(located.map(({ path }) => path)).toEqual([join(folder, 'sub/b.jpg'), join(folder, 'a.jpg')]);
    expect(located[0]!.file).toMatchObject({ path: 'sub/b.jpg', bytes: 5 });
  });

  it('says how to add a pack that is not there, and refuses a broken index', async () => {
    await expect(packFiles('remote', { manifest, dataFolder }).next()).rejects.toThrow(/npm run assets -- add remote/);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.jsonl'), '{"pack": "remote"}\n{"path": "../x"}\n');
    await expect(packFiles('remote', { manifest, dataFolder }).next()).rejects.toThrow(
      /index\.jsonl is not as expected/,
    );
    await addPack({ 'a.jpg': 'one' });
    const index = await readFile(join(folder, 'index.jsonl'), 'utf8');
    await writeFile(join(folder, 'index.jsonl'), index.split('\n')[0]!);
    await expect(packFiles('remote', { manifest, dataFolder }).next()).rejects.toThrow(/expected 1 files, found 0/);
  });
});

describe('verifyPack', () => {
  it('finds files that are missing, of another size or of other contents', async () => {
    await addPack({ 'a.jpg': 'one', 'b.jpg': 'two', 'c.jpg': 'three', 'd.jpg': 'four' });
    expect(await verifyPack('remote', { manifest, dataFolder })).toEqual([]);
    await rm(join(folder, 'a.jpg'));
    await writeFile(join(folder, 'b.jpg'), 'longer');
    await writeFile(join(folder, 'c.jpg'), 'THREE');
    expect(await verifyPack('remote', { manifest, dataFolder })).toEqual([
      { path: 'a.jpg', problem: 'missing' },
      { path: 'b.jpg', problem: 'wrong size' },
      { path: 'c.jpg', problem: 'wrong sha256' },
    ]);
  });
});

describe('defaultDataFolder', () => {
  it('follows SHAPEMILL_DATA, then XDG_DATA_HOME', () => {
    expect(defaultDataFolder({ SHAPEMILL_DATA: '/d', XDG_DATA_HOME: '/x' })).toBe('/d');
    expect(defaultDataFolder({ SHAPEMILL_DATA: '', XDG_DATA_HOME: '/x' })).toBe('/x/shapemill');
    expect(defaultDataFolder({})).toMatch(/\/\.local\/share\/shapemill$/);
  });
});
