import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GreyImage, RgbImage } from '../extractors/image.ts';
import { type Bank, readItem } from '../pipeline/bank.ts';
import { decodeCrop, encodeGrey, encodeJpeg } from '../pipeline/bank-images.ts';
import { windowStart } from '../pipeline/instances.ts';
import { renderInstance, type Subset2d, type Task2d } from '../pipeline/scenes2d.ts';
import { integer } from '../sampling/distributions.ts';
import { rng } from '../sampling/rng.ts';
import { SHAPE_CONDITIONS } from '../scenes/conditions.ts';
import { LAST_SHAPES2D } from '../scenes/recipe.ts';
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
    const make = async (first: number, instances: number) => {
      for (let number = first; number < first + instances; number++) {
        await renderInstance(taskOf(number, banks.shapes, banks.textures), subset, banks);
      }
    };
    await make(100_000, 10);
    const instances = Math.ceil(count / VARIATIONS);
    const ours = await cpuSeconds(() => make(0, instances));
    const floor = await cpuSeconds(() => decodeAndEncode(instances * VARIATIONS, banks.textures));
    const rows: Row[] = [
      {
        name: 'ours',
        count: instances * VARIATIONS,
        seconds: ours.seconds,
        note: 'image, soft mask, checked label, tar',
      },
      {
        name: 'floor',
        count: instances * VARIATIONS,
        seconds: floor.seconds,
        note: 'two texture crops decoded, JPEG and mask PNG encoded',
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

/** What nobody can avoid for an image: reading and decoding two textures, encoding the picture and its mask. */
async function decodeAndEncode(images: number, textures: Bank): Promise<void> {
  const random = rng(1, 'bench', 'floor');
  const size = LAST_SHAPES2D.size;
  const crop = async (): Promise<RgbImage> => {
    const item = integer(random, 0, textures.items - 1);
    const { image } = await readItem(textures, item);
    const bounds = { width: textures.columns.width[item]!, height: textures.columns.height[item]! };
    const scale = Math.max(1, size / Math.min(bounds.width, bounds.height));
    return decodeCrop(image, bounds, { kind: 'texture', id: '', scale, left: 0, top: 0, quarterTurns: 0 }, size);
  };
  const mask = disc(size);
  for (let i = 0; i < images; i++) {
    await crop();
    await encodeJpeg(await crop(), LAST_SHAPES2D.quality);
    await encodeGrey(mask);
  }
}

function disc(size: number): GreyImage {
  const data = new Uint8Array(size * size);
  for (let i = 0; i < data.length; i++) {
    const distance = Math.hypot((i % size) - size / 2, Math.floor(i / size) - size / 2);
    data[i] = Math.max(0, Math.min(255, 255 * (size / 4 - distance)));
  }
  return { width: size, height: size, data };
}
