import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { DEFAULTS, drawTries, findNaturalShape } from '../extractors/natural-shape.ts';
import type { Bank } from '../pipeline/bank.ts';
import { bankItemId, bankShardName, finalizeBank } from '../pipeline/bank.ts';
import { encodeGrey } from '../pipeline/bank-images.ts';
import { bankResult, type NewItem } from '../pipeline/bank-stage.ts';
import { decodePhoto, openPhoto } from '../pipeline/photo.ts';
import { type BankItem, ShardWriter } from '../pipeline/shard-writer.ts';
import { integer } from '../sampling/distributions.ts';
import { hashId } from '../sampling/hash.ts';
import { rng } from '../sampling/rng.ts';
import { benchPhotos } from './photos.ts';

const TEXTURES = 2000;
const LOOSE = 200;
/** Side of a texture of the rule's smallest square at 75 px cells. */
const SIDE = 525;

const provenance = { pack: 'bench', file: 'bench', licence: null, author: null, url: null };

/** Banks of real pixels: 2,000 crops of photos as textures and the photos' shapes; some also as loose files, for Python. */
export async function makeBenchBanks(
  folder: string,
  photos: string | undefined,
): Promise<{ shapes: Bank; textures: Bank }> {
  const paths = await benchPhotos(photos);
  await mkdir(join(folder, 'loose'), { recursive: true });
  const random = rng(1, 'bench', 'banks');
  const textures: NewItem[] = [];
  const shapes: NewItem[] = [];
  const perPhoto = Math.ceil(TEXTURES / (await countLarge(paths)));
  for (const path of paths) {
    const photo = await openPhoto(path);
    const id = hashId(path);
    const { shape } = findNaturalShape(
      await decodePhoto(photo, { shortSide: 512 }),
      drawTries(random, DEFAULTS),
      DEFAULTS,
    );
    if (shape) {
      const image = await encodeGrey(shape.mask);
      await writeFile(join(folder, 'loose', `shape-${shapes.length}.png`), image);
      shapes.push(item('shapes', id, 0, image, shape.mask.width, shape.mask.height));
    }
    const whole = await sharp(photo.bytes)
      .autoOrient()
      .removeAlpha()
      .toColourspace('srgb')
      .png({ compressionLevel: 0 })
      .toBuffer();
    if (Math.min(photo.width, photo.height) < SIDE) continue;
    for (let i = 0; i < perPhoto; i++) {
      const box = {
        left: integer(random, 0, photo.width - SIDE),
        top: integer(random, 0, photo.height - SIDE),
        width: SIDE,
        height: SIDE,
      };
      const image = await sharp(whole).extract(box).jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer();
      if (textures.length < LOOSE) await writeFile(join(folder, 'loose', `texture-${textures.length}.jpg`), image);
      textures.push(item('textures', id, i, image, SIDE, SIDE));
    }
  }
  return { shapes: await bank(folder, 'shapes', shapes), textures: await bank(folder, 'textures', textures) };
}

/** How many photos a texture can be cut from. */
async function countLarge(paths: readonly string[]): Promise<number> {
  let large = 0;
  for (const path of paths) {
    const { width, height } = await openPhoto(path);
    if (Math.min(width, height) >= SIDE) large++;
  }
  return large;
}

function item(
  kind: 'shapes' | 'textures',
  source: string,
  rank: number,
  image: Buffer,
  width: number,
  height: number,
): NewItem {
  const label = Buffer.from(JSON.stringify({ photo: { id: source }, provenance }));
  return {
    id: bankItemId(kind, source, rank),
    files: { [kind === 'shapes' ? 'png' : 'jpg']: image },
    label,
    facts: { source, split: 'train', rank, width, height },
  };
}

async function bank(folder: string, kind: 'shapes' | 'textures', items: readonly NewItem[]): Promise<Bank> {
  const place = join(folder, kind);
  const writer = await ShardWriter.create(join(place, bankShardName(kind, 0)));
  const result = bankResult(kind, items, { faults: [], counts: {} });
  await writer.append(result.bytes);
  await writer.finish({ stage: 'bench', shard: 0, samples: items.length, seconds: 0, faults: [], counts: {} });
  return finalizeBank(place, kind, items.length, [[0, result.items as readonly BankItem[]]]);
}
