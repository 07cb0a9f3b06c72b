import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { bankShardName, finalizeBank } from '../../pipeline/bank.ts';
import { bankResult } from '../../pipeline/bank-stage.ts';
import { materialItem } from '../../pipeline/material-files.ts';
import { readMaterialSet } from '../../pipeline/material-sets.ts';
import { SceneAssets } from '../../pipeline/scene-assets.ts';
import { TAR_END } from '../../pipeline/tar.ts';
import { readPackedMaterial } from '../../scenes/material-format.ts';
import { scratchFolder } from '../runs/command.ts';

const scratch = scratchFolder();

it.each([
  [32, 16],
  [16, 32],
])('maps of %d×%d pixels fill the square that the page takes', async (width, height) => {
  const folder = join(scratch, `${width}`);
  await mkdir(folder);
  const save = (r: number, g: number, b: number, name: string) =>
    sharp({ create: { width, height, channels: 3, background: { r, g, b } } }).toFile(join(folder, name));
  await save(200, 100, 50, 'tiles_Color.png');
  await save(120, 120, 120, 'tiles_Roughness.png');
  await save(255, 255, 255, 'tiles_Metalness.png');
  const { maps, made } = await readMaterialSet(join(folder, 'tiles_Color.png'), 64, 1e6);
  const source = '0123456789abcdef';
  const provenance = { pack: 'test', file: 'tiles_Color.png', licence: null, author: null, url: null };
  const label = { sources: [{ texture: null, photo: source, provenance }], made };
  const item = await materialItem({ hex: source, source, split: 'train', rank: 0, maps, label }, 95);
  const { bytes, items } = bankResult('materials', [item], { faults: [], counts: {} });
  await writeFile(join(folder, `${bankShardName('materials', 0)}.tar`), Buffer.concat([bytes, TAR_END]));
  const materials = await finalizeBank(folder, 'materials', null, [[0, items!]]);
  const assets = new SceneAssets({ materials, meshes: materials, environments: materials }, 'test');

  const packed = readPackedMaterial(new Uint8Array((await assets.get('materials', 0))!));
  expect(packed.side).toBe(32);
  const expected = { color: [200, 100, 50], normalHeight: [128, 128, 255, 0], properties: [255, 120, 255, 0] };
  for (const [image, texel] of Object.entries(expected) as [keyof typeof expected, number[]][]) {
    const off = packed[image].map((value, i) => Math.abs(value - (texel[i % 4] ?? value)));
    expect(Math.max(...off), image).toBeLessThan(4);
  }
});
