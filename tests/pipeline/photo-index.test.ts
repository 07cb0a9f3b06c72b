import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildPhotoIndex, digestSources, PhotoIndex, splitOf } from '../../pipeline/photo-index.ts';
import { resolveSources, type Source } from '../../pipeline/photo-sources.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-index-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const unknown = { split: null, licence: null, author: null, url: null };
const names = (count: number) => Array.from({ length: count }, (_, i) => `folder-${i % 7}/photo ${i} ü.jpg`);

/** A source of files that need not exist: an index never opens them. */
function source(files: readonly string[], root = '/data', pack = 'photos'): Source {
  return {
    pack,
    async *files() {
      for (const file of files) yield { path: join(root, file), file, ...unknown };
    },
  };
}

let built = 0;
const build = (sources: readonly Source[], seed = 1) => buildPhotoIndex(join(scratch, `${built++}`), sources, seed);

async function list(index: PhotoIndex, size = 1000) {
  const blocks = await Promise.all(Array.from({ length: index.blocks(size) }, (_, b) => index.block(b, size)));
  return blocks.flat();
}

describe('the order of photos', () => {
  it('is a permutation: every file once, far from the order of the names, another one for another seed', async () => {
    const files = names(2000);
    const order = (await list(await build([source(files)]))).map(({ provenance }) => provenance.file);
    expect(order.toSorted()).toEqual(files.toSorted());
    const inPlace = order.filter((file, i) => file === files[i]).length;
    expect(inPlace).toBeLessThan(20);
    const other = (await list(await build([source(files)], 2))).map(({ provenance }) => provenance.file);
    expect(other.toSorted()).toEqual(files.toSorted());
    expect(other).not.toEqual(order);
  });

  it('depends neither on where the folder lies nor on the order in which files are named', async () => {
    const files = names(500);
    const here = await list(await build([source(files, '/here')]));
    const there = await list(await build([source(files.toReversed(), '/elsewhere/deep')]));
    const withoutPath = (photos: typeof here) => photos.map(({ path, ...rest }) => rest);
    expect(withoutPath(there)).toEqual(withoutPath(here));
    expect(there[0]!.path).toMatch(/^\/elsewhere\/deep\//);
  });

  it('keeps the others as they are when a photo is added', async () => {
    const files = names(300);
    const before = (await list(await build([source(files)]))).map(({ id }) => id);
    const after = (await list(await build([source([...files, 'new.jpg'])]))).map(({ id }) => id);
    expect(after).toHaveLength(301);
    expect(after.filter(id => before.includes(id))).toEqual(before);
  });
});

describe('a file', () => {
  it('that is named twice counts once', async () => {
    const index = await build([source(names(50)), source(names(60))]);
    expect(index.facts.files).toBe(60);
    expect(new Set((await list(index)).map(({ id }) => id)).size).toBe(60);
  });

  it('that is named twice with different details is marked, whichever comes first', async () => {
    const detailed = (details: Readonly<Record<string, unknown>>): Source => ({
      pack: 'details',
      async *files() {
        for (const [name, detail] of Object.entries(details)) {
          const file = name.slice(1);
          yield { path: `/data/${file}`, file, ...unknown, detail };
        }
      },
    });
    const one = detailed({ '1a.jpg': 1, '1b.jpg': { x: [2] }, '1c.jpg': 3, '2c.jpg': 4, '3c.jpg': 4 });
    const other = detailed({ '1a.jpg': 2, '1b.jpg': { x: [2] }, '1d.jpg': 5 });
    for (const sources of [
      [one, other],
      [other, one],
    ]) {
      const marked = new Map((await list(await build(sources))).map(file => [file.path, file.contradictory]));
      expect(Object.fromEntries(marked)).toEqual({ '/data/a.jpg': true, '/data/c.jpg': true });
      expect([...marked.keys()].sort()).toEqual(['a', 'b', 'c', 'd'].map(name => `/data/${name}.jpg`));
    }
  });

  it('has its pack, path and licence, and the split that its id hashes to', async () => {
    const index = await build([
      source(['a.jpg'], '/one', 'first'),
      {
        pack: 'second',
        async *files() {
          yield {
            path: '/two/b.jpg',
            file: 'b.jpg',
            split: 'test',
            licence: 'CC0-1.0',
            author: 'A',
            url: 'https://example.org/b',
          };
        },
      },
    ]);
    const [a, b] = (await list(index)).sort((x, y) => (x.path < y.path ? -1 : 1));
    expect(a).toMatchObject({
      path: '/one/a.jpg',
      split: splitOf(a!.id),
      provenance: { pack: 'first', file: 'a.jpg' },
    });
    const provenance = { pack: 'second', file: 'b.jpg', licence: 'CC0-1.0', author: 'A', url: 'https://example.org/b' };
    expect(b).toMatchObject({ path: '/two/b.jpg', split: 'test', provenance });
    expect(index.facts.splits.test).toBeGreaterThanOrEqual(1);
  });
});

describe('splits', () => {
  it('are about 80, 10 and 10 of 100, and counted', async () => {
    const index = await build([source(names(5000))]);
    const { train, val, test } = index.facts.splits;
    expect(train + val + test).toBe(5000);
    // Six standard deviations of a share of 5000.
    expect(Math.abs(train / 5000 - 0.8)).toBeLessThan(0.034);
    expect(Math.abs(val / 5000 - 0.1)).toBeLessThan(0.026);
    const counted = (await list(index)).filter(({ split }) => split === 'val').length;
    expect(counted).toBe(val);
  });
});

describe('blocks', () => {
  it.each([1, 7, 63, 64, 65, 128, 333, 5000])('of %i are the whole list, cut', async size => {
    const index = await build([source(names(333))]);
    const whole = await index.block(0, 333);
    expect(whole).toHaveLength(333);
    expect(index.blocks(size)).toBe(Math.ceil(333 / size));
    for (let b = 0; b < index.blocks(size); b++) {
      expect(await index.block(b, size)).toEqual(whole.slice(b * size, (b + 1) * size));
    }
  });

  it('are read alike from an index that was opened again', async () => {
    const folder = join(scratch, 'reopened');
    const index = await buildPhotoIndex(folder, [source(names(200))], 1);
    const again = await PhotoIndex.open(folder);
    expect(again!.facts).toEqual(index.facts);
    expect(await list(again!, 64)).toEqual(await list(index, 64));
  });

  it('are none where there are no files', async () => {
    const index = await build([source([])]);
    expect(index.facts.files).toBe(0);
    expect(index.blocks(10)).toBe(0);
  });
});

describe('an index', () => {
  it('is none before index.json is there', async () => {
    const folder = join(scratch, 'unfinished');
    await buildPhotoIndex(folder, [source(names(10))], 1);
    await rm(join(folder, 'index.json'));
    expect(await PhotoIndex.open(folder)).toBeUndefined();
    const rebuilt = await buildPhotoIndex(folder, [source(names(12))], 1);
    expect(await list(rebuilt)).toHaveLength(12);
  });
});

describe('the digest', () => {
  it('is that of the sources, whatever their order, and another for other files', async () => {
    const [a, b] = [source(names(100)), source(['x.jpg'], '/x', 'x')];
    const { digest } = (await build([a, b])).facts;
    expect(await digestSources([a, b])).toBe(digest);
    expect(await digestSources([b, a])).toBe(digest);
    expect(await digestSources([source(names(100).toReversed(), '/moved'), b])).toBe(digest);
    expect(await digestSources([a])).not.toBe(digest);
    expect(await digestSources([a, source(['y.jpg'], '/x', 'x')])).not.toBe(digest);
  });
});

describe('the digest of a dataset', () => {
  const dataset = (more: object, root = '/data/set', group?: string): Source => ({
    pack: 'set',
    root,
    async *files() {
      const detail = { dataset: 'plain', entry: { label: 'cat', mask: `${root}/masks/a.png` } };
      const whole = group === undefined ? {} : { group };
      yield { path: `${root}/images/a.jpg`, file: 'images/a.jpg', ...unknown, ...whole, detail, ...more };
    },
  });

  it.each([
    ['a label', { detail: { dataset: 'plain', entry: { label: 'dog', mask: '/data/set/masks/a.png' } } }],
    ['a licence', { licence: 'CC0-1.0' }],
    ['a split', { split: 'test' }],
  ])('is another one when %s changes', async (_, change) => {
    // The hash puts it into train.
    expect(splitOf((await list(await build([dataset({})])))[0]!.id)).not.toBe('test');
    const before = (await build([dataset({})])).facts.digest;
    const after = (await build([dataset(change)])).facts.digest;
    expect(after).not.toBe(before);
    expect([await digestSources([dataset({})]), await digestSources([dataset(change)])]).toEqual([before, after]);
  });

  it('is the same wherever the dataset lies', async () => {
    const { digest } = (await build([dataset({})])).facts;
    expect(await digestSources([dataset({}, '/else "where"')])).toBe(digest);
  });

  it('of files without anything said of them stays as ever, so that old runs continue', async () => {
    const { digest } = (await build([source(['a.jpg', 'b.jpg'])])).facts;
    expect(digest).toBe('2-5a606f48d5ef84c3');
  });
});

describe('a list that is interrupted', () => {
  it.each(['while files are named', 'after that'])('leaves nothing: %s', async when => {
    const controller = new AbortController();
    const parent = join(scratch, when);
    const endless: Source = {
      pack: 'photos',
      async *files() {
        for (const file of names(3)) yield { path: file, file, ...unknown };
        controller.abort();
        if (when === 'while files are named') controller.signal.throwIfAborted();
      },
    };
    await expect(buildPhotoIndex(join(parent, 'list'), [endless], 1, () => {}, controller.signal)).rejects.toThrow(
      controller.signal.reason,
    );
    expect(await readdir(parent)).toEqual([]);
  });
});

describe('a folder', () => {
  it('gives the same ids wherever it lies, and its images only', async () => {
    const digests: string[] = [];
    for (const parent of ['left', 'right']) {
      const folder = join(scratch, parent, 'photos');
      await mkdir(join(folder, 'deep'), { recursive: true });
      for (const file of ['a.jpg', 'deep/b.PNG', 'notes.txt']) await writeFile(join(folder, file), 'x');
      const sources = await resolveSources([folder], null);
      const index = await build(sources);
      expect(index.facts.files).toBe(2);
      digests.push(index.facts.digest);
    }
    expect(digests[1]).toBe(digests[0]);
  });
});
