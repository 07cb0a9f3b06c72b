import type { IndexedFile } from '../photo-index.ts';
import { onlyLicences, refuseNamesakes, type Source, type SourceFile } from '../photo-sources.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import { DATASET_NAMES, type DatasetName, type DatasetReader, type SegmentedObject } from './dataset.ts';

/** Every reader by name. */
export const READERS: Readonly<Partial<Record<DatasetName, DatasetReader>>> = {};

/** What the run's list keeps of a picture beside its file. */
export interface DatasetDetail {
  readonly dataset: DatasetName;
  readonly part: string | null;
  readonly entry: unknown;
}

/**
 * Turns what `--segmentation` and `--semantic` name into sources: `name:DIR`, or `sprites` alone.
 * @param licences keep only pictures under these SPDX licences; null keeps all.
 * @throws UsageError for a name that is none, and for a folder without the dataset's layout.
 */
export async function resolveDatasets(names: readonly string[], licences: readonly string[] | null): Promise<Source[]> {
  const sources = await Promise.all(names.map(openSource));
  refuseNamesakes(sources);
  return licences ? sources.map(source => onlyLicences(source, licences)) : sources;
}

async function openSource(value: string): Promise<Source> {
  const colon = value.indexOf(':');
  const name = colon < 0 ? value : value.slice(0, colon);
  const reader = (READERS as Partial<Record<string, DatasetReader>>)[name];
  if (!reader) {
    throw new UsageError(
      `expected a segmentation dataset as name:DIR (names: ${DATASET_NAMES.join(', ')}), got "${value}"${didYouMean(name, DATASET_NAMES)}`,
    );
  }
  const { pack, root, images } = await reader.open(colon < 0 ? null : value.slice(colon + 1));
  return {
    pack,
    root,
    async *files(): AsyncGenerator<SourceFile> {
      for await (const { group, part, entry, ...file } of images()) {
        const detail: DatasetDetail = { dataset: reader.name, part, entry };
        yield { ...file, split: null, ...(group !== undefined && { group }), detail };
      }
    },
  };
}

/** The objects of a listed picture, and what is known of its dataset. @throws InputFault when it cannot be used. */
export async function readObjects({
  path,
  provenance,
  detail,
}: IndexedFile): Promise<{ reader: DatasetReader; part: string | null; objects: SegmentedObject[] }> {
  const { dataset, part, entry } = detail as DatasetDetail;
  const reader = READERS[dataset]!;
  return { reader, part, objects: await reader.read({ path, file: provenance.file, entry }) };
}
