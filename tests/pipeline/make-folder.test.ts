import { mkdtempSync } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../pipeline/make-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-make-folder-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('making a folder', () => {
  it('makes those above it too, also when several do so at once, and takes one that is there', async () => {
    const deep = join(scratch, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(deep)));
    await makeFolder(deep);
    expect((await stat(deep)).isDirectory()).toBe(true);
  });

  it('ends with the system’s reason', async () => {
    const file = join(scratch, 'file');
    await writeFile(file, '');
    await expect(makeFolder(join(file, 'below'))).rejects.toThrow('ENOTDIR');
  });

  // Where the kernel says "no such file" of a new name in a folder that is there, Node's recursive mkdir never returns.
  it.runIf(process.platform === 'linux')('ends in /proc', async () => {
    await expect(makeFolder('/proc/shapemill/run')).rejects.toThrow(/mkdir '\/proc\/shapemill/);
  });
});
