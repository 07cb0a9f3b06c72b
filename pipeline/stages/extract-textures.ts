import sharp from 'sharp';
import type { Box, RgbImage } from '../../extractors/image.ts';
import { boxOverlap } from '../../extractors/overlap.ts';
import {
  defaultCellSize,
  findTextureRegions,
  SMALLEST_CELL,
  type TextureRegion,
} from '../../extractors/texture-regions.ts';
import { bankItemId, readStored } from '../bank.ts';
import { encodeJpeg } from '../bank-images.ts';
import {
  bankResult,
  type EarlierItem,
  estimateRounds,
  gainOf,
  lookInRounds,
  type NewItem,
  type PhotoLook,
  type Round,
  warnOfShortage,
} from '../bank-stage.ts';
import type { Configuration, TextureRegionsRecipe } from '../configuration.ts';
import { type Fault, InputFault } from '../faults.ts';
import { encodeLabel, type TextureLabel, textureLabelSchema } from '../labels.ts';
import { decodePhoto, openPhoto } from '../photo.ts';
import type { IndexedFile } from '../photo-index.ts';
import type { Stage } from '../stage.ts';

/** Ranks of one round stay below this; it is also the rule's limit of textures a photo. */
const RANKS_A_ROUND = 100;

/** A photo gives at most about so many textures: blocks are that much smaller, so that shards stay near `--shard-samples`. */
const TEXTURES_A_PHOTO = 16;

/**
 * The rounds as they are expected to go: measured on the starter photos, of which one in three holds textures. Smaller cells
 * are more cells to compare.
 */
function roundsOf({ cellRounds }: TextureRegionsRecipe): Round[] {
  return cellRounds.map((factor, round) => ({ gives: round === 0 ? 0.6 : 0.35, seconds: 0.15 / factor ** 2 }));
}

/**
 * Photos → uniform texture crops (VasTextures; `extractors/texture-regions.ts` has the rule), all that a photo gives. The
 * bank takes every photo's best texture first, then every second-best, so that N textures come from as many photos as
 * there are. Only when all photos together give too few, another round looks with smaller cells (the label says so).
 */
export const extractTextures: Stage<PhotoLook> = {
  name: 'extract-textures',
  title: 'textures',
  unit: 'textures',
  reads: [],
  large: true,
  fills: 'textures',
  asked: ({ textures }) => textures,

  async estimate({ configuration: { textures, shardSamples, textureRegions }, index }) {
    const { files } = (await index('photos')).facts;
    return estimateRounds(textures, files, blockSize(shardSamples), roundsOf(textureRegions), 95_000);
  },

  async shardCount({ configuration: { shardSamples, textureRegions }, index }) {
    return textureRegions.cellRounds.length * (await index('photos')).blocks(blockSize(shardSamples));
  },

  async *plan(context) {
    const { textures, shardSamples, textureRegions } = context.configuration;
    await warnOfShortage(context, textures, () => gainOf(roundsOf(textureRegions)));
    yield* lookInRounds(context, 'textures', textureRegions.cellRounds.length, blockSize(shardSamples));
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
  { file, round, earlier }: PhotoLook,
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
  return Math.max(SMALLEST_CELL, Math.round(usual * cellRounds[round]!));
}

async function earlierBox(item: EarlierItem): Promise<Box> {
  const { label } = await readStored(item.tar, item);
  return (label as TextureLabel).found!.box;
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
