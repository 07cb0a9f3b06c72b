import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { complaint, contentOf, generate, isLocked, scratchFolder, sidecarsOf, start, until } from './command.ts';
import { refusal } from './refusal.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();
/** Made with one worker. */
let one: string;
let inputs: readonly string[];

beforeAll(async () => {
  ({ run: one, inputs } = await smallRun());
});

describe('the number of workers', () => {
  it('changes no byte', async () => {
    const run = join(scratch, 'four-workers');
    await generate([...inputs, '--out', run, '--workers', '4']);
    const content = await contentOf(run);
    expect(content).toEqual(await contentOf(one));
    expect(Object.keys(content).filter(file => file.endsWith('.tar')).length).toBeGreaterThan(15);
  });
});

describe('processes that share a run folder', () => {
  /** Six photos in blocks of four (shapes) and of one (textures); scene shards are one block. */
  const blocks = { 'extract-shapes': 2, 'extract-textures': 6, shapes2d: 99, textures2d: 99 };

  it('with disjoint --shard-range make what one process makes', async () => {
    const run = join(scratch, 'shared');
    await inTwo(run, 'extract-shapes');
    const early = await refusal('generate', ...inputs, '--out', run, '--stage', 'shapes2d');
    expect(early).toContain('textures bank, which is not finished');
    await inTwo(run, 'extract-textures');
    await inTwo(run, 'shapes2d');
    await inTwo(run, 'textures2d');
    expect(await contentOf(run)).toEqual(await contentOf(one));
  });

  it('may begin at the same moment on an empty folder', async () => {
    const run = join(scratch, 'same-moment');
    const args = [...inputs, '--out', run, '--stage', 'extract-textures', '--workers', '1'];
    await Promise.all(['0..1', '2..3', '4..5'].map(range => generate([...args, '--shard-range', range])));
    const [mine, others] = [await contentOf(run), await contentOf(one)];
    // Cards and lists of sources are of what there is.
    const made = Object.keys(mine).filter(file => !/^(README\.md|attribution\.csv)$/.test(file));
    for (const file of made) expect([file, mine[file]]).toEqual([file, others[file]]);
    expect(Object.keys(mine).filter(file => file.endsWith('.tar'))).toHaveLength(6);
  });

  it('with ranges that overlap are refused', async () => {
    const run = join(scratch, 'overlapping');
    const args = [...inputs, '--out', run, '--stage', 'extract-textures', '--workers', '1'];
    const first = start(['generate', ...args, '--shard-range', '0..3']);
    await until(() => isLocked(run), first.ended);
    // Held, so that it cannot be over before the second looks.
    first.child.kill('SIGSTOP');
    const second = await generate([...args, '--shard-range', '3..5'], 2);
    first.child.kill('SIGCONT');
    expect(complaint(second)).toContain('disjoint --shard-range');
    expect((await first.ended).code).toBe(0);
  });

  /** Makes the shards of a stage by two processes at the same time; a round of photos needs the rounds before it. */
  async function inTwo(run: string, stage: keyof typeof blocks): Promise<void> {
    const count = Object.values(await sidecarsOf(one)).filter(sidecar => sidecar.stage === stage).length;
    expect(count).toBeGreaterThan(1);
    for (let first = 0; first < count; first += blocks[stage]) {
      const last = Math.min(first + blocks[stage], count) - 1;
      const middle = (first + last) >> 1;
      const ranges = middle < last ? [`${first}..${middle}`, `${middle + 1}..${last}`] : [`${first}..${last}`];
      const args = [...inputs, '--out', run, '--stage', stage, '--workers', '1'];
      await Promise.all(ranges.map(range => generate([...args, '--shard-range', range])));
    }
  }
});
