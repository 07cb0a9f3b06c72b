import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { Box } from '../../extractors/image.ts';
import { hasSameAspect } from '../../extractors/mask-fit.ts';
import {
  expandCounts,
  InvalidRunLengths,
  placedRunLengths,
  polygonRunLengths,
  type RunLengths,
  runLengthBox,
} from '../../extractors/run-lengths.ts';
import { InputFault } from '../faults.ts';
import { licenceOfAddress } from '../packs/licence-names.ts';
import { openPhoto, photoAsStored, refuseAbove } from '../photo.ts';
import { annotatedPictures, type MaskAnnotation } from './coco-annotations.ts';
import { datasetReader, type SegmentedObject } from './dataset.ts';
import { type DatasetForm, findDataset, firstFile, isFile, isFolder, linkTarget } from './layout.ts';

type Entry = AnnotatedEntry | { readonly fault: string };

interface AnnotatedEntry {
  /** Of the picture, as its record says; not checked yet, like what the annotations hold. */
  readonly width: unknown;
  readonly height: unknown;
  readonly annotations: readonly MaskAnnotation[];
}

const FORM: DatasetForm = {
  name: 'coco',
  title: 'COCO instances',
  expects:
    'a folder with annotations/instances_*.json beside train2017/, val2017/ …, or with instances.json or annotations.json beside images/, or such a JSON file',
};
const PARTS = /^instances_(.+)\.json$/;
const SINGLE_FILES = ['instances.json', 'annotations.json'];

/** COCO, and what comes in its form: objects as polygons or run lengths in JSON files. */
export const coco = datasetReader<Entry>({
  ...FORM,
  masks: 'objects',
  cutOuts: false,

  async open(folder) {
    const { root, files } = await findFiles(folder);
    return {
      pack: basename(root),
      root,
      async *images(listing) {
        for (const annotationFile of files) {
          const part = PARTS.exec(basename(annotationFile))?.[1] ?? null;
          const find = await pictureFinder(root, part);
          for await (const picture of annotatedPictures(annotationFile, listing)) {
            const { fileName, licenceUrl, url, width, height, annotations } = picture;
            const file = await find(fileName.replaceAll('\\', '/'));
            const leadsOut = /^(\/|\.\.?(\/|$))/.test(file);
            const fault = leadsOut ? `expected a picture in ${root}, got file_name "${fileName}"` : picture.fault;
            yield {
              path: leadsOut ? resolve(root, file) : await linkTarget(join(root, file)),
              file,
              part,
              licence: licenceUrl === null ? null : licenceOfAddress(licenceUrl),
              author: null,
              url,
              entry: fault === null ? { width, height, annotations } : { fault },
            };
          }
        }
      },
    };
  },

  async read({ path, entry }) {
    if ('fault' in entry) throw new InputFault(entry.fault);
    const { width, height, annotations } = entry;
    if (!isSize(width) || !isSize(height)) {
      throw new InputFault(
        `expected the picture's width and height in pixels, got ${JSON.stringify(width)} × ${JSON.stringify(height)}`,
      );
    }
    refuseAbove(MOST_PIXELS, { width, height });
    const room = maskRoom(path);
    const objects: SegmentedObject[] = [];
    for (const annotation of annotations) {
      const { id, category, name, supercategory } = annotation;
      if (name === null) throw faultOf(annotation, `the file has no category ${category}`);
      const runLengths = maskOf(annotation, width, height);
      await room(annotation, runLengths);
      const placed = inAnnotation(annotation, () => placedRunLengths(runLengths));
      if (!placed) continue;
      objects.push({
        ...placed,
        width: runLengths.width,
        height: runLengths.height,
        label: name,
        category,
        instance: id,
        taxonomy: { supercategory },
      });
    }
    return objects;
  },
});

/** The annotation files that a name stands for, sorted, and the folder that pictures are named from. */
async function findFiles(name: string | null): Promise<{ root: string; files: readonly string[] }> {
  if (name !== null && /\.json$/i.test(name) && (await isFile(name))) {
    const beside = await realpath(dirname(resolve(name)));
    const root = basename(beside) === 'annotations' ? dirname(beside) : beside;
    return { root, files: [join(beside, basename(name))] };
  }
  const root = await findDataset(FORM, name, [''], async candidate => (await filesIn(candidate)).length > 0);
  return { root, files: await filesIn(root) };
}

