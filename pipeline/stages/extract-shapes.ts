import type { Box, RgbImage } from '../../extractors/image.ts';
import { ImageTooLarge } from '../../extractors/kernel/channel-masks.ts';
import { drawTries, findNaturalShape, type NaturalShape } from '../../extractors/natural-shape.ts';
import { overlap } from '../../extractors/overlap.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import { chance, integer, logUniform, uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { readStored } from '../bank.ts';
import { decodeMask } from '../bank-images.ts';
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
import type { Configuration, NaturalShapesRecipe } from '../configuration.ts';
import { InputFault } from '../faults.ts';
import type { ShapeLabel } from '../labels.ts';
import { decodePhoto, openPhoto, type Photo } from '../photo.ts';
import type { IndexedFile, PhotoIndex } from '../photo-index.ts';
import { shapeItem } from '../shape-item.ts';
import type { Stage } from '../stage.ts';

/** Measured on the starter photos: shapes that a photo gives as a whole, and each further look at a window of it. */
const SHAPES_A_PHOTO = 0.6;
const SHAPES_A_WINDOW = 0.06;
const SECONDS_A_LOOK = 0.07;

/** The rounds as they are expected to go. @param large share of the photos that windows can be cut from. */
function roundsOf({ rounds }: NaturalShapesRecipe, large: number): Round[] {
  return Array.from({ length: rounds }, (_, round) =>
    round === 0
      ? { gives: SHAPES_A_PHOTO, seconds: SECONDS_A_LOOK }
      : { gives: SHAPES_A_WINDOW * large, seconds: SECONDS_A_LOOK * large },
  );
}

/** Photos whose headers a plan looks at. */
const PROBED = 32;

/** Share of the photos that windows can be cut from, by the first of the list, which is in random order. */
async function shareWithWindows(photos: PhotoIndex, { maxPixels, naturalShapes }: Configuration): Promise<number> {
  const probed = await photos.block(0, PROBED);
  let large = 0;
  for (const { path } of probed) {
    const photo = await openPhoto(path, maxPixels).catch(error => {
      if (!(error instanceof InputFault || error instanceof ImageTooLarge)) throw error;
    });
    if (photo && isLargeEnough(photo, naturalShapes)) large++;
  }
  return large / probed.length;
}

/**
 * Photos → natural shapes, at most one a photo and round (LAS&T; `extractors/natural-shape.ts` has the rule). Shard
 * `round × blocks + block` holds what the block's photos gave in that round; the bank is the first N of them in order.
 */
export const extractShapes: Stage<PhotoLook> = {
  name: 'extract-shapes',
  title: 'natural shapes',
  unit: 'shapes',
  reads: [],
  fills: 'shapes',
  asked: ({ shapes }) => shapes,

  async estimate({ configuration, index }) {
    const { shapes, shardSamples, naturalShapes } = configuration;
    const photos = await index('photos');
    const rounds = roundsOf(naturalShapes, await shareWithWindows(photos, configuration));
    return estimateRounds(shapes, photos.facts.files, shardSamples, rounds, 7000);
  },

  async shardCount({ configuration: { shardSamples, naturalShapes }, index }) {
    return naturalShapes.rounds * (await index('photos')).blocks(shardSamples);
  },

  async *plan(context) {
    const { shapes, shardSamples, naturalShapes } = context.configuration;
    await warnOfShortage(context, shapes, counts =>
      gainOf(roundsOf(naturalShapes, (counts['large-enough-for-windows'] ?? 0) / counts.looks!)),
    );
    yield* lookInRounds(context, 'shapes', naturalShapes.rounds, shardSamples);
  },

  async run({ file, round, earlier }, { configuration }) {
    const counts: Record<string, number> = { looks: 1 };
    try {
      const item = await lookForShape(file, round, earlier, configuration, counts);
      return bankResult('shapes', item ? [item] : [], { faults: [], counts });
    } catch (error) {
      if (!(error instanceof InputFault || error instanceof ImageTooLarge)) throw error;
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
  if (isLargeEnough(photo, options)) counts['large-enough-for-windows'] = 1;
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

/** Whether windows can be cut from a photo. */
function isLargeEnough(
  { width, height }: Pick<Photo, 'width' | 'height'>,
  { windowMinSide }: NaturalShapesRecipe,
): boolean {
  return Math.min(width, height) > windowMinSide;
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
  if (!isLargeEnough(photo, options)) return null;
  const most = Math.min(photo.width, photo.height);
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
  for (const item of earlier) {
    const { image, label } = await readStored(item.tar, item);
    const before = { mask: await decodeMask(image), box: (label as ShapeLabel).found!.box };
    if (overlap(found, before) > maxOverlap) return true;
  }
  return false;
}

function newShape(
  { id: photoId, split, provenance }: IndexedFile,
  round: number,
  photo: Photo,
  window: Box | null,
  image: RgbImage,
  shape: NaturalShape,
  box: Box,
): Promise<NewItem> {
  const { channel, inverted, threshold } = shape.try;
  return shapeItem('shapes', shape.mask, {
    kind: 'natural',
    split,
    source: photoId,
    rank: round,
    area: shape.area,
    picture: photo,
    found: { round, window, scale: image.width / (window ?? photo).width, channel, inverted, threshold, box },
    provenance,
  });
}
