import type { Box, GreyImage, Mask } from '../../extractors/image.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import { compressCounts, encodePlaced, expandCounts, placedRunLengths } from '../../extractors/run-lengths.ts';
import { coverageFacts } from '../../renderers/coverage.ts';
import { expressionTerms } from '../card/licence-terms.ts';
import { decodePng } from '../datasets/png.ts';
import { DamagedFile, InputFault } from '../faults.ts';
import type { Subset } from '../generate-options.ts';
import type { SilhouetteLabel } from '../labels.ts';
import { SPLITS, type Split } from '../splits.ts';
import type { ExportFolder } from './export-folder.ts';
import { exporter } from './exporter.ts';
import { boxValues, conditionOf, licenceOf, type MaskedLabel, type SampleLabel } from './label-facts.ts';
import { fileOf, labelOf, readSamples, type SamplePart, type StoredSample, sampleParts } from './sample-parts.ts';

/**
 * What is annotated in each subset. That of silhouettes are their classes. The others have instances and no classes; a test split
 * holds instances that no other split has, so a category for each would be one that nothing can learn: they are an attribute.
 */
const CATEGORIES: Readonly<Record<Exclude<Subset, 'silhouettes'>, string>> = {
  shapes2d: 'shape',
  textures2d: 'texture',
  shapes3d: 'object',
  materials3d: 'material',
};

/** A sample until category and licence have numbers. */
interface CocoRow {
  readonly image: { readonly id: number; readonly split: Split } & Readonly<Record<string, unknown>>;
  readonly licence: string;
  readonly category: string;
  readonly supercategory: string;
  /** Null where the mask is empty. */
  readonly annotation: Readonly<Record<string, unknown>> | null;
}

/** The most pixels that a mask of ours may have: sizes of scenes are bounded, those of pictures by `--max-pixels`. */
const MAX_PIXELS = 2 ** 32 - 1;

/** COCO: images, and one JSON of all annotations of a subset and for each of its splits. */
export const coco = exporter<SamplePart>({
  name: 'coco',
  title: 'COCO: images, and annotations with run-length masks',
  expects: 'samples of a subset',

  plan: run => sampleParts(run),

  async write(part, out) {
    const { subset, split, number } = part;
    const field = subset === 'silhouettes' ? 'hq.jpg' : 'jpg';
    let id = part.first;
    for await (const sample of readSamples(part)) {
      id++;
      const name = `${split}/${number}/${sample.key}.jpg`;
      out.file(`${subset}/${name}`, fileOf(sample, field, part));
      out.row(subset, JSON.stringify(rowOf(sample, part, id, name)));
    }
  },

  async finish(parts, out, signal) {
    for (const subset of new Set(parts.map(part => part.subset))) {
      const mine = parts.filter(part => part.subset === subset);
      const names = await namesOf(mine, out, signal);
      await writeAnnotations(`${subset}/coco.json`, subset, mine, names, out, signal);
      for (const split of SPLITS) {
        const its = mine.filter(part => part.split === split);
        if (its.length > 0) await writeAnnotations(`${subset}/coco-${split}.json`, subset, its, names, out, signal);
      }
    }
  },

  guide: parts => ({
    layout: [
      '- `<subset>/coco.json`: images (with their `split`), annotations and categories; `<subset>/coco-<split>.json`: the same of one split, with the same ids.',
      '- `<subset>/<split>/<shard>/<key>.jpg`: the images; `file_name` counts from the subset’s folder.',
      '- Masks are compressed run lengths; box and area are those of the mask. Silhouettes have their classes as categories; the other subsets have one category and the instance as an attribute (`instance`, `instance_id`), since no instance is in two splits.',
    ].join('\n'),
    loading: [
      '```python',
      'from pycocotools.coco import COCO',
      '',
      `coco = COCO("${parts[0]?.subset}/coco-train.json")`,
      'annotation = next(iter(coco.anns.values()))',
      'mask = coco.annToMask(annotation)',
      '```',
    ].join('\n'),
  }),
});

function rowOf(sample: StoredSample, part: SamplePart, id: number, name: string): CocoRow {
  const label = labelOf<SampleLabel>(sample, part);
  const { object, category, supercategory, ...attributes } =
    label.subset === 'silhouettes' ? silhouetteRow(label) : maskedRow(label, sample, part);
  const { placed, area, width, height } = object;
  const { instance, variation } = label;
  return {
    image: { id, file_name: name, width, height, split: part.split },
    licence: licenceOf(label),
    category,
    supercategory,
    annotation:
      area === 0
        ? null
        : {
            id,
            image_id: id,
            segmentation: { size: [height, width], counts: compressCounts(encodePlaced(placed, width, height).counts) },
            bbox: boxValues(placed.box),
            area,
            iscrowd: 0,
            instance: instance.number,
            instance_id: instance.id,
            variation,
            ...attributes,
          },
  };
}

