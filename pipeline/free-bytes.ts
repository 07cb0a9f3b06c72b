import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Free bytes where a folder is or will be. */
export async function freeBytes(path: string): Promise<number> {
  for (let at = resolve(path); ; at = join(at, '..')) {
    const facts = await statfs(at).catch(() => undefined);
    if (facts) return facts.bavail * facts.bsize;
  }
}
