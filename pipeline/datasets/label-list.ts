import { posix } from 'node:path';
import { SPLITS, type Split } from '../splits.ts';
import { UsageError } from '../usage-error.ts';
import { csvValue, readCsv } from './csv.ts';
import type { Taxonomy } from './dataset.ts';

/** A line of a `labels.csv`. */
export interface LabelledFile {
  /** Below the folder of pictures, `/`-separated. */
  readonly file: string;
  readonly label: string;
  /** null: none is declared. */
  readonly split: Split | null;
  /** Further columns by their names. */
  readonly taxonomy: Taxonomy;
}

/** Name of the list in a dataset's folder. */
export const LABEL_LIST = 'labels.csv';

/**
 * Streams a `labels.csv`: columns `file` and `label`, if wanted `split` (train, val, test, or empty), and any others. Keeps the
 * names of its files in memory, to find those that are listed twice.
 * @throws UsageError that says which line is not as expected.
 */
export async function* readLabelList(path: string): AsyncGenerator<LabelledFile> {
  const lines = new Map<string, number>();
  for await (const { line, values } of readCsv(path, ['file', 'label'])) {
    const {
      file: name,
      label,
      split = '',
      ...more
    } = values as Record<'file' | 'label', string> & Record<string, string>;
    const where = `${path}, line ${line}`;
    if (label.trim() === '') throw new UsageError(`${where}: expected a label, found none`);
    const file = fileBelow(name.trim(), where);
    const earlier = lines.get(file);
    if (earlier !== undefined) {
      throw new UsageError(`${path}, lines ${earlier} and ${line}: expected each file once, found ${file} twice`);
    }
    lines.set(file, line);
    yield {
      file,
      label: label.trim(),
      split: splitNamed(split.trim(), where),
      taxonomy: Object.fromEntries(Object.entries(more).map(([name, value]) => [name, csvValue(value)])),
    };
  }
}

/** The path that a list names, without `./` and the like. @throws UsageError for one that leads out of its folder. */
export function fileBelow(file: string, where: string): string {
  const path = posix.normalize(file.replaceAll('\\', '/'));
  if (file === '' || path === '.' || posix.isAbsolute(path) || path === '..' || path.startsWith('../')) {
    throw new UsageError(`${where}: expected a file below its folder, found "${file}"`);
  }
  return path;
}

function splitNamed(name: string, where: string): Split | null {
  if (name === '') return null;
  const split = SPLITS.find(known => known === name);
  if (!split) throw new UsageError(`${where}: expected the split ${SPLITS.join(', ')} or none, found "${name}"`);
  return split;
}
