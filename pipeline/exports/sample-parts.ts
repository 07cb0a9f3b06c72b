import { DamagedFile } from '../faults.ts';
import { finishedShards } from '../finished-shards.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import type { RunFolder } from '../run-folder.ts';
import { jsonFrom } from '../shard-writer.ts';
import { SPLITS, type Split } from '../splits.ts';
import { readTarFiles } from '../tar.ts';
import type { ExportPart } from './exporter.ts';

/** The samples of a shard. */
export interface SamplePart extends ExportPart {
  readonly subset: Subset;
  readonly split: Split;
  /** Number of the shard in its split, as its file name has it. */
  readonly number: string;
  readonly tar: string;
  /** Samples of the subset before it. */
  readonly first: number;
}

/** The shards of a run's subsets: by subset, split and number. */
export async function sampleParts(run: RunFolder, subsets: readonly Subset[] = SUBSETS): Promise<SamplePart[]> {
  const parts: SamplePart[] = [];
  for (const subset of subsets) {
    let first = 0;
    for (const split of SPLITS) {
      for await (const { name, tar, sidecar } of finishedShards(run.at(subset, split))) {
        const { samples, sha256 } = sidecar;
        parts.push({ name, subset, place: subset, split, number: /\d*$/.exec(name)![0], tar, samples, sha256, first });
        first += samples;
      }
    }
  }
  return parts;
}

/** A sample as it lies in a shard: its files by field, the label beside them. */
export interface StoredSample {
  readonly key: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Of a key and the files of its sample; a path would lead out of the folder that is written. */
const NAME = /^[\w-]+\.[\w.]+$/;

/** The samples of a shard, in order. @throws DamagedFile also when there are more or fewer than its sidecar says. */
export async function* readSamples({
  tar,
  samples,
}: Pick<SamplePart, 'tar' | 'samples'>): AsyncGenerator<StoredSample> {
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

/** A file of a sample. @throws DamagedFile when it has none. */
export function fileOf({ key, files }: StoredSample, field: string, { tar }: Pick<SamplePart, 'tar'>): Uint8Array {
  const bytes = files[field];
  if (!bytes) throw new DamagedFile(`${tar}: expected ${key}.${field}, found none; the shard is damaged`);
  return bytes;
}

/** A sample's label. @throws DamagedFile when it is none of the part's subset. */
export function labelOf<Label extends { readonly subset: Subset }>(
  sample: StoredSample,
  part: Pick<SamplePart, 'tar' | 'subset'>,
): Label {
  const bytes = fileOf(sample, 'json', part);
  const label = jsonFrom(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as
    | Label
    | undefined;
  if (label?.subset !== part.subset) {
    throw new DamagedFile(`${part.tar}: ${sample.key}.json is no label of ${part.subset}; the shard is damaged`);
  }
  return label;
}
