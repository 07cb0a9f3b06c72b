import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { readBinaryMask } from './binary-mask.ts';
import { datasetReader } from './dataset.ts';
import { fileBelow } from './label-list.ts';
import { filesOf, findDataset, hasFolders, linesOf, linkTarget, stem } from './layout.ts';

interface Entry {
  readonly mask: string;
}

const form = {
  name: 'thinobject5k',
  title: 'ThinObject-5K',
  expects: 'a folder with images/*.jpg, masks/*.png and list/{train,val,test}.txt',
} as const;

/** ThinObject-5K: one mask a picture, of a class that stands before `_PNG` in the picture's name; lists name the masks. */
export const thinobject5k = datasetReader<Entry>({
  ...form,
  masks: 'classes',
  cutOuts: false,

  async open(folder) {
    const root = await findDataset(form, folder, ['', 'ThinObject5K'], at =>
      hasFolders(at, ['images', 'masks', 'list']),
    );
    return {
      pack: basename(root),
      root,
      async *images() {
        for await (const list of filesOf(join(root, 'list'), /\.txt$/i)) {
          for await (const line of linesOf(join(root, 'list', list))) {
            const name = stem(fileBelow(line, join(root, 'list', list)));
            yield {
              path: await linkTarget(join(root, 'images', `${name}.jpg`)),
              file: `images/${name}.jpg`,
              part: stem(list),
              ...RIGHTS_UNKNOWN,
              entry: { mask: join(root, 'masks', `${name}.png`) },
            };
          }
        }
      },
    };
  },

  async read({ file, entry }) {
    const name = file.slice(file.lastIndexOf('/') + 1);
    const category = /^(.+?)_PNG/i.exec(name)?.[1];
    if (category === undefined) throw new InputFault(`expected a name like class_PNG123, got ${name}`);
    const object = await readBinaryMask(entry.mask);
    const label = category.replaceAll('_', ' ').trim();
    return object ? [{ ...object, label, category, instance: null, taxonomy: {} }] : [];
  },
});
