import { cp, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import {
  complaint,
  contentOf,
  damagedShards,
  filesIn,
  generate,
  isLocked,
  isPartial,
  scratchFolder,
  start,
  until,
} from './command.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();
let unbroken: string;
let inputs: readonly string[];

beforeAll(async () => {
  ({ run: unbroken, inputs } = await smallRun());
});

const finishedFiles = async (run: string) => (await filesIn(run)).filter(file => !isPartial(file));
const partialFiles = async (run: string) => (await filesIn(run)).filter(isPartial);
const hasShard = async (run: string) => (await filesIn(run)).some(file => file.endsWith('.tar'));

describe('kill -9', () => {
  it('at random moments leaves only whole shards, and the same command ends as if nothing had happened', async () => {
    const run = join(scratch, 'killed');
    const random = rng(1, 'tests', 'moments of kill -9');
    const last = Math.floor(0.8 * (await finishedFiles(unbroken)).length);
    // The first falls into the making of the photo list, the others anywhere.
    const moments = [1, ...Array.from({ length: 3 }, () => integer(random, 2, last))].sort((a, b) => a - b);
    for (const moment of moments) {
      const { child, ended } = start(['generate', ...inputs, '--out', run]);
      await until(async () => (await finishedFiles(run)).length >= moment, ended);
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ signal: 'SIGKILL' });
      expect(await damagedShards(run)).toEqual([]);
    }
    await generate([...inputs, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(unbroken));
  });
});

describe('a resumed run', () => {
  const run = join(scratch, 'resumed');

  it('makes unfinished shards anew and leaves finished ones as they are', async () => {
    await cp(unbroken, run, { recursive: true });
    // As a kill leaves it: the sidecar is there, the tar has not got its name yet.
    const unfinished = (await filesIn(run)).filter(file => file.endsWith('-000000.tar'));
    for (const tar of unfinished) {
      await rename(join(run, tar), join(run, `${tar}.partial`));
      await truncate(join(run, `${tar}.partial`), 700);
    }
    await rm(join(run, 'banks/shapes/index.json'));
    await writeFile(join(run, 'banks/shapes/index.json.1.partial'), '{"kind":');
    const untouched = await inodes(run);
    expect(untouched.size).toBeGreaterThan(5);
    await generate([...inputs, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(unbroken));
    for (const [tar, inode] of untouched) expect([tar, (await inodes(run)).get(tar)]).toEqual([tar, inode]);
  });

  it('that is complete makes nothing', async () => {
    const before = await inodes(run);
    const { stdout } = await generate([...inputs, '--out', run]);
    expect(await inodes(run)).toEqual(before);
    expect(stdout.match(/made earlier/g)).toHaveLength(4);
  });
});

async function inodes(run: string): Promise<Map<string, number>> {
  const tars = (await filesIn(run)).filter(file => file.endsWith('.tar'));
  return new Map(await Promise.all(tars.map(async tar => [tar, (await stat(join(run, tar))).ino] as const)));
}

describe('SIGINT', () => {
  it('ends with 130, leaves nothing half-written, and the same command continues', async () => {
    const run = join(scratch, 'interrupted');
    const { child, ended } = start(['generate', ...inputs, '--out', run]);
    await until(() => hasShard(run), ended);
    child.kill('SIGINT');
    const ending = await ended;
    expect(ending.code).toBe(130);
    expect(complaint(ending)).toBe('shapemill: interrupted; the same command continues where this one stopped');
    expect(await damagedShards(run)).toEqual([]);
    expect(await partialFiles(run)).toEqual([]);
    expect(await readdir(join(run, 'locks'))).toEqual([]);
    await generate([...inputs, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(unbroken));
  });
});

describe('the same command a second time while the first runs', () => {
  it('is refused, and the first goes on undisturbed', async () => {
    const run = join(scratch, 'twice');
    const first = start(['generate', ...inputs, '--out', run]);
    await until(() => isLocked(run), first.ended);
    // Held, so that it cannot be over before the second looks.
    first.child.kill('SIGSTOP');
    const second = await generate([...inputs, '--out', run], 2);
    first.child.kill('SIGCONT');
    expect(complaint(second)).toContain(`process ${first.child.pid} `);
    expect(complaint(second)).toContain('is working on');
    expect((await first.ended).code).toBe(0);
    expect(await contentOf(run)).toEqual(await contentOf(unbroken));
  });
});
