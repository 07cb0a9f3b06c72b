import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { dis5k } from '../../../pipeline/datasets/dis5k.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { drawing, jpeg, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'DIS5K');

const BAG = '1#Accessories#1#Bag#2292738108_37fbbbef8c_o';
const SHIP = '18#Ship#4#Sailing_Ship#1_a#b';

async function add(part: string, name: string, mask: Uint8Array | null) {
  await put(join(root(), part, 'im', `${name}.jpg`), await jpeg(5, 4));
  if (mask) await put(join(root(), part, 'gt', `${name}.png`), mask);
}

beforeAll(async () => {
  // Soft edges: 127 is out, 128 is in.
  const levels = [0, 0, 0, 0, 0, 0, 127, 255, 0, 0, 0, 128, 0, 200, 0, 0, 0, 0, 0, 64];
  await add('DIS-TR', BAG, png({ width: 5, height: 4, samples: levels }));
  await add('DIS-TE1', SHIP, png({ ...drawing('.1', '11'), depth: 1 }));
  await add('DIS-TE1', '18#Ship#4#Sailing_Ship#2', png({ ...drawing('..', '..'), depth: 1 }));
  await add('DIS-TE4', 'unnamed', png({ ...drawing('#'), depth: 8 }));
  await add('DIS-TE4', '1#Accessories#1#Bag#gone', null);
  await put(join(root(), 'DIS-TE4', 'im', 'Thumbs.db'), '');
});

const read = async (name: string) => {
  const image = (await listImages(dis5k, root())).find(({ file }) => file.endsWith(`${name}.jpg`));
  return dis5k.read(image!);
};

it('lists the pictures of all parts that are there', async () => {
  const expected = [
    [`DIS-TE1/im/${SHIP}.jpg`, 'DIS-TE1'],
    ['DIS-TE1/im/18#Ship#4#Sailing_Ship#2.jpg', 'DIS-TE1'],
    ['DIS-TE4/im/1#Accessories#1#Bag#gone.jpg', 'DIS-TE4'],
    ['DIS-TE4/im/unnamed.jpg', 'DIS-TE4'],
    [`DIS-TR/im/${BAG}.jpg`, 'DIS-TR'],
  ];
  for (const from of [root(), folder()]) {
    expect((await listImages(dis5k, from)).map(({ file, part }) => [file, part])).toEqual(expected);
  }
  expect(await dis5k.open(folder())).toMatchObject({ pack: 'DIS5K', root: root() });
});

it('takes the mask from its middle level, and the class from the fourth field', async () => {
  const objects = await read(BAG);
  expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['.#.', '#.#'],
      box: { left: 1, top: 1, width: 3, height: 2 },
      area: 3,
      width: 5,
      height: 4,
      label: 'Bag',
      category: 'Bag',
      instance: null,
      taxonomy: { group: 'Accessories' },
    },
  ]);
});

it('reads masks of one bit, and makes words of names', async () => {
  const [object] = await read(SHIP);
  expect(rowsOf(object!)).toEqual(['.#', '##']);
  expect(object).toMatchObject({ label: 'Sailing Ship', category: 'Sailing_Ship', taxonomy: { group: 'Ship' } });
});

it('has no object where the mask is empty, and a fault where mask or class is missing', async () => {
  expect(await read('Sailing_Ship#2')).toEqual([]);
  await expect(read('Bag#gone')).rejects.toThrow(new InputFault('cannot read mask: ENOENT'));
  await expect(read('unnamed')).rejects.toThrow(
    new InputFault('expected a name like groupNo#Group#classNo#Class#name, got unnamed.jpg'),
  );
});

it('says what it found in a folder of something else', async () => {
  await expect(dis5k.open(join(root(), 'DIS-TR'))).rejects.toThrow(
    `dis5k: expected DIS5K: a folder with DIS-TR, DIS-VD, DIS-TE1, DIS-TE2, DIS-TE3, DIS-TE4 (or some of them), in each ` +
      `im/*.jpg and gt/*.png; found gt/, im/ in ${join(root(), 'DIS-TR')}`,
  );
});
