import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeCard } from '../../../pipeline/card/write-card.ts';
import { RunFolder } from '../../../pipeline/run-folder.ts';
import { csvRecords, frontMatter, jsonLines } from '../../readers/plain-readers.ts';
import { filesIn, scratchFolder, sha256 } from '../../runs/command.ts';
import { readShard } from '../../runs/shard-files.ts';
import { writePanels, writeSmallRun } from '../exports/small-run.ts';

const scratch = scratchFolder();
const LICENCES = ['CC-BY-4.0', 'CC-BY-SA-3.0', 'GPL-2.0-only', null, 'CC0-1.0'];
const path = join(scratch, 'run');
const run = new RunFolder(path);
const { signal } = new AbortController();
const text = (file: string) => readFile(join(path, file), 'utf8');

beforeAll(async () => {
  await writeSmallRun(path, { licences: LICENCES });
  await writePanels(path, 'real', 3);
  expect(await writeCard(run, signal)).toBe(true);
});

interface NamedSource {
  readonly pack: string;
  readonly file: string;
  readonly licence: string | null;
  readonly author: string | null;
  readonly url: string | null;
}

/** Every source that a label names, found wherever in it an object has pack and file, by pack and file. */
async function sourcesInLabels(): Promise<Map<string, { source: NamedSource; labels: number }>> {
  const found = new Map<string, { source: NamedSource; labels: number }>();
  const add = (label: unknown) => {
    const mine = new Map<string, NamedSource>();
    const look = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      if ('pack' in value && 'file' in value) mine.set(`${value.pack} ${value.file}`, value as NamedSource);
      for (const inner of Object.values(value)) look(inner);
    };
    look(label);
    for (const [key, source] of mine) found.set(key, { source, labels: (found.get(key)?.labels ?? 0) + 1 });
  };
  for (const file of await filesIn(path)) {
    if (file.endsWith('.tar')) {
      for (const { name, data } of await readShard(join(path, file))) {
        if (name.endsWith('.json')) add(JSON.parse(data.toString()));
      }
    } else if (file.endsWith('panels.jsonl')) {
      for (const line of (await text(file)).trim().split('\n')) add(JSON.parse(line));
    }
  }
  return found;
}

describe('attribution.csv', () => {
  it('has every source that a label names, once, and no other', async () => {
    const rows = csvRecords(await text('attribution.csv'));
    const named = await sourcesInLabels();
    expect(rows.map(({ pack, file }) => `${pack} ${file}`).sort()).toEqual([...named.keys()].sort());
    for (const { pack, file, licence, author, url, times, used_in } of rows) {
      const { source, labels } = named.get(`${pack} ${file}`)!;
      expect({ licence, author, url }).toEqual({
        licence: source.licence ?? '',
        author: source.author ?? '',
        url: source.url ?? '',
      });
      expect(Number(times)).toBe(labels);
      const places = used_in!.split(' ').map(place => Number(/:(\d+)$/.exec(place)![1]));
      expect(places.reduce((a, b) => a + b)).toBe(labels);
    }
  });
});

