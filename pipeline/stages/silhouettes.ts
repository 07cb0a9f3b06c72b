import { stat } from 'node:fs/promises';
import sharp, { type Metadata } from 'sharp';
import { type ChosenObject, chooseObjects } from '../../extractors/chosen-objects.ts';
import { edgeMap } from '../../extractors/edge-map.ts';
import type { Box, GreyImage, Mask, RgbImage } from '../../extractors/image.ts';
import { outlinePolygons } from '../../extractors/outline.ts';
import { compressCounts, encodePlaced } from '../../extractors/run-lengths.ts';
import { shapeStatistics } from '../../extractors/shape-statistics.ts';
import {
  type Frame,
  frameOf,
  greyObject,
  halfCovered,
  inPolarity,
  objectCoverage,
  objectLuminance,
} from '../../extractors/silhouette.ts';
import { openAnnotated } from '../annotated-picture.ts';
import { encodeJpeg } from '../bank-images.ts';
import type { Configuration, SilhouettesRecipe } from '../configuration.ts';
import type { SegmentedObject } from '../datasets/dataset.ts';
import { readObjects } from '../datasets/datasets.ts';
import { type Fault, InputFault } from '../faults.ts';
import { encodeGreyPng } from '../grey-png.ts';
import { sampleKey } from '../image-sample.ts';
import { encodeLabel, type SilhouetteLabel, silhouetteLabelSchema } from '../labels.ts';
import { decodePhoto, type Photo } from '../photo.ts';
import type { IndexedFile } from '../photo-index.ts';
import { SPLITS, type Split } from '../splits.ts';
import type { ShardPlan, Stage } from '../stage.ts';
import { encodeTar, type TarFile } from '../tar.ts';

const SUBSET = 'silhouettes';
/** Pictures of the list that are read at a time. */
const BLOCK = 1024;

/** Pictures that are weighed for the estimate of a sample's bytes. */
const WEIGHED = 16;
/** Measured: the silhouette, its edges, the grey picture and the label; JPEG of quality 95 without chroma subsampling. */
const BYTES_BESIDE = 12_000;
const JPEG_BYTES_A_PIXEL = 0.3;

/** One picture, and its number in the list. */
export interface SilhouetteTask {
  readonly number: number;
  readonly file: IndexedFile;
}

/** Segmentation data → objects in the canonical form of BareBones: in full colour, as silhouette, as edges, in grey. */
export const silhouettes: Stage<SilhouetteTask> = {
  name: 'silhouettes',
  title: 'silhouettes',
  unit: 'images',
  reads: [],
  asked: ({ silhouettesImages }) => silhouettesImages,
  // A picture may hold no object that is large enough, or many that are all shown.
  atMost: ({ silhouettesImages }) => silhouettesImages === null,

  async estimate({ configuration: { silhouettesImages, shardSamples }, index }) {
    const list = await index('segmentation-images');
    const { files, splits } = list.facts;
    const samples = Math.min(silhouettesImages ?? files, files);
    const shardsOf = (split: Split) => Math.ceil((splits[split] * samples) / files / shardSamples);
    const shards = SPLITS.reduce((sum, split) => sum + shardsOf(split), 0);
    const bytesPerSample = await bytesOfSample(await list.block(0, WEIGHED));
    const warning =
      silhouettesImages !== null && silhouettesImages > files
        ? `asked for ${silhouettesImages}, and the pictures number ${files}`
        : undefined;
    return { samples, shards, bytesPerSample, secondsPerSample: 0.015, ...(warning && { warning }) };
  },

  /** Deals the list out, as it is read, to one open shard a split; a shard is planned when it is full. */
  async *plan({ configuration: { silhouettesImages, shardSamples }, index }) {
    const list = await index('segmentation-images');
    const pictures = Math.min(silhouettesImages ?? list.facts.files, list.facts.files);
    const open: Record<Split, SilhouetteTask[]> = { train: [], val: [], test: [] };
    const closed: Record<Split, number> = { train: 0, val: 0, test: 0 };
    let shard = 0;
    const close = (split: Split): ShardPlan<SilhouetteTask> => {
      const name = `${SUBSET}-${split}-${String(closed[split]++).padStart(6, '0')}`;
      const tasks = open[split];
      open[split] = [];
      return { shard: shard++, path: `${SUBSET}/${split}/${name}`, tasks };
    };
    for (let number = 0; number < pictures; ) {
      for (const file of await list.block(number / BLOCK, BLOCK)) {
        if (number === pictures) break;
        const tasks = open[file.split];
        tasks.push({ number: number++, file });
        if (tasks.length === shardSamples) yield close(file.split);
      }
    }
    for (const split of SPLITS) if (open[split].length > 0) yield close(split);
  },

  async run(task, { configuration }) {
    const counts: Record<string, number> = { pictures: 1 };
    const faults: Fault[] = [];
    let samples: TarFile[][] = [];
    try {
      samples = await samplesOf(task, configuration, counts);
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push({ item: task.file.path, reason: error.message });
    }
    return { bytes: encodeTar(samples.flat()).bytes, samples: samples.length, faults, counts };
  },
};

