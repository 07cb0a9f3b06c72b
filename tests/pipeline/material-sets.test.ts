import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { normalsFromHeight } from '../../extractors/relief.ts';
import { configure } from '../../pipeline/configuration.ts';
import { InputFault } from '../../pipeline/faults.ts';
import { materialLabelSchema } from '../../pipeline/labels.ts';
import { type MaterialSet, readMaterialSet, setFiles } from '../../pipeline/material-sets.ts';
import type { IndexedFile } from '../../pipeline/photo-index.ts';
import { MATERIAL_FILES } from '../../pipeline/photo-sources.ts';
import { importMaterials } from '../../pipeline/stages/import-materials.ts';
import { decodeTar } from '../../pipeline/tar.ts';
import { rng } from '../../sampling/rng.ts';
import { scratchFolder } from '../runs/command.ts';

const scratch = scratchFolder();
const SIDE = 64;

describe('setFiles', () => {
  it('knows ambientCG’s names', () => {
    const names = [
      'Color',
      'NormalGL',
      'NormalDX',
      'Roughness',
      'Metalness',
      'Displacement',
      'AmbientOcclusion',
      'Opacity',
    ];
    const files = names.map(name => `Wood049_1K-JPG_${name}.jpg`);
    const others = [
      'Wood049_2K-JPG_Roughness.jpg',
      'Wood050_1K-JPG_NormalGL.jpg',
      'Wood049_1K-JPG.usdc',
      'Wood049.png',
    ];
    expect(setFiles(files[0]!, [...others, ...files])).toEqual({
      asset: 'Wood049',
      files: {
        color: files[0],
        normalUp: files[1],
        normalDown: files[2],
        roughness: files[3],
        metallic: files[4],
        height: files[5],
        occlusion: files[6],
        opacity: files[7],
      },
    });
    expect(MATERIAL_FILES.files.test(files[0]!)).toBe(true);
  });

  it('knows Poly Haven’s names, also of things that are called like a map', () => {
    const names = [
      'diff_1k.jpg',
      'nor_gl_1k.png',
      'nor_dx_1k.jpg',
      'rough_1k.jpg',
      'metal_1k.png',
      'disp_1k.png',
      'ao_1k.jpg',
      'arm_1k.jpg',
    ];
    const files = names.map(name => `rough_metal_plate_${name}`);
    const others = [
      'rough_metal_plate_rough_2k.jpg',
      'rough_metal_plate_02_rough_1k.jpg',
      'rough_metal_plate_nor_gl_1k.exr',
    ];
    expect(setFiles(files[0]!, [...others, ...files])).toEqual({
      asset: 'rough_metal_plate',
      files: {
        color: files[0],
        normalUp: files[1],
        normalDown: files[2],
        roughness: files[3],
        metallic: files[4],
        height: files[5],
        occlusion: files[6],
        packed: files[7],
      },
    });
    expect(MATERIAL_FILES.files.test(files[0]!)).toBe(true);
  });

  it('knows names without a set, and other words', () => {
    expect(setFiles('albedo.png', ['albedo.png', 'normal.png', 'height.png', 'orm.png', 'x_rough.png'])).toEqual({
      asset: '',
      files: { color: 'albedo.png', normal: 'normal.png', height: 'height.png', packed: 'orm.png' },
    });
    expect(setFiles('brick_basecolor.webp', ['brick_metallic.webp']).files).toEqual({
      color: 'brick_basecolor.webp',
      metallic: 'brick_metallic.webp',
    });
  });
});

describe('MATERIAL_FILES', () => {
  it.each([
    ['Wood049_1K-JPG_Color.jpg', true],
    ['a/brown_mud_diff_1k.png', true],
    ['albedo.webp', true],
    ['rough_color_metal_Color_2k.jpg', true],
    ['Metal/Color.png', true],
    ['Wood049_1K-JPG_Roughness.jpg', false],
    ['color_tiles_rough_1k.jpg', false],
    ['diff/brown_mud_nor_gl_1k.jpg', false],
    ['colored_wood_1k.jpg', false],
    ['Color.txt', false],
  ])('%s: %s', (name, is) => {
    expect(MATERIAL_FILES.files.test(name)).toBe(is);
  });
});

