import sharp, { type Sharp } from 'sharp';
import type { Mask, RgbImage } from '../extractors/image.ts';
import { decodeRunLengths, expandCounts } from '../extractors/run-lengths.ts';
import { decodePanorama } from '../scenes/panorama-format.ts';
import { openBank, readItem } from './bank.ts';
import { decodeMask } from './bank-images.ts';
import type { BankKind } from './bank-kinds.ts';
import { finishedShards } from './finished-shards.ts';
import { SUBSETS } from './generate-options.ts';
import type { SilhouetteLabel } from './labels.ts';
import { readMaps } from './material-files.ts';
import { panoramaLight, shrinkPanorama } from './panoramas/solid-angle.ts';
import { type ContactSheet, reportPage } from './report/page.ts';
import type { RunFolder } from './run-folder.ts';
import { writeDurably } from './shard-writer.ts';
import { SPLITS } from './splits.ts';
import { readSamples, type StoredSample, type StoredSamples } from './stored-samples.ts';

const CELL = 160;
const COLUMNS = 8;
const ROWS = 5;
const GAP = 4;
/** A material's row of cells. */
const SHOWN_MAPS = ['color.jpg', 'normal.jpg', 'height.jpg', 'roughness.jpg'] as const;
const PAPER = '#f2f2ee';

/** One cell of a sheet: an image of at most CELL × CELL. */
type Cell = Buffer;

/**
 * Writes the report of what a run holds so far into `report/`: contact sheets, and a page that shows them and tells of the run.
 * @param onSheet called with each sheet when it is written, and how many there are then: each takes about a second.
 */
export async function writePreview(
  folder: RunFolder,
  onSheet: (sheet: ContactSheet, written: number) => void = () => {},
): Promise<ContactSheet[]> {
  const sheets: ContactSheet[] = [];
  const add = async (name: string, title: string, caption: string, cells: readonly Cell[]) => {
    if (cells.length === 0) return;
    const file = `${name}.jpg`;
    await writeDurably(folder.at('report', file), await sheet(cells));
    const written = { title, caption, file };
    onSheet(written, sheets.push(written));
  };
  for (const [kind, picture] of PICTURES) {
    const bank = await openBank(folder.bank(kind));
    if (!bank) continue;
    const shown = spread(bank.items, COLUMNS * ROWS);
    const cells: Cell[] = [];
    for (const item of shown) {
      const { image } = await readItem(bank, item);
      cells.push(await fitted(await picture(image)));
    }
    const { train, val, test } = bank.splits;
    const caption = `${shown.length} of ${bank.items} (train ${train}, val ${val}, test ${test}), evenly spread over the bank`;
    const title = kind.replace('-', ' ');
    await add(kind, title[0]!.toUpperCase() + title.slice(1), caption, cells);
  }
  const materials = await openBank(folder.bank('materials'));
  if (materials) {
    const shown = spread(materials.items, (COLUMNS * ROWS) / SHOWN_MAPS.length);
    const cells: Cell[] = [];
    for (const item of shown) {
      const { files } = await readMaps(materials, item);
      for (const field of SHOWN_MAPS) cells.push(await fitted(files[field]!));
    }
    const caption = `${shown.length} of ${materials.items}, each: colour, normal, height, roughness`;
    await add('materials', 'Materials', caption, cells);
  }
  for (const subset of SUBSETS) {
    for (const split of SPLITS) {
      const shard = await firstShard(folder.at(subset, split));
      if (!shard) continue;
      const { cells, caption } = subset === 'silhouettes' ? await silhouetteCells(shard) : await maskedCells(shard);
      await add(`${subset}-${split}`, `${subset} · ${split}`, `${shard.name}: ${caption}`, cells);
    }
  }
  await writeDurably(folder.at('report', 'index.html'), await reportPage(folder, sheets));
  return sheets;
}

/** How an item of each bank is shown. */
const PICTURES: readonly (readonly [BankKind, (image: Buffer) => Promise<Buffer> | Buffer])[] = [
  ['shapes', shapeOnPaper],
  ['semantic-shapes', shapeOnPaper],
  ['projected-shapes', shapeOnPaper],
  ['textures', image => image],
  ['environments', panoramaPicture],
];

/** Up to `most` of `count` numbers, evenly spread. */
function spread(count: number, most: number): number[] {
  const shown = Math.min(count, most);
  return Array.from({ length: shown }, (_, i) => Math.floor((i * count) / shown));
}

/** The first complete shard in a folder. */
async function firstShard(folder: string): Promise<(StoredSamples & { readonly name: string }) | undefined> {
  for await (const { name, tar, sidecar } of finishedShards(folder)) return { name, tar, samples: sidecar.samples };
  return undefined;
}

/** The first samples of a shard. */
async function* firstSamples(shard: StoredSamples, most: number): AsyncGenerator<StoredSample> {
  let read = 0;
  for await (const sample of readSamples(shard)) {
    yield sample;
    if (++read === most) return;
  }
}

/** What a shard shows of its samples, and the words for it. */
interface SampleCells {
  readonly cells: readonly Cell[];
  readonly caption: string;
}

