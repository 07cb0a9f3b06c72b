import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DatasetImage } from '../../../pipeline/datasets/dataset.ts';
import { familyFounder } from '../../../pipeline/datasets/evolution-families.ts';
import { installedPackage, sprites } from '../../../pipeline/datasets/sprites.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { listImages, png, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const root = () => join(folder(), 'node_modules/pokesprite-images');

const species = (name: string, slug: string, forms: object) => ({
  name: { eng: name, jpn: '?' },
  slug: { eng: slug, jpn: '?' },
  'gen-7': { forms: { $: {} } },
  'gen-8': { forms },
});

beforeAll(async () => {
  const dex = {
    '025': species('Pikachu', 'pikachu', { $: { has_female: true }, 'rock-star': {}, totem: { is_alias_of: '$' } }),
    '172': species('Pichu', 'pichu', { $: { is_prev_gen_icon: true } }),
    '669': species('Flabébé', 'flabebe', { $: {}, blue: {}, red: { is_alias_of: '$' } }),
    '906': species('Sprigatito', 'sprigatito', { $: {} }),
  };
  await put(join(root(), 'data/pokemon.json'), JSON.stringify(dex));
  // biome-ignore format: rows of the picture
  const alpha = [
    0, 0, 0, 0,
    0, 255, 127, 0,
    0, 128, 255, 0,
  ];
  const samples = alpha.flatMap(level => [250, 210, 40, level]);
  await put(
    join(root(), 'pokemon-gen8/regular/pikachu-rock-star.png'),
    png({ width: 4, height: 3, colourType: 6, samples }),
  );
});

it('lists forms that have a picture of their own; a family is one group', async () => {
  const images = await listImages(sprites, folder());
  expect(images.map(({ file, group, entry }) => [file, group, entry])).toEqual([
    [
      'pokemon-gen8/regular/flabebe-blue.png',
      'family 669',
      {
        label: 'Flabébé blue',
        taxonomy: { generation: 6, form: 'blue', species: 'Flabébé', speciesId: 669, family: 'Flabébé' },
      },
    ],
    [
      'pokemon-gen8/regular/flabebe.png',
      'family 669',
      {
        label: 'Flabébé',
        taxonomy: { generation: 6, form: null, species: 'Flabébé', speciesId: 669, family: 'Flabébé' },
      },
    ],
    [
      'pokemon-gen8/regular/pichu.png',
      'family 172',
      { label: 'Pichu', taxonomy: { generation: 2, form: null, species: 'Pichu', speciesId: 172, family: 'Pichu' } },
    ],
    [
      'pokemon-gen8/regular/pikachu-rock-star.png',
      'family 172',
      {
        label: 'Pikachu rock star',
        taxonomy: { generation: 1, form: 'rock star', species: 'Pikachu', speciesId: 25, family: 'Pichu' },
      },
    ],
    [
      'pokemon-gen8/regular/pikachu.png',
      'family 172',
      { label: 'Pikachu', taxonomy: { generation: 1, form: null, species: 'Pikachu', speciesId: 25, family: 'Pichu' } },
    ],
    [
      'pokemon-gen8/regular/sprigatito.png',
      'species 906',
      // Of what is newer than the package no generation and no family is known.
      {
        label: 'Sprigatito',
        taxonomy: { generation: null, form: null, species: 'Sprigatito', speciesId: 906, family: null },
      },
    ],
  ]);
  expect(await sprites.open(root())).toMatchObject({ pack: 'pokesprite-images', root: root() });
});

it('cuts soft alpha in its middle', async () => {
  const images = await listImages(sprites, root());
  const objects = await sprites.read(images[3]!);
  expect(objects.map(({ decoded, ...object }) => ({ ...object, mask: rowsOf(object) }))).toEqual([
    {
      mask: ['#.', '##'],
      box: { left: 1, top: 1, width: 2, height: 2 },
      area: 3,
      width: 4,
      height: 3,
      label: 'Pikachu rock star',
      category: 'pikachu-rock-star',
      instance: null,
      taxonomy: { generation: 1, form: 'rock star', species: 'Pikachu', speciesId: 25, family: 'Pichu' },
    },
  ]);
  await expect(sprites.read(images[0]!)).rejects.toThrow(new InputFault('cannot read: ENOENT'));
});

it('says what to do when the package is not installed, and what it found in another folder', async () => {
  const missing = () => {
    throw new Error('Cannot find module');
  };
  expect(() => installedPackage(missing)).toThrow(
    new UsageError(
      'sprites: expected the npm package pokesprite-images, found none: npm install pokesprite-images, or name its folder (sprites:DIR)',
    ),
  );
  await expect(sprites.open(join(root(), 'data'))).rejects.toThrow(
    'sprites: expected the npm package pokesprite-images: a folder with data/pokemon.json and pokemon-gen8/regular/*.png; ' +
      `found pokemon.json in ${join(root(), 'data')}`,
  );
});

