import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { GreyImage, RgbImage } from '../extractors/image.ts';
import { type Bank, itemSize, readItem, readRange } from '../pipeline/bank.ts';
import { decodeCrop, encodeGrey, encodeJpeg } from '../pipeline/bank-images.ts';
import { windowStart } from '../pipeline/instances.ts';
import type { Sample2dLabel } from '../pipeline/labels.ts';
import { renderInstance, type Subset2d, type Task2d } from '../pipeline/scenes2d.ts';
import { ShardWriter } from '../pipeline/shard-writer.ts';
import { readTar } from '../pipeline/tar.ts';
import { SHAPE_CONDITIONS } from '../scenes/conditions.ts';
import { LAST_SHAPES2D } from '../scenes/recipe.ts';
import type { TexturePaint } from '../scenes/scene2d.ts';
import { sampleShapeScene } from '../scenes/shape-scene.ts';
import { makeBenchBanks } from './banks.ts';
import { type BenchSettings, cpuSeconds, printRows, type Row, runPython } from './measure.ts';

const VARIATIONS = LAST_SHAPES2D.variations;

/** shapes2d images as a worker makes them, from a bank of 2,000 textures that no cache holds decoded. */
export async function scenes2d({ photos, count = 500 }: BenchSettings): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  try {
    const banks = await makeBenchBanks(folder, photos);
    const subset: Subset2d = {
      subset: 'shapes2d',
      seed: 1,
      quality: LAST_SHAPES2D.quality,
      instanceBank: 'shapes',
      sharesShape: false,
      sample: (random, shape, draw) => ({
        scene: sampleShapeScene(
          random,
          LAST_SHAPES2D,
          SHAPE_CONDITIONS['natural-textured-textured-rotated'],
          shape,
          not => draw.texture(random, not),
        ),
        condition: 'bench',
      }),
    };
    const make = async (first: number, instances: number): Promise<Uint8Array[]> => {
      const pieces: Uint8Array[] = [];
      for (let number = first; number < first + instances; number++) {
        pieces.push((await renderInstance(taskOf(number, banks.shapes, banks.textures), subset, banks)).bytes);
      }
      return pieces;
    };
    await make(100_000, 10);
    const instances = Math.ceil(count / VARIATIONS);
    const ours = await cpuSeconds(() => make(0, instances));
    const samples = await readBack(join(folder, 'samples'), ours.result, banks.textures);
    const floor = await cpuSeconds(() => decodeAndEncode(samples, banks.textures));
    const rows: Row[] = [
      { name: 'ours', count: samples.length, seconds: ours.seconds, note: 'image, soft mask, checked label, tar' },
      {
        name: 'floor',
        count: samples.length,
        seconds: floor.seconds,
        note: 'the same crops decoded, the same JPEGs and masks encoded',
      },
    ];
    const python = await runPython('scenes2d.py', [join(folder, 'loose'), String(Math.min(count, 300))]);
    if (python)
      rows.push({ name: 'python', count: python.images!, seconds: python.seconds, note: 'OpenCV; no mask, no label' });
    printRows('images', rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function taskOf(number: number, shapes: Bank, textures: Bank): Task2d {
  const shard = Math.floor(number / 200);
  const start = (bank: Bank) => windowStart(1, 'shapes2d', shard, bank.kind, bank.bySplit.train.length);
  return {
    number,
    items: [shapes.bySplit.train[number % shapes.bySplit.train.length]!],
    variations: VARIATIONS,
    split: 'train',
    windows: { shapes: start(shapes), textures: start(textures) },
  };
}

/** A sample's pixels, and the crops that it was made from. */
interface Sample {
  readonly image: RgbImage;
  readonly mask: GreyImage;
  readonly crops: readonly { readonly item: number; readonly paint: TexturePaint }[];
}

/** Decodes what was made, so that the floor can be measured on the same pixels. */
async function readBack(path: string, pieces: readonly Uint8Array[], textures: Bank): Promise<Sample[]> {
  const itemOf = new Map(Array.from({ length: textures.items }, (_, item) => [itemSize(textures, item).id, item]));
  const writer = await ShardWriter.create(path);
  for (const piece of pieces) await writer.append(piece);
  await writer.finish({ stage: 'bench', shard: 0, samples: pieces.length, seconds: 0, faults: [], counts: {} });
  const samples: Sample[] = [];
  const parts: Buffer[] = [];
  for await (const { offset, size } of readTar(`${path}.tar`)) {
    parts.push(await readRange(`${path}.tar`, offset, size));
    if (parts.length < 3) continue;
    const [jpg, json, png] = parts.splice(0) as [Buffer, Buffer, Buffer];
    const { scene } = JSON.parse(json.toString()) as Sample2dLabel;
    const side = { width: scene.size, height: scene.size };
    samples.push({
      image: { ...side, data: await sharp(jpg).raw().toBuffer() },
      mask: { ...side, data: await sharp(png).toColourspace('b-w').raw().toBuffer() },
      crops: [scene.fill, scene.background]
        .filter(paint => paint.kind === 'texture')
        .map(paint => ({ item: itemOf.get(paint.id)!, paint })),
    });
  }
  return samples;
}

/** What nobody can avoid for an image: reading and decoding two textures, encoding the picture and its mask. */
async function decodeAndEncode(samples: readonly Sample[], textures: Bank): Promise<void> {
  for (const { image, mask, crops } of samples) {
    for (const { item, paint } of crops) {
      await decodeCrop((await readItem(textures, item)).image, itemSize(textures, item), paint, image.width);
    }
    await encodeJpeg(image, LAST_SHAPES2D.quality);
    await encodeGrey(mask);
  }
}