const random = rng(1, 'test', 'sets');
/** Soft hills, so that shrinking and JPEG change little. */
const hills: GreyImage = {
  width: SIDE,
  height: SIDE,
  data: Uint8Array.from({ length: SIDE * SIDE }, (_, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
    return 127 + 60 * Math.sin(x / 5) * Math.cos(y / 7 + x / 30) + 10 * random.next();
  }),
};
const up = normalsFromHeight({ ...hills, white: 255 }, 6);
const down = { ...up, data: up.data.map((value, i) => (i % 3 === 1 ? 255 - value : value)) };
const color: RgbImage = {
  width: SIDE,
  height: SIDE,
  data: Uint8Array.from({ length: 3 * SIDE * SIDE }, (_, i) => [200, 120, 60][i % 3]!),
};
const png = (image: RgbImage | GreyImage) => {
  const channels = image.data.length === image.width * image.height ? 1 : 3;
  const raw = { width: image.width, height: image.height, channels } as const;
  return sharp(image.data, { raw })
    .toColourspace(channels === 1 ? 'b-w' : 'srgb')
    .png()
    .toBuffer();
};
const level = (value: number): GreyImage => ({
  width: SIDE,
  height: SIDE,
  data: new Uint8Array(SIDE * SIDE).fill(value),
});

/** Writes a set and reads it. */
async function imported(
  name: string,
  maps: Record<string, RgbImage | GreyImage | Buffer>,
  colorFile = 'S_Color.png',
): Promise<MaterialSet> {
  const folder = join(scratch, name);
  await mkdir(folder, { recursive: true });
  for (const [file, map] of Object.entries({ [colorFile]: color, ...maps })) {
    await writeFile(join(folder, file), Buffer.isBuffer(map) ? map : await png(map));
  }
  return readMaterialSet(join(folder, colorFile), 512, 1e8);
}

/** Largest difference of two maps. */
function difference(a: { data: Uint8Array }, b: { data: Uint8Array }): number {
  expect(a.data.length).toBe(b.data.length);
  return a.data.reduce((most, value, i) => Math.max(most, Math.abs(value - b.data[i]!)), 0);
}

