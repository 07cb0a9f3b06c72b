import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './faults.ts';
import { jsonFrom, type Sidecar, sidecarSchema } from './shard-writer.ts';

/** A complete shard on disk. */
export interface FinishedShard {
  /** File name without extension. */
  readonly name: string;
  readonly tar: string;
  readonly sidecar: Sidecar;
}

/**
 * The complete shards of a folder, in the order of their names. A tar without its sidecar, or of another length than that
 * says, is passed over: it is made again when its run is continued.
 */
export async function* finishedShards(folder: string): AsyncGenerator<FinishedShard> {
  const files = (await readdir(folder).catch(unlessMissing)) ?? [];
  for (const file of files.filter(name => name.endsWith('.tar')).sort()) {
    const name = file.slice(0, -'.tar'.length);
    const tar = join(folder, file);
    const text = await readFile(join(folder, `${name}.json`), 'utf8').catch(unlessMissing);
    const sidecar = text === undefined ? undefined : sidecarSchema.safeParse(jsonFrom(text)).data;
    if (sidecar && sidecar.bytes === (await stat(tar)).size) yield { name, tar, sidecar };
  }
}
