import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDebianPack, type RunProgram } from '../../../pipeline/packs/debian-pack.ts';
import type { DebianPackage } from '../../../pipeline/packs/manifest.ts';
import { type PackEntry, readPackEntries, readPackHeader } from '../../../pipeline/packs/pack-index.ts';
import { smallRcc } from './small-rcc.ts';
import { smallZip } from './small-zip.ts';

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Source: https://example.org/source

Files: *
Copyright: 2014 The Team <team@example.org>
           2015 Others
License: GPL-3+

Files: src/animals/toad.webp
Copyright: A. Person
License: CC-BY-SA-3.0
Comment: https://example.org/toad
`;

const PACKAGES: DebianPackage[] = [
  {
    name: 'some-data',
    version: '1.0-1',
    expected: 3,
    include: [
      { container: 'usr/share/a.rcc', folder: 'animals', match: ['*.webp'], except: ['icon*'], source: 'src/animals' },
      { folder: 'usr/share/pictures', match: ['*.jpg'] },
    ],
  },
];

let parent: string;
let destination: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'shapemill-debian-'));
  destination = join(parent, 'packs', 'debian-photos');
});
afterEach(() => rm(parent, { recursive: true }));

/** Stands for apt-get and dpkg-deb: leaves an archive, and "unpacks" a package from memory. */
function fakePrograms(calls: string[] = [], tree: Record<string, string | Buffer> = {}): RunProgram {
  const files: Record<string, string | Buffer> = {
    'usr/share/doc/some-data/copyright': COPYRIGHT,
    'usr/share/a.rcc': smallRcc('animals', [
      { name: 'toad.webp', stored: Buffer.from('toad') },
      { name: 'frog.webp', stored: Buffer.from('frog') },
      { name: 'icon.webp', stored: Buffer.from('icon') },
    ]),
    'usr/share/pictures/deep/sky.jpg': 'sky',
    'usr/share/pictures/drawing.svg': 'drawing',
    ...tree,
  };
  return async (program, args, folder) => {
    calls.push(program);
    if (program === 'apt-get') return writeFile(join(folder, `${args.at(-1)}_1.0-1_all.deb`), 'archive');
    for (const [path, contents] of Object.entries(files)) {
      await mkdir(dirname(join(args[2]!, path)), { recursive: true });
      await writeFile(join(args[2]!, path), contents);
    }
  };
}

const add = (run: RunProgram, packages = PACKAGES) =>
  addDebianPack('debian-photos', destination, undefined, { packages, run });

async function entriesOf(folder: string): Promise<PackEntry[]> {
  const entries: PackEntry[] = [];
  for await (const entry of readPackEntries(folder)) entries.push(entry);
  return entries;
}

describe('addDebianPack', () => {
  it('keeps the chosen files with the author and licence stated for each', async () => {
    const added = await add(fakePrograms());
    expect(added).toMatchObject({ folder: destination, files: 3, bytes: 11, wasThere: false, deviations: [] });
    const { pack } = (await readPackHeader(destination))!;
    expect(pack.id).toBe('debian-photos');
    const files = await entriesOf(destination);
    expect(files).toMatchObject([
      { path: 'some-data/src/animals/frog.webp', licence: 'GPL-3.0-or-later', url: 'https://example.org/source' },
      {
        path: 'some-data/src/animals/toad.webp',
        licence: 'CC-BY-SA-3.0',
        author: 'A. Person',
        url: 'https://example.org/toad',
      },
      { path: 'some-data/deep/sky.jpg', bytes: 3, author: '2014 The Team <team@example.org>; 2015 Others' },
    ]);
    expect(await readFile(join(destination, 'some-data/src/animals/toad.webp'), 'utf8')).toBe('toad');
    expect(await readdir(destination)).toEqual(['index.jsonl', 'some-data']);
    expect(await readdir(dirname(destination))).toEqual(['debian-photos']);
  });

  it('takes files out of zip archives, with the author that a catalogue names', async () => {
    const catalogue = [
      'model#1=/set/duck/duck.obj',
      'creator#1=J\\u00f8rgen',
      'model#2=/set/goose/goose.obj',
      'name#2=Goose',
    ];
    const archive = smallZip([
      { path: 'set/duck/duck.obj', bytes: Buffer.from('duck') },
      { path: 'set/goose/goose.obj', bytes: Buffer.from('goose') },
      { path: 'set/goose/goose.mtl', bytes: Buffer.from('grey') },
      { path: 'catalogue.properties', bytes: Buffer.from(catalogue.join('\r\n')) },
    ]);
    const include = [
      {
        container: 'usr/share/set.sh3f',
        catalogue: 'catalogue.properties',
        folder: 'set',
        match: ['*.obj'],
        source: 'src/animals',
      },
    ];
    const packages = [{ ...PACKAGES[0]!, expected: 2, include }];
    const { files } = await add(fakePrograms([], { 'usr/share/set.sh3f': archive }), packages);
    expect(files).toBe(2);
    expect(await entriesOf(destination)).toMatchObject([
      { path: 'some-data/src/animals/duck/duck.obj', author: 'Jørgen', licence: 'GPL-3.0-or-later' },
      { path: 'some-data/src/animals/goose/goose.obj', author: '2014 The Team <team@example.org>; 2015 Others' },
    ]);
  });

  it('does nothing when the pack is there', async () => {
    await add(fakePrograms());
    const calls: string[] = [];
    expect(await add(fakePrograms(calls))).toMatchObject({ files: 3, wasThere: true });
    expect(calls).toEqual([]);
  });

  it('starts again after it was stopped, and leaves no half pack behind', async () => {
    const full = new Error('no space left');
    const failing: RunProgram = (program, args, folder) =>
      program === 'dpkg-deb' ? Promise.reject(full) : fakePrograms()(program, args, folder);
    await expect(add(failing)).rejects.toThrow(full);
    expect(await readdir(dirname(destination))).toEqual(['debian-photos.partial']);
    expect(await readdir(join(`${destination}.partial`, '.downloads'))).toEqual(['some-data_1.0-1_all.deb']);
    await add(fakePrograms());
    expect(await readdir(dirname(destination))).toEqual(['debian-photos']);
  });

  it('reports its steps, and a package that gives another number of photos', async () => {
    const steps: string[] = [];
    const packages = [{ ...PACKAGES[0]!, expected: 4 }];
    const onProgress = (progress: { step: string; done: number; total: number }) =>
      steps.push(`${progress.step} ${progress.done}/${progress.total}`);
    const { deviations } = await addDebianPack('debian-photos', destination, onProgress, {
      packages,
      run: fakePrograms(),
    });
    expect(steps).toEqual(['download 0/1', 'unpack 0/1', 'copy 0/1']);
    expect(deviations).toEqual([{ package: 'some-data', expected: 4, found: 3 }]);
  });

  it('refuses a package without any of the photos, a missing licence and a folder it did not make', async () => {
    const elsewhere = [{ ...PACKAGES[0]!, include: [{ folder: 'usr/share/pictures', match: ['*.tiff'] }] }];
    await expect(add(fakePrograms(), elsewhere)).rejects.toThrow(/made for version 1\.0-1\), found none/);
    const unlicensed = COPYRIGHT.replace('Files: *', 'Files: other/*');
    await expect(add(fakePrograms([], { 'usr/share/doc/some-data/copyright': unlicensed }))).rejects.toThrow(
      /state a licence for src\/animals\/frog\.webp/,
    );
    await mkdir(destination);
    await expect(add(fakePrograms())).rejects.toThrow(/without index\.jsonl .*: remove it or give it another name/);
  });

  it('says that it needs Debian or Ubuntu where apt-get is missing', async () => {
    const path = process.env.PATH;
    process.env.PATH = parent;
    try {
      await expect(addDebianPack('debian-photos', destination, undefined, { packages: PACKAGES })).rejects.toThrow(
        'a pack of Debian packages needs Debian or Ubuntu: found no apt-get',
      );
    } finally {
      process.env.PATH = path;
    }
  });
});
