import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { cutouts, labelOf } from '../../../pipeline/datasets/cutouts.ts';
import { readObjects, resolveDatasets } from '../../../pipeline/datasets/datasets.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { decodePhoto, openPhoto } from '../../../pipeline/photo.ts';
import { buildPhotoIndex } from '../../../pipeline/photo-index.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { chunk, drawing, jpeg, listImages, type PngContent, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'stamps');

const rgba = (width: number, alpha: readonly number[], depth: 8 | 16 = 8) =>
  png({
    width,
    height: alpha.length / width,
    colourType: 6,
    depth,
    samples: alpha.flatMap((level, i) => [i, 7, 9, level]),
  });
const PALETTE = [
  [0, 0, 0],
  [200, 10, 10],
  [10, 200, 10],
] as const;
const palette = (content: Pick<PngContent, 'width' | 'height' | 'samples'>) =>
  png({ ...content, colourType: 3, depth: 2, palette: PALETTE, alpha: [0, 127, 128] });
const SOFT = [0, 0, 0, 0, 127, 128, 254, 1, 0, 255, 255, 64];

beforeAll(async () => {
  await put(join(root(), 'animals/birds/red_kite-2.png'), rgba(4, SOFT));
  await put(join(root(), 'animals/birds/red_kite-2.txt'), 'A red kite.\nde.utf8=Ein Rotmilan.\n');
  await put(join(root(), 'tools/saw.PNG'), palette(drawing('.12', '222')));
  await put(join(root(), 'tools/saw.ogg'), '');
  const raw = { raw: { width: 4, height: 3, channels: 4 } } as const;
  const pixels = Uint8Array.from(SOFT.flatMap(level => [0, 99, 0, level]));
  await put(join(root(), 'cup.webp'), await sharp(pixels, raw).webp({ lossless: true }).toBuffer());
  await put(join(root(), 'photo.jpg'), await jpeg(2, 2));
});

const read = async (file: string, from = root()) =>
  cutouts.read((await listImages(cutouts, from)).find(image => image.file === file)!);

it('lists pictures that may have alpha, in all folders', async () => {
  const images = await listImages(cutouts, root());
  expect(images.map(({ file }) => file)).toEqual(['animals/birds/red_kite-2.png', 'cup.webp', 'tools/saw.PNG']);
  expect(await cutouts.open(root())).toMatchObject({ pack: 'stamps', root: root() });
});

it('cuts soft alpha in its middle; names, folders and descriptions tell what it is', async () => {
  const objects = await read('animals/birds/red_kite-2.png');
  expect(objects.map(({ decoded, ...object }) => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['##', '##'],
      box: { left: 1, top: 1, width: 2, height: 2 },
      area: 4,
      width: 4,
      height: 3,
      label: 'red kite',
      category: 'red kite',
      instance: null,
      taxonomy: { folder: 'animals/birds', description: 'A red kite.' },
    },
  ]);
});

it.each<[string, string | Uint8Array, string | undefined]>([
  ['a text', 'A kite\u00e9.\r\nmore', 'A kite\u00e9.'],
  ['a text with a byte-order mark', '\uFEFFA kite.\rmore', 'A kite.'],
  ['a line longer than what is read', 'é'.repeat(5000), 'é'.repeat(2048)],
  ['no text', Uint8Array.of(0xff, 0xfe, 65, 0), undefined],
  ['zeros', new Uint8Array(100), undefined],
  ['control characters', '\u001b[31mred', undefined],
  ['nothing', '', undefined],
])('takes a description that is %s', async (name, text, description) => {
  const at = join(folder(), `described-${name}`);
  await put(join(at, 'kite.png'), rgba(2, [0, 255]));
  await put(join(at, 'kite.txt'), text);
  const [object] = await read('kite.png', at);
  expect(object!.taxonomy.description).toBe(description);
});

it('passes over a description that is a folder', async () => {
  const at = join(folder(), 'described-by-folder');
  await put(join(at, 'kite.png'), rgba(2, [0, 255]));
  await put(join(at, 'kite.txt/kite.txt'), 'A kite.');
  const [object] = await read('kite.png', at);
  expect(object!.taxonomy).toEqual({ folder: null });
});

