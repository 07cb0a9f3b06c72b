import { csvLine } from '../csv-line.ts';
import { readCsv } from '../datasets/csv.ts';
import { TextFile } from '../text-file.ts';
import type { UsedSource } from './survey.ts';

export const ATTRIBUTION_COLUMNS = [
  'id',
  'pack',
  'file',
  'author',
  'licence',
  'url',
  'changes',
  'used_in',
  'times',
] as const;

/**
 * Writes the list of all sources, one a line; empty: not known. `used_in` names places with the labels there that name the
 * source (`banks/shapes:1 shapes2d:12`), `times` is their sum.
 */
export function writeAttribution(path: string, sources: readonly UsedSource[]): void {
  const file = new TextFile(path, `${path}.${process.pid}.partial`);
  file.append(csvLine(ATTRIBUTION_COLUMNS));
  for (const { id, pack, file: name, author, licence, url, changes = null, uses } of sources) {
    const places = [...uses].map(([place, times]) => `${place}:${times}`).join(' ');
    const times = [...uses.values()].reduce((sum, count) => sum + count, 0);
    file.append(csvLine([id, pack, name, author, licence, url, changes, places, times]));
  }
  file.finish();
}

/**
 * Copies of a list the sources that labels of some places name, as they stand there.
 * @param places as in `used_in`.
 */
export async function copyAttribution(from: string, to: string, places: ReadonlySet<string>): Promise<void> {
  const file = new TextFile(to);
  file.append(csvLine(ATTRIBUTION_COLUMNS));
  for await (const { values } of readCsv(from, ['used_in'])) {
    const uses = values.used_in!.split(' ').map(use => use.slice(0, use.lastIndexOf(':')));
    // Lists that are older than a column have nothing in it.
    if (uses.some(place => places.has(place)))
      file.append(csvLine(ATTRIBUTION_COLUMNS.map(column => values[column] ?? null)));
  }
  file.finish();
}

/** How many sources of a list are under each licence; null: not known. */
export async function licencesIn(path: string): Promise<Map<string | null, number>> {
  const counts = new Map<string | null, number>();
  for await (const { values } of readCsv(path, ['licence'])) {
    const licence = values.licence || null;
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
  }
  return counts;
}
