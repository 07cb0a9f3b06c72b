import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Choice, chooseItems } from '../../../pipeline/packs/choose-items.ts';
import type { PackItem } from '../../../pipeline/packs/pack-source.ts';

const ALL: Choice = { count: null, perCategory: null, seed: 1, licences: null };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-choice-'));
});
afterAll(() => rm(folder, { recursive: true }));

const item = (i: number, more: Partial<PackItem> = {}): PackItem => ({
  id: `photo ${i}`,
  path: `${i}.jpg`,
  origin: { url: `https://example.org/${i}.jpg` },
  licence: i % 3 === 0 ? 'CC0-1.0' : 'CC-BY-2.0',
  author: null,
  url: null,
  category: `c${i % 10}`,
  ...more,
});
const items = (count: number, more: (i: number) => Partial<PackItem> = () => ({})) =>
  Array.from({ length: count }, (_, i) => item(i, more(i)));

async function* stream(list: readonly PackItem[]): AsyncGenerator<PackItem> {
  yield* list;
}

async function choose(list: readonly PackItem[], choice: Partial<Choice>): Promise<PackItem[]> {
  const plan = join(folder, 'plan.jsonl');
  const { files } = await chooseItems(stream(list), { ...ALL, ...choice }, plan, folder);
  const chosen = (await readFile(plan, 'utf8'))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as PackItem);
  expect(chosen).toHaveLength(files);
  expect(await readdir(folder)).toEqual(['plan.jsonl']);
  return chosen;
}
const ids = (list: readonly PackItem[]) => list.map(({ id }) => id);

describe('chooseItems', () => {
  it('takes all, each once, in an order that the seed decides and the list does not', async () => {
    const list = items(5000);
    const chosen = await choose([...list, ...list.slice(0, 100)], {});
    expect(new Set(ids(chosen)).size).toBe(5000);
    expect(ids(await choose(list.toReversed(), {}))).toEqual(ids(chosen));
    expect(ids(await choose(list, { seed: 2 }))).not.toEqual(ids(chosen));
    expect(chosen[0]).toEqual(list.find(({ id }) => id === chosen[0]!.id));
  });

  it('takes exactly as many as asked for, of which a smaller number is the beginning', async () => {
    const list = items(20_000);
    const all = ids(await choose(list, {}));
    for (const count of [1, 100, 7000]) expect(ids(await choose(list, { count }))).toEqual(all.slice(0, count));
    expect(await choose(list, { count: 30_000 })).toHaveLength(20_000);
    // A list that names everything twice.
    expect(ids(await choose([...list, ...list], { count: 100 }))).toEqual(all.slice(0, 100));
  });

  it('takes a fair sample', async () => {
    const chosen = await choose(items(20_000), { count: 2000 });
    const numbers = chosen.map(({ path }) => Number.parseInt(path, 10));
    const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
    // Standard error of the mean of 2000 of 20,000: 5774 / √2000 · √0.9 = 122.
    expect(Math.abs(mean - 10_000)).toBeLessThan(4 * 122);
  });

  it('takes so many of each category, and then so many', async () => {
    const chosen = await choose(items(1000), { perCategory: 7 });
    const counts = chosen.map(({ category }) => category);
    for (let c = 0; c < 10; c++) expect(counts.filter(category => category === `c${c}`)).toHaveLength(7);
    expect(await choose(items(1000), { perCategory: 7, count: 20 })).toHaveLength(20);
    const none = choose(
      items(10, () => ({ category: undefined })),
      { perCategory: 7 },
    );
    await expect(none).rejects.toThrow('--per-category: expected a source with categories, this one has none');
  });

  it('keeps only licences that are wanted, and says which there are when none is', async () => {
    const chosen = await choose(items(90), { licences: ['cc0-1.0', 'MIT'] });
    expect(chosen).toHaveLength(30);
    expect(new Set(chosen.map(({ licence }) => licence))).toEqual(new Set(['CC0-1.0']));
    const list = items(10, i => (i === 0 ? { licence: null } : {}));
    await expect(choose(list, { licences: ['MIT'] })).rejects.toThrow(
      'expected files under MIT, found none: the 10 there are are under CC-BY-2.0, CC0-1.0, none that is known',
    );
    await expect(choose([], {})).rejects.toThrow('expected files to add, found none');
  });

  it('chooses groups as one, and takes what belongs to the pack anyway without counting it', async () => {
    const list = items(400, i => ({ group: `set ${Math.floor(i / 4)}`, category: `c${Math.floor(i / 4) % 2}` }));
    const labels = item(1000, { id: 'labels', path: 'labels.json', supplement: true, licence: 'MIT' });
    const chosen = await choose([...list, labels], { count: 10, licences: ['CC0-1.0', 'CC-BY-2.0'] });
    expect(chosen[0]).toEqual(labels);
    expect(chosen).toHaveLength(41);
    const groups = chosen.slice(1).map(({ group }) => group!);
    expect(new Set(groups).size).toBe(10);
    for (const group of groups) expect(groups.filter(other => other === group)).toHaveLength(4);
    expect(await choose(list, { perCategory: 3 })).toHaveLength(24);
  });

  it('lets no item leave the pack, nor take the place of another', async () => {
    const list = [
      item(1),
      item(2, { path: '../2.jpg' }),
      item(3, { path: '/3.jpg' }),
      item(4, { path: 'a/../../4.jpg' }),
      item(5, { path: '1.jpg' }),
      item(6, { path: 'index.jsonl' }),
      item(7, { path: '.adding/plan.jsonl' }),
      item(8, { path: '1.jpg.partial' }),
    ];
    const chosen = await choose(list, {});
    expect(chosen.map(({ path }) => path)).toEqual(['1.jpg']);
  });
});
