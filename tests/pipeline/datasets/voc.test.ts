import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DatasetPicture } from '../../../pipeline/datasets/dataset.ts';
import { voc } from '../../../pipeline/datasets/voc.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { drawing, jpeg, listImages, png, put, rowsOf, temporaryFolder, VOC_PALETTE } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'VOCdevkit/VOC2012');

/** As in the archives: 8 bits, a palette, the index in the file. */
const indexed = (...rows: string[]) => png({ ...drawing(...rows), colourType: 3, palette: VOC_PALETTE });

async function addPicture(name: string, objects: readonly string[], classes: readonly string[], width = 6, height = 4) {
  await put(join(root(), `JPEGImages/${name}.jpg`), await jpeg(width, height));
  await put(join(root(), `SegmentationObject/${name}.png`), indexed(...objects));
  await put(join(root(), `SegmentationClass/${name}.png`), indexed(...classes));
}

const read = async (name: string) => {
  const image = (await listImages(voc, folder())).find(({ file }) => file === `JPEGImages/${name}.jpg`)!;
  return voc.read(image);
};

beforeAll(async () => {
  await addPicture(
    '2007_000001',
    // Two objects that touch, and a third apart; void between and around them.
    ['#1##..', '.1#2#3', '1122#3', '##22#3'],
    // 15: person (F); 11: dining table (B), with a pixel of a chair (9) on it; 20: tv monitor (K).
    ['#F##..', '.F#B#K', 'FFB9#K', '##BB#K'],
  );
  await addPicture('2007_000002', ['......', '..##..', '......', '......'], ['......', '..##..', '......', '......']);
  await addPicture('2007_000003', ['1.', '1.'], ['3.', '3.'], 4, 4);
  await put(join(root(), 'ImageSets/Segmentation/train.txt'), '2007_000001\n2007_000002\n');
  await put(join(root(), 'ImageSets/Segmentation/val.txt'), '2007_000003\r\n');
  await put(join(root(), 'ImageSets/Segmentation/trainval.txt'), '2007_000001\n2007_000002\n2007_000003\n');
  // Pictures of the other tasks, and of the test, have no masks.
  await put(join(root(), 'JPEGImages/2007_000009.jpg'), await jpeg(6, 4));
  await put(join(root(), 'ImageSets/Segmentation/test.txt'), '2007_000009\n');
});

it('lists the pictures of the segmentation task with their parts, each once', async () => {
  const images = await listImages(voc, root());
  expect(images.map(({ file, part }) => [file, part])).toEqual([
    ['JPEGImages/2007_000001.jpg', 'train'],
    ['JPEGImages/2007_000002.jpg', 'train'],
    ['JPEGImages/2007_000003.jpg', 'val'],
  ]);
  expect(images[0]).toMatchObject({ path: join(root(), 'JPEGImages/2007_000001.jpg'), licence: null, author: null });
});

it('is found by a folder above it, or a link', async () => {
  const expected = await listImages(voc, root());
  await symlink(folder(), join(folder(), 'link'));
  for (const above of [join(folder(), 'VOCdevkit'), folder(), join(folder(), 'link')]) {
    expect(await listImages(voc, above)).toEqual(expected);
    expect(await voc.open(above)).toMatchObject({ pack: 'VOC2012', root: root() });
  }
});

describe('objects', () => {
  it('are the indices of SegmentationObject, void left out', async () => {
    const objects = await read('2007_000001');
    expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
      {
        mask: ['.#', '.#', '##'],
        box: { left: 0, top: 0, width: 2, height: 3 },
        area: 4,
        width: 6,
        height: 4,
        label: 'person',
        category: 'person',
        instance: '1',
        taxonomy: { supercategory: 'person' },
      },
      {
        mask: ['.#', '##', '##'],
        box: { left: 2, top: 1, width: 2, height: 3 },
        area: 5,
        width: 6,
        height: 4,
        label: 'dining table',
        category: 'diningtable',
        instance: '2',
        taxonomy: { supercategory: 'indoor' },
      },
      {
        mask: ['#', '#', '#'],
        box: { left: 5, top: 1, width: 1, height: 3 },
        area: 3,
        width: 6,
        height: 4,
        label: 'tv monitor',
        category: 'tvmonitor',
        instance: '3',
        taxonomy: { supercategory: 'indoor' },
      },
    ]);
  });

  it('are none where all is ground or void', async () => {
    expect(await read('2007_000002')).toEqual([]);
  });

  it('tell the size of their mask, not that of the picture', async () => {
    expect(await read('2007_000003')).toMatchObject([{ width: 2, height: 2, label: 'bird' }]);
  });

  it('of a palette PNG: the fixture is one', () => {
    expect([...indexed('1').subarray(24, 26)]).toEqual([8, 3]);
  });
});

describe('faults of the data', () => {
  let files = 0;
  async function fault(objects: Uint8Array | null, classes: Uint8Array) {
    const entry = { objects: join(folder(), `${files++}.png`), classes: join(folder(), `${files++}.png`) };
    if (objects) await put(entry.objects, objects);
    await put(entry.classes, classes);
    const picture: DatasetPicture = { path: '', file: '', entry };
    const error: unknown = await voc.read(picture).catch(error => error);
    expect(error).toBeInstanceOf(InputFault);
    return (error as Error).message;
  }

  it('are told apart', async () => {
    expect(await fault(indexed('11'), indexed('111'))).toBe('SegmentationClass is 3×1, SegmentationObject 2×1');
    expect(await fault(indexed('11'), indexed('..'))).toBe('object 1 has no class');
    expect(await fault(indexed('11'), indexed('##'))).toBe('object 1 has no class');
    expect(await fault(indexed('11'), indexed('LL'))).toBe('no class 21');
    expect(await fault(null, indexed('11'))).toBe('cannot read mask: ENOENT');
    expect(await fault(indexed('11').subarray(0, 40), indexed('11'))).toBe('mask: PNG is truncated');
    // What a picture viewer makes of the palette.
    const colours = png({ width: 1, height: 1, colourType: 2, samples: VOC_PALETTE[1]! });
    expect(await fault(colours, indexed('1'))).toBe('expected indices in a palette or grey PNG, got colours');
  });
});

it('lists all masks where there are no lists of parts', async () => {
  await rm(join(root(), 'ImageSets'), { recursive: true });
  const images = await listImages(voc, root());
  expect(images.map(({ part }) => part)).toEqual([null, null, null]);
});
