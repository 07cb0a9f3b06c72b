import { readdir, readFile } from 'node:fs/promises';
import { BANK_KINDS } from '../bank-kinds.ts';
import { unlessMissing } from '../faults.ts';
import { SUBSETS } from '../generate-options.ts';
import type { RunFolder } from '../run-folder.ts';
import { jsonFrom, sidecarSchema } from '../shard-writer.ts';
import { SPLITS } from '../splits.ts';
import type { Place, Shard } from './check.ts';

/** Every folder of a run that holds shards, or may: banks first, since scenes are made of them. */
export const PLACES: readonly Place[] = [
  ...BANK_KINDS.map(bank => ({ bank })),
  ...SUBSETS.flatMap(subset => SPLITS.map(split => ({ subset, split }))),
];

/** Path of a folder of shards, relative to the run. */
export function folderOf(place: Place): string {
  return 'bank' in place ? `banks/${place.bank}` : `${place.subset}/${place.split}`;
}

/** The names in a folder of shards, sorted, those of folders with a slash behind; none where there is no such folder. */
export async function filesOf(run: RunFolder, place: Place): Promise<string[]> {
  const entries = (await readdir(run.at(folderOf(place)), { withFileTypes: true }).catch(unlessMissing)) ?? [];
  return entries.map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

/** Number in the name of a shard's file: `shapes2d-train-000012.tar`; undefined for a file of another name. */
export function shardNumber(place: Place, file: string, extension: 'tar' | 'json'): number | undefined {
  const name = 'bank' in place ? place.bank : `${place.subset}-${place.split}`;
  const digits = new RegExp(`^${name}-(\\d{6,})\\.${extension}$`).exec(file)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The shards of a run whose tars are there, finished or not, folder by folder. */
export async function findShards(run: RunFolder): Promise<Shard[]> {
  const shards: Shard[] = [];
  for (const place of PLACES) {
    for (const file of await filesOf(run, place)) {
      const number = shardNumber(place, file, 'tar');
      if (number === undefined) continue;
      const path = `${folderOf(place)}/${file}`;
      const text = await readFile(run.at(path.replace(/tar$/, 'json')), 'utf8').catch(unlessMissing);
      const sidecar = text === undefined ? undefined : sidecarSchema.safeParse(jsonFrom(text)).data;
      shards.push({ path, number, place, sidecar });
    }
  }
  return shards;
}
