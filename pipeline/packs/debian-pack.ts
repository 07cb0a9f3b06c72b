import { execFile } from 'node:child_process';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { InputFault } from '../faults.ts';
import { makeFolder } from '../make-folder.ts';
import { sha256Of } from '../sha256.ts';
import { UsageError } from '../usage-error.ts';
import { readZip } from './archive.ts';
import {
  type CopyrightFile,
  type FilesStanza,
  matchesGlob,
  parseCopyrightFile,
  stanzaFor,
  toSpdx,
} from './copyright-file.ts';
import { readCatalogueAuthors } from './furniture-catalogue.ts';
import {
  type DebianPackage,
  type DebianRule,
  findPack,
  loadManifest,
  type Pack,
  type PackFile,
  packFileSchema,
} from './manifest.ts';
import { INDEX_NAME, readPackHeader, writePackIndex } from './pack-index.ts';
import { rccFileBytes, readRcc } from './rcc.ts';

/** One step of one package begins; `done` of `total` packages are finished. */
export interface AddProgress {
  readonly step: 'download' | 'unpack' | 'copy';
  readonly package: string;
  readonly done: number;
  readonly total: number;
}

/** A package that gave another number of files than the manifest expects: this release has another version of it. */
export interface Deviation {
  readonly package: string;
  readonly expected: number;
  readonly found: number;
}

export interface AddedPack {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  /** It was there already, and nothing was done. */
  readonly wasThere: boolean;
  readonly deviations: readonly Deviation[];
}

/** Runs a program in a folder; rejects when it cannot be started or fails. */
export type RunProgram = (program: string, args: readonly string[], folder: string) => Promise<void>;

/** What a test replaces; by default the manifest's packages and the machine's own programs. */
export interface AddTools {
  readonly packages?: readonly DebianPackage[];
  readonly run?: RunProgram;
}

/**
 * Fetches the files of a pack that Debian packages hold, with `apt-get download` and `dpkg-deb -x`: nothing is installed and no
 * root is needed. Which packages and files is data in the manifest. Works in `<destination>.partial` and renames it at the
 * end, so that a pack is there completely or not at all; after a kill, packages that are already downloaded are used again.
 * @param destination folder of the pack; when it holds an index already, nothing is done.
 * @throws Error when apt-get or dpkg-deb is missing, a download fails, or a file has no stated licence.
 */
