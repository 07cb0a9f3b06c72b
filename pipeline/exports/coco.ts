import { compressCounts, expandCounts } from '../../extractors/run-lengths.ts';
import { expressionTerms } from '../card/licence-terms.ts';
import { decodePng } from '../datasets/png.ts';
import { DamagedFile, InputFault } from '../faults.ts';
import type { Subset } from '../generate-options.ts';
import type { SilhouetteLabel } from '../labels.ts';
import type { Split } from '../splits.ts';
import { readSamples, type StoredSample } from '../stored-samples.ts';
import type { TextFile } from '../text-file.ts';
import type { ExportFolder } from './export-folder.ts';
import { exporter } from './exporter.ts';
import { boxValues, conditionOf, licenceOf, type MaskedLabel, type SampleLabel, sourceId } from './label-facts.ts';
import { croppedRuns, halfCoveredRuns, type MaskRuns } from './mask-runs.ts';
import { fileOf, labelOf, type SamplePart, sampleParts } from './sample-parts.ts';

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

/** What of a sample gets a number when all are known. */
interface RowNames {
  readonly licence: string;
  readonly category: string;
  readonly supercategory: string;
}

/** A sample until its names have numbers. */
interface CocoRow {
  readonly split: Split;
  readonly names: RowNames;
  /** JSON. */
  readonly image: string;
  /** JSON; empty where the mask is. */
  readonly annotation: string;
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
      out.row(subset, rowOf(sample, part, id, name));
    }
  },

  async finish(parts, out, signal) {
    for (const subset of new Set(parts.map(part => part.subset))) {
      const mine = parts.filter(part => part.subset === subset);
      await writeAnnotations(subset, mine, await namesOf(mine, out, signal), out, signal);
    }
  },

  guide: parts => ({
    layout: [
      '- `<subset>/coco.json`: images (with their `split`), annotations and categories; `<subset>/coco-<split>.json`: the same of one split, with the same ids.',
      '- `<subset>/<split>/<shard>/<key>.jpg`: the images; `file_name` counts from the subset’s folder.',
      '- Masks are compressed run lengths; box and area are those of the mask. Silhouettes have their classes as categories; the other subsets have one category and the instance as an attribute (`instance`, `instance_id`), since no instance is in two splits.',
    ].join('\n'),
    rights:
      'Each image has the ids of its sources in the list (`sources`), and in `license` the id of an entry of `licenses`: a licence with its address, or, of works under several, their SPDX expression with the ids of the single licences (`licenses`), each an entry with its address where it has one. Authors are in the list alone.',
    loading: [
      'In this folder:',
      '',
      '```python',
      'from pycocotools.coco import COCO',
      '',
      `coco = COCO("${parts[0]!.subset}/coco-${parts[0]!.split}.json")`,
      'annotation = next(iter(coco.anns.values()))',
      'mask = coco.annToMask(annotation)',
      `file = "${parts[0]!.subset}/" + coco.imgs[annotation["image_id"]]["file_name"]`,
      '```',
    ].join('\n'),
  }),
});

/** A row that {@link rowsOf} reads: JSON has no tabs but between its values. */
function rowOf(sample: StoredSample, part: SamplePart, id: number, name: string): string {
  const label = labelOf<SampleLabel>(sample, part);
  const { mask, category, supercategory, ...attributes } =
    label.subset === 'silhouettes' ? silhouetteRow(label) : maskedRow(label, sample, part);
  const { width, height, counts, box, area } = mask;
  const { instance, variation } = label;
  const annotation = {
    id,
    image_id: id,
    segmentation: { size: [height, width], counts: compressCounts(counts) },
    bbox: boxValues(box),
    area,
    iscrowd: 0,
    instance: instance.number,
    instance_id: instance.id,
    variation,
    ...attributes,
  };
  const sources = [...new Set(label.sources.map(sourceId))];
  const image = { id, file_name: name, width, height, split: part.split, sources };
  const names: RowNames = { licence: licenceOf(label), category, supercategory };
  return `${JSON.stringify(names)}\t${JSON.stringify(image)}\t${area === 0 ? '' : JSON.stringify(annotation)}`;
}

function maskedRow(label: MaskedLabel, sample: StoredSample, part: SamplePart) {
  const mask = runsInPng(fileOf(sample, 'mask.png', part), `${part.tar}: ${sample.key}.mask.png`);
  return { mask, category: CATEGORIES[label.subset], supercategory: label.subset, condition: conditionOf(label) };
}

function runsInPng(png: Uint8Array, origin: string): MaskRuns {
  try {
    const { data, width, height } = decodePng(Buffer.from(png.buffer, png.byteOffset, png.length), MAX_PIXELS);
    return halfCoveredRuns({ data: data as Uint8Array, width, height });
  } catch (error) {
    if (error instanceof InputFault) throw new DamagedFile(`${origin}: ${error.message}; the shard is damaged`);
    throw error;
  }
}

