import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Mask } from '../../extractors/image.ts';
import type { Split } from '../../pipeline/splits.ts';

/** A mask set where a function says so. */
export function maskOf(width: number, height: number, isSet: (x: number, y: number) => boolean): Mask {
  const data = Uint8Array.from({ length: width * height }, (_, i) =>
    isSet(i % width, Math.floor(i / width)) ? 255 : 0,
  );
  return { width, height, data };
}

export const inBox = (left: number, top: number, width: number, height: number) => (x: number, y: number) =>
  x >= left && x < left + width && y >= top && y < top + height;
export const inDisc = (cx: number, cy: number, radius: number) => (x: number, y: number) =>
  (x - cx) ** 2 + (y - cy) ** 2 <= radius ** 2;

export function maskPng({ data, width, height }: Mask): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .png()
    .toBuffer();
}

/** A picture in smooth colours: red rises rightwards, green downwards. */
export function gradient(width: number, height: number): Sharp {
  const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    return [(200 * x) / width, (200 * y) / height, 90][i % 3]!;
  });
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** A picture of the `plain` layout. */
export interface PlainPicture {
  readonly file: string;
  readonly label: string;
  readonly split: Split;
  readonly picture: Uint8Array;
  readonly mask: Uint8Array;
}

/** Writes a dataset in the `plain` layout. */
export async function writePlain(folder: string, pictures: readonly PlainPicture[]): Promise<string> {
  for (const part of ['images', 'masks']) await mkdir(join(folder, part), { recursive: true });
  const lines = ['file,label,split,genus'];
  for (const { file, label, split, picture, mask } of pictures) {
    await writeFile(join(folder, 'images', file), picture);
    await writeFile(join(folder, 'masks', file.replace(/\.\w+$/, '.png')), mask);
    lines.push(`${file},${label},${split},test`);
  }
  await writeFile(join(folder, 'labels.csv'), `${lines.join('\n')}\n`);
  return folder;
}

/** An object of the `coco` layout: a box in its picture. */
export interface CocoBox {
  readonly category: string;
  readonly box: readonly [left: number, top: number, width: number, height: number];
}

/** Writes a dataset in the `coco` layout, objects as polygons. */
export async function writeCoco(
  folder: string,
  pictures: readonly (readonly CocoBox[])[],
  width: number,
  height: number,
): Promise<string> {
  await mkdir(join(folder, 'images'), { recursive: true });
  const names = [...new Set(pictures.flat().map(({ category }) => category))];
  const annotations = [];
  for (const [image_id, objects] of pictures.entries()) {
    await gradient(width, height)
      .jpeg({ quality: 90 })
      .toFile(join(folder, 'images', `${image_id}.jpg`));
    for (const { category, box } of objects) {
      const [x, y, w, h] = box;
      annotations.push({
        id: annotations.length + 1,
        image_id,
        category_id: names.indexOf(category) + 1,
        segmentation: [[x, y, x + w, y, x + w, y + h, x, y + h]],
        area: w * h,
        bbox: box,
        iscrowd: 0,
      });
    }
  }
  const images = pictures.map((_, id) => ({ id, file_name: `${id}.jpg`, width, height }));
  const categories = names.map((name, i) => ({ id: i + 1, name, supercategory: 'thing' }));
  await writeFile(join(folder, 'instances.json'), JSON.stringify({ images, annotations, categories }));
  return folder;
}