async function filesIn(root: string): Promise<string[]> {
  const folder = join(root, 'annotations');
  const names = (await isFolder(folder)) ? await readdir(folder) : [];
  const parts = names.filter(name => PARTS.test(name)).sort();
  if (parts.length > 0) return parts.map(name => join(folder, name));
  const single = await firstFile(SINGLE_FILES.map(file => join(root, file)));
  return single === undefined ? [] : [single];
}

/** So many pictures are looked for in every folder; where none of them is, the others will not be. */
const MOST_LOOKS = 1000;

/**
 * Finds the pictures of a part: all lie in the folder where the first lies that is there. Until one is, the first folder
 * counts that is there, since a picture that is missing is a fault of its own.
 * @returns a function from `file_name` to the path in `root`.
 */
async function pictureFinder(root: string, part: string | null): Promise<(fileName: string) => Promise<string>> {
  const folders: string[] = [];
  for (const folder of [...(part === null ? [] : [part, `images/${part}`]), 'images', '']) {
    if (await isFolder(join(root, folder))) folders.push(folder);
  }
  let found: string | undefined;
  let looked = 0;
  return async fileName => {
    if (posix.isAbsolute(fileName)) return fileName;
    if (found === undefined && looked++ < MOST_LOOKS) {
      const paths = folders.map(folder => join(root, folder, fileName));
      const path = await firstFile(paths);
      if (path !== undefined) found = folders[paths.indexOf(path)];
    }
    return posix.join(found ?? folders[0]!, fileName);
  };
}

/** Of a picture, and of all of its masks together: beyond, they would take more memory than a picture is worth. */
const MOST_PIXELS = 2 ** 28;
/** From so many pixels on, the picture itself is looked at before a mask is made of the size that the file tells. */
const LARGE = 2 ** 24;

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

/** @throws InputFault when it is neither polygons nor run lengths. */
function maskOf(annotation: MaskAnnotation, width: number, height: number): RunLengths {
  const { segmentation } = annotation;
  if (arePolygons(segmentation)) return polygonRunLengths(segmentation, width, height);
  const { size, counts } = segmentation as { readonly size?: unknown; readonly counts?: unknown };
  const [rows, columns] = Array.isArray(size) ? size : [];
  if (isSize(rows) && isSize(columns) && rows * columns <= MOST_PIXELS) {
    // Counts in a list are checked when they are used.
    if (Array.isArray(counts)) return { height: rows, width: columns, counts };
    if (typeof counts === 'string') {
      return { height: rows, width: columns, counts: inAnnotation(annotation, () => expandCounts(counts)) };
    }
  }
  throw faultOf(annotation, 'expected polygons of finite numbers, or run lengths as {size: [height, width], counts}');
}

type Size = Pick<Box, 'width' | 'height'>;

/**
 * Sees to it that no mask is made that its picture has no place for, whatever the file tells of sizes.
 * @returns a function that throws an {@link InputFault} for a mask that is too large, or with which they are too many.
 */
function maskRoom(path: string): (annotation: MaskAnnotation, runLengths: RunLengths) => Promise<void> {
  let views: readonly Size[] | undefined;
  let whole = 0;
  let pixels = 0;
  return async (annotation, runLengths) => {
    const { width, height } = runLengths;
    whole += width * height;
    if (whole <= LARGE) return;
    if (width * height > LARGE) {
      const photo = views ? undefined : await openPhoto(path);
      views ??= [photo!, photoAsStored(photo!)];
      if (!views.some(view => hasSameAspect(runLengths, view))) {
        const [view] = views as [Size];
        throw new InputFault(`mask of ${width}×${height} does not fit its picture of ${view.width}×${view.height}`);
      }
    }
    const box = inAnnotation(annotation, () => runLengthBox(runLengths));
    pixels += box.width * box.height;
    if (pixels > MOST_PIXELS) throw faultOf(annotation, `its masks together exceed ${MOST_PIXELS} pixels`);
  };
}

function arePolygons(segmentation: unknown): segmentation is number[][] {
  return (
    Array.isArray(segmentation) &&
    segmentation.every(polygon => Array.isArray(polygon) && polygon.every(Number.isFinite))
  );
}

/** Turns run lengths that are none into an {@link InputFault} that names the annotation. */
function inAnnotation<T>(annotation: MaskAnnotation, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof InvalidRunLengths ? faultOf(annotation, error.message) : error;
  }
}

const faultOf = ({ id }: MaskAnnotation, what: string) => new InputFault(`annotation ${id ?? 'without id'}: ${what}`);