/** Average bytes of a sample, by the files of some pictures: JPEG is kept as it is, the others become JPEG. */
async function bytesOfSample(files: readonly IndexedFile[]): Promise<number> {
  const sizes = await Promise.all(
    files.map(async ({ path }) => {
      // What cannot be read is a fault when its turn comes.
      const {
        format,
        width = 0,
        height = 0,
      } = await sharp(path)
        .metadata()
        .catch(() => ({}) as Partial<Metadata>);
      return format === 'jpeg' ? (await stat(path)).size : JPEG_BYTES_A_PIXEL * width * height;
    }),
  );
  return BYTES_BESIDE + Math.round(sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length));
}

/** An object that is shown, and its silhouette. */
interface Cut {
  readonly object: ChosenObject<SegmentedObject>;
  readonly frame: Frame;
  /** White on black: soft, and by the threshold. */
  readonly coverage: GreyImage;
  readonly inside: Mask;
}

/** @throws InputFault */
async function samplesOf(
  { number, file }: SilhouetteTask,
  configuration: Configuration,
  counts: Record<string, number>,
): Promise<TarFile[][]> {
  const { silhouettes: recipe, maxPixels } = configuration;
  const { reader, part, objects } = await readObjects(file);
  if (objects.length === 0) {
    counts['picture-without-object'] = 1;
    throw new InputFault('there is no object in it');
  }
  const annotated = await openAnnotated(file.path, objects, maxPixels);
  const chosen = chooseObjects(annotated.objects, { ...recipe, masks: reader.masks });
  const large = chosen.filter(({ area }) => area >= recipe.minArea);
  const cuts = large.map(object => cutOut(object, recipe)).filter(({ inside }) => inside.data.includes(255));
  if (cuts.length === 0) counts[large.length === 0 ? 'picture-too-small' : 'picture-too-thin'] = 1;
  if (large.length < chosen.length) counts['object-too-small'] = chosen.length - large.length;
  if (cuts.length < large.length) counts['object-too-thin'] = large.length - cuts.length;
  if (large.length === 0) throw new InputFault(`no object of at least ${recipe.minArea} pixels`);
  if (cuts.length === 0) throw new InputFault('no object is half a pixel thick in its silhouette');

  const { photo } = annotated;
  const picture = annotated.picture ?? (await decodePicture(photo, recipe, cuts));
  const samples: TarFile[][] = [];
  for (const [variation, cut] of cuts.entries()) {
    const hq = recipe.allInstances ? surroundings(cut.object.box, photo) : whole(photo);
    const key = sampleKey(SUBSET, number, variation);
    const names = fileNames(key);
    const label = encodeLabel(silhouetteLabelSchema, {
      key,
      subset: SUBSET,
      split: file.split,
      instance: { number, id: `${file.id}-${cut.object.name}` },
      variation,
      seed: configuration.seed,
      annotated: annotationOf(cut.object.annotation, reader.name, part),
      picture: { width: photo.width, height: photo.height },
      object: objectFacts(cut.object, photo, recipe),
      hq,
      silhouette: {
        width: cut.frame.width,
        height: cut.frame.height,
        scale: cut.frame.scale,
        polarity: recipe.polarity,
        margin: recipe.margin,
        soft: recipe.soft,
      },
      statistics: shapeStatistics(cut.object.mask),
      files: names,
      sources: [{ role: 'picture', id: file.id, ...file.provenance }],
    });
    const { edge, grey, silhouette } = drawn(cut, picture, photo, recipe);
    samples.push([
      { name: names['edge.png'], data: encodeGreyPng(edge) },
      { name: names['grey.png'], data: encodeGreyPng(grey) },
      { name: names['hq.jpg'], data: await hqJpeg(photo, picture, hq, recipe) },
      { name: names.json, data: label },
      { name: names['silhouette.png'], data: encodeGreyPng(silhouette) },
    ]);
  }
  return samples;
}

