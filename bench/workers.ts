import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Sidecar } from '../pipeline/shard-writer.ts';
import { ExitCode } from '../scripts/exit-code.ts';
import type { BenchSettings } from './measure.ts';

const COMMAND = fileURLToPath(new URL('../bin/shapemill.cjs', import.meta.url));
const ROUNDS = 3;

/**
 * Each CPU stage in turns: with one worker on one core, with two workers on two cores, and as two commands of one worker on a
 * core each at the same time, which is what the machine can give. Wall-clock rates in whole commands, from the stage's first
 * shard on, so that starting is not counted; only for a quiet machine of two cores or more. The turns are short, since its speed
 * changes within minutes.
 */
export async function workers({ photos = 'starter-photos', count = 400 }: BenchSettings): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench needs two cores');
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  const banks = join(folder, 'banks');
  const drawn = ['--shape-bank', banks, '--texture-bank', banks];
  const stages: Record<string, readonly string[]> = {
    shapes2d: [...drawn, '--subsets', 'shapes2d', '--shapes2d-images', String(count)],
    textures2d: [...drawn, '--subsets', 'textures2d', '--textures2d-images', String(count)],
    // As many as a first look at 300 photos gives: later looks wait for the one before, which is another matter.
    'extract-shapes': ['--photos', photos, '--shapes', '160'],
    'extract-textures': ['--photos', photos, '--textures', '30'],
  };
  const run = async (stage: string, name: string, cores: string, workers: number): Promise<number> => {
    const out = join(folder, name);
    const options = [...stages[stage]!, '--stage', stage, '--shard-samples', '16', '--workers', String(workers)];
    await command(['taskset', '-c', cores, ...generate(...options, '--out', out)]);
    const rate = await rateOf(out);
    await rm(out, { recursive: true, force: true });
    return rate;
  };
  try {
    await command(generate('--shapes', '60', '--subsets', 'shapes2d', 'textures2d', '--out', banks));
    for (const stage of Object.keys(stages)) {
      const alone: number[] = [];
      const two: number[] = [];
      const apart: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        alone.push(await run(stage, 'one', '0', 1));
        two.push(await run(stage, 'two', '0,1', 2));
        const [first, second] = await Promise.all(['0', '1'].map(core => run(stage, `apart-${core}`, core, 1)));
        apart.push(first! + second!);
      }
      const rate = median(alone).toFixed(1).padStart(5);
      const times = (rates: number[]) => gains(rates.map((value, round) => value / alone[round]!));
      console.log(`${stage.padEnd(17)} one worker ${rate}/s, two workers ${times(two)}, two commands ${times(apart)}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const generate = (...options: string[]) => [process.execPath, COMMAND, 'generate', ...options];

/** `1.79 × (2.08 1.79 1.65)`: the median, and what it is of. */
const gains = (values: readonly number[]) =>
  `${median(values).toFixed(2)} × (${values.map(value => value.toFixed(2)).join(' ')})`;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;

async function command([file, ...args]: readonly string[]): Promise<void> {
  await promisify(execFile)(file!, args, { maxBuffer: 1 << 26 }).catch(error => {
    if (error.code !== ExitCode.fewerThanAsked) throw error;
  });
}

/** Photos or images a second between the end of a run's first shard and that of its last. */
async function rateOf(run: string): Promise<number> {
  const shards: { ended: number; things: number }[] = [];
  for (const file of await readdir(run, { recursive: true })) {
    if (!/-\d{6}\.json$/.test(file)) continue;
    const { samples, counts }: Sidecar = JSON.parse(await readFile(join(run, file), 'utf8'));
    shards.push({ ended: (await stat(join(run, file))).mtimeMs, things: counts.looks ?? samples });
  }
  shards.sort((a, b) => a.ended - b.ended);
  const things = shards.slice(1).reduce((sum, shard) => sum + shard.things, 0);
  return (1000 * things) / (shards.at(-1)!.ended - shards[0]!.ended);
}