describe('readMaterialSet', () => {
  it('takes over maps as they are', async () => {
    const { maps, made } = await imported('whole', {
      'S_NormalGL.png': up,
      'S_Displacement.png': hills,
      'S_Roughness.png': level(33),
      'S_Metalness.png': level(255),
      'S_AmbientOcclusion.png': level(200),
      'S_Opacity.png': level(99),
    });
    expect(difference(maps.color, color)).toBe(0);
    expect(difference(maps.height, hills)).toBe(0);
    expect(difference(maps.normal, up)).toBeLessThanOrEqual(1);
    expect([maps.roughness, maps.metallic, maps.occlusion!, maps.opacity!].map(map => map.data[0])).toEqual([
      33, 255, 200, 99,
    ]);
    expect(made.maps.normal).toEqual({ kind: 'file', file: 'S_NormalGL.png', channel: null });
    expect(made.normals).toMatchObject({ from: '+Y', by: 'name' });
  });

  it('converts −Y normals: told by the name, by the height, and by a depth', async () => {
    const named = await imported('dx', { 'S_NormalDX.png': down });
    expect(named.made.normals).toEqual({ from: '-Y', by: 'name', correlation: null });
    const told = await imported('dx-height', { 'S_Normal.png': down, 'S_Displacement.png': hills });
    expect(told.made.normals).toMatchObject({ from: '-Y', by: 'height' });
    expect(told.made.normals!.correlation!.y).toBeLessThan(-0.9);
    const depth = { ...hills, data: hills.data.map(value => 255 - value) };
    const inverted = await imported('dx-depth', { 'S_Normal.png': down, 'S_Displacement.png': depth });
    expect(inverted.made.normals).toMatchObject({ from: '-Y', by: 'height' });
    for (const { maps } of [named, told, inverted]) expect(difference(maps.normal, up)).toBeLessThanOrEqual(1);
  });

  it('keeps +Y normals: told by the height, or since nothing tells', async () => {
    const told = await imported('gl-height', { 'S_Normal.png': up, 'S_Displacement.png': hills });
    expect(told.made.normals).toMatchObject({ from: '+Y', by: 'height' });
    const flat = await imported('gl-flat', { 'S_Normal.png': up, 'S_Displacement.png': level(128) });
    expect(flat.made.normals).toEqual({ from: '+Y', by: 'default', correlation: { x: 0, y: 0 } });
    for (const { maps } of [told, flat]) expect(difference(maps.normal, up)).toBeLessThanOrEqual(1);
  });

  it('takes the +Y file where a set has both', async () => {
    const both = await imported('both', { 'S_NormalGL.png': up, 'S_NormalDX.png': down });
    expect(both.made.normals).toMatchObject({ from: '+Y', by: 'name' });
  });

  it('unpacks ambient occlusion, roughness and metalness from one file', async () => {
    const arm = { ...color, data: color.data.map((_, i) => [210, 70, 25][i % 3]!) };
    const { maps, made } = await imported(
      'packed',
      { 's_arm_1k.png': arm, 's_rough_1k.png': level(5) },
      's_diff_1k.png',
    );
    expect(maps.occlusion!.data[7]).toBe(210);
    expect(maps.metallic.data[7]).toBe(25);
    // A file of its own goes first.
    expect(maps.roughness.data[7]).toBe(5);
    expect(made.maps.metallic).toEqual({ kind: 'file', file: 's_arm_1k.png', channel: 'b' });
  });

  it('puts neutral values where maps are missing, and makes normals of a height', async () => {
    const alone = await imported('alone', {});
    expect([alone.maps.height, alone.maps.roughness, alone.maps.metallic].map(({ data }) => data[9])).toEqual([
      0, 128, 0,
    ]);
    expect([...alone.maps.normal.data.subarray(0, 3)]).toEqual([128, 128, 255]);
    expect(alone.made).toMatchObject({ maps: { roughness: { kind: 'neutral', level: 128 } }, normals: null });
    const high = await imported('high', { 'S_Displacement.png': hills });
    expect(high.maps.normal).toEqual(normalsFromHeight({ ...hills, white: 255 }, 4));
    expect(high.made.maps.normal).toEqual({ kind: 'from-height', strength: 4 });
  });

  it('reads 16-bit, grey and alpha files without changing their values', async () => {
    const ushort = (image: RgbImage | GreyImage, channels: 1 | 3) =>
      sharp(
        Uint16Array.from(image.data, value => 257 * value),
        { raw: { width: SIDE, height: SIDE, channels } },
      )
        .toColourspace(channels === 1 ? 'grey16' : 'rgb16')
        .png()
        .toBuffer();
    const rgba = Uint8Array.from({ length: 4 * SIDE * SIDE }, (_, i) => [10, 20, 30, 40][i % 4]!);
    const withAlpha = await sharp(rgba, { raw: { width: SIDE, height: SIDE, channels: 4 } })
      .png()
      .toBuffer();
    const { maps, made } = await imported('deep', {
      'S_Displacement.png': await ushort(hills, 1),
      'S_NormalGL.png': await ushort(up, 3),
      'S_Roughness.png': withAlpha,
      'S_Color.png': withAlpha,
    });
    expect((await sharp(join(scratch, 'deep', 'S_Displacement.png')).metadata()).depth).toBe('ushort');
    expect(difference(maps.height, hills)).toBe(0);
    expect(difference(maps.normal, up)).toBeLessThanOrEqual(1);
    expect(maps.roughness.data[0]).toBe(10);
    expect([...maps.color.data.subarray(0, 3)]).toEqual([10, 20, 30]);
    // Alpha of the colour map is opacity.
    expect(maps.opacity!.data[0]).toBe(40);
    expect(made.maps.opacity).toEqual({ kind: 'file', file: 'S_Color.png', channel: 'alpha' });
  });

  it('brings all maps to the size of the colour map, normals of length 1', async () => {
    const folder = join(scratch, 'sizes');
    await mkdir(folder);
    await writeFile(join(folder, 'S_Color.png'), await png(color));
    await writeFile(
      join(folder, 'S_NormalGL.png'),
      await sharp(await png(up))
        .resize(96, 96)
        .png()
        .toBuffer(),
    );
    await writeFile(
      join(folder, 'S_Roughness.jpg'),
      await sharp(await png(level(80)))
        .resize(20, 20)
        .jpeg()
        .toBuffer(),
    );
    const { maps } = await readMaterialSet(join(folder, 'S_Color.png'), 32, 1e8);
    for (const map of Object.values(maps)) expect([map.width, map.height]).toEqual([32, 32]);
    expect(Math.abs(maps.roughness.data[5]! - 80)).toBeLessThanOrEqual(1);
    const lengths = Array.from({ length: 32 * 32 }, (_, i) =>
      Math.hypot(...[0, 1, 2].map(c => maps.normal.data[3 * i + c]! / 127.5 - 1)),
    );
    expect(Math.max(...lengths.map(length => Math.abs(length - 1)))).toBeLessThan(0.02);
  });

  it('names the map that cannot be used', async () => {
    const broken = (await png(up)).subarray(0, 500);
    await expect(imported('broken', { 'S_NormalGL.png': broken })).rejects.toThrow(/^S_NormalGL\.png: /);
    await expect(imported('broken', { 'S_NormalGL.png': broken })).rejects.toThrow(InputFault);
  });

  const given = fileURLToPath(new URL('../../../shared/data/pbr', import.meta.url));
  it.runIf(existsSync(given))('tells that six sets of ambientCG’s older naming are −Y', async () => {
    for (const folder of await readdir(given)) {
      const file = (await readdir(join(given, folder))).find(name => name.endsWith('_Color.jpg'))!;
      const { made, maps } = await readMaterialSet(join(given, folder, file), 512, 1e8);
      expect(made.normals, folder).toMatchObject({ from: '-Y', by: 'height' });
      expect(maps.color.width).toBe(512);
    }
  });
});