function cutOut(object: ChosenObject<SegmentedObject>, recipe: SilhouettesRecipe): Cut {
  const frame = frameOf(object.box, recipe);
  const coverage = objectCoverage(object, frame);
  return { object, frame, coverage, inside: halfCovered(coverage) };
}

/** The modes of an object beside full colour. */
function drawn({ object, frame, coverage, inside }: Cut, picture: RgbImage, photo: Photo, recipe: SilhouettesRecipe) {
  const { polarity, soft } = recipe;
  const shown = soft ? coverage : inside;
  const luminance = objectLuminance(picture, photo, object, frame, coverage);
  return {
    silhouette: inPolarity(shown, polarity),
    edge: inPolarity(edgeMap(luminance, inside), polarity),
    grey: greyObject(luminance, shown, polarity),
  };
}

/** A shrunk picture has at least so many pixels along a side for each of the silhouette: what it lacks is not seen in these. */
const OVERSAMPLING = 2;

/**
 * Decodes a picture whole, so that one that is broken anywhere is found. Where only small grey pictures are made of it, JPEG data
 * are decoded at a fraction of their size, which takes a fraction of the time.
 */
function decodePicture(photo: Photo, recipe: SilhouettesRecipe, cuts: readonly Cut[]): Promise<RgbImage> {
  if (!isKept(photo, recipe)) return decodePhoto(photo);
  const scale = OVERSAMPLING * Math.max(...cuts.map(({ frame }) => frame.scale));
  // libvips decodes at a fraction from a third on.
  if (scale > 1 / 3) return decodePhoto(photo);
  return decodePhoto(photo, { shortSide: Math.ceil(Math.min(photo.width, photo.height) * scale) });
}

/** Whether `hq` is the picture's own file: a JPEG that every program shows as its annotations take it. */
function isKept({ format, space, depth, orientation }: Photo, { allInstances }: SilhouettesRecipe): boolean {
  const plain = format === 'jpeg' && depth === 'uchar' && (space === 'srgb' || space === 'b-w');
  return plain && orientation === 1 && !allInstances;
}

async function hqJpeg(photo: Photo, picture: RgbImage, shown: Box, recipe: SilhouettesRecipe): Promise<Uint8Array> {
  return isKept(photo, recipe) ? photo.bytes : encodeJpeg(cropOf(picture, shown), recipe.quality, true);
}

const whole = ({ width, height }: Photo): Box => ({ left: 0, top: 0, width, height });

/** The part of a picture around one of several objects: its box, 1.2 times as wide and high, as far as there is picture. */
function surroundings(box: Box, { width, height }: Photo): Box {
  const around = (start: number, length: number, limit: number) => {
    const more = Math.round(0.1 * length);
    const first = Math.max(0, start - more);
    return [first, Math.min(limit, start + length + more) - first] as const;
  };
  const [left, shownWidth] = around(box.left, box.width, width);
  const [top, shownHeight] = around(box.top, box.height, height);
  return { left, top, width: shownWidth, height: shownHeight };
}

function cropOf(image: RgbImage, { left, top, width, height }: Box): RgbImage {
  if (width === image.width && height === image.height) return image;
  const data = new Uint8Array(3 * width * height);
  for (let row = 0; row < height; row++) {
    const start = 3 * ((top + row) * image.width + left);
    data.set(image.data.subarray(start, start + 3 * width), 3 * row * width);
  }
  return { data, width, height };
}

function annotationOf(
  { label, category, instance, taxonomy }: SegmentedObject,
  dataset: SilhouetteLabel['annotated']['dataset'],
  part: string | null,
): SilhouetteLabel['annotated'] {
  return { dataset, part, label, category, instance, taxonomy };
}

function objectFacts(
  object: ChosenObject<SegmentedObject>,
  { width, height }: Photo,
  { polygons }: SilhouettesRecipe,
): SilhouetteLabel['object'] {
  const { box, area, parts } = object;
  const { counts } = encodePlaced(object, width, height);
  return {
    box,
    area,
    parts,
    mask: { size: [height, width], counts: compressCounts(counts) },
    ...(polygons && { polygons: outlinePolygons(object) }),
  };
}

function fileNames(key: string): SilhouetteLabel['files'] {
  return {
    'hq.jpg': `${key}.hq.jpg`,
    'silhouette.png': `${key}.silhouette.png`,
    'edge.png': `${key}.edge.png`,
    'grey.png': `${key}.grey.png`,
    json: `${key}.json`,
  };
}
