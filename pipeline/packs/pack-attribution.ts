import { csvLine } from '../csv-line.ts';
import { type PackSummary, packFiles } from './pack-store.ts';

/** `file`, `licence`, `author` and `url` are also what `assets add dir` reads beside the files of a folder. */
const COLUMNS = ['pack', 'id', 'file', 'licence', 'author', 'url', 'changes', 'sha256'] as const;

/** Lines of a CSV file that names every usable file of packs with its rights; empty: not known. */
export async function* attributionLines(packs: readonly PackSummary[]): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for (const { pack } of packs) {
    for await (const { file } of packFiles(pack.id)) {
      const { id, path, licence, author, url, changes = null, sha256, unusable } = file;
      if (unusable === undefined) yield csvLine([pack.id, id, path, licence, author, url, changes, sha256]);
    }
  }
}