describe('croissant.json', () => {
  interface Node {
    readonly '@id': string;
    readonly '@type': string;
    readonly [name: string]: unknown;
  }
  const read = async () =>
    JSON.parse(await text('croissant.json')) as Record<string, unknown> & {
      distribution: Node[];
      recordSet: (Node & { field: Node[] })[];
    };

  it('has what Croissant 1.1 requires', async () => {
    const dataset = await read();
    for (const name of ['name', 'description', 'url', 'datePublished'])
      expect(dataset[name]).toEqual(expect.any(String));
    expect(dataset).toMatchObject({
      '@type': 'sc:Dataset',
      conformsTo: 'http://mlcommons.org/croissant/1.1',
      name: '2D shapes and silhouettes of objects',
      datePublished: '2026-03-04',
      creator: { '@type': 'sc:Organization', name: expect.any(String) },
    });
    expect(dataset['@context']).toMatchObject({ sc: 'http://schema.org/', cr: 'http://mlcommons.org/croissant/' });
    expect(dataset.license).toEqual([
      'https://creativecommons.org/licenses/by/4.0/',
      'https://creativecommons.org/licenses/by-sa/3.0/',
      'https://spdx.org/licenses/CC0-1.0.html',
      'https://spdx.org/licenses/GPL-2.0-only.html',
      { '@type': 'sc:CreativeWork', name: 'LicenseRef-unknown' },
    ]);
  });

  it('has a file object for each file, of its size and sha256', async () => {
    const { distribution } = await read();
    const objects = distribution.filter(node => node['@type'] === 'cr:FileObject');
    const data = (await filesIn(path)).filter(file => /\.(tar|jsonl|csv)$/.test(file));
    expect(objects.map(({ contentUrl }) => contentUrl).sort()).toEqual(data.sort());
    for (const { contentUrl, contentSize, sha256: sum, encodingFormat } of objects) {
      const bytes = await readFile(join(path, contentUrl as string));
      expect([contentSize, sum]).toEqual([`${bytes.length} B`, sha256(bytes)]);
      expect(encodingFormat).toMatch(/^(application\/x-tar|application\/jsonl|text\/csv)$/);
    }
  });

  it('refers only to what it defines, and defines it once', async () => {
    const dataset = await read();
    const defined: string[] = [];
    const named: string[] = [];
    const look = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      if ('@id' in value) (Object.keys(value).length === 1 ? named : defined).push(value['@id'] as string);
      for (const inner of Object.values(value)) look(inner);
    };
    const { '@context': _, ...rest } = dataset;
    look(rest);
    expect(new Set(defined).size).toBe(defined.length);
    expect(named.filter(id => !defined.includes(id))).toEqual([]);
  });

  it('has file sets of one file for each sample of their shards', async () => {
    const { distribution } = await read();
    const sets = distribution.filter(node => node['@type'] === 'cr:FileSet');
    expect(sets).toHaveLength(3 + 5 + 1);
    for (const { '@id': id, includes, containedIn } of sets.slice(0, -1)) {
      const pattern = new RegExp(`^[^.]+${String(includes).slice(1).replaceAll('.', '\\.')}$`);
      for (const { '@id': shard } of containedIn as Node[]) {
        const names = (await readShard(join(path, shard))).map(({ name }) => name);
        const keys = new Set(names.map(name => name.split('.')[0]));
        expect([id, names.filter(name => pattern.test(name)).length]).toEqual([id, keys.size]);
      }
    }
  });

  it('has a record set a condition of panel tests, with a picture for each of its lines', async () => {
    const { distribution, recordSet } = await read();
    const pictures = distribution.find(({ '@id': id }) => id === 'panels-real-picture-files')!;
    expect(pictures.includes).toBe('panels/real/*.jpg');
    const there = (await filesIn(path)).filter(file => /^panels\/real\/[^/]*\.jpg$/.test(file));
    const tests = jsonLines(await text('panels/real/panels.jsonl'));
    expect(tests.map(({ image }) => `panels/real/${image}`)).toEqual(there);
    const { field } = recordSet.find(({ '@id': id }) => id === 'panels-real')!;
    const names = field.map(({ name }) => name);
    for (const name of ['condition', 'image', 'question', 'choices', 'answer', 'chance']) expect(names).toContain(name);
    for (const { source } of field) {
      const { extract } = source as { extract: { jsonPath?: string } };
      if (extract.jsonPath) expect(tests[0]).toHaveProperty(extract.jsonPath.slice(2));
    }
  });

  it('says what only a publisher can fill in', async () => {
    const { creator, url } = await read();
    expect([creator, url]).toEqual([
      { '@type': 'sc:Organization', name: expect.stringContaining('to be filled in') },
      'https://example.org/to-be-filled-in',
    ]);
    const { body } = frontMatter(await text('README.md'));
    const [, list] = body.split('## Before you publish\n');
    for (const said of ['**Name**', '`creator`', '`citeAs`', '**Licence**: first clear', 'whom to write to'])
      expect(list).toContain(said);
  });

  it('has a record set a subset, whose paths find something in a label', async () => {
    const { recordSet } = await read();
    expect(recordSet.map(({ '@id': id }) => id)).toEqual(['shapes2d', 'silhouettes', 'panels-real', 'sources']);
    for (const { '@id': id, field } of recordSet.slice(0, 2)) {
      const [shard] = (await filesIn(path)).filter(file => file.startsWith(`${id}/`) && file.endsWith('.tar'));
      const files = await readShard(join(path, shard!));
      const label = JSON.parse(files.find(({ name }) => name.endsWith('.json'))!.data.toString());
      for (const { source } of field) {
        const { extract, transform } = source as { extract: { jsonPath?: string }; transform?: { regex: string } };
        if (extract.jsonPath) {
          const value = extract.jsonPath
            .slice(2)
            .split('.')
            .reduce((inner, name) => inner[name], label);
          expect([extract.jsonPath, value]).toEqual([extract.jsonPath, expect.anything()]);
        }
        if (transform) {
          const match = files.map(({ name }) => new RegExp(transform.regex).exec(name)?.[1]).find(Boolean);
          expect(match).toBe(label.key);
        }
      }
    }
  });

  it('names the packs as what it was derived from', async () => {
    const dataset = await read();
    const packs = dataset['prov:wasDerivedFrom'] as { name: string }[];
    const rows = csvRecords(await text('attribution.csv'));
    expect(packs.map(({ name }) => name)).toEqual([...new Set(rows.map(({ pack }) => pack))]);
  });
});

