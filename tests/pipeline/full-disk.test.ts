import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { FullDisk, fullDisk } from '../../pipeline/full-disk.ts';

const systemError = (code: string) => Object.assign(new Error(`${code}: write`), { code });

describe('a full disk', () => {
  it('is told by its folder', () => {
    expect(fullDisk(systemError('ENOSPC'), '/data/run')).toMatchObject({
      message: 'the disk is full: /data/run. Make room and run the same command again: it continues',
    });
    expect(fullDisk(systemError('EDQUOT'), '/data/run')).toMatchObject({
      message: expect.stringContaining('quota is used up: /data/run.'),
    });
  });

  it('of temporary files says how to name another', () => {
    expect((fullDisk(systemError('ENOSPC'), tmpdir()) as Error).message).toContain(
      `${tmpdir()} (temporary files: TMPDIR`,
    );
  });

  it('that is known already, and other errors, stay as they are', () => {
    const full = new FullDisk('/a', 'the disk is full');
    const other = systemError('EIO');
    expect([fullDisk(full, '/b'), fullDisk(other, '/b'), fullDisk(undefined, '/b')]).toEqual([full, other, undefined]);
  });
});
