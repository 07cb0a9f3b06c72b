import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { datasetReader, type SegmentedObject } from './dataset.ts';
import {
  type DatasetForm,
  filesOf,
  findDataset,
  firstFile,
  hasFolders,
  isFile,
  linesOf,
  linkTarget,
  stem,
} from './layout.ts';
import { type IndexImage, masksByIndex, readIndices } from './mask-file.ts';

/** The classes by their index in SegmentationClass, less 1, with the four groups that VOC puts them in. */
const CLASSES = [
  { category: 'aeroplane', label: 'aeroplane', supercategory: 'vehicle' },
  { category: 'bicycle', label: 'bicycle', supercategory: 'vehicle' },
  { category: 'bird', label: 'bird', supercategory: 'animal' },
  { category: 'boat', label: 'boat', supercategory: 'vehicle' },
  { category: 'bottle', label: 'bottle', supercategory: 'indoor' },
  { category: 'bus', label: 'bus', supercategory: 'vehicle' },
  { category: 'car', label: 'car', supercategory: 'vehicle' },
  { category: 'cat', label: 'cat', supercategory: 'animal' },
  { category: 'chair', label: 'chair', supercategory: 'indoor' },
  { category: 'cow', label: 'cow', supercategory: 'animal' },
  { category: 'diningtable', label: 'dining table', supercategory: 'indoor' },
  { category: 'dog', label: 'dog', supercategory: 'animal' },
  { category: 'horse', label: 'horse', supercategory: 'animal' },
  { category: 'motorbike', label: 'motorbike', supercategory: 'vehicle' },
  { category: 'person', label: 'person', supercategory: 'person' },
  { category: 'pottedplant', label: 'potted plant', supercategory: 'indoor' },
  { category: 'sheep', label: 'sheep', supercategory: 'animal' },
  { category: 'sofa', label: 'sofa', supercategory: 'indoor' },
  { category: 'train', label: 'train', supercategory: 'vehicle' },
  { category: 'tvmonitor', label: 'tv monitor', supercategory: 'indoor' },
] as const;

const BACKGROUND = 0;
/** The border between objects, and what is hard to tell. It belongs to none of them, so that it is ground. */
const VOID = 255;
const isNamed = (index: number) => index !== BACKGROUND && index !== VOID;

const FORM: DatasetForm = {
  name: 'voc',
  title: 'PASCAL VOC 2012',
  expects: 'a folder with JPEGImages/, SegmentationClass/ and SegmentationObject/ (VOC2012, or VOCdevkit above it)',
};
/** The newest, where there are several years. */
const YEARS = ['VOC2012', 'VOC2011', 'VOC2010', 'VOC2009', 'VOC2008', 'VOC2007'];
const PLACES = ['', ...YEARS, ...YEARS.map(year => `VOCdevkit/${year}`)];

interface Entry {
  /** Path of the picture's file in SegmentationClass. */
  readonly classes: string;
  /** … in SegmentationObject. */
  readonly objects: string;
}

/** PASCAL VOC: objects of 20 classes, as indices in palette PNGs. */
export const voc = datasetReader<Entry>({
  ...FORM,
  masks: 'objects',
  cutOuts: false,

  async open(folder) {
    const root = await findDataset(FORM, folder, PLACES, candidate =>
      hasFolders(candidate, ['JPEGImages', 'SegmentationClass', 'SegmentationObject']),
    );
    return {
      pack: basename(root),
      root,
      async *images() {
        for await (const { name, part } of segmented(root)) {
          const file = `JPEGImages/${name}.jpg`;
          yield {
            path: await linkTarget(join(root, file)),
            file,
            part,
            ...RIGHTS_UNKNOWN,
            entry: {
              classes: join(root, 'SegmentationClass', `${name}.png`),
              objects: join(root, 'SegmentationObject', `${name}.png`),
            },
          };
        }
      },
    };
  },

  async read({ entry }) {
    const [classes, objects] = await Promise.all([readIndices(entry.classes), readIndices(entry.objects)]);
    const { width, height } = objects;
    if (classes.width !== width || classes.height !== height) {
      throw new InputFault(
        `SegmentationClass is ${classes.width}×${classes.height}, SegmentationObject ${width}×${height}`,
      );
    }
    const classOf = mostFrequentClass(objects, classes);
    return [...masksByIndex(objects, isNamed)].map(([object, placed]): SegmentedObject => {
      const index = classOf(object);
      const named = CLASSES[index - 1];
      if (!named) throw new InputFault(index === BACKGROUND ? `object ${object} has no class` : `no class ${index}`);
      const { category, label, supercategory } = named;
      return { ...placed, width, height, label, category, instance: String(object), taxonomy: { supercategory } };
    });
  },
});

/** The names of the pictures that have masks: those of the lists of parts, which exclude each other; without lists, all. */
async function* segmented(root: string): AsyncGenerator<{ name: string; part: string | null }> {
  const list = (part: string) => join(root, 'ImageSets/Segmentation', `${part}.txt`);
  const hasMask = (name: string) => isFile(join(root, 'SegmentationObject', `${name}.png`));
  const halves = await Promise.all(['train', 'val'].map(part => isFile(list(part))));
  let listed = false;
  for (const part of halves.some(Boolean) ? ['train', 'val', 'test'] : ['trainval', 'test']) {
    if (!(await firstFile([list(part)]))) continue;
    listed = true;
    // Masks of test pictures are kept back, but for those of 2007.
    for await (const name of linesOf(list(part))) if (part !== 'test' || (await hasMask(name))) yield { name, part };
  }
  if (listed) return;
  for await (const file of filesOf(join(root, 'SegmentationObject'), /\.png$/i)) yield { name: stem(file), part: null };
}

/** Tells the class that most pixels of an object have; {@link BACKGROUND} where none has one. */
function mostFrequentClass(objects: IndexImage, classes: IndexImage): (object: number) => number {
  if (objects.data instanceof Uint16Array || classes.data instanceof Uint16Array) {
    throw new InputFault('expected indices of 8 bits, got 16');
  }
  const pixels = new Uint32Array(256 * 256);
  for (let i = 0; i < objects.data.length; i++) {
    const object = objects.data[i]!;
    if (object !== BACKGROUND) pixels[256 * object + classes.data[i]!]!++;
  }
  return object => {
    let most = BACKGROUND;
    let count = 0;
    for (let index = 1; index < VOID; index++) {
      const here = pixels[256 * object + index]!;
      if (here > count) [most, count] = [index, here];
    }
    return most;
  };
}
