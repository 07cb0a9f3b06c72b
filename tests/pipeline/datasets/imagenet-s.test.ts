import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DatasetPicture } from '../../../pipeline/datasets/dataset.ts';
import { IMAGENET_CLASSES } from '../../../pipeline/datasets/imagenet-classes.ts';
import { imagenetS } from '../../../pipeline/datasets/imagenet-s.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { jpeg, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const WNIDS = [...IMAGENET_CLASSES.keys()];

/** Class ids as the dataset writes them. */
const mask = (width: number, ...ids: number[]) =>
  png({ width, height: ids.length / width, colourType: 2, samples: ids.flatMap(id => [id % 256, id >> 8, 0]) });

/** Folders of a number of classes, as the archives have them. */
async function addClasses(root: string, part: string, count: number) {
  for (const wnid of WNIDS.slice(0, count)) await mkdir(join(root, part, wnid), { recursive: true });
}

const root = () => join(folder(), 'imagenet-s/ImageNetS300');
const GOLDFISH = 'n01443537';

beforeAll(async () => {
  await addClasses(root(), 'validation', 300);
  // biome-ignore format: rows of the picture
  await put(join(root(), `validation-segmentation/${GOLDFISH}/ILSVRC2012_val_00000001.png`), mask(4,
      2,    2,    0,    0,
   1000,    2,    0,  299,
   1000, 1000,  299,  299,
  ));
  await put(join(root(), `validation/${GOLDFISH}/ILSVRC2012_val_00000001.JPEG`), await jpeg(8, 6));
  const elsewhere = await put(join(folder(), 'imagenet/train/n01440764_7.JPEG'), await jpeg(8, 6));
  await mkdir(join(root(), 'train-semi/n01440764'), { recursive: true });
  await symlink(elsewhere, join(root(), 'train-semi/n01440764/n01440764_7.JPEG'));
  await put(join(root(), 'train-semi-segmentation/n01440764/n01440764_7.png'), mask(2, 0, 1000));
  // A test picture has no mask; what a viewer leaves behind is no picture.
  await put(join(root(), `test/${GOLDFISH}/ILSVRC2012_val_00000003.JPEG`), await jpeg(8, 6));
  await put(join(root(), `validation-segmentation/${GOLDFISH}/.DS_Store`), '');
});

it('lists the pictures of both parts that have masks; links lead to what they name', async () => {
  const images = await listImages(imagenetS, root());
  expect(images.map(({ file, part, path }) => [file, part, path])).toEqual([
    ['train-semi/n01440764/n01440764_7.JPEG', 'train-semi', join(folder(), 'imagenet/train/n01440764_7.JPEG')],
    [
      `validation/${GOLDFISH}/ILSVRC2012_val_00000001.JPEG`,
      'validation',
      join(root(), `validation/${GOLDFISH}/ILSVRC2012_val_00000001.JPEG`),
    ],
  ]);
  expect(await imagenetS.open(join(folder(), 'imagenet-s'))).toMatchObject({ pack: 'ImageNetS300', root: root() });
});

it('reads class ids as R + 256 · G, counted over the sorted classes', async () => {
  const [empty, image] = await listImages(imagenetS, root());
  const objects = await imagenetS.read(image!);
  expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['##', '.#'],
      box: { left: 0, top: 0, width: 2, height: 2 },
      area: 3,
      width: 4,
      height: 3,
      label: 'goldfish',
      category: GOLDFISH,
      instance: null,
      taxonomy: { supercategory: 'animal', words: 'goldfish, Carassius auratus' },
    },
    {
      mask: ['.#', '##'],
      box: { left: 2, top: 1, width: 2, height: 2 },
      area: 3,
      width: 4,
      height: 3,
      label: IMAGENET_CLASSES.get(WNIDS[298]!)!.words[0],
      category: WNIDS[298],
      instance: null,
      taxonomy: { supercategory: 'animal', words: IMAGENET_CLASSES.get(WNIDS[298]!)!.words.join(', ') },
    },
  ]);
  expect(await imagenetS.read(empty!)).toEqual([]);
});

describe('faults of the data', () => {
  const fault = async (bytes: Uint8Array) => {
    const entry = { mask: await put(join(folder(), 'broken.png'), bytes), root: root() };
    const picture: DatasetPicture = { path: '', file: '', entry };
    const error: unknown = await imagenetS.read(picture).catch(error => error);
    expect(error).toBeInstanceOf(InputFault);
    return (error as Error).message;
  };

  it('are told apart', async () => {
    expect(await fault(mask(1, 301))).toBe('mask: class 301 of 300');
    expect(await fault(png({ width: 1, height: 1, samples: [2] }))).toBe(
      'mask: expected class ids as R + 256 · G and no blue, got blue',
    );
    expect(await fault(mask(1, 2).subarray(0, 50))).toBe('mask: PNG is truncated');
  });
});

describe('the number of classes', () => {
  const small = () => join(folder(), 'ImageNetS50');
  const message = (root: string) =>
    imagenetS.open(root).then(
      () => 'opened',
      (error: Error) => error.message,
    );

  it('has to be that of the dataset, or ids would name others', async () => {
    await addClasses(small(), 'validation', 49);
    await mkdir(join(small(), 'validation-segmentation'));
    expect(await message(small())).toBe(
      'imagenet-s: expected folders of all 50 classes, since class ids are counted over them, ' +
        `found 49 in ${small()} (train, test, train-semi, validation, train-semi-segmentation, validation-segmentation); ` +
        'add the others, be they empty',
    );
    const renamed = join(folder(), 'mine');
    await addClasses(renamed, 'validation', 3);
    await mkdir(join(renamed, 'validation-segmentation'));
    expect(await message(renamed)).toMatch('expected folders of all 50, or 300, or 919 classes');
  });

  it('counts those of all parts', async () => {
    await rm(small(), { recursive: true });
    await addClasses(small(), 'validation', 20);
    await mkdir(join(small(), 'validation-segmentation'));
    await addClasses(small(), 'train', 50);
    // All of ImageNet, beside it in the archives.
    await addClasses(small(), 'train-full', 60);
    expect(await message(small())).toBe('opened');
  });
});

it("ImageNet's classes are WordNet's synsets of those ids, in order", () => {
  expect(WNIDS).toHaveLength(1000);
  expect(WNIDS).toEqual([...new Set(WNIDS)].sort());
  expect(IMAGENET_CLASSES.get('n02099601')).toEqual({ supercategory: 'animal', words: ['golden retriever'] });
  expect(IMAGENET_CLASSES.get('n02012849')).toEqual({ supercategory: 'animal', words: ['crane'] });
  expect(IMAGENET_CLASSES.get('n03126707')).toEqual({ supercategory: 'artifact', words: ['crane'] });
  expect(IMAGENET_CLASSES.get('n15075141')).toEqual({
    supercategory: 'substance',
    words: ['toilet tissue', 'toilet paper', 'bathroom tissue'],
  });
});
