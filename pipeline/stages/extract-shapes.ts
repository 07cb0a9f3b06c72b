import type { Box, RgbImage } from '../../extractors/image.ts';
import { drawTries, findNaturalShape, type NaturalShape } from '../../extractors/natural-shape.ts';
import { overlap, type PlacedMask } from '../../extractors/overlap.ts';
import { chance, integer, logUniform, uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { bankItemId, readRange } from '../bank.ts';
import { decodeMask, encodeGrey } from '../bank-images.ts';
import { bankResult, bankShard, type EarlierItem, earlierItems, type NewItem, warnOfShortage } from '../bank-stage.ts';
import type { Configuration, NaturalShapesRecipe } from '../configuration.ts';
import { InputFault } from '../faults.ts';
import { encodeLabel, type ShapeLabel, shapeLabelSchema } from '../labels.ts';
import { decodePhoto, openPhoto, type Photo } from '../photo.ts';
import type { IndexedFile } from '../photo-index.ts';
import type { Sidecar } from '../shard-writer.ts';
import type { Stage } from '../stage.ts';

/** One look at one photo. */
interface Task {
  readonly file: IndexedFile;
  /** 0: the whole photo; above: a random window. */
  readonly round: number;
  /** The shapes that earlier rounds found in this photo. */
  readonly earlier: readonly EarlierItem[];
}

/**
 * Distinct shapes that all rounds give for one that the first gives: 3.3 where windows can be cut (measured: about 2 a photo
 * beside 0.6), 1 where photos are too small for that.
 */
function allRoundsGain({ counts }: Sidecar): number {
  return 1 + (2.3 * (counts['large-enough-for-windows'] ?? 0)) / (counts.looks ?? 1);
}

/**
 * Photos → natural shapes, at most one a photo and round (LAS&T; `extractors/natural-shape.ts` has the rule). Shard
 * `round × blocks + block` holds what the block's photos gave in that round; the bank is the first N of them in order.
 */
export const extractShapes: Stage<Task> = {
  name: 'extract-shapes',
  title: 'natural shapes',
  unit: 'shapes',
  reads: [],
  fills: 'shapes',
  asked: ({ shapes }) => shapes,

  async estimate({ configuration: { shapes, shardSamples }, index }) {
    const perShard = Math.max(1, 0.6 * Math.min(shardSamples, (await index('photos')).facts.files));
    return { samples: shapes, shards: Math.ceil(shapes / perShard), bytesPerSample: 4600, secondsPerSample: 0.11 };
  },

  async shardCount({ configuration: { shardSamples, naturalShapes }, index }) {
    return naturalShapes.rounds * (await index('photos')).blocks(shardSamples);
  },

  async *plan(context) {
    const photos = await context.index('photos');
    const { shardSamples, naturalShapes } = context.configuration;
    const blocks = photos.blocks(shardSamples);
    for (let round = 0; round < naturalShapes.rounds; round++) {
      for (let block = 0; block < blocks; block++) {
        const files = await photos.block(block, shardSamples);
        const earlier = await earlierItems(context, 'shapes', round, block, blocks);
        const tasks = files.map(file => ({ file, round, earlier: earlier.get(file.id) ?? [] }));
        yield bankShard('shapes', round * blocks + block, tasks);
        if (round === 0 && block === 0) {
          warnOfShortage(context, photos.facts.files, context.configuration.shapes, allRoundsGain);
        }
      }
    }
  },

  async run({ file, round, earlier }, { configuration }) {
    const counts: Record<string, number> = { looks: 1 };
    try {
      const item = await lookForShape(file, round, earlier, configuration, counts);
      return bankResult('shapes', item ? [item] : [], { faults: [], counts });
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      return bankResult('shapes', [], { faults: [{ item: file.path, reason: error.message }], counts });
    }
  },
};

async function lookForShape(
  file: IndexedFile,
  round: number,
  earlier: readonly EarlierItem[],
  { seed, maxPixels, naturalShapes: options }: Configuration,
  counts: Record<string, number>,
): Promise<NewItem | undefined> {
  const photo = await openPhoto(file.path, maxPixels);
  const random = rng(seed, 'extract-shapes', file.id, round);
  if (Math.min(photo.width, photo.height) > options.windowMinSide) counts['large-enough-for-windows'] = 1;
  const window = round === 0 ? null : sampleWindow(random, photo, options);
  if (round > 0 && !window) return undefined;
  const image = await decodePhoto(photo, { shortSide: options.workSide, ...(window && { window }) });
  const { shape, rejections } = findNaturalShape(image, drawTries(random, options), options);
  for (const [reason, count] of Object.entries(rejections)) counts[`try-${reason}`] = count;
  if (!shape) {
    counts['no-shape'] = 1;
    return undefined;
  }
  const box = inPhoto(shape.box, image, window ?? { left: 0, top: 0, ...photo });
  if (await isKnown({ mask: shape.mask, box }, earlier, options.maxOverlap)) {
    counts['found-before'] = 1;
    return undefined;
  }
  return newShape(file, round, photo, window, image, shape, box);
}

/**
 * A window of the photo at its original resolution: short side log-uniform, aspect uniform, lying or standing, placed
 * uniformly. Null where the photo's short side is no larger than the smallest window.
 */
export function sampleWindow(
  random: Rng,
  photo: Pick<Photo, 'width' | 'height'>,
  options: NaturalShapesRecipe,
): Box | null {
  const most = Math.min(photo.width, photo.height);
  if (most <= options.windowMinSide) return null;
  const short = Math.round(logUniform(random, options.windowMinSide, most));
  const long = Math.round(short * uniform(random, 1, options.windowMaxAspect));
  const lying = chance(random, 0.5);
  const width = Math.min(photo.width, lying ? long : short);
  const height = Math.min(photo.height, lying ? short : long);
  return {
    left: integer(random, 0, photo.width - width),
    top: integer(random, 0, photo.height - height),
    width,
    height,
  };
}

/** A box of the picture that was looked at, in photo pixels. */
function inPhoto(box: Box, image: RgbImage, window: Box): Box {
  const scaleX = window.width / image.width;
  const scaleY = window.height / image.height;
  return {
    left: window.left + box.left * scaleX,
    top: window.top + box.top * scaleY,
    width: box.width * scaleX,
    height: box.height * scaleY,
  };
}

async function isKnown(found: PlacedMask, earlier: readonly EarlierItem[], maxOverlap: number): Promise<boolean> {
  for (const { tar, image, label } of earlier) {
    const { found: how } = JSON.parse((await readRange(tar, ...label)).toString()) as ShapeLabel;
    const before = { mask: await decodeMask(await readRange(tar, ...image)), box: how!.box };
    if (overlap(found, before) > maxOverlap) return true;
  }
  return false;
}

async function newShape(
  { id: photoId, split, provenance }: IndexedFile,
  round: number,
  photo: Photo,
  window: Box | null,
  image: RgbImage,
  shape: NaturalShape,
  box: Box,
): Promise<NewItem> {
  const { width, height } = shape.mask;
  const { channel, inverted, threshold } = shape.try;
  const id = bankItemId('shapes', photoId, round);
  const label = encodeLabel(shapeLabelSchema, {
    id,
    kind: 'natural',
    split,
    width,
    height,
    area: shape.area,
    found: { round, window, scale: image.width / (window ?? photo).width, channel, inverted, threshold, box },
    photo: { id: photoId, width: photo.width, height: photo.height },
    provenance,
  });
  return {
    id,
    files: { png: await encodeGrey(shape.mask) },
    label,
    facts: { source: photoId, split, kind: 'natural', rank: round, width, height },
  };
}
