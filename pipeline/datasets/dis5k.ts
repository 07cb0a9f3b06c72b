import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { readBinaryMask } from './binary-mask.ts';
import { datasetReader } from './dataset.ts';
import { filesOf, findDataset, hasFolders, linkTarget, stem } from './layout.ts';

interface Entry {
  readonly mask: string;
}

const PARTS = ['DIS-TR', 'DIS-VD', 'DIS-TE1', 'DIS-TE2', 'DIS-TE3', 'DIS-TE4'] as const;
const form = {
  name: 'dis5k',
  title: 'DIS5K',
  expects: `a folder with ${PARTS.join(', ')} (or some of them), in each im/*.jpg and gt/*.png`,
} as const;

/** DIS5K: one mask a picture, of a class that the picture's name tells: `groupNo#Group#classNo#Class#name`. */
export const dis5k = datasetReader<Entry>({
  ...form,
  masks: 'classes',
  cutOuts: false,

  async open(folder) {
    const root = await findDataset(form, folder, ['', 'DIS5K'], async at => (await partsOf(at)).length > 0);
    return {
      pack: basename(root),
      root,
      async *images() {
        for (const part of await partsOf(root)) {
          for await (const name of filesOf(join(root, part, 'im'), /\.(jpe?g|png)$/i)) {
            yield {
              path: await linkTarget(join(root, part, 'im', name)),
              file: `${part}/im/${name}`,
              part,
              ...RIGHTS_UNKNOWN,
              entry: { mask: join(root, part, 'gt', `${stem(name)}.png`) },
            };
          }
        }
      },
    };
  },

  async read({ file, entry }) {
    const name = file.slice(file.lastIndexOf('/') + 1);
    const [, group, , category, rest] = name.split('#');
    if (!group || !category || rest === undefined) {
      throw new InputFault(`expected a name like groupNo#Group#classNo#Class#name, got ${name}`);
    }
    const object = await readBinaryMask(entry.mask);
    const what = { label: words(category), category, instance: null, taxonomy: { group: words(group) } };
    return object ? [{ ...object, ...what }] : [];
  },
});

async function partsOf(root: string): Promise<string[]> {
  const there = await Promise.all(PARTS.map(part => hasFolders(join(root, part), ['im', 'gt'])));
  return PARTS.filter((_, i) => there[i]);
}

const words = (name: string) => name.replaceAll('_', ' ').trim();