export async function addDebianPack(
  id: string,
  destination: string,
  onProgress: (progress: AddProgress) => void = () => {},
  tools: AddTools = {},
): Promise<AddedPack> {
  const present = await readPackHeader(destination);
  if (present)
    return { folder: destination, files: present.files, bytes: present.bytes, wasThere: true, deviations: [] };
  await refuseForeignFolder(destination);

  const pack = findPack(await loadManifest(), id);
  const { run = runProgram, packages = packagesOf(pack) } = tools;
  const partial = `${destination}.partial`;
  const downloads = join(partial, '.downloads');
  await makeFolder(downloads);

  const files: PackFile[] = [];
  const deviations: Deviation[] = [];
  for (const [done, debian] of packages.entries()) {
    const report = (step: AddProgress['step']) =>
      onProgress({ step, package: debian.name, done, total: packages.length });
    report('download');
    const archive = await download(debian.name, downloads, run);
    report('unpack');
    const unpacked = join(partial, '.unpacked');
    await rm(unpacked, { recursive: true, force: true });
    await run('dpkg-deb', ['-x', archive, unpacked], partial);
    report('copy');
    await rm(join(partial, debian.name), { recursive: true, force: true });
    const copied = await copyFiles(debian, unpacked, partial);
    await rm(unpacked, { recursive: true });
    if (copied.length !== debian.expected) {
      deviations.push({ package: debian.name, expected: debian.expected, found: copied.length });
    }
    files.push(...copied);
  }

  const total = { files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
  const header = { pack, order: {}, ...total, unusable: 0, failed: 0, passing: 0 };
  await writePackIndex(
    partial,
    header,
    files.map(file => ({ id: file.path, ...file })),
  );
  await rm(downloads, { recursive: true });
  await rename(partial, destination);
  return { folder: destination, ...total, wasThere: false, deviations };
}

function packagesOf({ id, obtained }: Pack): readonly DebianPackage[] {
  if (obtained.via !== 'debian') {
    throw new InputFault(`Expected the pack ${id} to be obtained via debian, got ${obtained.via}`);
  }
  return obtained.packages;
}

/** A folder without an index is not ours to replace. */
async function refuseForeignFolder(destination: string): Promise<void> {
  const found = await stat(destination).catch(() => undefined);
  if (found)
    throw new UsageError(
      `expected nothing or a complete pack at ${destination}, found a folder without ${INDEX_NAME} (an earlier version's?): remove it or give it another name, then run the same command again`,
    );
}

/** apt-get compares a file that is there already with the archive's hash, and fetches only what is missing or broken. */
async function download(name: string, folder: string, run: RunProgram): Promise<string> {
  await run('apt-get', ['download', '--quiet', name], folder);
  const archives = (await readdir(folder)).filter(file => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (archives.length !== 1) {
    const found = archives.join(', ') || 'none';
    throw new InputFault(
      `Expected one archive of ${name} in ${folder}, found ${found}: remove that folder and try again`,
    );
  }
  return join(folder, archives[0]!);
}

async function copyFiles(debian: DebianPackage, unpacked: string, pack: string): Promise<PackFile[]> {
  const copyright = parseCopyrightFile(
    await readFile(join(unpacked, 'usr/share/doc', debian.name, 'copyright'), 'utf8'),
  );
  const files: PackFile[] = [];
  for (const rule of debian.include) {
    const { files: chosen, authors } = await chosenFiles(rule, unpacked);
    for (const [path, contents] of chosen) {
      const bytes = await contents();
      const sourcePath = posix.join(rule.source ?? '', path);
      const stated = licensing(copyright, debian.name, sourcePath);
      const author = authors.get(posix.join(rule.folder, path)) ?? stated.author;
      const file = describe(posix.join(debian.name, sourcePath), bytes, { ...stated, author });
      await makeFolder(dirname(join(pack, file.path)));
      await writeFile(join(pack, file.path), bytes);
      files.push(file);
    }
  }
  if (files.length === 0) {
    throw new InputFault(
      `Expected ${debian.expected} files in the package ${debian.name} (made for version ${debian.version}), found none: ` +
        'this release holds another version of it',
    );
  }
  return files;
}

type Contents = () => Buffer | Promise<Buffer>;

interface ChosenFiles {
  /** In order of the path, which counts from the rule's folder. */
  readonly files: readonly (readonly [path: string, contents: Contents])[];
  /** By path in the container. */
  readonly authors: ReadonlyMap<string, string>;
}

async function chosenFiles({ container, folder, match, except, catalogue }: DebianRule, unpacked: string) {
  const matches = (globs: readonly string[], path: string) => globs.some(glob => matchesGlob(glob, path));
  const isChosen = (path: string) => matches(match, path) && !matches(except ?? [], path);
  const isNeeded = (path: string) =>
    path === catalogue || (path.startsWith(`${folder}/`) && isChosen(path.slice(folder.length + 1)));
  const packed = container === undefined ? undefined : await filesOfContainer(join(unpacked, container), isNeeded);
  const all = packed ? below(packed, folder) : await filesOfFolder(join(unpacked, folder));
  const paths = [...all.keys()].filter(isChosen).sort();
  const listed = catalogue === undefined ? undefined : await packed?.get(catalogue)?.();
  const chosen: ChosenFiles = {
    files: paths.map(path => [path, all.get(path)!] as const),
    authors: listed ? readCatalogueAuthors(listed.toString('latin1')) : new Map(),
  };
  return chosen;
}

/** The files of a container that are needed; a zip archive is read in one pass. */
async function filesOfContainer(path: string, isNeeded: (path: string) => boolean): Promise<Map<string, Contents>> {
  if (path.endsWith('.rcc')) {
    return new Map(readRcc(await readFile(path)).map(file => [file.path, () => rccFileBytes(file)]));
  }
  const files = new Map<string, Contents>();
  for await (const { member, contents } of readZip(path)) {
    if (!isNeeded(member)) continue;
    const bytes = await buffer(contents());
    files.set(member, () => bytes);
  }
  return files;
}

function below(files: ReadonlyMap<string, Contents>, folder: string): Map<string, Contents> {
  const inside = [...files].filter(([path]) => path.startsWith(`${folder}/`));
  return new Map(inside.map(([path, contents]) => [path.slice(folder.length + 1), contents]));
}

async function filesOfFolder(folder: string): Promise<Map<string, Contents>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [relative(folder, path).replaceAll(sep, '/'), () => readFile(path)]),
  );
}

type Licensing = Pick<PackFile, 'author' | 'url' | 'licence'>;

function licensing(copyright: CopyrightFile, name: string, sourcePath: string): Licensing {
  const stanza = stanzaFor(copyright, sourcePath);
  if (!stanza)
    throw new InputFault(`Expected the copyright file of ${name} to state a licence for ${sourcePath}, found none`);
  return { author: stanza.copyright.join('; '), url: origin(copyright, stanza, name), licence: toSpdx(stanza.licence) };
}

/** Where the file comes from, as near as the copyright file tells: an address in a comment counts when it is the only one. */
function origin(copyright: CopyrightFile, stanza: FilesStanza, name: string): string {
  const addresses = (text: string) => text.match(/https?:\/\/[^\s"<>]+/g) ?? [];
  const own = addresses(stanza.comment);
  return (own.length === 1 ? own[0] : addresses(copyright.source)[0]) ?? `https://packages.debian.org/${name}`;
}

function describe(path: string, bytes: Buffer, stated: Licensing): PackFile {
  return packFileSchema.parse({ path, bytes: bytes.length, sha256: sha256Of(bytes), ...stated });
}

/** @throws Error that says what is missing or the last thing the program said. */
const runProgram: RunProgram = (program, args, folder) =>
  new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 16 * 1024 * 1024 };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (!error) return resolve();
      if (error.code === 'ENOENT')
        return reject(new UsageError(`a pack of Debian packages needs Debian or Ubuntu: found no ${program}`));
      const said = `${stdout}${stderr}`.trim().split('\n').slice(-5).join(' / ');
      reject(
        new InputFault(`expected "${program} ${args.join(' ')}" to succeed, it failed${hintFor(program)}: ${said}`),
      );
    });
  });

function hintFor(program: string): string {
  return program === 'apt-get' ? ' (is the network there, and is "apt-get update" recent?)' : '';
}