it('refuses a list of another form, or in which a name leads out of the folder', async () => {
  const other = join(folder(), 'other');
  await put(join(other, 'pokemon-gen8/regular/a.png'), '');
  await put(join(other, 'data/pokemon.json'), JSON.stringify({ '001': species('A', '../../a', { $: {} }) }));
  await expect(listImages(sprites, other)).rejects.toThrow(UsageError);
  await expect(listImages(sprites, other)).rejects.toThrow(
    /pokemon\.json: expected the list of the npm package pokesprite-images, found another: 001\.slug\.eng: .+$/,
  );
  await put(join(other, 'data/pokemon.json'), '{');
  await expect(listImages(sprites, other)).rejects.toThrow(UsageError);
});

it('knows families with their first species', () => {
  const family = (founder: number) =>
    Array.from({ length: 905 }, (_, i) => i + 1).filter(dex => familyFounder(dex) === founder);
  expect(family(133)).toEqual([133, 134, 135, 136, 196, 197, 470, 471, 700]);
  expect(family(172)).toEqual([25, 26, 172]);
  expect(family(265)).toEqual([265, 266, 267, 268, 269]);
  expect(family(128)).toEqual([128]);
  expect(familyFounder(862)).toBe(263);
  expect(familyFounder(906)).toBeNull();
  const founders = new Set(Array.from({ length: 905 }, (_, i) => familyFounder(i + 1)));
  expect(founders.size).toBe(470);
});

function packageFolder(): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve('pokesprite-images'), '..');
  } catch {
    return undefined;
  }
}
const installed = packageFolder();

describe.skipIf(installed === undefined)('the installed package', () => {
  let images: DatasetImage[];
  beforeAll(async () => {
    images = await listImages(sprites, null);
  });

  it('gives every regular sprite once and no alias', async () => {
    const dex = JSON.parse(await readFile(join(installed!, 'data/pokemon.json'), 'utf8')) as Record<
      string,
      { 'gen-8': { forms: Record<string, { is_alias_of?: string }> } }
    >;
    const forms = Object.values(dex).flatMap(entry => Object.values(entry['gen-8'].forms));
    const aliases = forms.filter(form => 'is_alias_of' in form).length;
    expect(images.length).toBe(forms.length - aliases);
    expect([images.length, aliases]).toEqual([1329, 116]);
    expect(new Set(images.map(({ path }) => path)).size).toBe(images.length);
    expect(images.filter(({ path }) => !existsSync(path))).toEqual([]);
    expect(images.filter(({ file }) => /unown-a|gourgeist-large/.test(file))).toEqual([]);
  });

  it('has everything in a family and a generation', () => {
    const entries = images.map(({ entry }) => entry as { taxonomy: Record<string, unknown> });
    expect(entries.filter(({ taxonomy }) => taxonomy.family === null || taxonomy.generation === null)).toEqual([]);
    const slowking = images.find(({ file }) => file.endsWith('/slowking-galar.png'))!;
    expect(slowking).toMatchObject({
      group: 'family 79',
      author: 'Nintendo/Creatures Inc./GAME FREAK Inc.',
      entry: {
        label: 'Slowking galar',
        taxonomy: { generation: 2, form: 'galar', species: 'Slowking', speciesId: 199, family: 'Slowpoke' },
      },
    });
    const generations = new Set(entries.map(({ taxonomy }) => taxonomy.generation));
    expect([...generations].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('has masks that are the alpha of the files, whatever decodes them', async () => {
    for (const name of ['joltik', 'unown-exclamation', 'magnemite', 'wailord', 'minior-blue']) {
      const image = images.find(({ file }) => file.endsWith(`/${name}.png`))!;
      const [object] = await sprites.read(image);
      const file = decode(await readFile(image.path));
      const alphaAt = (x: number, y: number) => {
        const at = (y * file.width + x) * file.channels;
        return file.palette ? (file.palette[file.data[at]!]?.[3] ?? 255) : file.data[at + file.channels - 1]!;
      };
      const set = (x: number, y: number) => alphaAt(x, y) >= 128;
      const { box, width, height } = object!;
      expect([width, height]).toEqual([file.width, file.height]);
      const rows = Array.from({ length: box.height }, (_, y) =>
        Array.from({ length: box.width }, (_, x) => (set(box.left + x, box.top + y) ? '#' : '.')).join(''),
      );
      expect(rowsOf(object!), name).toEqual(rows);
      let area = 0;
      for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) area += Number(set(x, y));
      expect(object!.area, name).toBe(area);
    }
  });
});
