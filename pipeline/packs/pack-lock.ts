import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { unlessMissing } from '../faults.ts';
import { isAlive } from '../process-alive.ts';
import { jsonFrom } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';

const lockSchema = z.strictObject({ pid: z.int(), host: z.string() });

/**
 * Keeps others from adding or pruning the same pack at the same time; a lock that a dead process of this machine left is none.
 * @returns what gives the pack free. @throws UsageError when another process has it.
 */
export async function lockPack(path: string, id: string): Promise<() => Promise<void>> {
  const own = { pid: process.pid, host: hostname() };
  for (;;) {
    try {
      await writeFile(path, JSON.stringify(own), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const text = await readFile(path, 'utf8').catch(unlessMissing);
    const other = lockSchema.safeParse(text === undefined ? undefined : jsonFrom(text)).data;
    if (other && (other.host !== own.host || isAlive(other.pid))) {
      throw new UsageError(
        `${id} is being added or pruned by process ${other.pid} on ${other.host}; if that is not so, remove ${path}`,
      );
    }
    await rm(path, { force: true });
  }
}