/** A mask in its tight box, its pixels, and the size of the image that it is in. */
interface ImageObject {
  readonly placed: PlacedMask;
  readonly area: number;
  readonly width: number;
  readonly height: number;
}

function maskedRow(label: MaskedLabel, sample: StoredSample, part: SamplePart) {
  const object = maskedObject(fileOf(sample, 'mask.png', part), `${part.tar}: ${sample.key}.mask.png`);
  const category = CATEGORIES[label.subset];
  return { object, category, supercategory: label.subset, condition: conditionOf(label) };
}

/** The pixels of at least half coverage. */
function maskedObject(png: Uint8Array, origin: string): ImageObject {
  try {
    const { data, width, height } = decodePng(Buffer.from(png.buffer, png.byteOffset, png.length), MAX_PIXELS);
    const coverage = { data: data as Uint8Array, width, height };
    const { box, area } = coverageFacts(coverage);
    return { placed: { mask: halfCoveredIn(coverage, box), box }, area, width, height };
  } catch (error) {
    if (error instanceof InputFault) throw new DamagedFile(`${origin}: ${error.message}; the shard is damaged`);
    throw error;
  }
}

function halfCoveredIn(coverage: GreyImage, { left, top, width, height }: Box): Mask {
  const data = new Uint8Array(width * height);
  for (let row = 0, to = 0; row < height; row++) {
    const start = (top + row) * coverage.width + left;
    for (let from = start; from < start + width; from++) data[to++] = coverage.data[from]! < 128 ? 0 : 255;
  }
  return { data, width, height };
}

/** The object's mask, which counts in the whole picture, in what `hq.jpg` shows of it. */
function silhouetteRow({ annotated, object, hq }: SilhouetteLabel) {
  const [height, width] = object.mask.size;
  const { mask, box, area } = placedRunLengths({ width, height, counts: expandCounts(object.mask.counts) })!;
  const placed = { mask, box: { ...box, left: box.left - hq.left, top: box.top - hq.top } };
  const { dataset, label, taxonomy } = annotated;
  const { supercategory } = taxonomy;
  return {
    object: { placed, area, width: hq.width, height: hq.height },
    category: label,
    supercategory: typeof supercategory === 'string' ? supercategory : dataset,
  };
}

/** Categories and licences of a subset, numbered from 1 in alphabetical order: the same in all its files. */
interface Names {
  readonly categories: ReadonlyMap<string, { readonly id: number; readonly supercategory: string }>;
  readonly licences: ReadonlyMap<string, number>;
}

async function namesOf(parts: readonly SamplePart[], out: ExportFolder, signal: AbortSignal): Promise<Names> {
  const categories = new Map<string, string>();
  const licences = new Set<string>();
  for await (const row of rowsOf(parts, out, signal)) {
    if (!categories.has(row.category)) categories.set(row.category, row.supercategory);
    licences.add(row.licence);
  }
  const sorted = [...categories].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    categories: new Map(sorted.map(([name, supercategory], i) => [name, { id: i + 1, supercategory }])),
    licences: new Map([...licences].sort().map((name, i) => [name, i + 1])),
  };
}

async function* rowsOf(parts: readonly SamplePart[], out: ExportFolder, signal: AbortSignal): AsyncGenerator<CocoRow> {
  for await (const [, text] of out.rows(parts, signal)) yield JSON.parse(text);
}

/** Of a single licence; several have none in common. */
function urlOf(expression: string): string {
  const { licences } = expressionTerms(expression);
  return (licences.length === 1 && licences[0]!.url) || '';
}

/** Writes one JSON, entry by entry: the rows are read twice, since images come before annotations. */
async function writeAnnotations(
  path: string,
  subset: Subset,
  parts: readonly SamplePart[],
  { categories, licences }: Names,
  out: ExportFolder,
  signal: AbortSignal,
): Promise<void> {
  const file = out.text(path);
  const list = async (name: string, entries: AsyncIterable<object> | Iterable<object>) => {
    let before = `,\n"${name}":[\n`;
    for await (const entry of entries) {
      file.append(before + JSON.stringify(entry));
      before = ',\n';
    }
    file.append(before === ',\n' ? '\n]' : `${before}]`);
  };
  file.append(`{"info":${JSON.stringify({ description: subset, version: '1.0' })}`);
  await list(
    'licenses',
    [...licences].map(([name, id]) => ({ id, name, url: urlOf(name) })),
  );
  await list(
    'categories',
    [...categories].map(([name, { id, supercategory }]) => ({ id, name, supercategory })),
  );
  await list('images', images());
  await list('annotations', annotations());
  file.append('}\n');
  file.finish();

  async function* images() {
    for await (const { image, licence } of rowsOf(parts, out, signal))
      yield { ...image, license: licences.get(licence) };
  }
  async function* annotations() {
    for await (const { annotation, category } of rowsOf(parts, out, signal)) {
      if (annotation) yield { ...annotation, category_id: categories.get(category)!.id };
    }
  }
}
