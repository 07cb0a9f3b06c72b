import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ExitCode } from '../scripts/exit-code.ts';
import type { BenchSettings } from './measure.ts';

const COMMAND = fileURLToPath(new URL('../bin/shapemill.cjs', import.meta.url));
const ROUNDS = 3;

/** Seconds of each stage. */
type Seconds = Readonly<Record<string, number>>;

/**
 * The CPU stages of whole commands, in turns: one worker on one core, two workers on two cores, and two commands of one worker
 * on a core each at the same time, which is what the machine can give. Wall-clock time, so only on a quiet machine of two cores
 * or more.
 */
export async function workers({ photos, count = 500 }: BenchSettings): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench needs two cores');
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  const inputs = [
    ...(photos === undefined ? ['--shapes', '60'] : ['--photos', photos, '--shapes', '300', '--textures', '60']),
    ...[
      '--subsets',
      'shapes2d',
      'textures2d',
      '--shapes2d-images',
      String(count),
      '--textures2d-images',
      String(count),
    ],
    // Small shards: the first of a stage is begun by all workers.
    ...['--shard-samples', '64'],
  ];
  const run = async (name: string, cores: string, workers: number, seed = 1): Promise<Seconds> => {
    const out = join(folder, name);
    const command = [
      process.execPath,
      COMMAND,
      'generate',
      ...inputs,
      '--workers',
      String(workers),
      '--seed',
      String(seed),
    ];
    const { stderr } = await promisify(execFile)('taskset', ['-c', cores, ...command, '--out', out], {
      maxBuffer: 1 << 26,
    }).catch(error => {
      if (error.code !== ExitCode.fewerThanAsked) throw error;
      return error as { stderr: string };
    });
    await rm(out, { recursive: true, force: true });
    return secondsOf(stderr);
  };
  try {
    const rounds: { one: Seconds; two: Seconds; apart: readonly Seconds[] }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const one = await run('one', '0', 1);
      const two = await run('two', '0,1', 2);
      const apart = await Promise.all([run('apart-0', '0', 1), run('apart-1', '1', 1)]);
      rounds.push({ one, two, apart });
      for (const stage of Object.keys(one)) {
        const gain = one[stage]! / two[stage]!;
        const most = apart.reduce((sum, seconds) => sum + one[stage]! / seconds[stage]!, 0);
        console.log(
          `round ${round + 1}  ${stage.padEnd(18)}${one[stage]!.toFixed(1).padStart(6)} s with one, ${two[stage]!.toFixed(1).padStart(6)} s with two  ${gain.toFixed(2)} ×  (two commands apart: ${most.toFixed(2)} ×)`,
        );
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Seconds of each stage, from the lines of a command without a terminal. */
function secondsOf(lines: string): Seconds {
  const seconds: Record<string, number> = {};
  for (const line of lines.split('\n').filter(text => text.startsWith('{'))) {
    const said: { msg: string; stage?: string; seconds?: number } = JSON.parse(line);
    if (said.msg === 'stage ends') seconds[said.stage!] = said.seconds!;
  }
  return seconds;
}
