import sharp from 'sharp';
import { MAP_NAMES, type MapName, type MaterialMaps } from '../extractors/pbr-maps.ts';
import { type Bank, bankItemId, readItem } from './bank.ts';
import { encodeJpeg } from './bank-images.ts';
import type { NewItem } from './bank-stage.ts';
import { encodeLabel, type MaterialLabel, materialLabelSchema } from './labels.ts';
import type { BankItem } from './shard-writer.ts';
import { decodeTar } from './tar.ts';

/** The file of a map within its item: `color.jpg` and so on. */
export type MapField = `${MapName}.jpg`;

/** JPEG of a map: colour and normals at full colour resolution, the others of one channel. */
function encodeMap(maps: MaterialMaps, name: MapName, quality: number): Promise<Buffer> {
  if (name === 'color' || name === 'normal') return encodeJpeg(maps[name], quality, true);
  const { data, width, height } = maps[name]!;
  return sharp(data, { raw: { width, height, channels: 1 }, limitInputPixels: false })
    .toColourspace('b-w')
    .jpeg({ quality })
    .toBuffer();
}

/** The maps of a material as JPEG, in the order of MAP_NAMES. */
export function encodeMaps(maps: MaterialMaps, quality: number): Promise<[MapName, Buffer][]> {
  const names = MAP_NAMES.filter(name => maps[name] !== undefined);
  return Promise.all(
    names.map(async (name): Promise<[MapName, Buffer]> => [name, await encodeMap(maps, name, quality)]),
  );
}

/** What a material is, beside its maps. */
export interface NewMaterial extends Pick<BankItem, 'source' | 'split' | 'rank'> {
  /** 16 hexadecimal digits: its id's. */
  readonly hex: string;
  readonly maps: MaterialMaps;
  readonly label: Pick<MaterialLabel, 'sources' | 'made'>;
}

/** A material as an item of the bank: its maps as JPEG, and its label. */
export async function materialItem(
  { hex, source, split, rank, maps, label }: NewMaterial,
  quality: number,
): Promise<NewItem> {
  const id = bankItemId('materials', hex, rank);
  const { width, height } = maps.color;
  const files = await encodeMaps(maps, quality);
  const places = files.map(([name]) => {
    const colorSpace = name === 'color' ? ('srgb' as const) : ('linear' as const);
    return [name, { file: `${id}.${name}.jpg`, colorSpace }] as const;
  });
  return {
    id,
    files: Object.fromEntries(files.map(([name, jpeg]) => [`${name}.jpg` satisfies MapField, jpeg])),
    label: encodeLabel(materialLabelSchema, {
      id,
      split,
      width,
      height,
      maps: Object.fromEntries(places),
      normalConvention: '+Y',
      ...label,
    }),
    facts: { source, split, rank, width, height },
  };
}

/** The encoded maps of material `i` of a bank, and its label. The five of BANK_FORMS are there, others may be. */
export async function readMaps(
  bank: Bank,
  i: number,
): Promise<{ files: Readonly<Partial<Record<MapField, Uint8Array>>>; label: MaterialLabel }> {
  const { image, label } = await readItem(bank, i);
  const entries = decodeTar(image, `${bank.parts[0]!.folder}: material ${i}`);
  const files = entries.map(({ name, data }) => [name.slice(name.indexOf('.') + 1), data] as const);
  return {
    files: Object.fromEntries(files.filter(([field]) => field !== 'json')),
    label: label as MaterialLabel,
  };
}
