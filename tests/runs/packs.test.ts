import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCsv } from '../../pipeline/datasets/csv.ts';
import { findPack, loadManifest, type Manifest, PACKAGE_ROOT } from '../../pipeline/packs/manifest.ts';
import { packFiles, verifyPack } from '../../pipeline/packs/pack-store.ts';
import { splitOf } from '../../pipeline/photo-index.ts';
import type { Split } from '../../pipeline/splits.ts';
import { hashId } from '../../sampling/hash.ts';
import { type PackServer, packServer } from '../pipeline/packs/pack-server.ts';
import { type Ending, scratchFolder, sha256, start } from './command.ts';
import { PHOTOS, smallPhoto, writeRecipe } from './photo-folder.ts';
import { labelsIn } from './shard-files.ts';

/**
 * The main job on packs that were fetched: starter files, served as Open Images, Objaverse and Poly Haven serve theirs.
 */
const MESHES: readonly [name: string, split: Split][] = [
  ['barrel.glb', 'train'],
  ['beer-mug.glb', 'val'],
  ['milk-carton.glb', 'test'],
];
const PANORAMAS: readonly [name: string, split: Split][] = [
  ['dawn.exr', 'train'],
  ['night.exr', 'val'],
  ['studio.exr', 'test'],
];
const SMALL_COUNTS = {
  subsets: ['shapes2d', 'textures2d', 'shapes3d', 'materials3d'],
  textures: 18,
  materials: 9,
  'shapes2d-images': 6,
  'textures2d-images': 6,
  'shapes3d-images': 6,
  'materials3d-images': 6,
  'material-maps': { size: 64 },
  'environment-preparation': { width: 128 },
  shapes3d: { variations: 2, size: 64 },
  materials3d: { variations: 2, size: 64 },
};

const CHANGES = 'scaled by Open Images';

/** What the server told of a file, and its bytes. */
interface Published {
  readonly licence: string;
  readonly author: string;
  readonly url: string;
  readonly changes: string | undefined;
  readonly sha256: string;
}
type Rights = Pick<Published, 'licence' | 'author' | 'url'> & Partial<Published>;
type Named = Published & { readonly pack: string; readonly file: string };

const scratch = scratchFolder();
const dataFolder = join(scratch, 'data');
const run = join(scratch, 'run');
/** By pack and file. */
const published = new Map<string, Published>();
let server: PackServer;
let manifest: Manifest;
const added: Record<string, Ending> = {};

beforeAll(async () => {
  server = await packServer();
  const { packs } = await loadManifest();
  manifest = {
    packs: [
      { ...findPack({ packs }, 'open-images'), obtained: { via: 'open-images', addresses: await servePhotos() } },
      { ...findPack({ packs }, 'objaverse-lvis'), obtained: { via: 'objaverse', addresses: await serveMeshes() } },
      { ...findPack({ packs }, 'polyhaven-hdris'), obtained: { via: 'poly-haven', addresses: await servePanoramas() } },
    ],
  };
  const environment = { SHAPEMILL_MANIFEST: join(scratch, 'manifest.json'), SHAPEMILL_DATA: dataFolder };
  await writeFile(environment.SHAPEMILL_MANIFEST, JSON.stringify(manifest));
  await Promise.all(
    manifest.packs.map(async ({ id }) => {
      added[id] = await start(['assets', 'add', id], environment).ended;
    }),
  );
  const inputs = ['--photos', 'open-images', '--meshes', 'objaverse-lvis', '--environments', 'polyhaven-hdris'];
  const recipe = await writeRecipe(join(scratch, 'small.json'), SMALL_COUNTS);
  const allowed = [...new Set([...published.values()].map(({ licence }) => licence))].filter(name => !/NC/.test(name));
  const args = ['generate', '--shapes', '4', ...inputs, '--licences', ...allowed, '--recipe', recipe, '--out', run];
  const { code, stderr } = await start(args, environment).ended;
  expect(code, stderr).toBe(0);
});
afterAll(() => server.close());

/** Starter files as the manifest tells of them, with their bytes. */
async function starter(pack: string, name: string) {
  const { obtained } = findPack(await loadManifest(), pack);
  if (obtained.via !== 'repository') throw new Error(`${pack} is none of the repository`);
  const file = obtained.files.find(({ path }) => path === name)!;
  return { ...file, content: await readFile(join(PACKAGE_ROOT, obtained.folder, name)) };
}

