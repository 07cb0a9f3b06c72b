import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { GreyImage, RgbImage } from '../extractors/image.ts';
import { type Bank, itemSize, readItem } from '../pipeline/bank.ts';
import { decodeCrop, encodeGrey, encodeJpeg } from '../pipeline/bank-images.ts';
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
const INSTANCES_A_TURN = 10;

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
      sharedShapes: [],
      sample: (random, item, draw) => ({
        scene: sampleShapeScene(
          random,
          LAST_SHAPES2D,
          SHAPE_CONDITIONS['natural-textured-textured-rotated'],
          itemSize(banks.shapes, item),
          not => draw.texture(random, not),
        ),
        condition: 'bench',
      }),
    };
    const make = async (first: number, instances: number): Promise<Uint8Array[]> => {
      const pieces: Uint8Array[] = [];
      for (let number = first; number < first + instances; number++) {
        pieces.push((await renderInstance(taskOf(number, banks.shapes), subset, banks)).bytes);
      }
      return pieces;
    };
    await make(100_000, 10);
    // In turns, a few instances at a time: the machine's speed changes within minutes, and then does so for both.
    const instances = Math.ceil(count / VARIATIONS);
    let [images, ours, floor] = [0, 0, 0];
    for (let first = 0; first < instances; first += INSTANCES_A_TURN) {
      const made = await cpuSeconds(() => make(first, Math.min(INSTANCES_A_TURN, instances - first)));
      const samples = await readBack(join(folder, 'samples'), made.result, banks);
      const needed = await cpuSeconds(() => decodeAndEncode(samples, banks));
      images += samples.length;
      ours += made.seconds;
      floor += needed.seconds;
    }
    const rows: Row[] = [
      { name: 'ours', count: images, seconds: ours, note: 'image, soft mask, checked label, tar' },
      {
        name: 'floor',
        count: images,
        seconds: floor,
        note: 'the same shapes and whole crops read and decoded, the same JPEGs and masks encoded; nothing drawn',
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

function taskOf(number: number, { bySplit: { train } }: Bank): Task2d {
  const shard = Math.floor(number / 200);
  return { number, items: [train[number % train.length]!], variations: VARIATIONS, split: 'train', shard };
}

type BenchBanks = Awaited<ReturnType<typeof makeBenchBanks>>;

/** A sample's pixels, and the bank items that it was made from. */
interface Sample {
  /** The shape, in the first image of its instance only: the others draw the same. */
  readonly shape: number | undefined;
  readonly image: RgbImage;
  readonly mask: GreyImage;
  readonly crops: readonly { readonly item: number; readonly paint: TexturePaint }[];
}

/** Decodes what was made, so that the floor can be measured on the same pixels. */
async function readBack(path: string, pieces: readonly Uint8Array[], banks: BenchBanks): Promise<Sample[]> {
  const [shapes, textures] = [numbersById(banks.shapes), numbersById(banks.textures)];
  const writer = await ShardWriter.create(path);
  for (const piece of pieces) await writer.append(piece);
  await writer.finish({ stage: 'bench', shard: 0, samples: pieces.length, seconds: 0, faults: [], counts: {} });
  const samples: Sample[] = [];
  const bytes = await readFile(`${path}.tar`);
  const parts: Buffer[] = [];
  for await (const { offset, size } of readTar(`${path}.tar`)) {
    parts.push(bytes.subarray(offset, offset + size));
    if (parts.length < 3) continue;
    const [jpg, json, png] = parts.splice(0) as [Buffer, Buffer, Buffer];
    const { scene, variation } = JSON.parse(json.toString()) as Sample2dLabel;
    const side = { width: scene.size, height: scene.size };
    samples.push({
      shape: variation === 0 ? shapes.get(scene.shape.id) : undefined,
      image: { ...side, data: await sharp(jpg).raw().toBuffer() },
      mask: { ...side, data: await sharp(png).toColourspace('b-w').raw().toBuffer() },
      crops: [scene.fill, scene.background]
        .filter(paint => paint.kind === 'texture')
        .map(paint => ({ item: textures.get(paint.id)!, paint })),
    });
  }
  return samples;
}

function numbersById(bank: Bank): Map<string, number> {
  return new Map(Array.from({ length: bank.items }, (_, item) => [itemSize(bank, item).id, item]));
}

/**
 * What has to be done besides drawing: of an instance, reading and decoding its shape; of an image, reading and decoding two
 * textures as far as their crops, encoding the picture and its mask. Both crops whole, though a fill is seen only in part.
 */
async function decodeAndEncode(samples: readonly Sample[], { shapes, textures }: BenchBanks): Promise<void> {
  for (const { shape, image, mask, crops } of samples) {
    if (shape !== undefined) {
      await sharp((await readItem(shapes, shape)).image)
        .raw()
        .toBuffer();
    }
    for (const { item, paint } of crops) {
      await decodeCrop((await readItem(textures, item)).image, itemSize(textures, item), paint, image.width);
    }
    await encodeJpeg(image, LAST_SHAPES2D.quality);
    await encodeGrey(mask);
  }
}
