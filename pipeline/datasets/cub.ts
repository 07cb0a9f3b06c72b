import { basename, dirname, join } from 'node:path';
import { tightMask } from '../../extractors/placed-mask.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { datasetReader } from './dataset.ts';
import {
  type DatasetForm,
  filesOf,
  findDataset,
  foldersOf,
  isFile,
  isFolder,
  linesOf,
  linkTarget,
  stem,
} from './layout.ts';
import { maskWhere, readLevels } from './mask-file.ts';

/** A mask's level is the share of the (usually five) annotators that saw the bird there: set is what at least half of them did. */
const MAJORITY = 128;

const CLASS = /^(\d{3})\.(.+)$/;
const PICTURE = /\.(jpe?g|png)$/i;

const FORM: DatasetForm = {
  name: 'cub',
  title: 'CUB-200-2011',
  expects:
    'a folder with images/NNN.Name/ and, in it or beside it, segmentations/NNN.Name/ (CUB_200_2011, or the folder above it; ' +
    'segmentations are an archive of their own)',
};
const PLACES = ['', 'CUB_200_2011', 'CUB_200_2011/CUB_200_2011'];

interface Entry {
  /** Path of the mask. */
  readonly mask: string;
  /** Name of the class's folder: `001.Black_footed_Albatross`. */
  readonly class: string;
  /** See {@link groupsOf}. */
  readonly group: string | null;
}

/** CUB-200-2011: one bird a picture, of the class that the folder names. */
export const cub = datasetReader<Entry>({
  ...FORM,
  masks: 'objects',
  cutOuts: false,

  async open(folder) {
    const root = await findDataset(FORM, folder, PLACES, async candidate => {
      if (!(await isFolder(join(candidate, 'images'))) || !(await segmentationsOf(candidate))) return false;
      return (await foldersOf(join(candidate, 'images'))).some(name => CLASS.test(name));
    });
    const segmentations = (await segmentationsOf(root))!;
    return {
      pack: basename(root),
      root,
      async *images() {
        const classes = (await foldersOf(join(root, 'images'))).filter(name => CLASS.test(name));
        const groups = groupsOf(classes);
        const parts = await partsOf(root);
        for (const name of classes) {
          if (!(await isFolder(join(segmentations, name)))) continue;
          const masks = new Set<string>();
          for await (const file of filesOf(join(segmentations, name), /\.png$/i)) masks.add(file);
          for await (const picture of filesOf(join(root, 'images', name), PICTURE)) {
            const mask = `${stem(picture)}.png`;
            if (!masks.has(mask)) continue;
            const file = `images/${name}/${picture}`;
            yield {
              path: await linkTarget(join(root, file)),
              file,
              part: parts.get(`${name}/${picture}`) ?? null,
              ...RIGHTS_UNKNOWN,
              entry: { mask: join(segmentations, name, mask), class: name, group: groups.get(name) ?? null },
            };
          }
        }
      },
    };
  },

  async read({ entry }) {
    const levels = await readLevels(entry.mask);
    const placed = tightMask(maskWhere(levels, level => level >= MAJORITY));
    if (!placed) return [];
    const [, number, name] = CLASS.exec(entry.class)!;
    return [
      {
        ...placed,
        width: levels.width,
        height: levels.height,
        label: name!.replaceAll('_', ' '),
        category: entry.class,
        instance: null,
        taxonomy: { number: Number(number), group: entry.group },
      },
    ];
  },
});

async function segmentationsOf(root: string): Promise<string | undefined> {
  for (const folder of [join(root, 'segmentations'), join(dirname(root), 'segmentations')]) {
    if (await isFolder(folder)) return folder;
  }
  return undefined;
}

/**
 * The kind of bird that a class's name ends with, where others do so, too: Albatross, Tern. A last word that no other class
 * shares need not be one (Whip poor Will), and is left out.
 */
function groupsOf(classes: readonly string[]): Map<string, string> {
  const last = (name: string) => name.slice(name.search(/[^_.]+$/));
  const count = new Map<string, number>();
  for (const name of classes) count.set(last(name), (count.get(last(name)) ?? 0) + 1);
  return new Map(classes.filter(name => count.get(last(name))! > 1).map(name => [name, last(name)]));
}

/** `train` or `test` by the picture's path in `images/`; none where the dataset's lists are not there. The dataset is small: 11,788 pictures. */
async function partsOf(root: string): Promise<Map<string, string>> {
  const [images, split] = [join(root, 'images.txt'), join(root, 'train_test_split.txt')];
  const parts = new Map<string, string>();
  if (!(await isFile(images)) || !(await isFile(split))) return parts;
  const training = new Map<string, boolean>();
  for await (const line of linesOf(split)) {
    const [id, flag] = line.split(/\s+/) as [string, string?];
    training.set(id, flag === '1');
  }
  for await (const line of linesOf(images)) {
    const [id, file] = line.split(/\s+/) as [string, string?];
    const isTraining = training.get(id);
    if (file !== undefined && isTraining !== undefined) parts.set(file, isTraining ? 'train' : 'test');
  }
  return parts;
}
