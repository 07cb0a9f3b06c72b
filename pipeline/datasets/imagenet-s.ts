import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { UsageError } from '../usage-error.ts';
import { datasetReader, type SegmentedObject } from './dataset.ts';
import { IMAGENET_CLASSES } from './imagenet-classes.ts';
import {
  type DatasetForm,
  filesOf,
  findDataset,
  firstFile,
  foldersOf,
  hasFolders,
  isFolder,
  linkTarget,
  stem,
} from './layout.ts';
import { type IndexImage, masksByIndex, readColours } from './mask-file.ts';

/** The parts that have masks; those of `test` are kept back. */
const PARTS = ['train-semi', 'validation'] as const;
/** Where folders of classes may be. `train-full` has those of all of ImageNet. */
const CLASS_FOLDERS = ['train', 'test', ...PARTS, ...PARTS.map(part => `${part}-segmentation`)];
const SIZES = [50, 300, 919];
const WNID = /^n\d{8}$/;

/** What belongs to no class of the dataset. */
const OTHER = 0;
/** What is not told, as borders: it is ground. */
const IGNORED = 1000;

const FORM: DatasetForm = {
  name: 'imagenet-s',
  title: 'ImageNet-S (50, 300 or 919)',
  expects:
    'a folder with validation/ and validation-segmentation/, or train-semi/ and train-semi-segmentation/ (ImageNetS919, or the folder above it)',
};
const PLACES = ['', ...[...SIZES].reverse().map(size => `ImageNetS${size}`)];

interface Entry {
  /** Path of the mask. */
  readonly mask: string;
  /** Path of the dataset, whose folders tell what its class ids mean. */
  readonly root: string;
}

/** ImageNet-S: the pixels of each class in pictures of ImageNet, one file a picture; other classes than the folder's may be in it. */
export const imagenetS = datasetReader<Entry>({
  ...FORM,
  masks: 'classes',
  cutOuts: false,

  async open(folder) {
    const root = await findDataset(FORM, folder, PLACES, async candidate => (await partsIn(candidate)).length > 0);
    await checkClasses(root);
    return {
      pack: basename(root),
      root,
      async *images() {
        for (const part of await partsIn(root)) {
          const masks = join(root, `${part}-segmentation`);
          for (const wnid of await foldersOf(masks)) {
            for await (const mask of filesOf(join(masks, wnid), /\.png$/i)) {
              const start = `${part}/${wnid}/${stem(mask)}`;
              const names = ['.JPEG', '.jpg', '.jpeg', '.png'].map(extension => start + extension);
              const path = await firstFile(names.map(name => join(root, name)));
              const file = path?.slice(root.length + 1) ?? names[0]!;
              yield {
                path: await linkTarget(join(root, file)),
                file,
                part,
                ...RIGHTS_UNKNOWN,
                entry: { mask: join(masks, wnid, mask), root },
              };
            }
          }
        }
      },
    };
  },

  async read({ entry: { mask, root } }) {
    const classes = await classesOf(root);
    const ids = await readIds(mask);
    const { width, height } = ids;
    return [...masksByIndex(ids, id => id !== OTHER && id !== IGNORED)].map(([id, placed]): SegmentedObject => {
      const wnid = classes[id - 1];
      if (wnid === undefined) throw new InputFault(`mask: class ${id} of ${classes.length}`);
      const { words, supercategory } = IMAGENET_CLASSES.get(wnid) ?? { words: [wnid], supercategory: null };
      const taxonomy = { supercategory, words: words.join(', ') };
      return { ...placed, width, height, label: words[0]!, category: wnid, instance: null, taxonomy };
    });
  },
});

async function partsIn(root: string): Promise<string[]> {
  const there = await Promise.all(PARTS.map(part => hasFolders(root, [part, `${part}-segmentation`])));
  return PARTS.filter((_, i) => there[i]);
}

/** Class ids are places in the sorted list of all classes: a copy with some of them would name them wrongly. */
async function checkClasses(root: string): Promise<void> {
  const { length } = await listClasses(root);
  const named = SIZES.find(size => basename(root).endsWith(String(size)));
  if (named === undefined ? SIZES.includes(length) : named === length) return;
  throw new UsageError(
    `${FORM.name}: expected folders of all ${named ?? SIZES.join(', or ')} classes, since class ids are counted over them, found ${length} in ${root} ` +
      `(${CLASS_FOLDERS.join(', ')}); add the others, be they empty`,
  );
}

const known = new Map<string, readonly string[]>();

/** The WordNet ids of a dataset by class id, less 1. Asked for each picture, looked up once a thread. */
async function classesOf(root: string): Promise<readonly string[]> {
  const classes = known.get(root) ?? (await listClasses(root));
  known.set(root, classes);
  return classes;
}

async function listClasses(root: string): Promise<string[]> {
  const wnids = new Set<string>();
  for (const name of CLASS_FOLDERS) {
    if (!(await isFolder(join(root, name)))) continue;
    for (const wnid of await foldersOf(join(root, name))) if (WNID.test(wnid)) wnids.add(wnid);
  }
  return [...wnids].sort();
}

/** A mask's class ids: R + 256 · G. */
async function readIds(path: string): Promise<IndexImage> {
  const { width, height, data } = await readColours(path);
  const ids = new Uint16Array(width * height);
  for (let i = 0, at = 0; i < ids.length; i++, at += 3) {
    if (data[at + 2] !== 0) throw new InputFault('mask: expected class ids as R + 256 · G and no blue, got blue');
    ids[i] = data[at]! | (data[at + 1]! << 8);
  }
  return { width, height, data: ids };
}
