import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { wtp } from '../../../pipeline/datasets/wtp.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { drawing, listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'WTP-Bench');
const HEADER = 'image_path,label,gen,form,base_id,base_name';

/** A grey sprite with this alpha. */
const sprite = (width: number, ...alpha: number[]) =>
  png({ width, height: alpha.length / width, colourType: 4, samples: alpha.flatMap(level => [90, level]) });

beforeAll(async () => {
  await put(join(root(), 'sprites/006.png'), sprite(4, 0, 0, 0, 0, 0, 128, 127, 0, 0, 255, 255, 1));
  await put(join(root(), 'sprites/006-mega-x.png'), sprite(2, 0, 255));
  await put(join(root(), 'sprites/opaque.png'), png(drawing('##')));
  await put(
    join(root(), 'metadata.csv'),
    `\uFEFF${HEADER}\r\nsprites/006.png,Charizard,1,,6,Charizard\r\n` +
      'sprites/006-mega-x.png,"Charizard, Mega ""X""",6,mega-x,6,Charizard\r\n' +
      './sprites/opaque.png,Opaque,1,,7,Opaque\r\nsprites/unlabelled.png,,1,,8,None\r\n\r\n',
  );
});

it('lists the lines of its table; forms of a species are one group', async () => {
  const images = await listImages(wtp, folder());
  expect(images.map(({ file, group }) => [file, group])).toEqual([
    ['sprites/006-mega-x.png', 'species 6'],
    ['sprites/006.png', 'species 6'],
    ['sprites/opaque.png', 'species 7'],
    ['sprites/unlabelled.png', 'species 8'],
  ]);
  expect(images[0]!.path).toBe(join(root(), 'sprites/006-mega-x.png'));
  expect(images[0]!.entry).toEqual({
    label: 'Charizard, Mega "X"',
    taxonomy: { generation: 6, form: 'mega-x', species: 'Charizard', speciesId: 6 },
  });
});

it('cuts soft alpha in its middle', async () => {
  const images = await listImages(wtp, root());
  const objects = await wtp.read(images[1]!);
  expect(objects.map(({ decoded, ...object }) => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['#.', '##'],
      box: { left: 1, top: 1, width: 2, height: 2 },
      area: 3,
      width: 4,
      height: 3,
      label: 'Charizard',
      category: 'Charizard',
      instance: null,
      taxonomy: { generation: 1, form: null, species: 'Charizard', speciesId: 6 },
    },
  ]);
});

it('has a fault where a sprite is opaque or has no label', async () => {
  const images = await listImages(wtp, root());
  await expect(wtp.read(images[2]!)).rejects.toThrow(new InputFault('expected transparency, found none'));
  await expect(wtp.read(images[3]!)).rejects.toThrow(new InputFault('expected a label in metadata.csv, found none'));
});

it('says what it found in another folder and in another table', async () => {
  await expect(wtp.open(join(root(), 'sprites'))).rejects.toThrow(
    /^wtp: expected WTP-Bench: a folder with metadata\.csv \(columns image_path, .*; found 006-mega-x\.png, 006\.png, opaque\.png in /,
  );
  const table = await put(join(folder(), 'other/metadata.csv'), 'file,label\na.png,A\n');
  await expect(wtp.open(join(folder(), 'other'))).rejects.toThrow(
    new UsageError(
      `${table}: expected the columns image_path, label, gen, form, base_id, base_name, found file, label`,
    ),
  );
  await put(table, `${HEADER}\n/etc/a.png,A,1,,1,A\n`);
  await expect(listImages(wtp, join(folder(), 'other'))).rejects.toThrow(
    new UsageError(`${table}, line 2: expected a file below its folder, found "/etc/a.png"`),
  );
});
