import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shownPath } from '../../pipeline/run-folder.ts';
import { complaint, contentOf, damagedShards, filesIn, scratchFolder, start } from './command.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();
let unbroken: string;
let inputs: readonly string[];

beforeAll(async () => {
  ({ run: unbroken, inputs } = await smallRun());
});

/** A disk whose size can be changed. */
interface SmallDisk {
  readonly kind: string;
  readonly folder: string;
  resize(kilobytes: number): Promise<Record<string, string>>;
}

/** A file system in memory, where this user may mount one; else a Node whose writes fail after so many bytes. */
function smallDisk(): SmallDisk {
  const folder = join(scratch, 'disk');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return { kind: 'injected ENOSPC', folder, resize: limitedWrites };
  }
  afterAll(() => execFileSync('umount', ['-l', folder]));
  return {
    kind: 'small tmpfs',
    folder,
    async resize(kilobytes) {
      execFileSync('mount', ['-o', `remount,size=${kilobytes}k`, folder]);
      return {};
    },
  };
}

/** Environment of a process whose file handles write so many bytes and then find the disk full. */
async function limitedWrites(kilobytes: number): Promise<Record<string, string>> {
  const preload = join(scratch, 'limited-writes.cjs');
  await writeFile(
    preload,
    `const { isMainThread } = require('node:worker_threads');
    let room = ${1024 * kilobytes};
    if (isMainThread) require('node:fs/promises').open(__filename, 'r').then(async file => {
      const handle = Object.getPrototypeOf(file);
      await file.close();
      for (const name of ['write', 'writeFile']) {
        const original = handle[name];
        handle[name] = function (data, ...rest) {
          room -= Buffer.byteLength(data);
          if (room >= 0) return original.call(this, data, ...rest);
          return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
        };
      }
    });`,
  );
  return { NODE_OPTIONS: `--require ${preload}` };
}

const disk = smallDisk();

describe(`a full disk (${disk.kind})`, () => {
  it('ends with one clear line, leaves whole shards only, and after making room the run ends as ever', async () => {
    const run = join(disk.folder, 'run');
    // Full while the photos are listed, in the banks, and among the images.
    for (const kilobytes of [8, 120, 400]) {
      const ending = await start(['generate', ...inputs, '--out', run], await disk.resize(kilobytes)).ended;
      expect(complaint(ending)).toBe(
        `shapemill: the disk is full: ${shownPath(run)}. Make room and run the same command again: it continues`,
      );
      expect(ending.code).toBe(1);
      expect(await damagedShards(run)).toEqual([]);
    }
    expect((await filesIn(run)).filter(file => file.endsWith('.tar')).length).toBeGreaterThan(3);
    const ending = await start(['generate', ...inputs, '--out', run], await disk.resize(100_000)).ended;
    expect(ending.code).toBe(0);
    expect(await contentOf(run)).toEqual(await contentOf(unbroken));
  });
});
