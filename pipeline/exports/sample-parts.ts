import { DamagedFile } from '../faults.ts';
import { finishedShards } from '../finished-shards.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import type { RunFolder } from '../run-folder.ts';
import { jsonFrom } from '../shard-writer.ts';
import { SPLITS, type Split } from '../splits.ts';
import type { StoredSample } from '../stored-samples.ts';
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