/** Images, each beside itself with its mask. */
async function maskedCells(shard: StoredSamples): Promise<SampleCells> {
  const cells: Cell[] = [];
  for await (const { files } of firstSamples(shard, (COLUMNS * ROWS) / 2)) {
    const jpg = files.jpg!;
    const mask = await sharp(files['mask.png']).toColourspace('b-w').raw().toBuffer();
    cells.push(await fitted(jpg), await fitted(await overlay(jpg, mask)));
  }
  return { cells, caption: 'images, each with its mask outlined beside it' };
}

/** Objects in their modes. */
async function silhouetteCells(shard: StoredSamples): Promise<SampleCells> {
  const cells: Cell[] = [];
  const words: string[] = [];
  for await (const { files } of firstSamples(shard, (COLUMNS * ROWS) / 4)) {
    const label: SilhouetteLabel = JSON.parse(Buffer.from(files.json!).toString());
    const hq = files['hq.jpg']!;
    cells.push(await fitted(await outlined(hq, maskOver(label))));
    for (const mode of ['silhouette.png', 'edge.png', 'grey.png']) cells.push(await fitted(files[mode]!));
    words.push(label.annotated.label);
  }
  return {
    cells,
    caption: `each in full colour with its outline, as silhouette, as edges, in grey — ${words.join(', ')}`,
  };
}

/** The object's mask over what `hq.jpg` shows of its picture. */
function maskOver({ object, hq }: SilhouetteLabel): Mask {
  const [height, width] = object.mask.size;
  const mask = decodeRunLengths({ width, height, counts: expandCounts(object.mask.counts) });
  const data = new Uint8Array(hq.width * hq.height);
  for (let row = 0; row < hq.height; row++) {
    const start = (hq.top + row) * width + hq.left;
    data.set(mask.data.subarray(start, start + hq.width), row * hq.width);
  }
  return { data, width: hq.width, height: hq.height };
}

/** A shape as black ink: what a person recognises fastest, and thin parts stay visible. */
async function shapeOnPaper(png: Buffer): Promise<Buffer> {
  const mask = await decodeMask(png);
  return sharp(mask.data, { raw: { width: mask.width, height: mask.height, channels: 1 } })
    .negate()
    .png()
    .toBuffer();
}

/** A panorama as a camera set to its mean would show it: bright places fade to white and do not clip. */
async function panoramaPicture(packed: Buffer): Promise<Buffer> {
  const { width, height, data } = shrinkPanorama(decodePanorama(new Uint8Array(packed)), 2 * CELL);
  const [r, g, b] = panoramaLight({ width, height, data }).mean;
  const exposure = 0.5 / Math.max(0.2126 * r + 0.7152 * g + 0.0722 * b, Number.MIN_VALUE);
  const pixels = Uint8Array.from(data, value => {
    const exposed = value * exposure;
    return Math.round(255 * (exposed / (1 + exposed)) ** (1 / 2.2));
  });
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** The picture with the area outside its mask darkened and the outline drawn. */
async function overlay(jpg: Uint8Array, mask: Uint8Array): Promise<Buffer> {
  const image = await decoded(sharp(jpg));
  drawOutline(image, mask, 2);
  for (let i = 0; i < mask.length; i++) {
    if (mask[i]! < 128) for (let c = 3 * i; c < 3 * i + 3; c++) image.data[c]! >>= 1;
  }
  return encoded(image);
}

/** The picture at the size of a cell with its mask's outline drawn, as thin on a small picture as on a large one. */
async function outlined(jpg: Uint8Array, { data, width, height }: Mask): Promise<Buffer> {
  const image = await decoded(sharp(jpg).resize({ width: CELL, height: CELL, fit: 'inside' }));
  const mask = new Uint8Array(image.width * image.height);
  for (let y = 0, i = 0; y < image.height; y++) {
    const row = Math.floor(((y + 0.5) * height) / image.height) * width;
    for (let x = 0; x < image.width; x++) mask[i++] = data[row + Math.floor(((x + 0.5) * width) / image.width)]!;
  }
  drawOutline(image, mask, 1);
  return encoded(image);
}

async function decoded(picture: Sharp): Promise<RgbImage> {
  const { data, info } = await picture.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function encoded({ data, width, height }: RgbImage): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Draws the pixels of a mask that lie less than `thickness` from its outside. */
function drawOutline({ data, width, height }: RgbImage, mask: Uint8Array, thickness: number): void {
  const inside = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && mask[y * width + x]! >= 128;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const edge =
        inside(x, y) &&
        !(inside(x - thickness, y) && inside(x + thickness, y) && inside(x, y - thickness) && inside(x, y + thickness));
      if (edge) data.set([255, 40, 160], 3 * (y * width + x));
    }
  }
}

function fitted(image: Uint8Array): Promise<Cell> {
  return sharp(image)
    .toColourspace('srgb')
    .resize({ width: CELL, height: CELL, fit: 'contain', background: PAPER })
    .png()
    .toBuffer();
}

function sheet(cells: readonly Cell[]): Promise<Buffer> {
  const columns = Math.min(COLUMNS, cells.length);
  const place = (n: number) => GAP + n * (CELL + GAP);
  return sharp({
    create: { width: place(columns), height: place(Math.ceil(cells.length / columns)), channels: 3, background: PAPER },
  })
    .composite(cells.map((input, i) => ({ input, left: place(i % columns), top: place(Math.floor(i / columns)) })))
    .jpeg({ quality: 88 })
    .toBuffer();
}
