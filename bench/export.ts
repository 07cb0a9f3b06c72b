import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCard } from '../pipeline/card/write-card.ts';
import { configure } from '../pipeline/configuration.ts';
import type { ExportFormat } from '../pipeline/exports/exporter.ts';
import { exportRun } from '../pipeline/exports/exports.ts';
import { readSamples } from '../pipeline/exports/sample-parts.ts';
import { finishedShards } from '../pipeline/finished-shards.ts';
import { generate } from '../pipeline/generate.ts';
import type { Subset } from '../pipeline/generate-options.ts';
import { bytesText, makeProgress, type Progress } from '../pipeline/progress.ts';
import { RunFolder } from '../pipeline/run-folder.ts';
import { ShardWriter } from '../pipeline/shard-writer.ts';
import { encodeTar } from '../pipeline/tar.ts';
import { type BenchSettings, runSettings } from './measure.ts';

/** What is exported to each format: its subset. */
const FORMATS: readonly (readonly [ExportFormat, Subset])[] = [
  ['folders', 'shapes2d'],
  ['imagefolder', 'shapes2d'],
  ['coco', 'shapes2d'],
  ['barebones', 'silhouettes'],
  ['imagefolder', 'silhouettes'],
];
const TURNS = 5;
const QUIET: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };

/**
 * Exports against `tar -x` of the same shards, wall-clock time, in turns: a few samples of a real run are made into one shard of
 * `count` of each subset.
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
    await writeCard(new RunFolder(run));
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
  const times: Record<'ours' | 'tar', number[]> = { ours: [], tar: [] };
  let bytes = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    for (const who of turn % 2 === 0 ? (['ours', 'tar'] as const) : (['tar', 'ours'] as const)) {
      if (who === 'tar') await mkdir(out);
      const began = performance.now();
      if (who === 'tar') execFileSync('tar', ['-xf', tar, '-C', out]);
      else await exportRun(run, { format, out, subsets: [subset] }, QUIET, new AbortController().signal);
      times[who].push((performance.now() - began) / 1000);
      await rm(out, { recursive: true });
    }
  }
  for await (const { sidecar } of finishedShards(join(run, subset, 'train'))) bytes += sidecar.bytes;
  const [ours, theirs] = [median(times.ours), median(times.tar)];
  console.log(
    `${`${format} of ${subset}`.padEnd(28)} ${count} samples, ${bytesText(bytes)}: ours ${ours.toFixed(2)} s (${Math.round(count / ours)}/s), ` +
      `tar -x ${theirs.toFixed(2)} s, ${Math.round((100 * theirs) / ours)} % of its speed`,
  );
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;