/** An identifier whose file falls into a split. */
function idInSplit(pack: string, name: string, split: Split, file: (id: string) => string): string {
  for (let i = 0; ; i++) {
    const id = createHash('md5').update(`${name} ${i}`).digest('hex').slice(0, 16);
    if (splitOf(hashId(`${pack}/${file(id)}`)) === split) return id;
  }
}

function publish(pack: string, file: string, path: string, bytes: Buffer, rights: Rights): void {
  server.files.set(path, bytes);
  published.set(`${pack}/${file}`, { changes: undefined, ...rights, sha256: sha256(bytes) });
}

async function servePhotos() {
  const lines = ['ImageID,Subset,OriginalURL,OriginalLandingURL,License,AuthorProfileURL,Author,Title'];
  for (const [name, split] of PHOTOS) {
    const { licence, author } = await starter('starter-photos', name);
    const terms = /^CC-([A-Z-]+)-([\d.]+)$/.exec(licence);
    const address = terms
      ? `https://creativecommons.org/licenses/${terms[1]!.toLowerCase()}/${terms[2]}/`
      : 'https://creativecommons.org/publicdomain/zero/1.0/';
    const fileOf = (id: string) => `train/${id}.jpg`;
    const id = idInSplit('open-images', name, split, fileOf);
    const url = `https://www.flickr.com/photos/${id}`;
    const bytes = await smallPhoto(name).jpeg({ quality: 90 }).toBuffer();
    publish('open-images', fileOf(id), `/bucket/train/${id}.jpg`, bytes, { licence, author, url, changes: CHANGES });
    lines.push(`${id},train,,${url},${address},,"${author.replaceAll('"', '""')}","A ""title"", and more"`);
  }
  const url = 'https://www.flickr.com/photos/sold';
  const sold = { licence: 'CC-BY-NC-2.0', author: 'Seller', url, changes: CHANGES };
  publish(
    'open-images',
    'train/50d.jpg',
    '/bucket/train/50d.jpg',
    await smallPhoto('tiger-in-snow.jpg').png().toBuffer(),
    sold,
  );
  lines.push(`50d,train,,${url},https://creativecommons.org/licenses/by-nc/2.0/,,Seller,Sold`);
  lines.push('00000000000000ff,train,,https://www.flickr.com/photos/gone,,,Nobody,Gone');
  server.files.set('/train.csv', `${lines.join('\n')}\n`);
  const image = `${server.origin}/bucket/{Subset}/{ImageID}.jpg`;
  return { lists: [{ subset: 'train', url: `${server.origin}/train.csv`, image, changes: CHANGES }] };
}

async function serveMeshes() {
  const paths: Record<string, string> = {};
  const metadata: Record<string, unknown> = {};
  const fileOf = (id: string) => `glbs/000-000/${id}.glb`;
  for (const [name, split] of MESHES) {
    const { content, author } = await starter('starter-meshes', name);
    const id = idInSplit('objaverse-lvis', name, split, fileOf);
    const url = `https://sketchfab.com/3d-models/${id}`;
    publish('objaverse-lvis', fileOf(id), `/${fileOf(id)}`, content, { licence: 'CC0-1.0', author, url });
    paths[id] = fileOf(id);
    metadata[id] = { license: 'cc0', viewerUrl: url, user: { username: 'user', displayName: author } };
  }
  const flat = { license: 'by', viewerUrl: 'https://sketchfab.com/3d-models/f1a7', user: { username: 'flat' } };
  publish('objaverse-lvis', fileOf('f1a7'), `/${fileOf('f1a7')}`, Buffer.from('glTF and no more'), {
    licence: 'CC-BY-4.0',
    author: 'flat',
    url: flat.viewerUrl,
  });
  paths.f1a7 = fileOf('f1a7');
  const gzip = (value: unknown) => gzipSync(JSON.stringify(value));
  server.files.set('/object-paths.json.gz', gzip(paths));
  server.files.set('/lvis-annotations.json.gz', gzip({ thing: Object.keys(paths) }));
  server.files.set('/metadata/000-000.json.gz', gzip({ ...metadata, f1a7: flat }));
  return {
    paths: `${server.origin}/object-paths.json.gz`,
    categories: `${server.origin}/lvis-annotations.json.gz`,
    metadata: `${server.origin}/metadata/{folder}.json.gz`,
    object: `${server.origin}/{path}`,
  };
}

