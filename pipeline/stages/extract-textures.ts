import sharp from 'sharp';
import type { Box, RgbImage } from '../../extractors/image.ts';
import { findTextureRegions, type TextureRegion } from '../../extractors/texture-regions.ts';
import { bankItemId } from '../bank.ts';
import { encodeJpeg } from '../bank-images.ts';
import { bankResult, bankShard, type NewItem, warnOfShortage } from '../bank-stage.ts';
import type { Configuration } from '../configuration.ts';
import { type Fault, InputFault } from '../faults.ts';
import { encodeLabel, textureLabelSchema } from '../labels.ts';
import { decodePhoto, openPhoto } from '../photo.ts';
import type { IndexedFile } from '../photo-index.ts';
import type { Stage } from '../stage.ts';

interface Task {
  readonly file: IndexedFile;
}

/** A photo gives about so many textures: blocks are that much smaller, so that shards stay near `--shard-samples`. */
const TEXTURES_A_PHOTO = 16;

/**
 * Photos → uniform texture crops (VasTextures; `extractors/texture-regions.ts` has the rule), all that a photo gives. The
 * bank takes every photo's best texture first, then every second-best, so that N textures come from as many photos as
 * there are.
 */
export const extractTextures: Stage<Task> = {
  name: 'extract-textures',
  title: 'textures',
  unit: 'textures',
  reads: [],
  fills: 'textures',

  async estimate({ configuration: { textures, shardSamples }, index }) {
    const { files } = (await index('photos')).facts;
    const photos = Math.min(files, Math.ceil(textures / TEXTURES_A_PHOTO));
    const shards = Math.ceil(photos / blockSize(shardSamples));
    return { samples: textures, shards, bytesPerSample: 95_000, secondsPerSample: 0.05 };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('photos')).blocks(blockSize(shardSamples));
  },

  async *plan(context) {
    const photos = await context.index('photos');
    const size = blockSize(context.configuration.shardSamples);
    for (let block = 0; block < photos.blocks(size); block++) {
      yield bankShard(
        'textures',
        block,
        (await photos.block(block, size)).map(file => ({ file })),
      );
      if (block === 0) warnOfShortage(context, photos.facts.files, context.configuration.textures, () => 1);
    }
  },

  async run({ file }, { configuration }) {
    const counts: Record<string, number> = { looks: 1 };
    const faults: Fault[] = [];
    let items: NewItem[] = [];
    try {
      items = await cutTextures(file, configuration, counts);
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push({ item: file.path, reason: error.message });
    }
    return bankResult('textures', items, { faults, counts });
  },
};

function blockSize(shardSamples: number): number {
  return Math.max(1, Math.round(shardSamples / TEXTURES_A_PHOTO));
}

async function cutTextures(
  file: IndexedFile,
  { maxPixels, textureRegions: options }: Configuration,
  counts: Record<string, number>,
): Promise<NewItem[]> {
  const photo = await decodePhoto(await openPhoto(file.path, maxPixels));
  const looked = await shrink(photo, options.workSide);
  const { regions, rejected } = findTextureRegions(looked, options);
  for (const [reason, count] of Object.entries(rejected)) counts[`region-${reason}`] = count;
  if (regions.length === 0) counts['no-texture'] = 1;
  const scale = photo.width / looked.width;
  return Promise.all(regions.map((region, rank) => newTexture(file, photo, region, rank, scale, options.quality)));
}

/** The picture at most `shortSide` pixels on its shorter side. */
async function shrink(image: RgbImage, shortSide: number): Promise<RgbImage> {
  const { width, height, data } = image;
  const scale = shortSide / Math.min(width, height);
  if (scale >= 1) return image;
  const smaller = await sharp(data, { raw: { width, height, channels: 3 } })
    .resize({ width: Math.round(width * scale), height: Math.round(height * scale), fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: smaller.data, width: smaller.info.width, height: smaller.info.height };
}

async function newTexture(
  { id: photoId, split, provenance }: IndexedFile,
  photo: RgbImage,
  region: TextureRegion,
  rank: number,
  scale: number,
  quality: number,
): Promise<NewItem> {
  const box = scaled(region.box, scale);
  const id = bankItemId('textures', photoId, rank);
  const label = encodeLabel(textureLabelSchema, {
    id,
    split,
    width: box.width,
    height: box.height,
    found: { rank, score: region.score, cells: region.cells, cellSize: region.cellSize * scale, box },
    photo: { id: photoId, width: photo.width, height: photo.height },
    provenance,
  });
  return {
    id,
    image: await encodeJpeg(crop(photo, box), quality, true),
    label,
    facts: { source: photoId, split, rank, width: box.width, height: box.height },
  };
}

/** A square of the picture that was looked at, in whole photo pixels inside it. */
function scaled({ left, top, width }: Box, scale: number): Box {
  const side = Math.floor(width * scale);
  return { left: Math.floor(left * scale), top: Math.floor(top * scale), width: side, height: side };
}

function crop(image: RgbImage, box: Box): RgbImage {
  const data = new Uint8Array(box.width * box.height * 3);
  for (let row = 0; row < box.height; row++) {
    const start = ((box.top + row) * image.width + box.left) * 3;
    data.set(image.data.subarray(start, start + box.width * 3), row * box.width * 3);
  }
  return { data, width: box.width, height: box.height };
}
