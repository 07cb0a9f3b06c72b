import { createReadStream } from 'node:fs';
import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../usage-error.ts';
import type { DatasetReader } from './dataset.ts';

/** What messages say of a dataset. */
export type DatasetForm = Pick<DatasetReader, 'name' | 'title' | 'expects'>;

/**
 * The folder of a dataset, of those that a user may have named: itself, or one above it.
 * @param places where it may lie below the folder that was named (`''`: there), in the order of preference.
 * @param fits tells whether a folder has the layout.
 * @returns absolute, and where a link leads.
 * @throws UsageError that says what was expected and what is there instead.
 */
export async function findDataset(
  form: DatasetForm,
  folder: string | null,
  places: readonly string[],
  fits: (root: string) => Promise<boolean>,
): Promise<string> {
  if (!folder) throw new UsageError(`expected a folder after "${form.name}:" (${form.name}:DIR), got none`);
  if (!(await isFolder(folder))) {
    const found = (await isFile(folder)) ? 'a file' : 'nothing';
    throw new UsageError(`${form.name}: expected ${form.title}: ${form.expects}; found ${found} at ${folder}`);
  }
  const root = await realpath(resolve(folder));
  for (const place of places) {
    const candidate = join(root, place);
    if ((await isFolder(candidate)) && (await fits(candidate))) return realpath(candidate);
  }
  throw wrongLayout(form, root, await contents(root));
}

/** "voc: expected PASCAL VOC 2012: a folder with JPEGImages/ …; found images/, labels.csv in /data/x". */
export function wrongLayout({ name, title, expects }: DatasetForm, folder: string, found: string): UsageError {
  return new UsageError(`${name}: expected ${title}: ${expects}; found ${found} in ${folder}`);
}

const MOST_NAMED = 8;

/** What a folder holds, in words: its first names, folders with a slash. */
export async function contents(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return 'nothing that may be read';
  const names = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  if (names.length === 0) return 'nothing';
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    facts => facts.isDirectory(),
    () => false,
  );

export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    facts => facts.isFile(),
    () => false,
  );

/** Whether all of some folders lie in a folder. */
export async function hasFolders(root: string, names: readonly string[]): Promise<boolean> {
  return (await Promise.all(names.map(name => isFolder(join(root, name))))).every(Boolean);
}

/** Names of the folders in a folder (and of links to such), sorted; hidden ones left out. For folders of classes: they are few. */
export async function foldersOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(join(folder, entry.name))))) {
      names.push(entry.name);
    }
  }
  return names.sort();
}

/** Streams the names of the files in a folder (and of links) that a pattern fits, in the order of the disk; hidden ones left out. */
export async function* filesOf(folder: string, pattern: RegExp): AsyncGenerator<string> {
  for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
    if (entry.name.startsWith('.') || entry.isDirectory() || !pattern.test(entry.name)) continue;
    yield entry.name;
  }
}

/** A name without its extension. */
export const stem = (name: string): string => name.slice(0, name.length - extname(name).length);

/** The first of some files that is there; undefined: none is. */
export async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isFile(path)) return path;
  return undefined;
}

/** Where a link leads, as the run's list wants it; itself, when it is none or leads nowhere. */
export const linkTarget = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Streams the lines of a text file, trimmed, without empty ones. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const text = line.trim();
    if (text !== '') yield text;
  }
}
