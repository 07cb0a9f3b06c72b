import { open } from 'node:fs/promises';
import { basename, dirname, extname, join, posix } from 'node:path';
import { asInputFault, InputFault } from '../faults.ts';
import { folderSource, type SourceKind } from '../photo-sources.ts';
import { readCutOut } from './binary-mask.ts';
import { type DatasetPicture, datasetReader, type Taxonomy } from './dataset.ts';
import { LABEL_LIST, readLabelList } from './label-list.ts';
import { findDataset, isFile, linkTarget } from './layout.ts';

/** What a list says of a picture; null: there is none, and names tell. */
export type CutOutEntry = { readonly label: string; readonly taxonomy: Taxonomy } | null;

/** Pictures that can have alpha. */
export const CUT_OUT_FILES: SourceKind = {
  packs: 'segmentation',
  files: /\.(png|webp)$/i,
  expects: 'PNG or WebP pictures with transparency',
};

const form = {
  name: 'cutouts',
  title: 'cut-outs',
  expects: `a folder of ${CUT_OUT_FILES.expects}, in folders or not (and ${LABEL_LIST}, columns file and label, if names tell no labels)`,
} as const;
const unknown = { part: null, licence: null, author: null, url: null } as const;

/**
 * Cut-outs: pictures whose alpha is the mask, one object each. With a `labels.csv`, it tells which are used and their labels; else the
 * folder is searched whole, and a picture's name is its label. The folders that it lies in are its taxonomy, and so is the
 * first line of a text file beside it, as Tux Paint describes its stamps.
 */
export const cutouts = datasetReader<CutOutEntry>({
  ...form,
  masks: 'objects',
  cutOuts: true,

  async open(folder) {
    const root = await findDataset(form, folder, [''], async at => {
      if (await isFile(join(at, LABEL_LIST))) return true;
      for await (const _ of (await folderSource(at, CUT_OUT_FILES)).files()) return true;
      return false;
    });
    const list = join(root, LABEL_LIST);
    const listed = await isFile(list);
    // The first line tells whether the columns are there.
    if (listed) for await (const _ of readLabelList(list)) break;
    return {
      pack: basename(root),
      root,
      async *images() {
        if (listed) {
          for await (const { file, split, ...entry } of readLabelList(list)) {
            yield { ...unknown, path: await linkTarget(join(root, file)), file, split, entry };
          }
        } else {
          for await (const { path, file } of (await folderSource(root, CUT_OUT_FILES)).files()) {
            yield { ...unknown, path, file, entry: null };
          }
        }
      },
    };
  },

  async read({ path, file, entry }) {
    const object = await readCutOut(path);
    if (!object) return [];
    const { label, taxonomy } = entry ?? { label: labelOf(file), taxonomy: {} };
    const known = { ...(await surroundings({ path, file })), ...taxonomy };
    return [{ ...object, label, category: label, instance: null, taxonomy: known }];
  },
});

/**
 * The words of a file's name, without the numbers before and after that tell pictures of one thing apart: `red_fox-2.png` → "red
 * fox". A name of numbers alone leaves the word to its folder: `owl/0001.png` → "owl".
 */
export function labelOf(file: string): string {
  const words = (name: string) => name.replaceAll(/[_\s-]+/g, ' ').trim();
  const parts = posix.join(posix.dirname(file), posix.basename(file, extname(file))).split('/');
  for (const part of parts.reverse()) {
    const label = words(part.replace(/^\d+(?=[_\s-])/, '').replace(/[_\s-]*\(?\d+\)?$/, ''));
    if (/\p{L}/u.test(label)) return label;
  }
  return words(posix.basename(file, extname(file)));
}

/** What the place of a picture tells of it. */
async function surroundings({ path, file }: Pick<DatasetPicture, 'path' | 'file'>): Promise<Taxonomy> {
  const folder = posix.dirname(file);
  const beside = join(dirname(path), `${basename(path, extname(path))}.txt`);
  const description = await firstLine(beside);
  return { folder: folder === '.' ? null : folder, ...(description && { description }) };
}

/** What is read of a description, bytes. */
const MOST_READ = 4096;

/** The first line of a text file; undefined where there is none: a description is a courtesy, and a bad one costs no picture. */
async function firstLine(path: string): Promise<string | undefined> {
  if (!(await isFile(path))) return undefined;
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_READ), 0, MOST_READ, 0);
      // The last character may be cut.
      const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), { stream: true });
      const line = text.split(/\r|\n/, 1)[0]!.trim();
      return /[^\P{Cc}\t]/u.test(line) ? undefined : line;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof TypeError || asInputFault(error, '') instanceof InputFault) return undefined;
    throw error;
  }
}