async function servePanoramas() {
  const assets: Record<string, unknown> = {};
  const fileOf = (id: string) => `${id}_2k.exr`;
  for (const [name, split] of PANORAMAS) {
    const { content, author } = await starter('starter-environments', name);
    const id = idInSplit('polyhaven-hdris', name, split, fileOf);
    const path = `/ph-assets/HDRIs/exr/2k/${fileOf(id)}`;
    const rights = { licence: 'CC0-1.0', author, url: `https://polyhaven.com/a/${id}` };
    publish('polyhaven-hdris', fileOf(id), path, content, rights);
    assets[id] = { name, type: 0, authors: { [author]: 'All' }, categories: ['outdoor'] };
    const md5 = createHash('md5').update(content).digest('hex');
    const exr = { url: `${server.origin}${path}`, size: content.length, md5 };
    server.files.set(`/files/${id}`, JSON.stringify({ hdri: { '2k': { exr } } }));
  }
  server.files.set('/assets?type=hdris', JSON.stringify(assets));
  return {
    assets: `${server.origin}/assets?type=hdris`,
    files: `${server.origin}/files/{id}`,
    page: 'https://polyhaven.com/a/{id}',
    format: 'exr',
  };
}

/** All that names a pack and a file in a label, however deep. */
function* namedIn(value: unknown): Generator<Named> {
  if (typeof value !== 'object' || value === null) return;
  if ('pack' in value && 'file' in value) yield value as Named;
  for (const inner of Object.values(value)) yield* namedIn(inner);
}

describe('packs that were fetched', () => {
  it('are what the server published, with what could not be had or used told', async () => {
    expect(added['open-images'], added['open-images']!.stderr).toMatchObject({ code: 3 });
    expect(added['open-images']!.stdout).toContain('1 more could not be had');
    for (const id of ['objaverse-lvis', 'polyhaven-hdris']) expect(added[id]!.code, added[id]!.stderr).toBe(0);
    expect(added['objaverse-lvis']!.stdout).toContain('1 of them are marked as unusable');
    const found = new Map<string, Published>();
    for (const { id } of manifest.packs) {
      expect(await verifyPack(id, { manifest, dataFolder })).toEqual([]);
      for await (const { path, file } of packFiles(id, { manifest, dataFolder })) {
        const { licence, author, url, changes } = file;
        const facts = { licence: licence!, author: author!, url: url!, changes, sha256: sha256(await readFile(path)) };
        found.set(`${id}/${file.path}`, facts);
        expect(file.sha256).toBe(facts.sha256);
        expect(file.unusable !== undefined).toBe(file.id === 'f1a7');
      }
    }
    expect(found).toEqual(published);
  });

  it('stand in every label of the main job as they were published, and those of other licences in none', async () => {
    const labels = await labelsIn(run, '');
    const named = labels.flatMap(label => [...namedIn(label)]);
    expect(named.length).toBeGreaterThan(labels.length);
    for (const { pack, file, licence, author, url, changes } of named) {
      expect({ ...published.get(`${pack}/${file}`), sha256: undefined }).toEqual({ licence, author, url, changes });
      expect(licence).not.toContain('NC');
    }
    // Every pack has its part in it.
    expect(new Set(named.map(({ pack }) => pack))).toEqual(new Set(manifest.packs.map(({ id }) => id)));
    for (const subset of ['shapes2d', 'textures2d', 'shapes3d', 'materials3d']) {
      expect((await labelsIn(run, `${subset}/`)).length, subset).toBe(6);
    }
    const used = new Set(named.map(({ pack, file }) => `${pack}/${file}`));
    const listed = new Set<string>();
    for await (const { values } of readCsv(join(run, 'attribution.csv'), ['pack', 'file'])) {
      const { licence, author, url, changes = '' } = published.get(`${values.pack}/${values.file}`)!;
      expect(values).toMatchObject({ licence, author, url, changes });
      listed.add(`${values.pack}/${values.file}`);
    }
    expect(listed).toEqual(used);
  });
});
