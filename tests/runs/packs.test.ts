import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCsv } from '../../pipeline/datasets/csv.ts';
import type { EnvironmentLabel, MeshLabel, Sample2dLabel } from '../../pipeline/labels.ts';
import { type PackEntry, readPackEntries } from '../../pipeline/packs/pack-index.ts';
import { splitOf } from '../../pipeline/photo-index.ts';
import { hashId } from '../../sampling/hash.ts';
import { packServer } from '../pipeline/packs/pack-server.ts';
import { smallZip } from '../pipeline/packs/small-zip.ts';
import { hdrFile } from '../pipeline/panoramas/panorama-writers.ts';
import { complaint, scratchFolder, start } from './command.ts';
import { nameInSplit, writePhotos, writeRecipe } from './photo-folder.ts';
import { labelsIn } from './shard-files.ts';

const scratch = scratchFolder();
const data = join(scratch, 'data');
const server = await packServer();
afterAll(() => server.close());

/** Runs a command with packs of its own, and expects it to end well. */
async function command(...args: string[]): Promise<string> {
  const ending = await start(args, { SHAPEMILL_DATA: data }).ended;
  if (ending.code !== 0) throw new Error(`expected exit code 0, got ${ending.code}\n${ending.stderr}`);
  return ending.stdout;
}

async function entriesOf(pack: string): Promise<Map<string, PackEntry>> {
  const entries = new Map<string, PackEntry>();
  for await (const entry of readPackEntries(join(data, 'packs', pack))) entries.set(entry.path, entry);
  return entries;
}

/** What a label says of a file's origin. */
interface Told {
  readonly pack: string;
  readonly file: string;
  readonly licence: string | null;
  readonly author: string | null;
  readonly url: string | null;
}
const rightsOf = ({ licence, author, url }: Omit<Told, 'pack' | 'file'>) => ({ licence, author, url });

/** Serves the small photos, each under a name that puts it into the split it had, and lists them with their rights. */
async function listPhotos(): Promise<string> {
  const photos = await writePhotos(scratch);
  const lines = ['url,licence,author,source'];
  const add = (name: string, bytes: Buffer, licence: string) => {
    server.files.set(`/${name}`, bytes);
    lines.push(`${server.origin}/${name},${licence},"Author, of ${name}",https://example.org/of/${name}`);
  };
  for (const [i, file] of (await readdir(photos)).sort().entries()) {
    const bytes = await readFile(join(photos, file));
    const split = splitOf(hashId(`photos/${file}`));
    const licence = i % 2 === 0 ? 'CC-BY-4.0' : 'CC0-1.0';
    add(nameInSplit('photos/127.0.0.1', file.replace(/\..*$/, ''), split), bytes, licence);
    if (i === 0) add('not-free.jpg', Buffer.concat([bytes, Buffer.from('x')]), 'CC-BY-NC-4.0');
  }
  const list = join(scratch, 'photos.csv');
  await writeFile(list, lines.join('\n'));
  return list;
}

describe('a run on packs that were fetched', () => {
  it('names pack, file, licence, author and address of each photo in labels and in attribution.csv', async () => {
    const said = await command('assets', 'add', 'url', await listPhotos());
    expect(said).toMatch(/^photos: 7 files, .*\nuse it: npm run generate -- --photos photos\n$/);
    const entries = await entriesOf('photos');
    expect(entries.size).toBe(7);

    const run = join(scratch, 'run');
    const recipe = await writeRecipe(join(scratch, 'small.json'), { subsets: ['shapes2d'], shapes: 5, textures: 12 });
    const licences = ['--licences', 'CC-BY-4.0', 'CC0-1.0'];
    await command('generate', '--photos', 'photos', ...licences, '--recipe', recipe, '--out', run);
    const labels = await labelsIn<Sample2dLabel>(run, 'shapes2d/');
    const used = new Map(labels.flatMap(({ sources }) => sources as readonly Told[]).map(told => [told.file, told]));
    expect(labels.length).toBeGreaterThanOrEqual(20);
    expect(used.size).toBeGreaterThan(1);
    for (const [file, told] of used) {
      const entry = entries.get(file)!;
      expect(told.pack).toBe('photos');
      expect(rightsOf(told)).toEqual(rightsOf(entry));
      expect(entry.author).toBe(`Author, of ${file.slice('127.0.0.1/'.length)}`);
      expect(entry.licence).not.toBe('CC-BY-NC-4.0');
    }
    const listed = new Map<string, Readonly<Record<string, string>>>();
    for await (const { values } of readCsv(join(run, 'attribution.csv'), ['file'])) listed.set(values.file!, values);
    for (const file of used.keys())
      expect(listed.get(file)).toMatchObject({ pack: 'photos', ...rightsOf(entries.get(file)!) });
    for (const [file, values] of listed) expect(values).toMatchObject(rightsOf(entries.get(file)!));
  });

  it('and of meshes and panoramas, without those that are marked as unusable', async () => {
    const cube = Buffer.from('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n');
    const flat = Buffer.from('v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n');
    const scans = [
      { path: 'scans/one.obj', bytes: cube },
      { path: 'scans/flat.obj', bytes: flat },
      { path: 'scans/readme.txt', bytes: Buffer.from('no mesh') },
    ];
    server.files.set('/scans.zip', smallZip(scans));
    server.files.set('/skies/day.hdr', Buffer.from(hdrFile(64, 32, (x, y) => [x / 64, y / 32, 0.5])));
    await writeFile(join(scratch, 'skies.txt'), `# panoramas\n${server.origin}/skies/day.hdr\n`);
    const rights = ['--licence', 'CC-BY-4.0', '--author', 'A. Person'];
    const said = await command('assets', 'add', 'url', `${server.origin}/scans.zip`, '--kind', 'meshes', ...rights);
    expect(said).toContain('1 of them are marked as unusable');
    await command('assets', 'add', 'url', join(scratch, 'skies.txt'), '--kind', 'environments', ...rights);
    expect(await command('assets', 'verify')).toMatch(
      /scans: 2 of 2 files as recorded\nskies: 1 of 1 files as recorded/,
    );

    const run = join(scratch, 'run3d');
    const packs = ['--meshes', 'scans', '--environments', 'skies'];
    const stages = ['--subsets', 'shapes3d', '--stage', 'prepare-meshes', 'prepare-environments'];
    await command('generate', '--shapes', '2', ...packs, ...stages, '--out', run);
    const meshes = await labelsIn<MeshLabel>(run, 'banks/meshes/');
    const skies = await labelsIn<EnvironmentLabel>(run, 'banks/environments/');
    const told = [...meshes, ...skies].map(({ provenance }) => provenance);
    const known = { licence: 'CC-BY-4.0', author: 'A. Person' };
    expect(told).toEqual([
      { pack: 'scans', file: 'scans/one.obj', ...known, url: `${server.origin}/scans.zip` },
      { pack: 'skies', file: '127.0.0.1/skies/day.hdr', ...known, url: `${server.origin}/skies/day.hdr` },
    ]);

    const none = await start(
      ['generate', '--shapes', '2', ...packs, ...stages, '--licences', 'CC0-1.0', '--out', run + 2],
      {
        SHAPEMILL_DATA: data,
      },
    ).ended;
    expect([none.code, complaint(none)]).toEqual([
      2,
      expect.stringContaining('found none under CC0-1.0: what is there is under CC-BY-4.0'),
    ]);
  });
});