describe('import-materials', () => {
  const provenance = { pack: 'sets', file: 'stage/S_Color.png', licence: 'CC0-1.0', author: null, url: null };
  const run = async (path: string, file = provenance.file) => {
    const indexed: IndexedFile = { id: '00000000000000ff', split: 'train', path, provenance: { ...provenance, file } };
    return importMaterials.run({ file: indexed }, { configuration: await configure({}), banks: {} });
  };

  it('makes an item of a set, in one split for all its resolutions', async () => {
    await imported('stage', { 'S_NormalGL.png': up });
    await imported('stage', {}, 'S_2K_Color.png');
    const { items, bytes } = await run(join(scratch, 'stage', 'S_Color.png'));
    expect(items).toHaveLength(1);
    const [{ id, source, split, width }] = items as NonNullable<typeof items>;
    expect([id, width]).toEqual(['00000000000000ff-m0', SIDE]);
    const label = decodeTar(Buffer.from(bytes), 'test').find(({ name }) => name.endsWith('.json'))!;
    expect(materialLabelSchema.parse(JSON.parse(Buffer.from(label.data).toString()))).toMatchObject({
      id,
      split,
      sources: [{ texture: null, photo: source, provenance }],
      made: { kind: 'imported' },
    });
    const large = await run(join(scratch, 'stage', 'S_2K_Color.png'), 'stage/S_2K_Color.png');
    expect(large.items![0]).toMatchObject({ source, split });
  });

  it('loses a set with a broken map, and says which', async () => {
    const folder = join(scratch, 'lost');
    await mkdir(folder);
    await writeFile(join(folder, 'S_Color.png'), await png(color));
    await writeFile(join(folder, 'S_Roughness.png'), 'no picture');
    const path = join(folder, 'S_Color.png');
    expect(await run(path)).toMatchObject({
      samples: 0,
      faults: [{ item: path, reason: expect.stringContaining('S_Roughness.png') }],
    });
  });
});
