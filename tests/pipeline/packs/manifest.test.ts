import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareMesh } from '../../../extractors/mesh/prepare-mesh.ts';
import { readCutOut } from '../../../pipeline/datasets/binary-mask.ts';
import { openMesh } from '../../../pipeline/meshes/mesh-file.ts';
import {
  findPack,
  loadManifest,
  type Manifest,
  manifestSchema,
  type PackFile,
} from '../../../pipeline/packs/manifest.ts';
import { PACK_SOURCES } from '../../../pipeline/packs/pack-sources.ts';
import { packFiles, packFolder, verifyPack } from '../../../pipeline/packs/pack-store.ts';
import { decodePanoramaFile } from '../../../pipeline/panoramas/panorama-file.ts';
import { panoramaLight } from '../../../pipeline/panoramas/solid-angle.ts';
import { openPhoto } from '../../../pipeline/photo.ts';
import { POSITION_STEPS } from '../../../scenes/mesh-format.ts';

const ALLOWED = /^(CC0-1\.0|LicenseRef-public-domain|CC-BY(-SA)?-[1-4]\.[05])$/;
const NEEDS_CHANGES_NOTED = /^CC-BY/;

describe('the manifest of this repository', () => {
  let manifest: Manifest;
  let files: PackFile[];
  beforeAll(async () => {
    manifest = await loadManifest();
    const { obtained } = findPack(manifest, 'starter-photos');
    if (obtained.via !== 'repository') throw new Error('the starter pack comes with the repository');
    files = obtained.files;
  });

  it('has every starter photo with the recorded bytes and hash, and no other file', async () => {
    expect(await verifyPack('starter-photos', { manifest })).toEqual([]);
    const present = await readdir(packFolder(findPack(manifest, 'starter-photos')));
    expect(present.sort()).toEqual(files.map(file => file.path).sort());
  });

  it('stays small and under licences that let everyone pass the photos on', () => {
    expect(files.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThan(6_300_000);
    for (const { path, licence } of files) expect(licence, path).toMatch(ALLOWED);
    for (const { path, licence, changes } of files) {
      if (path.endsWith('.webp') && NEEDS_CHANGES_NOTED.test(licence)) expect(changes, path).toBeDefined();
    }
  });

  it('gives every photo a split, and every split enough photos', () => {
    const shares = (['train', 'val', 'test'] as const).map(split => files.filter(file => file.split === split).length);
    expect(shares[0]! + shares[1]! + shares[2]!).toBe(files.length);
    expect(shares[0]! / files.length).toBeGreaterThan(0.5);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(6);
  });

  it('names photos that can be opened', async () => {
    for await (const { path, file } of packFiles('starter-photos', { manifest })) {
      const { width, height } = await openPhoto(path);
      expect(Math.min(width, height), file.path).toBeGreaterThanOrEqual(400);
    }
  });

  it('has every starter mesh with the recorded bytes and hash, all CC0, in every split, in 3 MB', async () => {
    const pack = findPack(manifest, 'starter-meshes');
    if (pack.obtained.via !== 'repository') throw new Error('the starter pack comes with the repository');
    const meshes = pack.obtained.files;
    expect(await verifyPack('starter-meshes', { manifest })).toEqual([]);
    expect((await readdir(packFolder(pack))).sort()).toEqual(meshes.map(file => file.path).sort());
    expect(meshes.length).toBeGreaterThanOrEqual(16);
    expect(meshes.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThan(3_000_000);
    for (const { path, licence, changes } of meshes) {
      expect(licence, path).toBe('CC0-1.0');
      expect(changes, path).toBeDefined();
    }
    for (const split of ['train', 'val', 'test'] as const) {
      expect(meshes.filter(file => file.split === split).length).toBeGreaterThanOrEqual(4);
    }
    for await (const { path, file } of packFiles('starter-meshes', { manifest })) {
      const { mesh } = await (await openMesh(path)).decode();
      const { simplified, removed } = await prepareMesh(mesh, { triangles: 10_000, creaseAngle: 50 }, POSITION_STEPS);
      expect({ path: file.path, simplified, removed }).toMatchObject({ simplified: false, removed: { nonFinite: 0 } });
    }
  });

  it('has every starter panorama with the recorded bytes and hash, all CC0, in every split, in 4 MB', async () => {
    const pack = findPack(manifest, 'starter-environments');
    if (pack.obtained.via !== 'repository') throw new Error('the starter pack comes with the repository');
    const panoramas = pack.obtained.files;
    expect(await verifyPack('starter-environments', { manifest })).toEqual([]);
    expect((await readdir(packFolder(pack))).sort()).toEqual(panoramas.map(file => file.path).sort());
    expect(panoramas.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThan(4_000_000);
    for (const { path, licence } of panoramas) expect(licence, path).toBe('CC0-1.0');
    for (const split of ['train', 'val', 'test'] as const) {
      expect(panoramas.filter(file => file.split === split).length).toBeGreaterThanOrEqual(3);
    }
    for await (const { path, file } of packFiles('starter-environments', { manifest })) {
      const { data, cleaned } = await decodePanoramaFile(await readFile(path), { maxPixels: 1e6, maxBrokenShare: 0 });
      expect(cleaned.nan, file.path).toBe(0);
      const { mean, brightest } = panoramaLight({ width: data.length / 3, height: 1, data });
      // A lamp or sun that the compression broke is pure blue.
      expect(brightest.color[0], file.path).toBeGreaterThan(brightest.color[2] / 4);
      expect(Math.min(...mean), file.path).toBeGreaterThan(0.05);
    }
  });

  it('has every starter cut-out with the recorded bytes and hash, free, in every split, in 1.5 MB', async () => {
    const pack = findPack(manifest, 'starter-cutouts');
    if (pack.obtained.via !== 'repository') throw new Error('the starter pack comes with the repository');
    const cutOuts = pack.obtained.files;
    expect(await verifyPack('starter-cutouts', { manifest })).toEqual([]);
    const present = await readdir(packFolder(pack), { recursive: true, withFileTypes: true });
    const names = present.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
    expect(names.sort()).toEqual(cutOuts.map(file => join(packFolder(pack), file.path)).sort());
    expect(cutOuts.length).toBeGreaterThanOrEqual(16);
    expect(cutOuts.reduce((sum, file) => sum + file.bytes, 0)).toBeLessThan(1_500_000);
    for (const { path, licence, changes } of cutOuts) {
      expect(licence, path).toMatch(ALLOWED);
      expect(changes, path).toBeDefined();
    }
    for (const split of ['train', 'val', 'test'] as const) {
      expect(cutOuts.filter(file => file.split === split).length).toBeGreaterThanOrEqual(4);
    }
    for await (const { path, file } of packFiles('starter-cutouts', { manifest })) {
      const { box, area } = (await readCutOut(path))!;
      expect(Math.max(box.width, box.height), file.path).toBeGreaterThanOrEqual(100);
      expect(area, file.path).toBeLessThan(box.width * box.height);
    }
  });

  it('expects about 300 photographs of the Debian packages', () => {
    const { obtained } = findPack(manifest, 'debian-photos');
    if (obtained.via !== 'debian') throw new Error('expected a Debian pack');
    const expected = obtained.packages.reduce((sum, debian) => sum + debian.expected, 0);
    expect(expected).toBeGreaterThan(280);
  });
});

describe('manifestSchema', () => {
  const file = {
    path: 'a.jpg',
    bytes: 1,
    sha256: '0'.repeat(64),
    author: 'A',
    url: 'https://example.org',
    licence: 'CC0-1.0',
  };
  const pack = {
    id: 'p',
    kind: 'photos',
    title: 'T',
    licence: 'CC0-1.0',
    attribution: 'A',
    source: 'S',
    obtained: { via: 'repository', folder: 'assets/p', files: [file] },
  };
  const withFile = (change: object) => ({
    packs: [{ ...pack, obtained: { ...pack.obtained, files: [{ ...file, ...change }] } }],
  });

  it('takes a good one', () => {
    expect(manifestSchema.safeParse(withFile({})).success).toBe(true);
  });

  it.each([
    { path: '../a.jpg' },
    { path: '/a.jpg' },
    { path: 'a/./b.jpg' },
    { path: 'a//b.jpg' },
    { bytes: 0 },
    { sha256: 'abc' },
    { author: '' },
    { url: 'here' },
    { licence: 'CC0 or so!' },
    { split: 'dev' },
    { surplus: 1 },
  ])('refuses a file with %o', change => {
    expect(manifestSchema.safeParse(withFile(change)).success).toBe(false);
  });

  it('refuses an id or a path that is used twice', () => {
    expect(manifestSchema.safeParse({ packs: [pack, pack] }).error?.message).toMatch(/pack id \\?"p\\?" is used twice/);
    const twice = { ...pack, obtained: { ...pack.obtained, files: [file, file] } };
    expect(manifestSchema.safeParse({ packs: [twice] }).error?.message).toMatch(/a\.jpg\\?" is listed twice/);
  });
});

describe('packs of sources', () => {
  it('have addresses as their sources want them, all of them https', async () => {
    for (const { id, obtained } of (await loadManifest()).packs) {
      if (!('addresses' in obtained)) continue;
      const parsed = PACK_SOURCES[obtained.via].addresses.safeParse(obtained.addresses);
      expect(parsed.error?.message, id).toBeUndefined();
      expect(JSON.stringify(obtained.addresses), id).not.toContain('http:');
    }
  });
});

describe('loadManifest', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shapemill-manifest-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('says which file and field is wrong', async () => {
    const path = join(folder, 'm.json');
    await writeFile(path, '{"packs": [{"id": "Photos"}]}');
    await expect(loadManifest(path)).rejects.toThrow(/m\.json is not as expected:.*packs\[0\]\.id/s);
    await writeFile(path, '{');
    await expect(loadManifest(path)).rejects.toThrow(/m\.json is not JSON/);
  });

  it('lists the packs there are when one is unknown', async () => {
    const manifest = await loadManifest();
    expect(() => findPack(manifest, 'nope')).toThrow(/starter-photos, .*debian-meshes.*, got "nope"/);
  });
});
