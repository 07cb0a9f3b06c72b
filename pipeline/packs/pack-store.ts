import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../faults.ts';
import { sha256OfFile } from '../sha256.ts';
import {
  findPack,
  loadManifest,
  type Manifest,
  PACKAGE_ROOT,
  type Pack,
  type PackFile,
  packFileSchema,
  parseJson,
} from './manifest.ts';

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
}

export interface PackProblem {
  readonly path: string;
  readonly problem: 'missing' | 'wrong size' | 'wrong sha256';
}

export interface LocatedFile {
  /** Absolute. */
  readonly path: string;
  readonly file: PackFile;
}

/** What an added pack keeps beside its files. */
export const packIndexSchema = z.strictObject({ pack: z.string(), files: z.array(packFileSchema).min(1) });
export type PackIndex = z.infer<typeof packIndexSchema>;
export const INDEX_NAME = 'index.json';

/** $SHAPEMILL_DATA, else $XDG_DATA_HOME/shapemill, else ~/.local/share/shapemill. Empty variables count as unset. */
export function defaultDataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.SHAPEMILL_DATA || join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'shapemill');
}

/** Folder of a pack's files. */
export function packFolder(pack: Pack, dataFolder = defaultDataFolder()): string {
  return pack.obtained.via === 'repository'
    ? join(PACKAGE_ROOT, pack.obtained.folder)
    : join(dataFolder, 'packs', pack.id);
}

/** Every pack of the manifest with its state, in the manifest's order. */
export async function listPacks(places: PackPlaces = {}): Promise<PackSummary[]> {
  const { packs } = places.manifest ?? (await loadManifest());
  return Promise.all(packs.map(pack => summarize(pack, places)));
}

/**
 * Compares a pack's files with their recorded size and hash, one after another.
 * @returns the files that differ; empty when all is well.
 * @throws Error when the pack is unknown or not added.
 */
export async function verifyPack(id: string, places: PackPlaces = {}): Promise<PackProblem[]> {
  const problems: PackProblem[] = [];
  for await (const { path, file } of packFiles(id, places)) {
    const problem = await findProblem(path, file);
    if (problem) problems.push({ path: file.path, problem });
  }
  return problems;
}

/**
 * The files of a pack in the order of its index. Nothing is opened but the index.
 * @throws Error when the pack is unknown or not added.
 */
export async function* packFiles(id: string, places: PackPlaces = {}): AsyncGenerator<LocatedFile> {
  const pack = findPack(places.manifest ?? (await loadManifest()), id);
  const folder = packFolder(pack, places.dataFolder);
  const files = await recordedFiles(pack, folder);
  if (!files)
    throw new Error(
      `Expected the asset pack "${id}" in ${folder}, found none: add it with npm run assets -- add ${id}`,
    );
  for (const file of files) yield { path: join(folder, file.path), file };
}

async function summarize(pack: Pack, places: PackPlaces): Promise<PackSummary> {
  const folder = packFolder(pack, places.dataFolder);
  const files = await recordedFiles(pack, folder);
  const present = pack.obtained.via === 'repository' ? 'built-in' : 'added';
  return {
    pack,
    state: files ? present : 'not added',
    folder,
    files: files?.length ?? 0,
    bytes: files?.reduce((sum, file) => sum + file.bytes, 0) ?? 0,
  };
}

/** What the manifest or the pack's index lists; undefined when the pack is not added. */
async function recordedFiles(pack: Pack, folder: string): Promise<PackFile[] | undefined> {
  if (pack.obtained.via === 'repository') return pack.obtained.files;
  return (await readPackIndex(folder))?.files;
}

/** The index of an added pack; undefined when there is none. */
export async function readPackIndex(folder: string): Promise<PackIndex | undefined> {
  const path = join(folder, INDEX_NAME);
  const text = await readFile(path, 'utf8').catch(unlessMissing);
  return text === undefined ? undefined : parseJson(packIndexSchema, text, path);
}

async function findProblem(path: string, file: PackFile): Promise<PackProblem['problem'] | undefined> {
  const found = await stat(path).catch(unlessMissing);
  if (!found) return 'missing';
  if (found.size !== file.bytes) return 'wrong size';
  return (await sha256OfFile(path)) === file.sha256 ? undefined : 'wrong sha256';
}
