import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { coco } from '../../../pipeline/datasets/coco.ts';
import { put, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();

/** An annotation file of three pieces or so. */
async function longFile(): Promise<string> {
  const segmentation = [Array.from({ length: 2000 }, (_, i) => i)];
  const annotations = Array.from({ length: 300 }, (_, id) => ({ id, image_id: id, category_id: 1, segmentation }));
  const images = annotations.map(({ id }) => ({ id, file_name: `${id}.jpg`, width: 9, height: 9 }));
  const path = join(folder(), 'instances.json');
  await put(path, JSON.stringify({ images, annotations, categories: [{ id: 1, name: 'cat' }] }));
  return path;
}

it('tells how much of an annotation file is read before the first picture is known', async () => {
  const read: number[] = [];
  const { images } = await coco.open(await longFile());
  for await (const _ of images({ onRead: bytes => read.push(bytes) })) break;
  expect(read.length).toBeGreaterThan(1);
  expect(read.every(bytes => bytes > 0)).toBe(true);
});

it('ends between two pieces when it is aborted, and keeps no temporary files', async () => {
  const controller = new AbortController();
  const read: number[] = [];
  const onRead = (bytes: number) => {
    read.push(bytes);
    controller.abort();
  };
  const buckets = async () => (await readdir(tmpdir())).filter(name => name.startsWith('shapemill-buckets-'));
  const before = await buckets();
  const { images } = await coco.open(await longFile());
  const listed = images({ signal: controller.signal, onRead })[Symbol.asyncIterator]().next();
  await expect(listed).rejects.toThrow(controller.signal.reason);
  expect(read).toHaveLength(1);
  expect((await buckets()).filter(name => !before.includes(name))).toEqual([]);
});