describe('README.md', () => {
  it('counts what there is and says how to load it', async () => {
    const { header, body } = frontMatter(await text('README.md'));
    const yaml = parse(header);
    expect(yaml).toMatchObject({
      license: 'other',
      license_link: 'attribution.csv',
      size_categories: ['n<1K'],
      task_categories: expect.arrayContaining(['image-classification', 'visual-question-answering']),
    });
    expect(yaml.configs.map(({ config_name }: { config_name: string }) => config_name)).toEqual([
      'shapes2d',
      'silhouettes',
    ]);
    expect(body).toMatch(/\| shapes2d \| 10 \| 2 \| 4 \| 16 \| 4 \|/);
    expect(body).toMatch(/\| silhouettes \| 2 \| 1 \| 1 \| 4 \| 3 \|/);
    expect(body).toContain('| real | 3 |');
    expect(body).toContain('shapes2d-train-{000000..000001}.tar');
    expect(body).toContain('open("panels/real/panels.jsonl", encoding="utf8")');
    expect(body).toMatch(/`real` tests are \*\*not known\*\*.*was not checked/);
    expect(body).toContain('load_dataset("path/to/this/folder", "shapes2d", split="train", streaming=True)');
  });

  it('says in how many images share-alike licences meet', async () => {
    const images = { both: 0 };
    for (const file of await filesIn(path)) {
      if (!/^(shapes2d|silhouettes)\/.*\.tar$/.test(file)) continue;
      for (const { name, data } of await readShard(join(path, file))) {
        if (!name.endsWith('.json')) continue;
        const licences = JSON.parse(data.toString()).sources.map(({ licence }: NamedSource) => licence);
        if (licences.includes('CC-BY-SA-3.0') && licences.includes('GPL-2.0-only')) images.both++;
      }
    }
    const { body } = frontMatter(await text('README.md'));
    expect(body).toContain('Several share-alike licences meet here: CC-BY-SA-3.0, GPL-2.0-only');
    expect(body).toContain(
      images.both === 0 ? 'No image is made from works under two' : `GPL-2.0-only: ${images.both}`,
    );
  });
});

