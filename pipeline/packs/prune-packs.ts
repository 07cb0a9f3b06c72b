import { lstat, opendir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hashUnit } from '../../sampling/hash.ts';
import { unlessMissing } from '../faults.ts';
import { makeFolder } from '../make-folder.ts';
import { FAILURES_NAME, isBeingAdded, WORK_FOLDER } from './add-pack.ts';
import { INDEX_NAME, readPackEntries, readPackHeader } from './pack-index.ts';
import { lockPack } from './pack-lock.ts';
import { removeEmpty } from './remove-empty.ts';

/** What was removed of a pack. */
export interface Pruned {
  readonly files: number;
  readonly bytes: number;
  /** An add of it was begun and not finished; then nothing was removed. */
  readonly unfinished: boolean;
}

/**
 * Removes what a pack's folder holds and its index does not list: files of an earlier choice, and partial ones. Files elsewhere
 * (a folder's that was added) are nothing of it, and a folder that is no pack is left alone.
 * @param folder of the pack.
 * @param dropUnfinished also what an unfinished add has brought so far, which could be continued otherwise.
 * @throws UsageError when it is being added.
 */
export async function prunePack(folder: string, id: string, dropUnfinished: boolean): Promise<Pruned> {
  const work = join(folder, WORK_FOLDER);
  const begun = await isBeingAdded(folder);
  const unfinished = begun || folder.endsWith('.partial');
  const header = await readPackHeader(folder);
  // What is neither a pack nor becomes one is somebody else's.
  if (!header && !unfinished) return { files: 0, bytes: 0, unfinished };
  if (unfinished && !dropUnfinished) return { files: 0, bytes: 0, unfinished };
  // An add that begins now would bring what no index lists yet.
  await makeFolder(work);
  const lock = join(work, 'lock');
  const unlock = await lockPack(lock, id);
  const listed = new Set<number>([INDEX_NAME, FAILURES_NAME].map(name => hashUnit(name)));
  if (header) for await (const { path } of readPackEntries(folder)) listed.add(hashUnit(path));
  const pruned = { files: 0, bytes: 0 };
  try {
    await pruneFolder('');
  } finally {
    await unlock();
    await removeEmpty(work, folder);
  }
  return { ...pruned, unfinished: false };

  /** @returns whether nothing is left in it. */
  async function pruneFolder(inside: string): Promise<boolean> {
    let left = 0;
    for await (const entry of await opendir(join(folder, inside))) {
      const name = inside + entry.name;
      const path = join(folder, name);
      if (entry.isDirectory()) {
        if (await pruneFolder(`${name}/`)) await rmdir(path);
        else left++;
      } else if (path === lock || (header && listed.has(hashUnit(name)))) left++;
      else {
        pruned.files++;
        pruned.bytes += (await lstat(path)).size;
        await rm(path);
      }
    }
    return left === 0;
  }
}

/** Ids of the packs whose folders lie in the data folder, complete or not. */
export async function packFoldersIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? [];
  return entries
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}
