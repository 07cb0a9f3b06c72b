import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { unlessMissing } from '../faults.ts';
import { sha256OfFile } from '../sha256.ts';
import { UsageError } from '../usage-error.ts';
import { findPack, loadManifest, type Manifest, PACKAGE_ROOT, type Pack, type PackFile } from './manifest.ts';
import { type PackEntry, type PackHeader, readPackEntries, readPackHeader } from './pack-index.ts';

/** Where packs are looked for; both default to the user's own. */
export interface PackPlaces {
  readonly manifest?: Manifest;
  readonly dataFolder?: string;
}

/** `built-in` comes with the repository, `added` lies in the data folder, `not added` can be fetched. */
export type PackState = 'built-in' | 'added' | 'not added';

export interface PackSummary {
  readonly pack: Pack;
  readonly state: PackState;
  /** Where its files lie, or would lie. */
  readonly folder: string;
  /** 0 when it is not added. */
  readonly files: number;
  readonly bytes: number;
  /** Of an added pack. */
  readonly header: PackHeader | undefined;
}

export interface PackProblem {
  readonly path: string;
  readonly problem: 'missing' | 'wrong size' | 'wrong sha256';
}

/** What is known of a file of any pack; manifests have hand-made splits. */
export type KnownFile = PackEntry & Pick<PackFile, 'split'>;

export interface LocatedFile {
  /** Absolute. */
  readonly path: string;
  readonly file: KnownFile;
}

/** $SHAPEMILL_DATA, else $XDG_DATA_HOME/shapemill, else ~/.local/share/shapemill. Empty variables count as unset. */
export function defaultDataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.SHAPEMILL_DATA || join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'shapemill');
}

/** Folder that holds all added packs, each in a folder of its id. */
export const packsFolder = (dataFolder = defaultDataFolder()) => join(dataFolder, 'packs');

/** Folder of a pack's files. */
export function packFolder(pack: Pack, dataFolder = defaultDataFolder()): string {
  return pack.obtained.via === 'repository'
    ? join(PACKAGE_ROOT, pack.obtained.folder)
    : join(packsFolder(dataFolder), pack.id);
}

/** Every pack with its state: those of the manifest in its order, then those that the user made, by their ids. */
export async function listPacks(places: PackPlaces = {}): Promise<PackSummary[]> {
  const { packs } = places.manifest ?? (await loadManifest());
  const own = await ownPacks(new Set(packs.map(({ id }) => id)), places);
  return Promise.all([...packs, ...own].map(pack => summarize(pack, places)));
}

/** Packs in the data folder that no manifest names: of lists, addresses and folders. */
async function ownPacks(known: ReadonlySet<string>, { dataFolder }: PackPlaces): Promise<Pack[]> {
  const folder = packsFolder(dataFolder);
  const names = ((await readdir(folder).catch(unlessMissing)) ?? []).filter(name => !known.has(name)).sort();
  const headers = await Promise.all(names.map(name => readPackHeader(join(folder, name))));
  return headers.flatMap((header, i) => (header?.pack.id === names[i] ? [header!.pack] : []));
}

/**
 * Compares a pack's files with their recorded size and hash, one after another.
 * @param onFile called after each.
 * @returns the files that differ; empty when all is well.
 * @throws Error when the pack is unknown or not added.
 */
export async function verifyPack(
  id: string,
  places: PackPlaces = {},
  onFile: (bytes: number) => void = () => {},
): Promise<PackProblem[]> {
  const problems: PackProblem[] = [];
  for await (const { path, file } of packFiles(id, places)) {
    const problem = await findProblem(path, file);
    if (problem) problems.push({ path: file.path, problem });
    onFile(file.bytes);
  }
  return problems;
}

/**
 * The files of a pack in the order of its index, the unusable ones too. Nothing is opened but the index, and that is streamed.
 * @throws Error when the pack is unknown or not added.
 */
export async function* packFiles(id: string, places: PackPlaces = {}): AsyncGenerator<LocatedFile> {
  const { pack, state, folder } = await findSummary(id, places);
  if (pack.obtained.via === 'repository') {
    for (const file of pack.obtained.files) yield { path: join(folder, file.path), file: { id: file.path, ...file } };
    return;
  }
  if (state === 'not added') {
    throw new UsageError(
      `expected the asset pack "${id}" in ${folder}, found none: add it with npm run assets -- add ${id}`,
    );
  }
  for await (const file of readPackEntries(folder)) yield { path: file.local ?? join(folder, file.path), file };
}

async function findSummary(id: string, places: PackPlaces): Promise<PackSummary> {
  const all = await listPacks(places);
  const pack = findPack({ packs: all.map(summary => summary.pack) }, id);
  return all.find(summary => summary.pack === pack)!;
}

async function summarize(pack: Pack, places: PackPlaces): Promise<PackSummary> {
  const folder = packFolder(pack, places.dataFolder);
  if (pack.obtained.via === 'repository') {
    const { files } = pack.obtained;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { pack, state: 'built-in', folder, files: files.length, bytes, header: undefined };
  }
  const header = await readPackHeader(folder);
  const { files = 0, bytes = 0 } = header ?? {};
  return { pack, state: header ? 'added' : 'not added', folder, files, bytes, header };
}

async function findProblem(path: string, file: KnownFile): Promise<PackProblem['problem'] | undefined> {
  const found = await stat(path).catch(unlessMissing);
  if (!found) return 'missing';
  if (found.size !== file.bytes) return 'wrong size';
  return (await sha256OfFile(path)) === file.sha256 ? undefined : 'wrong sha256';
}