it('reads palettes with alpha and WebP', async () => {
  const [saw] = await read('tools/saw.PNG');
  expect(rowsOf(saw!)).toEqual(['..#', '###']);
  expect(saw).toMatchObject({ label: 'saw', taxonomy: { folder: 'tools' } });
  const [cup] = await read('cup.webp');
  expect(rowsOf(cup!)).toEqual(['##', '##']);
  expect(cup!.taxonomy).toEqual({ folder: null });
});

describe('the colours that come with alpha are those that libvips gives', () => {
  const at = () => join(folder(), 'colours');
  const noise = (length: number, limit: number) => Array.from({ length }, (_, i) => ((i * 7919 + 13) % 2011) % limit);
  const every = [0, 1, 127, 128, 254, 255];
  const size = { width: 40, height: 30 };
  it.each([
    ['RGBA', { ...size, colourType: 6, samples: noise(4800, 256) }],
    ['grey', { ...size, colourType: 4, samples: noise(2400, 256) }],
    ['interlaced', { ...size, colourType: 6, samples: noise(4800, 256), interlaced: true }],
    ['palette', { ...size, colourType: 3, depth: 1, samples: noise(1200, 2), palette: PALETTE.slice(1), alpha: [99] }],
    [
      'large palette',
      {
        ...size,
        colourType: 3,
        samples: noise(1200, 250),
        palette: Array.from({ length: 250 }, (_, i) => [i, 255 - i, (3 * i) % 256] as const),
        alpha: Array.from({ length: 200 }, (_, i) => every[i % 6]!),
      },
    ],
  ] satisfies [string, PngContent][])('%s', async (name, content) => {
    const path = await put(join(at(), `${name}.png`), png(content));
    const [object] = await read(`${name}.png`, at());
    const photo = await openPhoto(path);
    const { data, ...facts } = await decodePhoto(photo);
    expect(object!.decoded!.photo).toEqual(photo);
    expect(object!.decoded!.picture).toMatchObject(facts);
    expect(Buffer.from(object!.decoded!.picture.data).equals(data)).toBe(true);
  });

  it('and libvips is asked where profiles or 16 bits play a part, or a sum is wrong', async () => {
    const profiled = sharp(rgba(4, SOFT)).withIccProfile('p3');
    await put(join(at(), 'profiled.png'), await profiled.png().toBuffer());
    await put(join(at(), 'deep.png'), rgba(4, [0, 0x7fff, 0x8000, 0xffff], 16));
    const changed = rgba(4, SOFT);
    changed[changed.length - 1]! ^= 1;
    await put(join(at(), 'changed.png'), changed);
    for (const name of ['profiled.png', 'deep.png', 'changed.png'])
      expect((await read(name, at()))[0]!.decoded).toBeUndefined();
  });
});

describe('alpha of every kind', () => {
  const at = () => join(folder(), 'kinds');
  const rows = async (name: string, bytes: Uint8Array) => {
    await put(join(at(), name), bytes);
    const [object] = await read(name, at());
    return object && rowsOf(object);
  };

  it('16 bits', async () => {
    expect(await rows('deep.png', rgba(4, [0, 0x7fff, 0x8000, 0xffff], 16))).toEqual(['##']);
    const grey = [1, 0x8000, 1, 0x7fff, 1, 0xffff];
    expect(await rows('grey.png', png({ width: 3, height: 1, colourType: 4, depth: 16, samples: grey }))).toEqual([
      '#.#',
    ]);
  });

  it('one colour that is clear', async () => {
    const plain = png({ width: 3, height: 1, colourType: 2, samples: [9, 9, 9, 1, 2, 3, 9, 9, 9] });
    const header = plain.indexOf('IDAT') - 4;
    const clear = chunk('tRNS', Buffer.from([0, 1, 0, 2, 0, 3]));
    const keyed = Buffer.concat([plain.subarray(0, header), clear, plain.subarray(header)]);
    expect(await rows('keyed.png', keyed)).toEqual(['#.#']);
  });

  it('turned by EXIF as the picture itself is', async () => {
    const upright = await sharp(rgba(3, [255, 0, 0, 255, 255, 255]))
      .withMetadata({ orientation: 6 })
      .png()
      .toBuffer();
    expect(await rows('turned.png', upright)).toEqual(['##', '#.', '#.']);
  });

  it('none', async () => {
    const none = new InputFault('expected transparency, found none');
    await expect(rows('rgb.png', png({ width: 1, height: 1, colourType: 2, samples: [1, 2, 3] }))).rejects.toThrow(
      none,
    );
    await expect(rows('opaque.png', rgba(2, [255, 255]))).rejects.toThrow(none);
    await expect(rows('grey-only.png', png(drawing('#.')))).rejects.toThrow(none);
    expect(await rows('faint.png', rgba(2, [0, 127]))).toBeUndefined();
  });

  it('broken', async () => {
    await expect(rows('cut.png', rgba(4, SOFT).subarray(0, 50))).rejects.toThrow(InputFault);
    await expect(rows('void.png', new Uint8Array())).rejects.toThrow(InputFault);
    await expect(rows('text.webp', Buffer.from('no picture'))).rejects.toThrow(InputFault);
    await symlink(join(at(), 'nowhere'), join(at(), 'link.png'));
    await expect(read('link.png', at())).rejects.toThrow(new InputFault('cannot read: ENOENT'));
  });
});

