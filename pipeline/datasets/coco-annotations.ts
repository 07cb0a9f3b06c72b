import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { hash128 } from '../../sampling/hash.ts';
import { BucketFiles } from '../bucket-files.ts';
import { invalidValue, UsageError } from '../usage-error.ts';
import type { Listing } from './dataset.ts';
import { jsonArrays, PIECE_BYTES } from './json-arrays.ts';

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
  /** Why nobody can tell which picture the annotations belong to; null: it is clear. */
  readonly fault: string | null;
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
 * @throws UsageError when it is no such file, or an id in it is none.
 */
export async function* annotatedPictures(path: string, listing: Listing = {}): AsyncGenerator<AnnotatedPicture> {
  const { size } = await stat(path);
  const buckets = new BucketFiles(Math.min(MOST_BUCKETS, Math.ceil(size / BUCKET_BYTES) || 1), tmpdir());
  try {
    const named = await spread(path, buckets, listing);
    for (let bucket = 0; bucket < buckets.count; bucket++) yield* bringTogether(await buckets.take(bucket), named);
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

async function spread(path: string, buckets: BucketFiles, { signal, onRead }: Listing): Promise<Named> {
  const named: Named = { categories: new Map(), licences: new Map() };
  const idOf = (id: unknown, name: string) => checkedId(id, `${path}: ${name}`);
  const append = (kind: string, id: string, text: string) => {
    // As JSON: without tabs and line ends.
    const key = JSON.stringify(id);
    return buckets.append(hash128(key)[0] % buckets.count, `${kind}${key}\t${text}`);
  };
  for await (const elements of jsonArrays(path, ARRAYS, REQUIRED)) {
    signal?.throwIfAborted();
    onRead?.(PIECE_BYTES);
    for (const { key, value, text } of elements) {
      if (typeof value !== 'object' || value === null) continue;
      const fields = value as Fields;
      if (key === 'images') await append(PICTURE, idOf(fields.id, 'id of a picture'), text);
      else if (key === 'annotations') {
        if (hasMask(fields)) {
          idOf(fields.category_id, 'category_id of an annotation');
          await append(ANNOTATION, idOf(fields.image_id, 'image_id of an annotation'), text);
        }
      } else if (key === 'licenses') named.licences.set(String(fields.id), String(fields.url));
      else if (typeof fields.name === 'string') {
        const category = { name: fields.name, supercategory: textOrNull(fields.supercategory) };
        named.categories.set(idOf(fields.id, 'id of a category'), category);
      }
    }
  }
  return named;
}

/** An id as text, so that 7 and "7" are one. @throws UsageError when it is none, or a number that is not kept as it was written. */
function checkedId(id: unknown, what: string): string {
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') throw invalidValue(what, 'a number or a text', id);
  if (Number.isSafeInteger(id) || !Number.isInteger(id)) return String(id);
  throw new UsageError(
    `${what}: expected a whole number up to ${Number.MAX_SAFE_INTEGER}, since larger ones are rounded, got about ${id}; ` +
      'write larger ids as texts',
  );
}

/** Whether an annotation is that of one object, with a mask. */
function hasMask({ iscrowd, segmentation }: Fields): boolean {
  const isThere = Array.isArray(segmentation) ? segmentation.length > 0 : Boolean(segmentation);
  // Some write 0 and 1 as texts.
  return isThere && !(Number(iscrowd) > 0);
}

/** The records of a picture's id: its own, of which there should be one, and those of its masks. */
interface Records {
  readonly pictures: string[];
  readonly masks: string[];
}

function* bringTogether(lines: readonly string[], named: Named): Generator<AnnotatedPicture> {
  // Texts: what they hold takes several times as much memory, and is only wanted a picture at a time.
  const found = new Map<string, Records>();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const key = line.slice(1, tab);
    const records = found.get(key) ?? { pictures: [], masks: [] };
    found.set(key, records);
    if (line.startsWith(PICTURE)) records.pictures.push(line.slice(tab + 1));
    else records.masks.push(line.slice(tab + 1));
  }
  for (const [key, { pictures, masks }] of found) {
    if (pictures.length === 0 || masks.length === 0) continue;
    // By name: a record that is there twice is one.
    const records = new Map<string, Fields>();
    for (const text of pictures) {
      const fields: Fields = JSON.parse(text);
      if (typeof fields.file_name === 'string' && !records.has(fields.file_name)) records.set(fields.file_name, fields);
    }
    const fault = records.size > 1 ? `the id ${key} stands for several pictures: ${inWords(records.keys())}` : null;
    for (const [fileName, { width, height, license, flickr_url, coco_url }] of records) {
      const licenceUrl = named.licences.get(String(license)) ?? null;
      const url = textOrNull(flickr_url) ?? textOrNull(coco_url);
      const annotations = fault === null ? masks.map(text => maskAnnotation(JSON.parse(text), named)) : [];
      yield { fileName, width, height, licenceUrl, url, annotations, fault };
    }
  }
}

const MOST_NAMED = 3;

function inWords(names: Iterable<string>): string {
  const all = [...names];
  const more = all.length - MOST_NAMED;
  return all.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function maskAnnotation({ id, category_id, segmentation }: Fields, { categories }: Named): MaskAnnotation {
  const category = String(category_id);
  const { name = null, supercategory = null } = categories.get(category) ?? {};
  return { id: id === undefined ? null : String(id), category, name, supercategory, segmentation };
}

const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
