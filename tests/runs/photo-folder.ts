import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp, { type Sharp } from 'sharp';
import { splitOf } from '../../pipeline/photo-index.ts';
import type { Split } from '../../pipeline/splits.ts';
import { hashId } from '../../sampling/hash.ts';

/** Photos that give shapes and textures even when they are small, two for each split. */
export const PHOTOS: readonly [name: string, split: Split][] = [
  ['nuthatch-on-bark.webp', 'train'],
  ['mountain-path.webp', 'train'],
  ['ring-tailed-lemur.webp', 'val'],
  ['tiger-in-snow.jpg', 'val'],
  ['fig-in-bowl.webp', 'test'],
  ['summit-sunset.webp', 'test'],
];

/** A starter photo, shrunk so that a run takes seconds. */
export function smallPhoto(name: string): Sharp {
  const path = fileURLToPath(new URL(`../../assets/starter/photos/${name}`, import.meta.url));
  return sharp(path).resize({ width: 300, height: 300, fit: 'outside' });
}

/** Writes six small photos into `<parent>/photos`. Splits come from the hash of a name, so the names are chosen. */
export async function writePhotos(parent: string): Promise<string> {
  const folder = join(parent, 'photos');
  await mkdir(folder, { recursive: true });
  for (const [name, split] of PHOTOS) {
    await smallPhoto(name)
      .jpeg({ quality: 90 })
      .toFile(join(folder, nameInSplit('photos', name.replace(/\..*$/, ''), split)));
  }
  return folder;
}

/** A file name that the hash of folder and name puts into a split. */
export function nameInSplit(folder: string, name: string, split: Split, extension = 'jpg'): string {
  for (let i = 0; ; i++) {
    const file = `${name}-${i}.${extension}`;
    if (splitOf(hashId(`${folder}/${file}`)) === split) return file;
  }
}

/** A recipe for small photos: small images, pairs, shards of four, a second and third round of windows. */
export const SMALL = {
  subsets: ['shapes2d', 'textures2d'],
  shapes: 7,
  textures: 30,
  'shapes2d-images': 20,
  'textures2d-images': 20,
  'shard-samples': 4,
  'natural-shapes': { rounds: 3, 'window-min-side': 200 },
  'texture-regions': { 'cell-size': 16, 'min-cells': 5, 'min-similarity': 0.3, 'cell-rounds': [1, 0.7] },
  shapes2d: { variations: 2, size: 128 },
  textures2d: { variations: 2, size: 128 },
};

/** Writes a recipe file; JSON is YAML too. */
export async function writeRecipe(path: string, changes: Record<string, unknown> = {}): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ ...SMALL, ...changes }));
  return path;
}
