import { copyFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realInstances } from '../../../pipeline/panels/panels-real.ts';

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'real-'));
  const photo = async (name: string, width: number, height: number, red = 0) => {
    await mkdir(dirname(at(name)), { recursive: true });
    const background = { r: red, g: 90, b: 90 };
    await sharp({ create: { width, height, channels: 3, background } }).toFile(at(name));
  };
  await photo('cup/a.jpg', 90, 64);
  await photo('cup/b.png', 64, 90);
  await photo('cup/small.png', 63, 400);
  await photo('jug/a.jpg', 80, 80, 1);
  await copyFile(at('cup/a.jpg'), at('jug/b.jpg'));
  await photo('pan/at/home/a.jpg', 80, 80, 2);
  await photo('loose.jpg', 80, 80, 3);
  await writeFile(at('cup/text.jpg'), 'no picture');
});
afterAll(() => rm(folder, { recursive: true }));

it('takes what can be used, and says of the rest why it cannot', async () => {
  const { instances, faults } = await realInstances(folder);
  expect(instances.map(({ name, photos }) => [name, photos.map(({ file }) => file)])).toEqual([
    ['cup', ['cup/a.jpg', 'cup/b.png']],
  ]);
  const depth = 'expected photographs as DIR/object/photograph, got another depth of folders';
  expect(Object.fromEntries(faults.map(({ item, reason }) => [item, reason]))).toEqual({
    'cup/small.png': 'expected at least 64 pixels on each side, got 63×400',
    'cup/text.jpg': 'expected JPEG, PNG, WebP, AVIF or TIFF, got no picture',
    'jug/b.jpg': 'the same file as cup/a.jpg',
    'loose.jpg': depth,
    'pan/at/home/a.jpg': depth,
    jug: 'expected two photographs or more, found one',
  });
});

it('tells other photographs of the same names', async () => {
  const { digest } = await realInstances(folder);
  expect((await realInstances(folder)).digest).toBe(digest);
  await truncate(at('cup/text.jpg'), 3);
  expect((await realInstances(folder)).digest).not.toBe(digest);
});

it('refuses what is no folder', async () => {
  for (const path of [at('nowhere'), at('loose.jpg')]) {
    await expect(realInstances(path)).rejects.toThrow(`--real: expected a folder with a folder of photographs`);
  }
});
