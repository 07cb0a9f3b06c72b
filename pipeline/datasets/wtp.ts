import { basename, join } from 'node:path';
import { InputFault } from '../faults.ts';
import { RIGHTS_UNKNOWN } from '../photo-sources.ts';
import { readCutOut } from './binary-mask.ts';
import { csvValue, readCsv } from './csv.ts';
import { datasetReader, type Taxonomy } from './dataset.ts';
import { fileBelow } from './label-list.ts';
import { findDataset, isFile, linkTarget } from './layout.ts';

interface Entry {
  readonly label: string;
  readonly taxonomy: Taxonomy;
}

const METADATA = 'metadata.csv';
const COLUMNS = ['image_path', 'label', 'gen', 'form', 'base_id', 'base_name'];
const form = {
  name: 'wtp',
  title: 'WTP-Bench',
  expects: `a folder with ${METADATA} (columns ${COLUMNS.join(', ')}) and the sprites that it names`,
} as const;

/** WTP-Bench: sprites with alpha, a line of a table each. Forms of one species share its `base_id`. */
export const wtp = datasetReader<Entry>({
  ...form,
  masks: 'objects',
  cutOuts: true,

  async open(folder) {
    const root = await findDataset(form, folder, ['', 'data', 'WTP-Bench'], at => isFile(join(at, METADATA)));
    const table = join(root, METADATA);
    // The first line tells whether the columns are there.
    for await (const _ of readCsv(table, COLUMNS)) break;
    return {
      pack: basename(root),
      root,
      async *images() {
        for await (const { line, values } of readCsv(table, COLUMNS)) {
          const { image_path, label, gen, form, base_id, base_name } = values as Record<string, string> & Row;
          const file = fileBelow(image_path.trim(), `${table}, line ${line}`);
          const species = csvValue(base_name);
          yield {
            path: await linkTarget(join(root, file)),
            file,
            group: `species ${base_id.trim()}`,
            part: null,
            ...RIGHTS_UNKNOWN,
            entry: {
              label: label.trim(),
              taxonomy: { generation: csvValue(gen), form: csvValue(form), species, speciesId: csvValue(base_id) },
            },
          };
        }
      },
    };
  },

  async read({ path, entry }) {
    if (entry.label === '') throw new InputFault(`expected a label in ${METADATA}, found none`);
    const object = await readCutOut(path);
    return object ? [{ ...object, ...entry, category: entry.label, instance: null }] : [];
  },
});

type Row = Record<'image_path' | 'label' | 'gen' | 'form' | 'base_id' | 'base_name', string>;
