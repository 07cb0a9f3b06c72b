import { DamagedFile } from './faults.ts';
import { readTarFiles } from './tar.ts';

/** A sample as it lies in a shard: its files by field, the label beside them. */
export interface StoredSample {
  readonly key: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Of a key and the files of its sample; a path would lead out of the folder that is written. */
const NAME = /^[\w-]+\.[\w.]+$/;

/** A shard of samples, and how many its sidecar says there are. */
export interface StoredSamples {
  readonly tar: string;
  readonly samples: number;
}

/** The samples of a shard, in order. @throws DamagedFile also when there are more or fewer than its sidecar says. */
export async function* readSamples({ tar, samples }: StoredSamples): AsyncGenerator<StoredSample> {
  let key = '';
  let files: Record<string, Uint8Array> = {};
  let found = 0;
  for await (const batch of readTarFiles(tar)) {
    for (const { name, data } of batch) {
      if (!NAME.test(name)) throw new DamagedFile(`${tar}: no sample has a file "${name}"; the shard is damaged`);
      const dot = name.indexOf('.');
      const owner = name.slice(0, dot);
      if (owner !== key) {
        if (key !== '') yield { key, files };
        key = owner;
        files = {};
        found++;
      }
      files[name.slice(dot + 1)] = data;
    }
  }
  if (key !== '') yield { key, files };
  if (found !== samples)
    throw new DamagedFile(`${tar}: expected ${samples} samples, found ${found}; the shard is damaged`);
}
