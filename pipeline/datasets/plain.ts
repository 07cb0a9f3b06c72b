import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { readBinaryMask } from './binary-mask.ts';
import { datasetReader, type Taxonomy } from './dataset.ts';
import { LABEL_LIST, readLabelList } from './label-list.ts';
import { findDataset, firstFile, hasFolders, isFile, linkTarget, stem } from './layout.ts';

interface Entry {
  /** Its mask without the extension. */
  readonly mask: string;
  readonly label: string;
  readonly taxonomy: Taxonomy;
}

const form = {
  name: 'plain',
  title: 'pictures with masks',
  expects: `a folder with images/, masks/ (PNG of the same name) and ${LABEL_LIST} (columns file, label; also split, and others as taxonomy)`,
} as const;
/** Of masks, which may also be in capitals. */
const EXTENSIONS = ['.png', '.webp', '.tif', '.tiff', '.jpg', '.jpeg'];

/**
 * The plainest layout: `images/`, `masks/` of the same names, `labels.csv`. The list tells what is used: a line without its
 * picture or mask is a fault, a picture without a line is left out.
 */
export const plain = datasetReader<Entry>({
  ...form,
  masks: 'classes',
  cutOuts: false,

  async open(folder) {
    const fits = async (at: string) => (await hasFolders(at, ['images', 'masks'])) && isFile(join(at, LABEL_LIST));
    const root = await findDataset(form, folder, [''], fits);
    const list = join(root, LABEL_LIST);
    // The first line tells whether the columns are there.
    for await (const _ of readLabelList(list)) break;
    return {
      pack: basename(root),
      root,
      async *images() {
        for await (const { file, split, label, taxonomy } of readLabelList(list)) {
          yield {
            path: await linkTarget(join(root, 'images', file)),
            file: `images/${file}`,
            split,
            part: null,
            ...RIGHTS_UNKNOWN,
            entry: { mask: join(root, 'masks', stem(file)), label, taxonomy },
          };
        }
      },
    };
  },

  async read({ entry: { mask, label, taxonomy } }) {
    const names = [...EXTENSIONS, ...EXTENSIONS.map(extension => extension.toUpperCase())];
    const path = await firstFile(names.map(extension => mask + extension));
    if (path === undefined) {
      throw new InputFault(`expected its mask at ${mask}.png (or ${EXTENSIONS.slice(1).join(', ')}), found none`);
    }
    const object = await readBinaryMask(path);
    return object ? [{ ...object, label, category: label, instance: null, taxonomy }] : [];
  },
});
