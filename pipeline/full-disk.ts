import { tmpdir } from 'node:os';

/** There is no room for what has to be written, or no quota. */
export class FullDisk extends Error {
  override name = 'FullDisk';

  constructor(folder: string, what: string) {
    const hint = folder === tmpdir() ? ' (temporary files: TMPDIR names another folder for them)' : '';
    super(`${what}: ${folder}${hint}. Make room and run the same command again: it continues`);
  }
}

const WHAT: Readonly<Record<string, string>> = { ENOSPC: 'the disk is full', EDQUOT: 'the disk quota is used up' };

/** Turns the system's word for it into a {@link FullDisk} of a folder; returns other errors, and such as are one, as they are. */
export function fullDisk(error: unknown, folder: string): unknown {
  const what = WHAT[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  return what === undefined ? error : new FullDisk(folder, what);
}
