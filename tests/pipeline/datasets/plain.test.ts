import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, expect, it } from 'vitest';
import { resolveDatasets } from '../../../pipeline/datasets/datasets.ts';
import { plain } from '../../../pipeline/datasets/plain.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { drawing, jpeg, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'tools');

async function add(name: string, mask: Uint8Array | null) {
  await put(join(root(), 'images', `${name}.jpg`), await jpeg(3, 2));
  if (mask) await put(join(root(), 'masks', `${name}.png`), mask);
}

beforeAll(async () => {
  await add('a', png({ ...drawing('.1.', '11.') }));
  await add('deep/b', png({ width: 3, height: 2, samples: [0, 127, 128, 0, 0, 255] }));
  await add('c', png({ ...drawing('..1', '...'), depth: 1 }));
  await add('empty', png(drawing('...', '...')));
  await add('maskless', null);
  for (const [name, extension] of [
    ['d', '.PNG'],
    ['e', '.jpeg'],
    ['f', '.JPEG'],
  ] as const) {
    const mask = sharp(Buffer.alloc(6, 255), { raw: { width: 3, height: 2, channels: 1 } });
    await put(
      join(folder(), 'other-extensions/masks', name + extension),
      await (extension === '.PNG' ? mask.png() : mask.jpeg()).toBuffer(),
    );
    await put(join(folder(), 'other-extensions/images', `${name}.JPG`), await jpeg(3, 2));
  }
  await put(
    join(folder(), 'other-extensions/labels.csv'),
    '\uFEFF,label,file\r\n0,x,d.JPG\r\n1,x,e.JPG\r\n2,x,f.JPG\r\n',
  );
  await add('broken', png(drawing('###')).subarray(0, 40));
  await add('unlisted', png(drawing('###')));
  await put(
    join(root(), 'labels.csv'),
    'label,file,split,genus,year\nclaw hammer,a.jpg,train,Malleus,1901\n"saw, small",deep/b.jpg,test,,\n' +
      'c,./c.jpg,,X,007\nempty,empty.jpg,,,\nmaskless,maskless.jpg,,,\nbroken,broken.jpg,,,\n',
  );
});

const read = async (name: string) =>
  plain.read((await listImages(plain, root())).find(({ file }) => file === `images/${name}.jpg`)!);

it('lists what its list names, with its splits', async () => {
  const images = await listImages(plain, root());
  expect(images.map(({ file, split, part }) => [file, split, part])).toEqual([
    ['images/a.jpg', 'train', null],
    ['images/broken.jpg', null, null],
    ['images/c.jpg', null, null],
    ['images/deep/b.jpg', 'test', null],
    ['images/empty.jpg', null, null],
    ['images/maskless.jpg', null, null],
  ]);
  const [source] = await resolveDatasets([`plain:${root()}`], null);
  const splits = new Map<string, string | null>();
  for await (const { file, split } of source!.files()) splits.set(file, split);
  expect(splits.get('images/a.jpg')).toBe('train');
  expect(splits.get('images/c.jpg')).toBeNull();
});

it('takes masks of 0 and 1, further columns are taxonomy', async () => {
  const objects = await read('a');
  expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['.#', '##'],
      box: { left: 0, top: 0, width: 2, height: 2 },
      area: 3,
      width: 3,
      height: 2,
      label: 'claw hammer',
      category: 'claw hammer',
      instance: null,
      taxonomy: { genus: 'Malleus', year: 1901 },
    },
  ]);
});

it('takes other masks from their middle level, in folders and of one bit', async () => {
  const [saw] = await read('deep/b');
  expect(saw).toMatchObject({ label: 'saw, small', area: 2, taxonomy: { genus: null, year: null } });
  expect(rowsOf(saw!)).toEqual(['#', '#']);
  const [c] = await read('c');
  expect(c).toMatchObject({ box: { left: 2, top: 0, width: 1, height: 1 }, taxonomy: { genus: 'X', year: '007' } });
});

it('has no object where the mask is empty, and a fault where it is missing or broken', async () => {
  expect(await read('empty')).toEqual([]);
  await expect(read('maskless')).rejects.toThrow(
    new InputFault(
      `expected its mask at ${join(root(), 'masks/maskless.png')} (or .webp, .tif, .tiff, .jpg, .jpeg), found none`,
    ),
  );
  await expect(read('broken')).rejects.toThrow(InputFault);
});

it('finds masks in capitals, and leaves out columns without a name', async () => {
  const images = await listImages(plain, join(folder(), 'other-extensions'));
  const objects = await Promise.all(images.map(image => plain.read(image)));
  expect(objects.map(([object]) => [object?.area, object?.label, object?.taxonomy])).toEqual([
    [6, 'x', {}],
    [6, 'x', {}],
    [6, 'x', {}],
  ]);
});

it('says what it found in a folder of something else', async () => {
  await expect(plain.open(join(root(), 'masks'))).rejects.toThrow(
    /^plain: expected pictures with masks: a folder with images\/, masks\/ .*; found a\.png, broken\.png, c\.png, deep\/, empty\.png, unlisted\.png in /,
  );
});

it.each([
  ['file,name\na.jpg,A\n', ': expected the columns file, label, found file, name'],
  ['file,label\na.jpg, \n', ', line 2: expected a label, found none'],
  [
    'file,label,split\na.jpg,A,train\nb.jpg,B,dev\n',
    ', line 3: expected the split train, val, test or none, found "dev"',
  ],
  ['file,label\n../a.jpg,A\n', ', line 2: expected a file below its folder, found "../a.jpg"'],
  ['file,label\na.jpg,A\nb.jpg,A\n./a.jpg,B\n', ', lines 2 and 4: expected each file once, found a.jpg twice'],
  ['file,label,label\na.jpg,A,B\n', ': the column label is there twice'],
  ['file,label,__proto__\na.jpg,A,B\n', ': a column may not be called __proto__'],
  [Uint8Array.from(Buffer.from('file,label\na.jpg,K\xe4fer\n', 'latin1')), ': expected UTF-8, found another encoding'],
  ['file;label\na.jpg;A\n', ': expected the columns file, label separated by commas, found file;label'],
  ['file,label\n"",A\n', ', line 2: expected a file below its folder, found ""'],
])('refuses the list %j', async (text, message) => {
  const other = join(folder(), 'other');
  await put(join(other, 'images/a.jpg'), '');
  await put(join(other, 'masks/a.png'), '');
  const list = await put(join(other, 'labels.csv'), text);
  await expect(listImages(plain, other)).rejects.toThrow(new UsageError(list + message));
});
