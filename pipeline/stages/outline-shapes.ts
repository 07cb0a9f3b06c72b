import { type ChosenObject, chooseObjects } from '../../extractors/chosen-objects.ts';
import type { Box } from '../../extractors/image.ts';
import { type ScaledRule, scaledRule } from '../../extractors/natural-shape.ts';
import { boxOverlap, overlap } from '../../extractors/overlap.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import { halfCovered, objectCoverage } from '../../extractors/silhouette.ts';
import { bankResult, bankShard, type ImportTask, type NewItem } from '../bank-stage.ts';
import type { NaturalShapesRecipe } from '../configuration.ts';
import type { DatasetName, DatasetReader, SegmentedObject } from '../datasets/dataset.ts';
import { readObjects } from '../datasets/datasets.ts';
import { InputFault } from '../faults.ts';
import type { IndexedFile } from '../photo-index.ts';
import { shapeItem } from '../shape-item.ts';
import type { Stage } from '../stage.ts';

/** Measured on pictures of COCO: shapes that one gives, and what it takes to find them. */
const SHAPES_A_PICTURE = 0.5;
const SECONDS_A_PICTURE = 0.01;

/**
 * Pictures of segmentation data → semantic shapes: the outlines of their objects, holes kept, as natural shapes are: at the
 * same working scale, neither tiny nor near the picture's edges. Only annotations are looked at; no picture is decoded. A
 * shape's rank is its place in its picture, the largest first, so that the bank takes every picture's largest first.
 */
export const outlineShapes: Stage<ImportTask> = {
  name: 'outline-shapes',
  title: 'semantic shapes',
  unit: 'shapes',
  reads: [],
  fills: 'semantic-shapes',
  asked: ({ semanticShapes }) => semanticShapes,
  atMost: ({ semanticShapesAsked }) => !semanticShapesAsked,

  async estimate({ configuration: { semanticShapes, shardSamples }, index }) {
    const pictures = (await index('semantic-images')).facts.files;
    const samples = Math.min(semanticShapes, Math.ceil(pictures * SHAPES_A_PICTURE));
    const shards = Math.ceil(samples / SHAPES_A_PICTURE / shardSamples);
    return { samples, shards, bytesPerSample: 5000, secondsPerSample: SECONDS_A_PICTURE / SHAPES_A_PICTURE };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('semantic-images')).blocks(shardSamples);
  },

  async *plan({ configuration: { shardSamples }, index }) {
    const pictures = await index('semantic-images');
    for (let block = 0; block < pictures.blocks(shardSamples); block++) {
      const files = await pictures.block(block, shardSamples);
      yield bankShard(
        'semantic-shapes',
        block,
        files.map(file => ({ file })),
      );
    }
  },

  async run({ file }, { configuration: { naturalShapes } }) {
    const counts: Record<string, number> = { looks: 1 };
    try {
      const { reader, part, objects } = await readObjects(file);
      const { outlines, rejections } = findOutlines(objects, reader, naturalShapes);
      for (const [reason, count] of Object.entries(rejections)) counts[`object-${reason}`] = count;
      if (outlines.length === 0) counts['no-shape'] = 1;
      const dataset = { dataset: reader.name, part };
      const items = await Promise.all(outlines.map((outline, rank) => newShape(file, dataset, outline, rank)));
      return bankResult('semantic-shapes', items, { faults: [], counts });
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      return bankResult('semantic-shapes', [], { faults: [{ item: file.path, reason: error.message }], counts });
    }
  },
};

/** Why an object makes no shape; nothing is left of a thin one at the working scale. */
export type OutlineRejection = 'too-small' | 'border' | 'too-thin' | 'found-before';

/** The outline of an object, at the working scale. */
export interface Outline extends PlacedMask {
  readonly object: SegmentedObject;
  /** Mask pixels. */
  readonly area: number;
  /** Mask pixels per picture pixel. */
  readonly scale: number;
}

/**
 * The objects of a picture that make shapes, those with the largest contiguous area first; of those that nearly coincide only
 * the first.
 * @param form whether each mask is an object or each contiguous area in it, and whether objects may touch the picture's edge.
 * @returns with each outline's box in picture pixels, and how many objects were left out for which reason.
 */
export function findOutlines(
  objects: readonly SegmentedObject[],
  { masks, cutOuts }: Pick<DatasetReader, 'masks' | 'cutOuts'>,
  rule: NaturalShapesRecipe,
): { outlines: Outline[]; rejections: Record<OutlineRejection, number> } {
  const rejections = { 'too-small': 0, border: 0, 'too-thin': 0, 'found-before': 0 };
  const outlines: Outline[] = [];
  const large = objects.filter(object => object.area >= sizesFor(object, rule).minArea);
  rejections['too-small'] += objects.length - large.length;
  for (const found of chooseObjects(large, { masks, wholeClass: false, allInstances: true })) {
    const { minArea, border } = sizesFor(found.annotation, rule);
    if (found.area < minArea) rejections['too-small']++;
    else if (!cutOuts && !isClear(found.box, found.annotation, border)) rejections.border++;
    else {
      const outline = atWorkingScale(found, rule.workSide);
      if (!outline) rejections['too-thin']++;
      else if (outlines.some(other => nearlyCoincide(outline, other, rule.maxOverlap))) rejections['found-before']++;
      else outlines.push(outline);
    }
  }
  return { outlines, rejections };
}

/** The rule for natural shapes in the picture's pixels. */
function sizesFor({ width, height }: SegmentedObject, rule: NaturalShapesRecipe): ScaledRule {
  return scaledRule(rule, Math.min(width, height));
}

/** Whether a box keeps so many pixels from every edge of the picture. */
function isClear({ left, top, width, height }: Box, picture: SegmentedObject, border: number): boolean {
  return (
    Math.min(left, top) >= border && left + width <= picture.width - border && top + height <= picture.height - border
  );
}

/** An object as it is where its picture's short side has the working size, at most; undefined when nothing is left of it. */
function atWorkingScale(
  { annotation: object, mask, box }: ChosenObject<SegmentedObject>,
  workSide: number,
): Outline | undefined {
  const scale = Math.min(1, workSide / Math.min(object.width, object.height));
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  const frame = { shown: box, width: side(box.width), height: side(box.height), scale };
  const tight = tightMask(scale === 1 ? mask : halfCovered(objectCoverage({ mask, box }, frame)));
  if (!tight) return undefined;
  const columns = (count: number) => (count * box.width) / frame.width;
  const rows = (count: number) => (count * box.height) / frame.height;
  return {
    object,
    scale,
    mask: tight.mask,
    area: tight.area,
    box: {
      left: box.left + columns(tight.box.left),
      top: box.top + rows(tight.box.top),
      width: columns(tight.box.width),
      height: rows(tight.box.height),
    },
  };
}

/** Whether two outlines share more than they may, as intersection over union. Where boxes lie apart no pixel is looked at. */
function nearlyCoincide(a: Outline, b: Outline, maxOverlap: number): boolean {
  return boxOverlap(a.box, b.box) > 0 && overlap(a, b) > maxOverlap;
}

function newShape(
  { id: source, split, provenance }: IndexedFile,
  dataset: { readonly dataset: DatasetName; readonly part: string | null },
  { object, mask, box, area, scale }: Outline,
  rank: number,
): Promise<NewItem> {
  const { label, category, instance, taxonomy } = object;
  return shapeItem('semantic-shapes', mask, {
    kind: 'semantic',
    split,
    source,
    rank,
    area,
    picture: object,
    annotated: { ...dataset, label, category, instance, taxonomy, box, scale },
    provenance,
  });
}
