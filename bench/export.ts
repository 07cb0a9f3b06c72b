import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCard } from '../pipeline/card/write-card.ts';
import { configure } from '../pipeline/configuration.ts';
import type { ExportFormat } from '../pipeline/exports/exporter.ts';
import { exportRun } from '../pipeline/exports/exports.ts';
import { finishedShards } from '../pipeline/finished-shards.ts';
import { generate } from '../pipeline/generate.ts';
import type { Subset } from '../pipeline/generate-options.ts';
import { makeProgress, type Progress } from '../pipeline/progress.ts';
import { RunFolder } from '../pipeline/run-folder.ts';
import { ShardWriter } from '../pipeline/shard-writer.ts';
import { readSamples } from '../pipeline/stored-samples.ts';
import { encodeTar } from '../pipeline/tar.ts';
import { type BenchSettings, cpuSeconds, printRows, runSettings } from './measure.ts';

/** What is exported to each format: its subset. */
const FORMATS: readonly (readonly [ExportFormat, Subset])[] = [
  ['folders', 'shapes2d'],
  ['imagefolder', 'shapes2d'],
  ['coco', 'shapes2d'],
  ['barebones', 'silhouettes'],
  ['imagefolder', 'silhouettes'],
];
const TURNS = 4;
const QUIET: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };

/**
 * Exports against `tar -x` of the same shards, in turns: a few samples of a real run are made into one shard of `count` of each
 * subset.
 */
export async function exports({ photos, count = 1000 }: BenchSettings): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  try {
    const run = join(scratch, 'run');
    const subsets: Subset[] = ['shapes2d', 'silhouettes'];
    const configuration = await configure({ subsets, 'shapes2d-images': 40, ...(photos && { photos: [photos] }) });
    const { signal } = new AbortController();
    await generate(configuration, runSettings(run), makeProgress(), signal);
    for (const subset of subsets) await multiply(run, subset, count);
    await writeCard(new RunFolder(run), signal);
    for (const [format, subset] of FORMATS) await compare(run, format, subset, count, scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Makes one shard of a subset, of the samples of its training shards again and again, under keys of their own. */
async function multiply(run: string, subset: Subset, count: number): Promise<void> {
  const folder = join(run, subset, 'train');
  const samples: { key: string; files: Readonly<Record<string, Uint8Array>> }[] = [];
  for await (const { tar, sidecar } of finishedShards(folder)) {
    for await (const sample of readSamples({ tar, samples: sidecar.samples })) samples.push(sample);
  }
  for (const other of ['val', 'test']) await rm(join(run, subset, other), { recursive: true, force: true });
  for (const file of await readdir(folder)) await rm(join(folder, file));
  const writer = await ShardWriter.create(join(folder, `${subset}-train-000000`));
  for (let i = 0; i < count; i++) {
    const { key: old, files } = samples[i % samples.length]!;
    const key = `${subset}-${String(Math.floor(i / 5)).padStart(6, '0')}-${i % 5}`;
    const members = Object.entries(files).map(([field, data]) => ({
      name: `${key}.${field}`,
      data: field === 'json' ? Buffer.from(Buffer.from(data).toString().replaceAll(old, key)) : data,
    }));
    await writer.append(encodeTar(members).bytes);
  }
  await writer.finish({ stage: subset, shard: 0, samples: count, seconds: 1, faults: [], counts: {} });
}

async function compare(
  run: string,
  format: ExportFormat,
  subset: Subset,
  count: number,
  scratch: string,
): Promise<void> {
  const out = join(scratch, 'out');
  const tar = join(run, subset, 'train', `${subset}-train-000000.tar`);
  let [ours, theirs] = [0, 0];
  for (let turn = 0; turn < TURNS; turn++) {
    const mine = await cpuSeconds(() =>
      exportRun(run, { format, out, subsets: [subset] }, QUIET, new AbortController().signal),
    );
    await rm(out, { recursive: true });
    await mkdir(out);
    theirs += tarSeconds(tar, out);
    await rm(out, { recursive: true });
    // The first turn warms the code up.
    if (turn === 0) theirs = 0;
    else ours += mine.seconds;
  }
  const samples = (TURNS - 1) * count;
  console.log(`${format} of ${subset}`);
  printRows('samples', [
    { name: 'ours', count: samples, seconds: ours },
    { name: 'tar -x', count: samples, seconds: theirs, note: `${Math.round((100 * theirs) / ours)} % of its speed` },
  ]);
}

/** CPU seconds that `tar -x` takes: a shell tells them of its children, in its second line of `times`. */
function tarSeconds(tar: string, out: string): number {
  const said = execFileSync('sh', ['-c', 'tar -xf "$0" -C "$1" && times', tar, out], { encoding: 'utf8' });
  const [, children] = said.trim().split('\n');
  return [...children!.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
}
