import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { cub } from '../../../pipeline/datasets/cub.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { jpeg, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'CUB_200_2011');

const ALBATROSS = '001.Black_footed_Albatross';
const LAYSAN = '002.Laysan_Albatross';
const WILL = '105.Whip_poor_Will';

/** Grey levels as five annotators make them: 51 each. */
const votes = (width: number, ...counts: number[]) =>
  png({ width, height: counts.length / width, samples: counts.map(count => 51 * count) });

async function addPicture(folderName: string, name: string, mask: Uint8Array | null) {
  await put(join(root(), 'images', folderName, `${name}.jpg`), await jpeg(8, 6));
  if (mask) await put(join(folder(), 'segmentations', folderName, `${name}.png`), mask);
}

beforeAll(async () => {
  // biome-ignore format: rows of the picture
  await addPicture(ALBATROSS, 'Black_Footed_Albatross_0001_796111', votes(4,
    0, 1, 2, 0,
    0, 3, 5, 2,
    1, 2, 4, 3,
  ));
  await addPicture(ALBATROSS, 'Black_Footed_Albatross_0002_55', votes(2, 0, 2));
  await addPicture(LAYSAN, 'Laysan_Albatross_0001_545', votes(1, 5).subarray(0, 30));
  await addPicture(
    WILL,
    'Whip_Poor_Will_0001_1',
    png({ width: 2, height: 1, colourType: 4, samples: [255, 255, 0, 255] }),
  );
  await addPicture(WILL, 'Whip_Poor_Will_0002_2', null);
  await put(
    join(root(), 'images.txt'),
    `1 ${ALBATROSS}/Black_Footed_Albatross_0001_796111.jpg\n2 ${ALBATROSS}/Black_Footed_Albatross_0002_55.jpg\n` +
      `3 ${LAYSAN}/Laysan_Albatross_0001_545.jpg\n`,
  );
  await put(join(root(), 'train_test_split.txt'), '1 0\n2 1\n3 1\n');
});

const FILES = [
  [`images/${ALBATROSS}/Black_Footed_Albatross_0001_796111.jpg`, 'test'],
  [`images/${ALBATROSS}/Black_Footed_Albatross_0002_55.jpg`, 'train'],
  [`images/${LAYSAN}/Laysan_Albatross_0001_545.jpg`, 'train'],
  [`images/${WILL}/Whip_Poor_Will_0001_1.jpg`, null],
];
const list = async (from = folder()) => (await listImages(cub, from)).map(({ file, part }) => [file, part]);

it('lists pictures that have a mask, with their part', async () => {
  expect(await list()).toEqual(FILES);
  expect(await list(root())).toEqual(FILES);
  expect(await cub.open(folder())).toMatchObject({ pack: 'CUB_200_2011', root: root() });
});

it('takes what at least half of the annotators marked', async () => {
  const [image] = await listImages(cub, folder());
  const objects = await cub.read(image!);
  expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['##.', '.##'],
      box: { left: 1, top: 1, width: 3, height: 2 },
      area: 4,
      width: 4,
      height: 3,
      label: 'Black footed Albatross',
      category: ALBATROSS,
      instance: null,
      taxonomy: { number: 1, group: 'Albatross' },
    },
  ]);
});

it('knows the kind of a bird only by what other names share', async () => {
  const images = await listImages(cub, folder());
  const [object] = await cub.read(images[3]!);
  expect(object).toMatchObject({ label: 'Whip poor Will', taxonomy: { number: 105, group: null }, area: 1 });
});

it('has no object where no majority is, and a fault where a mask is broken', async () => {
  const images = await listImages(cub, folder());
  expect(await cub.read(images[1]!)).toEqual([]);
  await expect(cub.read(images[2]!)).rejects.toThrow(new InputFault('mask: PNG is truncated'));
});

it('names masks that are not there', async () => {
  await rename(join(folder(), 'segmentations'), join(folder(), 'elsewhere'));
  await expect(cub.open(root())).rejects.toThrow(
    /^cub: expected CUB-200-2011: a folder with images\/NNN\.Name\/ and.*; found images\.txt, images\/, train_test_split\.txt in /,
  );
  await mkdir(join(root(), 'images'), { recursive: true });
  await rename(join(folder(), 'elsewhere'), join(root(), 'segmentations'));
  expect(await list()).toEqual(FILES);
});

it('has no parts where the lists of them are not there', async () => {
  await rm(join(root(), 'train_test_split.txt'));
  expect((await list()).map(([, part]) => part)).toEqual([null, null, null, null]);
});
