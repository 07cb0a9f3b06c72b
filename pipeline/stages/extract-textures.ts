import sharp from 'sharp';
import type { Box, RgbImage } from '../../extractors/image.ts';
import { boxOverlap } from '../../extractors/overlap.ts';
import {
  defaultCellSize,
  findTextureRegions,
  MIN_CELL_SIZE,
  type TextureRegion,
} from '../../extractors/texture-regions.ts';
import { bankItemId, readRange } from '../bank.ts';
import { encodeJpeg } from '../bank-images.ts';
import { bankResult, bankShard, type EarlierItem, earlierItems, type NewItem, warnOfShortage } from '../bank-stage.ts';
import type { Configuration, TextureRegionsRecipe } from '../configuration.ts';
import { type Fault, InputFault } from '../faults.ts';
import { encodeLabel, type TextureLabel, textureLabelSchema } from '../labels.ts';
import { decodePhoto, openPhoto } from '../photo.ts';
import type { IndexedFile } from '../photo-index.ts';
import type { Stage } from '../stage.ts';

interface Task {
  readonly file: IndexedFile;
  /** 0: cells of the usual size; above: smaller ones. */
  readonly round: number;
  /** The textures that earlier rounds cut from this photo. */
  readonly earlier: readonly EarlierItem[];
}

/** Ranks of one round stay below this; it is also the rule's limit of textures a photo. */
const RANKS_A_ROUND = 100;

/** A photo gives about so many textures: blocks are that much smaller, so that shards stay near `--shard-samples`. */
const TEXTURES_A_PHOTO = 16;

/**
 * Photos → uniform texture crops (VasTextures; `extractors/texture-regions.ts` has the rule), all that a photo gives. The
 * bank takes every photo's best texture first, then every second-best, so that N textures come from as many photos as
 * there are. Only when all photos together give too few, another round looks with smaller cells (the label says so).
 */
export const extractTextures: Stage<Task> = {
  name: 'extract-textures',
  title: 'textures',
  unit: 'textures',
  reads: [],
  fills: 'textures',
  asked: ({ textures }) => textures,

  async estimate({ configuration: { textures, shardSamples }, index }) {
    const { files } = (await index('photos')).facts;
    const photos = Math.min(files, Math.ceil(textures / TEXTURES_A_PHOTO));
    const shards = Math.ceil(photos / blockSize(shardSamples));
    return { samples: textures, shards, bytesPerSample: 95_000, secondsPerSample: 0.05 };
  },

  async shardCount({ configuration: { shardSamples, textureRegions }, index }) {
    return textureRegions.cellRounds.length * (await index('photos')).blocks(blockSize(shardSamples));
  },

  async *plan(context) {
    const photos = await context.index('photos');
    const { shardSamples, textureRegions, textures } = context.configuration;
    const size = blockSize(shardSamples);
    const blocks = photos.blocks(size);
    for (let round = 0; round < textureRegions.cellRounds.length; round++) {
      for (let block = 0; block < blocks; block++) {
        const files = await photos.block(block, size);
        const earlier = await earlierItems(context, 'textures', round, block, blocks);
        const tasks = files.map(file => ({ file, round, earlier: earlier.get(file.id) ?? [] }));
        yield bankShard('textures', round * blocks + block, tasks);
        if (round === 0 && block === 0) {
          warnOfShortage(context, photos.facts.files, textures, () => textureRegions.cellRounds.length);
        }
      }
    }
  },

  async run(task, { configuration }) {
    const counts: Record<string, number> = { looks: 1 };
    const faults: Fault[] = [];
    let items: NewItem[] = [];
    try {
      items = await cutTextures(task, configuration, counts);
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push({ item: task.file.path, reason: error.message });
    }
    return bankResult('textures', items, { faults, counts });
  },
};

function blockSize(shardSamples: number): number {
  return Math.max(1, Math.round(shardSamples / TEXTURES_A_PHOTO));
}

async function cutTextures(
  { file, round, earlier }: Task,
  { maxPixels, textureRegions: options }: Configuration,
  counts: Record<string, number>,
): Promise<NewItem[]> {
  const photo = await decodePhoto(await openPhoto(file.path, maxPixels));
  const looked = await shrink(photo, options.workSide);
  const cellSize = roundCellSize(options, round, Math.min(looked.width, looked.height));
  const { regions, rejected } = findTextureRegions(looked, { ...options, cellSize });
  for (const [reason, count] of Object.entries(rejected)) counts[`region-${reason}`] = count;
  const scale = photo.width / looked.width;
  const known = await Promise.all(earlier.map(earlierBox));
  const fresh = regions.filter(({ box }) =>
    known.every(other => boxOverlap(scaled(box, scale), other) <= options.maxOverlap),
  );
  if (fresh.length === 0) counts['no-texture'] = 1;
  if (fresh.length < regions.length) counts['region-found-before'] = regions.length - fresh.length;
  return Promise.all(
    fresh
      .slice(0, RANKS_A_ROUND)
      .map((region, rank) => newTexture(file, photo, region, { round, rank }, scale, options.quality)),
  );
}

/** Cells of a round in pixels: the usual size times the round's factor. */
function roundCellSize({ cellSize, cellRounds }: TextureRegionsRecipe, round: number, shortSide: number): number {
  const usual = cellSize === 'auto' ? defaultCellSize(shortSide) : cellSize;
  return Math.max(MIN_CELL_SIZE, Math.round(usual * cellRounds[round]!));
}

async function earlierBox({ tar, label }: EarlierItem): Promise<Box> {
  return (JSON.parse((await readRange(tar, ...label)).toString()) as TextureLabel).found!.box;
}

/** The picture at most `shortSide` pixels on its shorter side. */
async function shrink(image: RgbImage, shortSide: number): Promise<RgbImage> {
  const { width, height, data } = image;
  const scale = shortSide / Math.min(width, height);
  if (scale >= 1) return image;
  const smaller = await sharp(data, { raw: { width, height, channels: 3 }, limitInputPixels: false })
    .resize({ width: Math.round(width * scale), height: Math.round(height * scale), fit: 'fill' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: smaller.data, width: smaller.info.width, height: smaller.info.height };
}

async function newTexture(
  { id: photoId, split, provenance }: IndexedFile,
  photo: RgbImage,
  region: TextureRegion,
  { round, rank }: { round: number; rank: number },
  scale: number,
  quality: number,
): Promise<NewItem> {
  const box = scaled(region.box, scale);
  const bankRank = round * RANKS_A_ROUND + rank;
  const id = bankItemId('textures', photoId, bankRank);
  const label = encodeLabel(textureLabelSchema, {
    id,
    split,
    width: box.width,
    height: box.height,
    found: { round, rank, score: region.score, cells: region.cells, cellSize: region.cellSize * scale, box },
    photo: { id: photoId, width: photo.width, height: photo.height },
    provenance,
  });
  return {
    id,
    files: { jpg: await encodeJpeg(crop(photo, box), quality, true) },
    label,
    facts: { source: photoId, split, rank: bankRank, width: box.width, height: box.height },
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
