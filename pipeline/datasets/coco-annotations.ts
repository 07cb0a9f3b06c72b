import { stat } from 'node:fs/promises';
import { hash128 } from '../../sampling/hash.ts';
import { BucketFiles } from './bucket-files.ts';
import { jsonArrays } from './json-arrays.ts';

/** A picture of an annotation file, with its annotations that are masks of objects. */
export interface AnnotatedPicture {
  /** As the file writes it. */
  readonly fileName: string;
  readonly width: unknown;
  readonly height: unknown;
  /** Of its licence; null: not known. */
  readonly licenceUrl: string | null;
  readonly url: string | null;
  readonly annotations: readonly MaskAnnotation[];
}

/** The mask of an object. What it holds is not checked yet. */
export interface MaskAnnotation {
  readonly id: string | null;
  readonly category: string;
  /** The category's; null: the file has none of this id. */
  readonly name: string | null;
  readonly supercategory: string | null;
  readonly segmentation: unknown;
}

/** What a bucket holds of an annotation file, so that its pictures and annotations are in memory at once. */
const BUCKET_BYTES = 8 * 2 ** 20;
const MOST_BUCKETS = 256;

/**
 * Streams the pictures of a file of instances in COCO's form. Pictures and annotations may come in any order, so both
 * are spread by the picture's id over buckets on disk, and are brought together bucket by bucket. What is said of crowds,
 * what has no mask, and what belongs to no picture of the file is left out, and so are pictures without masks.
 * @throws UsageError when it is no such file.
 */
export async function* annotatedPictures(path: string): AsyncGenerator<AnnotatedPicture> {
  const { size } = await stat(path);
  const buckets = await BucketFiles.open(Math.min(MOST_BUCKETS, Math.ceil(size / BUCKET_BYTES) || 1));
  try {
    const named = await spread(path, buckets);
    for (let bucket = 0; bucket < buckets.count; bucket++) yield* bringTogether(await buckets.lines(bucket), named);
  } finally {
    await buckets.close();
  }
}

/** Categories and licences by their ids: few, and often at the file's end. */
interface Named {
  readonly categories: Map<string, { readonly name: string; readonly supercategory: string | null }>;
  readonly licences: Map<string, string>;
}

type Fields = Readonly<Record<string, unknown>>;

const ARRAYS = ['images', 'annotations', 'categories', 'licenses'] as const;
const REQUIRED = ['images', 'annotations', 'categories'] as const;
/** What a line of a bucket begins with; then come the picture's id and a tab, and the record as it is in the file. */
const [PICTURE, ANNOTATION] = ['p', 'a'];

async function spread(path: string, buckets: BucketFiles): Promise<Named> {
  const named: Named = { categories: new Map(), licences: new Map() };
  const append = (kind: string, id: unknown, text: string) => {
    // As JSON: without tabs and line ends.
    const key = JSON.stringify(String(id));
    return buckets.append(hash128(key)[0] % buckets.count, `${kind}${key}\t${text}`);
  };
  for await (const elements of jsonArrays(path, ARRAYS, REQUIRED)) {
    for (const { key, value, text } of elements) {
      if (typeof value !== 'object' || value === null) continue;
      const fields = value as Fields;
      if (key === 'images') await append(PICTURE, fields.id, text);
      else if (key === 'annotations') {
        if (hasMask(fields)) await append(ANNOTATION, fields.image_id, text);
      } else if (key === 'licenses') named.licences.set(String(fields.id), String(fields.url));
      else if (typeof fields.name === 'string') {
        named.categories.set(String(fields.id), { name: fields.name, supercategory: textOrNull(fields.supercategory) });
      }
    }
  }
  return named;
}

/** Whether an annotation is that of one object, with a mask. */
function hasMask({ iscrowd, segmentation }: Fields): boolean {
  const isThere = Array.isArray(segmentation) ? segmentation.length > 0 : Boolean(segmentation);
  return isThere && !iscrowd;
}

/** The records of a picture's id: its own, when there is one, and those of its masks. */
interface Records {
  picture?: string;
  readonly masks: string[];
}

function* bringTogether(lines: readonly string[], named: Named): Generator<AnnotatedPicture> {
  // Texts: what they hold takes several times as much memory, and is only wanted a picture at a time.
  const found = new Map<string, Records>();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const key = line.slice(1, tab);
    const records = found.get(key) ?? { masks: [] };
    found.set(key, records);
    if (line.startsWith(PICTURE)) records.picture ??= line.slice(tab + 1);
    else records.masks.push(line.slice(tab + 1));
  }
  for (const { picture, masks } of found.values()) {
    if (picture === undefined || masks.length === 0) continue;
    const { file_name: fileName, width, height, license, flickr_url, coco_url }: Fields = JSON.parse(picture);
    if (typeof fileName !== 'string') continue;
    const licenceUrl = named.licences.get(String(license)) ?? null;
    const url = textOrNull(flickr_url) ?? textOrNull(coco_url);
    const annotations = masks.map(text => maskAnnotation(JSON.parse(text), named));
    yield { fileName, width, height, licenceUrl, url, annotations };
  }
}

function maskAnnotation({ id, category_id, segmentation }: Fields, { categories }: Named): MaskAnnotation {
  const category = String(category_id);
  const { name = null, supercategory = null } = categories.get(category) ?? {};
  return { id: id === undefined ? null : String(id), category, name, supercategory, segmentation };
}

const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