/** The object's mask, which counts in the whole picture, in what `hq.jpg` shows of it. */
function silhouetteRow({ annotated, object, hq }: SilhouetteLabel) {
  const [height, width] = object.mask.size;
  const { dataset, label, taxonomy } = annotated;
  const { supercategory } = taxonomy;
  return {
    mask: croppedRuns({ width, height, counts: expandCounts(object.mask.counts) }, hq),
    category: label,
    supercategory: typeof supercategory === 'string' ? supercategory : dataset,
  };
}

/** Categories and licences of a subset, numbered from 1 in alphabetical order: the same in all its files. */
interface Names {
  readonly categories: ReadonlyMap<string, { readonly id: number; readonly supercategory: string }>;
  /** Expressions of images, and the single licences in them. */
  readonly licences: ReadonlyMap<string, number>;
}

async function namesOf(parts: readonly SamplePart[], out: ExportFolder, signal: AbortSignal): Promise<Names> {
  const categories = new Map<string, string>();
  const licences = new Set<string>();
  for await (const { names } of rowsOf(parts, out, signal)) {
    if (!categories.has(names.category)) categories.set(names.category, names.supercategory);
    for (const { id } of expressionTerms(names.licence).licences) licences.add(id);
    licences.add(names.licence);
  }
  const sorted = [...categories].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    categories: new Map(sorted.map(([name, supercategory], i) => [name, { id: i + 1, supercategory }])),
    licences: new Map([...licences].sort().map((name, i) => [name, i + 1])),
  };
}

async function* rowsOf(parts: readonly SamplePart[], out: ExportFolder, signal: AbortSignal): AsyncGenerator<CocoRow> {
  for (const part of parts) {
    for await (const [, text] of out.rows([part], signal)) {
      const [names, image, annotation] = text.split('\t') as [string, string, string];
      yield { split: part.split, names: JSON.parse(names), image, annotation };
    }
  }
}

/**
 * An entry of `licenses`. Several licences have no address in common: an expression names its licences by their ids, in a field that is
 * ours, and each of them has an entry with its own.
 */
function licenceEntry(expression: string, numbers: ReadonlyMap<string, number>): object {
  const { licences } = expressionTerms(expression);
  const [only] = licences;
  const entry = { id: numbers.get(expression), name: expression };
  if (only!.id === expression) return { ...entry, url: only!.url ?? '' };
  return { ...entry, url: '', licenses: licences.map(({ id }) => numbers.get(id)) };
}

/**
 * Writes the annotations of all splits and those of each, entry by entry and at the same time. The rows are read twice, since images come
 * before annotations.
 */
async function writeAnnotations(
  subset: Subset,
  parts: readonly SamplePart[],
  { categories, licences }: Names,
  out: ExportFolder,
  signal: AbortSignal,
): Promise<void> {
  const file = (name: string) => new AnnotationFile(out.text(`${subset}/${name}.json`), subset);
  const whole = file('coco');
  const bySplit = new Map([...new Set(parts.map(({ split }) => split))].map(split => [split, file(`coco-${split}`)]));
  const files = [whole, ...bySplit.values()];
  const addTo = (split: Split, entry: string, name: string, number: number) => {
    const numbered = `${entry.slice(0, -1)},"${name}":${number}}`;
    whole.add(numbered);
    bySplit.get(split)!.add(numbered);
  };
  for (const file of files) {
    file.list('licenses');
    for (const name of licences.keys()) file.add(JSON.stringify(licenceEntry(name, licences)));
    file.list('categories');
    for (const [name, { id, supercategory }] of categories) file.add(JSON.stringify({ id, name, supercategory }));
    file.list('images');
  }
  for await (const { split, image, names } of rowsOf(parts, out, signal)) {
    addTo(split, image, 'license', licences.get(names.licence)!);
  }
  for (const file of files) file.list('annotations');
  for await (const { split, annotation, names } of rowsOf(parts, out, signal)) {
    if (annotation !== '') addTo(split, annotation, 'category_id', categories.get(names.category)!.id);
  }
  for (const file of files) file.finish();
}

/** A JSON of lists that is written entry by entry. */
class AnnotationFile {
  readonly #file: TextFile;
  /** What comes before the next entry, and at the end of the list. */
  #between = '';
  #end = '';

  constructor(file: TextFile, description: string) {
    this.#file = file;
    file.append(`{"info":${JSON.stringify({ description, version: '1.0' })}`);
  }

  /** Begins a list, and ends the one before. */
  list(name: string): void {
    this.#file.append(`${this.#end},\n"${name}":[`);
    this.#between = '\n';
    this.#end = '\n]';
  }

  add(entry: string): void {
    this.#file.append(this.#between + entry);
    this.#between = ',\n';
  }

  finish(): void {
    this.#file.append(`${this.#end}}\n`);
    this.#file.finish();
  }
}