it('uses what a labels.csv names, and nothing else', async () => {
  const listed = join(folder(), 'listed');
  await put(join(listed, 'sub/1.png'), rgba(2, [0, 255]));
  await put(join(listed, '2.png'), rgba(2, [0, 255]));
  await put(join(listed, 'labels.csv'), 'file,label,split,material\nsub/1.png,claw hammer,val,steel\n');
  const images = await listImages(cutouts, listed);
  expect(images.map(({ file, split }) => [file, split])).toEqual([['sub/1.png', 'val']]);
  const [object] = await cutouts.read(images[0]!);
  expect(object).toMatchObject({ label: 'claw hammer', taxonomy: { folder: 'sub', material: 'steel' } });
});

it.each([
  ['duck.png', 'duck'],
  ['birds/sail_boat2.png', 'sail boat'],
  ['6_saturn.webp', 'saturn'],
  ['red--fox (3).png', 'red fox'],
  ['Tiger-Cat.png', 'Tiger Cat'],
  ['owls/barn owl/0001.png', 'barn owl'],
  ['owl/12/0001.png', 'owl'],
  ['éléphant_1.png', 'éléphant'],
  ['007.png', '007'],
])('%s is called "%s"', (file, label) => {
  expect(labelOf(file)).toBe(label);
});

it('says what it found in a folder of something else', async () => {
  const other = join(folder(), 'jpegs');
  await put(join(other, 'a.jpg'), await jpeg(1, 1));
  await expect(cutouts.open(other)).rejects.toThrow(
    new UsageError(
      'cutouts: expected cut-outs: a folder of PNG or WebP pictures with transparency, in folders or not (and labels.csv, ' +
        `columns file and label, if names tell no labels); found a.jpg in ${other}`,
    ),
  );
});

describe('asset packs of cut-outs', () => {
  it('are named by their ids; licence, author and split of each file are kept', async () => {
    const sources = await resolveDatasets(['starter-cutouts'], null);
    const index = await buildPhotoIndex(join(folder(), 'run'), sources, 1);
    const files = await index.block(0, index.facts.files);
    expect(files).toHaveLength(24);
    const bicycle = files.find(({ provenance }) => provenance.file === 'vehicles/bicycle.png')!;
    expect(bicycle).toMatchObject({
      split: 'test',
      provenance: { pack: 'starter-cutouts', licence: 'CC-BY-SA-3.0', author: 'Massachusetts Institute of Technology' },
    });
    const labels = new Set<string>();
    for (const file of files) {
      const { reader, objects } = await readObjects(file);
      expect([reader.name, objects.length]).toEqual(['cutouts', 1]);
      labels.add(objects[0]!.label);
    }
    expect(labels.size).toBe(24);
    expect(labels).toContain('fire hydrant');
    const free = await resolveDatasets(['starter-cutouts'], ['CC0-1.0']);
    expect((await buildPhotoIndex(join(folder(), 'free'), free, 1)).facts.files).toBe(2);
  });

  it('that are not here are told how to be added, and others by their names', async () => {
    vi.stubEnv('SHAPEMILL_DATA', join(folder(), 'no-data'));
    await expect(resolveDatasets(['debian-cutouts'], null)).rejects.toThrow(
      new UsageError('asset pack debian-cutouts is not here yet: npm run assets -- add debian-cutouts'),
    );
    vi.unstubAllEnvs();
    await expect(resolveDatasets(['starter-cutout'], null)).rejects.toThrow(/\(did you mean "starter-cutouts"\?\)$/);
  });
});
