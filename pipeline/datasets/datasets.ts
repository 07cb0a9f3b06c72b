import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { hashUnit } from '../../sampling/hash.ts';
import { InputFault } from '../faults.ts';
import { listPacks, type PackSummary, packFiles } from '../packs/pack-store.ts';
import type { IndexedFile } from '../photo-index.ts';
import { onlyLicences, packSource, refuseNamesakes, type Source, type SourceFile } from '../photo-sources.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import { coco } from './coco.ts';
import { cub } from './cub.ts';
import { CUT_OUT_FILES, type CutOutEntry, cutouts } from './cutouts.ts';
import { DATASET_NAMES, type DatasetName, type DatasetReader, type Listing, type SegmentedObject } from './dataset.ts';
import { dis5k } from './dis5k.ts';
import { imagenetS } from './imagenet-s.ts';
import { plain } from './plain.ts';
import { sprites } from './sprites.ts';
import { thinobject5k } from './thinobject5k.ts';
import { voc } from './voc.ts';
import { wtp } from './wtp.ts';

/** Every reader by name. */
export const READERS: Readonly<Record<DatasetName, DatasetReader>> = {
  'imagenet-s': imagenetS,
  dis5k,
  thinobject5k,
  voc,
  cub,
  coco,
  wtp,
  sprites,
  cutouts,
  plain,
};

/** What the run's list keeps of a picture beside its file. */
export interface DatasetDetail {
  readonly dataset: DatasetName;
  readonly part: string | null;
  readonly entry: unknown;
}

/**
 * Turns what `--segmentation` and `--semantic` name into sources: `name:DIR`, `sprites` alone, or the id of an asset pack of
 * cut-outs.
 * @param licences keep only pictures under these SPDX licences; null keeps all.
 * @param listing of their files.
 * @throws UsageError for a name that is none, and for a folder without the dataset's layout.
 */
export async function resolveDatasets(
  names: readonly string[],
  licences: readonly string[] | null,
  listing: Listing = {},
): Promise<Source[]> {
  const sources = await Promise.all(names.map(name => openSource(name, listing)));
  refuseNamesakes(sources);
  return licences ? sources.map(source => onlyLicences(source, licences)) : sources;
}

async function openSource(value: string, listing: Listing): Promise<Source> {
  const packs = (await listPacks()).filter(({ pack }) => pack.kind === CUT_OUT_FILES.packs);
  const pack = packs.find(summary => summary.pack.id === value);
  return pack ? cutOutPack(pack) : openDataset(value, packs, listing);
}

/** The cut-outs of a pack: their licences and splits are known. */
function cutOutPack(summary: PackSummary): Source {
  const source = packSource(summary, CUT_OUT_FILES);
  const detail: DatasetDetail = { dataset: cutouts.name, part: null, entry: null satisfies CutOutEntry };
  return {
    ...source,
    async *files() {
      for await (const file of source.files()) yield { ...file, detail };
    },
  };
}

async function openDataset(value: string, packs: readonly PackSummary[], listing: Listing): Promise<Source> {
  const colon = value.indexOf(':');
  const word = colon < 0 ? value : value.slice(0, colon);
  const name = DATASET_NAMES.find(known => known === word);
  if (!name) {
    const ids = packs.map(({ pack }) => pack.id);
    throw new UsageError(
      `expected a segmentation dataset as name:DIR (names: ${DATASET_NAMES.join(', ')}) or an asset pack (${ids.join(', ')}), ` +
        `got "${value}"${didYouMean(word, [...DATASET_NAMES, ...ids])}`,
    );
  }
  const { pack, root, images } = await READERS[name].open(colon < 0 ? null : fromHome(value.slice(colon + 1)));
  return {
    pack,
    root,
    async *files(): AsyncGenerator<SourceFile> {
      const chosen = await chosenFiles(root);
      for await (const { group, part, entry, ...file } of images(listing)) {
        if (chosen && !chosen.has(hashUnit(file.file))) continue;
        const detail: DatasetDetail = { dataset: name, part, entry };
        yield { ...file, split: file.split ?? null, ...(group !== undefined && { group }), detail };
      }
    },
  };
}

/**
 * 53 bits of a hash of each usable file of the pack whose folder this is: annotations name pictures, too, that were not chosen into it.
 * @returns undefined for a folder that is no pack's.
 */
async function chosenFiles(root: string): Promise<ReadonlySet<number> | undefined> {
  for (const { pack, state, folder } of await listPacks()) {
    if (state !== 'added' || (await realpath(folder)) !== root) continue;
    const chosen = new Set<number>();
    for await (const { file } of packFiles(pack.id)) if (file.unusable === undefined) chosen.add(hashUnit(file.path));
    return chosen;
  }
  return undefined;
}

/** A path with its `~` replaced, which shells do at the beginning of a word only. */
const fromHome = (path: string) => path.replace(/^~(?=\/|$)/, () => homedir());

/** The objects of a listed picture, and what is known of its dataset. @throws InputFault when it cannot be used. */
export async function readObjects({
  path,
  provenance,
  detail,
  contradictory,
}: IndexedFile): Promise<{ reader: DatasetReader; part: string | null; objects: SegmentedObject[] }> {
  if (contradictory) throw new InputFault('the picture is listed more than once, with different masks or labels');
  const { dataset, part, entry } = detail as DatasetDetail;
  const reader = READERS[dataset];
  const objects = await reader.read({ path, file: provenance.file, entry });
  const nameless = objects.find(({ label }) => label.trim() === '');
  if (nameless) throw new InputFault(`the class "${nameless.category}" has no name`);
  return { reader, part, objects };
}
