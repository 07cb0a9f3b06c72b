import { createReadStream } from 'node:fs';
import { open, opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import glob from 'fast-glob';
import { licenceFilter } from './packs/licence-filter.ts';
import type { PackKind } from './packs/manifest.ts';
import { listPacks, type PackSummary, packFiles } from './packs/pack-store.ts';
import type { Split } from './splits.ts';
import { didYouMean, UsageError } from './usage-error.ts';

/** A file of a source, with what is known of it. */
export interface SourceFile {
  /** Absolute, and of a link where it leads: a file that has several names is told by it. */
  readonly path: string;
  /** Path within the source, the same wherever the source lies: ids are made from it. */
  readonly file: string;
  /** Only where the source declares its splits. */
  readonly split: Split | null;
  readonly licence: string | null;
  readonly author: string | null;
  readonly url: string | null;
  /** What its pack did to the author's file; left out when nothing was. */
  readonly changes?: string | undefined;
  /** Files of one group are in one split; a file alone when left out. */
  readonly group?: string;
  /** What else the run's list keeps of it: plain JSON. */
  readonly detail?: unknown;
}

/** A set of files named on the command line. */
export interface Source {
  readonly pack: string;
  /** Where its files are named from. */
  readonly root?: string;
  /** It is an asset pack, which tells the licences of its files. */
  readonly isPack?: true;
  /** Streams the files; nothing is held in memory. */
  files(): AsyncIterable<SourceFile>;
}

/** A kind of files that are looked for: by their names, and in packs of what kind. */
export interface SourceKind {
  readonly packs: PackKind;
  readonly files: RegExp;
  /** Finishes the sentence "expected …". */
  readonly expects: string;
}

const IMAGE = /\.(jpe?g|jpe|png|webp|avif|tiff?)$/i;
export const PHOTO_FILES: SourceKind = {
  packs: 'photos',
  files: IMAGE,
  expects: 'JPEG, PNG, WebP, AVIF or TIFF files',
};
export const MESH_FILES: SourceKind = {
  packs: 'meshes',
  files: /\.(glb|gltf|obj)$/i,
  expects: 'GLB, glTF or OBJ files',
};
export const ENVIRONMENT_FILES: SourceKind = {
  packs: 'environments',
  files: /\.(hdr|exr)$/i,
  expects: 'HDR or EXR files',
};
export const TEXTURE_FILES: SourceKind = { ...PHOTO_FILES, packs: 'textures' };
const COLOR_MAP = '(colou?r|base_?colou?r|albedo|diff(use)?|col)';
const OTHER_MAP =
  '(normal|normal_?gl|normal_?dx|nor|nrm|disp|displacement|height|rough|roughness|metal|metalness|metallic|ao|occlusion|' +
  'ambient_?occlusion|opacity|alpha|transmission|arm|orm)';
/**
 * A material is known by its colour map; the other maps of its set have the same name but for the part that says which. Of
 * several such parts the last counts: `color_tiles_rough_1k.jpg` is no colour map.
 */
export const MATERIAL_FILES: SourceKind = {
  packs: 'materials',
  files: new RegExp(
    `(^|[_\\W])${COLOR_MAP}(?![^/]*[_\\W]${OTHER_MAP}[^a-z0-9/][^/]*$)([^a-z0-9/][^/]*)?\\.(jpe?g|png|webp|avif|tiff?)$`,
    'i',
  ),
  expects: 'map sets with a colour map (…_Color.jpg, …_diff_1k.jpg)',
};

/**
 * Turns what `--photos` names into sources: an asset pack's id, a folder (searched whole), a glob, one image, or a text
 * file with a path a line (relative ones count from the list's folder).
 * @param licences keep only files under these SPDX licences; null keeps all.
 * @throws UsageError for a name that is none of these.
 */
export async function resolveSources(
  names: readonly string[],
  licences: readonly string[] | null,
  kind = PHOTO_FILES,
): Promise<Source[]> {
  const sources = await Promise.all(names.map(name => resolveSource(name, kind)));
  refuseNamesakes(sources);
  return licences ? sources.map(source => onlyLicences(source, licences)) : sources;
}

/** Ids are made from a source's name and the path in it, so two sources of one name would be taken for one. */
export function refuseNamesakes(sources: readonly Source[]): void {
  const roots = new Map<string, string>();
  for (const { pack, root } of sources) {
    if (root === undefined) continue;
    const other = roots.get(pack) ?? root;
    if (other !== root) {
      throw new UsageError(
        `two sources are called "${pack}": ${other} and ${root}; name a folder above both, or rename one`,
      );
    }
    roots.set(pack, root);
  }
}

async function resolveSource(name: string, kind: SourceKind): Promise<Source> {
  const packs = (await listPacks()).filter(({ pack }) => pack.kind === kind.packs);
  const pack = packs.find(summary => summary.pack.id === name);
  if (pack) return packSource(pack, kind);
  // What is there goes first: a folder may have brackets in its name.
  const facts = await stat(name).catch(() => undefined);
  if (facts?.isDirectory()) return folderSource(name, kind);
  if (facts?.isFile()) return kind.files.test(name) ? fileSource(name) : listSource(name, kind);
  if (name !== '' && glob.isDynamicPattern(name)) return globSource(name);
  const ids = packs.map(summary => summary.pack.id);
  throw new UsageError(
    `expected an asset pack (${ids.join(', ') || 'none here'}), folder, glob, list file, or ${kind.expects}, got "${name}"${didYouMean(name, ids)}`,
  );
}

/** The files of a kind of an asset pack that runs can use. @throws UsageError when it is not added. */
export function packSource(
  { pack: { id }, state, folder }: PackSummary,
  { files: pattern }: Pick<SourceKind, 'files'>,
): Source {
  if (state === 'not added') throw new UsageError(`asset pack ${id} is not here yet: npm run assets -- add ${id}`);
  return {
    pack: id,
    root: folder,
    isPack: true,
    async *files() {
      for await (const { path, file } of packFiles(id)) {
        const { licence, author, url, changes, unusable } = file;
        if (unusable !== undefined || !pattern.test(file.path)) continue;
        yield { path, file: file.path, split: file.split ?? null, licence, author, url, changes };
      }
    },
  };
}

/** What is known of a file whose author and licence nobody tells. */
export const RIGHTS_UNKNOWN = { licence: null, author: null, url: null } as const;
const unknown = { split: null, ...RIGHTS_UNKNOWN };

/** The files of a kind in a folder and in those below it. */
export async function folderSource(folder: string, { files: pattern }: Pick<SourceKind, 'files'>): Promise<Source> {
  const root = await realpath(folder);
  return {
    pack: basename(resolve(folder)),
    root,
    async *files() {
      for await (const [file, path] of filesBelow(root, pattern)) yield { path, file, ...unknown };
    },
  };
}

/**
 * The files of a folder and of those in it that a pattern names: name in the folder, and path. Each folder is entered once, and through a link
 * only after all others, so that a link upwards is no endless way and no second name. Links that lead nowhere are given:
 * they are faults of the data and not to be passed over in silence.
 */
async function* filesBelow(root: string, pattern: RegExp): AsyncGenerator<[file: string, path: string]> {
  const entered = new Set<string>();
  let waiting = [''];
  while (waiting.length > 0) {
    const links: string[] = [];
    for (const start of waiting) yield* below(start, links);
    waiting = links.sort();
  }

  async function* below(folder: string, links: string[]): AsyncGenerator<[file: string, path: string]> {
    const here = await realpath(join(root, folder)).catch(() => undefined);
    if (here === undefined || entered.has(here)) return;
    entered.add(here);
    // A folder that may not be entered is like a file that may not be read: it costs what it holds.
    const entries = await opendir(here, { bufferSize: 1024 }).catch(() => []);
    const folders: string[] = [];
    for await (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const file = folder + entry.name;
      const path = join(here, entry.name);
      if (entry.isDirectory()) folders.push(`${file}/`);
      else if (entry.isSymbolicLink()) {
        if ((await stat(path).catch(() => undefined))?.isDirectory()) links.push(`${file}/`);
        else if (pattern.test(file)) yield [file, await target(path)];
      } else if (entry.isFile() && pattern.test(file)) yield [file, path];
    }
    for (const inside of folders) yield* below(inside, links);
  }
}

/** Where a link leads; itself, when that is nowhere. */
const target = (path: string) => realpath(path).catch(() => path);

function globSource(pattern: string): Source {
  const root = resolve(staticBase(pattern));
  return {
    pack: basename(root),
    root,
    async *files() {
      const found = glob.stream(pattern, {
        absolute: true,
        onlyFiles: false,
        objectMode: true,
        suppressErrors: true,
        // As in a shell: `**` does not follow links, which may lead upwards.
        followSymbolicLinks: !pattern.includes('**'),
      });
      for await (const entry of found) {
        const { path, dirent } = entry as unknown as glob.Entry;
        if (!dirent.isFile() && !dirent.isSymbolicLink()) continue;
        const file = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
        yield { path: dirent.isSymbolicLink() ? await target(path) : path, file, ...unknown };
      }
    },
  };
}

/** The folders of a glob before its first special part. */
function staticBase(pattern: string): string {
  const parts = pattern.split('/');
  const special = parts.findIndex(part => /[*?[{\\]|[!+@]?\(|^!/.test(part));
  return parts.slice(0, special).join('/') || (isAbsolute(pattern) ? '/' : '.');
}

async function fileSource(path: string): Promise<Source> {
  return {
    pack: basename(dirname(resolve(path))),
    root: await realpath(dirname(path)),
    async *files() {
      yield { path: await target(resolve(path)), file: basename(path), ...unknown };
    },
  };
}

async function listSource(list: string, { expects }: SourceKind): Promise<Source> {
  if (await isBinary(list)) {
    throw new UsageError(`expected ${expects}, or a list with a path a line, got "${list}"`);
  }
  const root = await realpath(dirname(list));
  return {
    pack: basename(list, extname(list)),
    root: resolve(list),
    async *files() {
      for await (const line of createInterface({
        input: createReadStream(list),
        crlfDelay: Number.POSITIVE_INFINITY,
      })) {
        const file = line.trim();
        if (file === '' || file.startsWith('#')) continue;
        yield { path: resolve(root, file), file, ...unknown };
      }
    },
  };
}

/** Whether a file is no text, by its first bytes. */
async function isBinary(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer.subarray(0, bytesRead).includes(0);
  } finally {
    await file.close();
  }
}

/** A source without what lies in a folder: the pictures of a run are no photos for it. */
export function without(source: Source, folder: string): Source {
  return {
    ...source,
    async *files() {
      for await (const file of source.files()) if (!file.path.startsWith(`${folder}/`)) yield file;
    },
  };
}

/** A source without the files of other licences, and those of which none is known. */
export function onlyLicences(source: Source, licences: readonly string[]): Source {
  const allows = licenceFilter(licences);
  return {
    ...source,
    async *files() {
      for await (const file of source.files()) if (allows(file.licence)) yield file;
    },
  };
}
