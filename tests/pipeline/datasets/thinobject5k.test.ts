import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { thinobject5k } from '../../../pipeline/datasets/thinobject5k.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { drawing, jpeg, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'ThinObject5K');

async function add(name: string, mask: Uint8Array) {
  await put(join(root(), 'images', `${name}.jpg`), await jpeg(4, 3));
  await put(join(root(), 'masks', `${name}.png`), mask);
}

beforeAll(async () => {
  const sixteen = [0, 0x7fff, 0x8080, 0, 0, 0xffff, 0, 0, 0, 0, 0, 0];
  await add('acoustic_guitar_PNG3308', png({ width: 4, height: 3, depth: 16, samples: sixteen }));
  // A palette whose index 0 is the object.
  const palette = [
    [255, 255, 255],
    [0, 0, 0],
  ] as const;
  await add('rake_PNG7', png({ ...drawing('1.1', '...'), colourType: 3, depth: 1, palette }));
  await add('unlisted_PNG1', png(drawing('#')));
  await add('nameless', png(drawing('#')));
  await put(join(root(), 'list/train.txt'), 'acoustic_guitar_PNG3308.png\r\nnameless.png\r\n\r\n');
  await put(join(root(), 'list/test.txt'), 'rake_PNG7.png\ngone_PNG1.png');
});

const read = async (file: string) =>
  thinobject5k.read((await listImages(thinobject5k, root())).find(image => image.file === `images/${file}.jpg`)!);

it('lists what its lists name', async () => {
  const expected = [
    ['images/acoustic_guitar_PNG3308.jpg', 'train'],
    ['images/gone_PNG1.jpg', 'test'],
    ['images/nameless.jpg', 'train'],
    ['images/rake_PNG7.jpg', 'test'],
  ];
  for (const from of [root(), folder()]) {
    expect((await listImages(thinobject5k, from)).map(({ file, part }) => [file, part])).toEqual(expected);
  }
});

it('reads masks of 16 bits', async () => {
  const objects = await read('acoustic_guitar_PNG3308');
  expect(objects.map(object => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['.#', '#.'],
      box: { left: 1, top: 0, width: 2, height: 2 },
      area: 2,
      width: 4,
      height: 3,
      label: 'acoustic guitar',
      category: 'acoustic_guitar',
      instance: null,
      taxonomy: {},
    },
  ]);
});

it('reads masks with a palette by their colours', async () => {
  const [object] = await read('rake_PNG7');
  expect(rowsOf(object!)).toEqual(['.#.', '###']);
  expect(object).toMatchObject({ label: 'rake', area: 4 });
});

it('has a fault where mask or class is missing', async () => {
  await expect(read('gone_PNG1')).rejects.toThrow(new InputFault('cannot read mask: ENOENT'));
  await expect(read('nameless')).rejects.toThrow(new InputFault('expected a name like class_PNG123, got nameless.jpg'));
});

it('says what it found in a folder of something else, and refuses lists that lead out of it', async () => {
  await expect(thinobject5k.open(join(root(), 'masks'))).rejects.toThrow(
    /^thinobject5k: expected ThinObject-5K: a folder with images\/\*\.jpg, .*; found acoustic_guitar_PNG3308\.png, /,
  );
  const other = join(folder(), 'other');
  await put(join(other, 'images/a_PNG1.jpg'), '');
  await put(join(other, 'masks/a_PNG1.png'), '');
  const list = await put(join(other, 'list/val.txt'), '../../../etc/x_PNG1.png\n');
  await expect(listImages(thinobject5k, other)).rejects.toThrow(
    new UsageError(`${list}: expected a file below its folder, found "../../../etc/x_PNG1.png"`),
  );
});
