import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readCsv } from '../../datasets/csv.ts';
import { folderSource } from '../../photo-sources.ts';
import { UsageError } from '../../usage-error.ts';
import { KIND_FILES } from '../kind-files.ts';
import type { PackItem, PackSource } from '../pack-source.ts';

/** A list beside the files that tells their rights: columns `file` (in the folder), `licence`, `author`, `url`. */
const RIGHTS_LIST = 'attribution.csv';

/**
 * A folder of this machine. Its files stay where they are; the pack keeps their hashes and rights, which an `attribution.csv` in
 * the folder tells, or else `--licence` and `--author` for all of them.
 */
export const dir: PackSource<Record<string, never>> = {
  name: 'dir',
  addresses: z.strictObject({}),
  takes: ['kind', 'licence', 'author'],
  typicalBytes: 0,

  async *items(_, { options: { from = '', kind = 'photos', licence = null, author = null } }) {
    const facts = await stat(from).catch(() => undefined);
    if (!facts?.isDirectory()) throw new UsageError(`assets add dir: expected a folder, got "${from}"`);
    const root = await realpath(from);
    const told = await rightsIn(join(root, RIGHTS_LIST));
    for await (const { path, file } of (await folderSource(root, { files: KIND_FILES[kind] })).files()) {
      const found = await stat(path).catch(() => undefined);
      if (!found || found.size === 0) continue;
      const item: PackItem = {
        id: file,
        path: file,
        origin: { local: path, bytes: found.size },
        licence,
        author,
        url: null,
        ...told.get(file),
      };
      yield item;
    }
  },
};

type Rights = Pick<PackItem, 'licence' | 'author' | 'url'>;

/** What a list tells, by file; nothing when there is no list. @throws UsageError when it is not as expected. */
async function rightsIn(path: string): Promise<ReadonlyMap<string, Rights>> {
  const rights = new Map<string, Rights>();
  if (!(await stat(path).catch(() => undefined))) return rights;
  for await (const { values } of readCsv(path, ['file', 'licence', 'author', 'url'])) {
    const { file = '', licence, author, url } = values;
    rights.set(file, { licence: licence || null, author: author || null, url: url || null });
  }
  return rights;
}
