import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacheFolder, cacheKey } from '../../pipeline/cache-folder.ts';
import { defaultCacheFolder } from '../../renderers/cache-place.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-cache-'));
});
afterEach(() => rm(folder, { recursive: true }));

const content = Buffer.from('what took long to make');

describe('CacheFolder', () => {
  it('gives back what it was given, and nothing for other keys', async () => {
    const cache = new CacheFolder(join(folder, 'new'));
    await cache.put('meshes/a', content);
    expect(await cache.get('meshes/a')).toEqual(content);
    expect(await cache.get('meshes/b')).toBeUndefined();
    expect(await readdir(join(folder, 'new/meshes'))).toEqual(['a']);
  });

  it('takes a cut or changed entry for a missing one, and lets it be made again', async () => {
    const cache = new CacheFolder(folder);
    for (const damage of [
      () => truncate(join(folder, 'a'), 40),
      () => truncate(join(folder, 'a'), 3),
      async () => {
        const bytes = await readFile(join(folder, 'a'));
        bytes[40]! ^= 1;
        await writeFile(join(folder, 'a'), bytes);
      },
    ]) {
      await cache.put('a', content);
      expect(await cache.get('a')).toEqual(content);
      await damage();
      expect(await cache.get('a')).toBeUndefined();
    }
  });

  it('is no fault where nothing can be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const cache = new CacheFolder(join(folder, 'file'));
    await cache.put('a', content);
    expect(await cache.get('a')).toBeUndefined();
  });

  it('lies where the environment says', () => {
    expect(defaultCacheFolder({ SHAPEMILL_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
    expect(defaultCacheFolder({ SHAPEMILL_CACHE: '', XDG_CACHE_HOME: '/b' })).toBe('/b/shapemill');
    expect(defaultCacheFolder({})).toMatch(/\/\.cache\/shapemill$/);
  });
});

describe('cacheKey', () => {
  it('tells bytes and ways apart', () => {
    const keys = [
      cacheKey('meshes', content, [1]),
      cacheKey('meshes', content, [2]),
      cacheKey('meshes', content.subarray(1), [1]),
    ];
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toMatch(/^meshes\/[0-9a-f]{64}$/);
    expect(cacheKey('meshes', content, [1])).toBe(keys[0]);
  });
});