describe('a card', () => {
  it('is left as it is until something is added, and made again when a file is gone', async () => {
    const before = await stat(join(path, 'README.md'));
    expect(await writeCard(run, signal)).toBe(false);
    expect((await stat(join(path, 'README.md'))).mtimeMs).toBe(before.mtimeMs);
    const [card, csv] = [await text('README.md'), await text('attribution.csv')];
    await rm(join(path, 'attribution.csv'));
    expect(await writeCard(run, signal)).toBe(true);
    await writeFile(join(path, 'attribution.csv'), `${csv}and more`);
    expect(await writeCard(run, signal)).toBe(true);
    expect([await text('README.md'), await text('attribution.csv')]).toEqual([card, csv]);
    await writeFile(join(path, 'croissant.json'), '{half');
    expect(await writeCard(run, signal)).toBe(true);
    await writePanels(path, 'later', 2);
    expect(await writeCard(run, signal)).toBe(true);
    expect(await text('README.md')).toContain('| later | 2 |');
  });

  it('of silhouettes alone tells of classes and of nothing that is not there', async () => {
    const path = join(scratch, 'silhouettes');
    await writeSmallRun(path);
    for (const folder of ['banks', 'shapes2d']) await rm(join(path, folder), { recursive: true });
    await writeCard(new RunFolder(path), signal);
    const { header, body } = frontMatter(await readFile(join(path, 'README.md'), 'utf8'));
    expect(parse(header)).toMatchObject({ pretty_name: 'Silhouettes of objects', tags: ['shape', 'webdataset'] });
    expect(body).toContain('# Silhouettes of objects');
    expect(body).toContain('print(label["annotated"]["label"], image.shape)');
    expect(body).not.toMatch(/LAS&T|instance`|instance_id|mask\.png|banks\/|Panel tests|natural|--format folders/);
    const { name, description } = JSON.parse(await readFile(join(path, 'croissant.json'), 'utf8'));
    expect([name, description]).toEqual([
      'Silhouettes of objects',
      'Silhouettes of objects: 4 samples of silhouettes.',
    ]);
  });

  it('tells of semantic and projected shapes where conditions name them, and how conditions are called', async () => {
    const path = join(scratch, 'semantic');
    await writeSmallRun(path);
    const record = JSON.parse(await readFile(join(path, 'run.json'), 'utf8'));
    const unusual = { source: 'projection', background: 'colour', shape: 'black', rotated: true };
    record.configuration.shapes2d.conditions = ['semantic-black-white-unrotated', unusual];
    // As an older version recorded it.
    delete record.configuration.aov;
    await writeFile(join(path, 'run.json'), JSON.stringify(record));
    await writeCard(new RunFolder(path), signal);
    const { body } = frontMatter(await readFile(join(path, 'README.md'), 'utf8'));
    expect(body).toMatch(/2D shapes are \*semantic\*: .*; \*projection\*: [^*]*\n/);
    expect(body).toContain(': semantic-black-white-unrotated, projection-coloured-black-rotated\n');
    expect(body).toContain('- Semantic shapes and their classes');
    expect(body).not.toContain('outline of a natural shape');
  });

  it('names shards one by one where some are missing between them', async () => {
    const path = join(scratch, 'gap');
    await writeSmallRun(path);
    const shard = join(path, 'shapes2d/train/shapes2d-train-00000');
    for (const end of ['tar', 'json']) await rename(`${shard}1.${end}`, `${shard}4.${end}`);
    await writeCard(new RunFolder(path), signal);
    expect(await readFile(join(path, 'README.md'), 'utf8')).toContain('shapes2d-train-{000000,000004}.tar"');
  });

  it('of a run without anything says so', async () => {
    const empty = join(scratch, 'empty');
    await writeSmallRun(empty);
    for (const folder of ['banks', 'shapes2d', 'silhouettes']) await rm(join(empty, folder), { recursive: true });
    await writeCard(new RunFolder(empty), signal);
    const { body } = frontMatter(await readFile(join(empty, 'README.md'), 'utf8'));
    expect(body).toContain('Nothing is finished yet.');
  });

  it('of no run is refused', async () => {
    await expect(writeCard(new RunFolder(scratch), signal)).rejects.toThrow('found no run.json');
  });
});
