import { spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { type Header, pack } from 'tar-stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { generate, scratchFolder, sidecarsOf } from '../runs/command.ts';
import { writePhotos, writeRecipe } from '../runs/photo-folder.ts';
import { writeCoco } from '../runs/segmentation-folder.ts';
import { readShard, type ShardFile } from '../runs/shard-files.ts';

const READER = fileURLToPath(new URL('./read_shards.py', import.meta.url));
const missing = spawnSync('python3', ['--version']).status !== 0;
const reason = missing ? ' (skipped: no python3 here)' : '';

const scratch = scratchFolder();
const run = join(scratch, 'run');
const silhouettes = join(scratch, 'silhouettes');

beforeAll(async () => {
  if (missing) return;
  const data = await writeCoco(
    join(scratch, 'coco'),
    [10, 20, 30, 40].map(side => [
      { category: 'cat', box: [5, 7, side, side] },
      { category: 'dog', box: [60, 10, 40, side] },
    ]),
    120,
    90,
  );
  const options = ['--subsets', 'silhouettes', '--all-instances', '--margin', '0.1', '--max-side', '64'];
  await generate([...options, '--segmentation', `coco:${data}`, '--out', silhouettes]);
  const recipe = await writeRecipe(join(scratch, 'small.json'));
  await generate(['--photos', await writePhotos(scratch), '--recipe', recipe, '--out', run]);
});

function read(folder: string) {
  const { status, stdout, stderr } = spawnSync('python3', [READER, folder], { encoding: 'utf8' });
  return { status, counts: stdout && JSON.parse(stdout), problems: stderr };
}

describe('a reader made of Python’s standard library', () => {
  it.skipIf(missing)(`reads every shard of a run and finds nothing wrong${reason}`, async () => {
    const { status, counts, problems } = read(run);
    expect(problems).toBe('');
    expect(status).toBe(0);
    const sidecars = Object.entries(await sidecarsOf(run));
    for (const kind of ['shapes', 'textures', 'shapes2d', 'textures2d']) {
      const mine = sidecars.filter(([file]) => file.includes(`/${kind}-`));
      const samples = mine.reduce((sum, [, sidecar]) => sum + sidecar.samples, 0);
      expect(counts[kind]).toEqual({ shards: mine.length, samples });
      expect(samples).toBeGreaterThan(6);
    }
  });

  it.skipIf(missing)(`reads silhouettes and their masks${reason}`, () => {
    const { status, counts, problems } = read(silhouettes);
    expect(problems).toBe('');
    expect(status).toBe(0);
    expect(counts.silhouettes.samples).toBe(8);
  });
});

/** Ways to spoil a shard of shapes2d whose first two samples are files 0–2 and 3–5. */
const SPOILT: [what: string, found: string, change: (files: ShardFile[]) => ShardFile[], header?: Partial<Header>][] = [
  ['files of a sample apart', 'not next to each other', files => [...files, { ...files[0]!, name: textOf(files[0]!) }]],
  ['a field twice', 'repeats a field', ([a, ...rest]) => [a!, a!, ...rest]],
  ['a field missing', 'has fields', files => files.slice(1)],
  ['fields in another order', 'has fields', ([a, b, ...rest]) => [b!, a!, ...rest]],
  ['a dot in a key', 'has fields', files => files.map(file => ({ ...file, name: file.name.replace('-', '.') }))],
  ['a time', 'has time, mode or owner', files => files, { mtime: new Date(1e12) }],
  ['an owner', 'has time, mode or owner', files => files, { uid: 1000 }],
  ['the mask of another sample', 'but the mask has', files => files.with(2, { ...files[2]!, data: files[5]!.data })],
  ['the label of another sample', 'of another sample', files => files.with(1, { ...files[1]!, data: files[4]!.data })],
  [
    'a truncated mask',
    'a PNG is cut off',
    files => files.with(2, { ...files[2]!, data: files[2]!.data.subarray(0, -20) }),
  ],
];

const textOf = ({ name }: ShardFile) => `${name.split('.')[0]}.txt`;

describe('the reader finds', () => {
  it.skipIf(missing).each(SPOILT)(`%s${reason}`, async (_, found, change, header) => {
    const copy = join(scratch, 'spoilt');
    await cp(run, copy, { recursive: true });
    const shard = join(copy, 'shapes2d', 'val', 'shapes2d-val-000000.tar');
    const files = await readShard(shard);
    expect(files.length).toBeGreaterThanOrEqual(6);
    const tar = pack();
    for (const { name, data } of change(files)) tar.entry({ name, mode: 0o644, mtime: new Date(0), ...header }, data);
    tar.finalize();
    await pipeline(tar, createWriteStream(shard));
    const { status, problems } = read(copy);
    expect(problems).toContain(found);
    expect(problems.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(1);
  });

  it.skipIf(missing)(`a key in two shards, and a shard missing in between${reason}`, async () => {
    const copy = join(scratch, 'doubled');
    await cp(run, copy, { recursive: true });
    const shard = (number: number, end: string) => join(copy, 'shapes2d', 'val', `shapes2d-val-00000${number}.${end}`);
    for (const end of ['tar', 'json']) await writeFile(shard(1, end), await readFile(shard(0, end)));
    expect(read(copy).problems).toContain('is in two shards');
    for (const end of ['tar', 'json']) await writeFile(shard(9, end), await readFile(shard(0, end)));
    expect(read(copy).problems).toContain('shapes2d/val has shards');
  });
});
