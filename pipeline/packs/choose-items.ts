import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hash128, hashUnit } from '../../sampling/hash.ts';
import { BucketFiles } from '../bucket-files.ts';
import { TextFile } from '../text-file.ts';
import { UsageError } from '../usage-error.ts';
import { licenceFilter } from './licence-filter.ts';
import { isPackPath } from './pack-path.ts';
import type { PackItem } from './pack-source.ts';

/** What is wanted of a source; null: no limit. */
export interface Choice {
  readonly count: number | null;
  readonly perCategory: number | null;
  readonly seed: number;
  /** SPDX; only items under these. */
  readonly licences: readonly string[] | null;
}

/** What was found and chosen. */
export interface Chosen {
  /** Items of the index, and of them those under the licences that are wanted. */
  readonly listed: number;
  readonly allowed: number;
  /** Lines of the plan. */
  readonly files: number;
  /** Ids of items that could lie nowhere in a pack: their paths lead out of it, or to what it keeps for itself. */
  readonly refused: readonly string[];
}

/** Nothing in an index is as wanted; the index itself is well. */
export class UnservedChoice extends UsageError {}

const BUCKETS = 256;
const BINS = 1 << 16;
/** How many times the wanted number of items is kept on disk, since lists name some twice. */
const SPARE = 2;
/** That are named in a message. */
const MOST_LICENCES = 50;

/** What is counted as one (a group, or an item by itself), and one item of it. */
type Line = [name: string, item: PackItem];

/**
 * Writes the items that are wanted to `plan`, one a line, in the order of a seeded hash of their ids (or groups): a smaller count is
 * the beginning of a larger one, and any count is a fair sample. Items pass through buckets on disk, and once there are enough,
 * only those that may still be among the first: nine million take the memory of a few thousand.
 * @param folder for the buckets.
 * @throws UnservedChoice when none is left, with the licences there are.
 */
export async function chooseItems(
  items: AsyncIterable<PackItem>,
  { count, perCategory, seed, licences }: Choice,
  plan: string,
  folder: string,
  onListed: (listed: number) => void = () => {},
): Promise<Chosen> {
  const allows = licenceFilter(licences);
  // With a limit a category, items far behind may still be wanted.
  const horizon = new Horizon(count === null || perCategory !== null ? Number.POSITIVE_INFINITY : SPARE * count);
  const found = new Set<string | null>();
  const refused: string[] = [];
  const place = await mkdtemp(join(folder, 'choice-'));
  const buckets = new BucketFiles(BUCKETS, place);
  let [listed, allowed] = [0, 0];
  try {
    for await (const item of items) {
      if (++listed % 10_000 === 0) onListed(listed);
      if (found.size < MOST_LICENCES) found.add(item.licence);
      if (!item.supplement && !allows(item.licence)) continue;
      allowed++;
      const name = item.group ?? item.id;
      const key = item.supplement ? 0 : hash128(`${seed}/${name}`)[0];
      const counted = !item.supplement && item.group === undefined;
      if (counted && !horizon.reaches(key)) continue;
      if (!isPackPath(item.path)) {
        refused.push(item.id);
        continue;
      }
      const line: Line = [name, item];
      await buckets.append(key >>> 24, `${key.toString(16).padStart(8, '0')}${JSON.stringify(line)}`);
    }
    onListed(listed);
    const files = await writePlan(buckets, { count, perCategory }, plan);
    if (files > 0) return { listed, allowed, files, refused };
  } finally {
    await buckets.close();
    await rm(place, { recursive: true, force: true });
  }
  if (listed === 0) throw new UnservedChoice('expected files to add, found none');
  const known = [...found].map(licence => licence ?? 'none that is known').sort();
  throw new UnservedChoice(
    `expected files${licences ? ` under ${licences.join(' or ')}` : ''}, found none: the ${listed} there are are under ${known.join(', ')}`,
  );
}

/** Goes through the items in the order of their keys and writes those that are wanted. @returns their number. */
async function writePlan(
  buckets: BucketFiles,
  { count, perCategory }: Pick<Choice, 'count' | 'perCategory'>,
  path: string,
): Promise<number> {
  const plan = new TextFile(path);
  const taken = new Map<string, number>();
  // 53 bits of a hash of each path.
  const paths = new Set<number>();
  let last: { name: string; id: string; wanted: boolean } | undefined;
  let [things, files] = [0, 0];
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    for (const keyed of (await buckets.take(bucket)).sort()) {
      const [name, item] = JSON.parse(keyed.slice(8)) as Line;
      if (last?.name !== name) {
        const { category = '' } = item;
        const inCategory = taken.get(category) ?? 0;
        const counted = !item.supplement;
        const wanted =
          !counted || ((count === null || things < count) && (perCategory === null || inCategory < perCategory));
        if (wanted && counted) {
          things++;
          taken.set(category, inCategory + 1);
        }
        last = { name, id: '', wanted };
      }
      const path = hashUnit(item.path);
      if (!last.wanted || last.id === item.id || paths.has(path)) continue;
      last.id = item.id;
      paths.add(path);
      files++;
      plan.append(`${JSON.stringify(item)}\n`);
    }
  }
  plan.finish();
  if (perCategory !== null && files > 0 && taken.size === 1 && taken.has('')) {
    throw new UnservedChoice('--per-category: expected a source with categories, this one has none');
  }
  return files;
}

/** Tells which keys may still be among the first so many, as keys come in; counts in bins, so it lets a few too many through. */
class Horizon {
  readonly #most: number;
  readonly #bins = new Float64Array(BINS);
  #last = BINS - 1;
  /** Keys in bins up to the last. */
  #within = 0;

  constructor(most: number) {
    this.#most = most;
  }

  reaches(key: number): boolean {
    const bin = key >>> 16;
    if (bin > this.#last) return false;
    this.#bins[bin]!++;
    this.#within++;
    while (this.#within - this.#bins[this.#last]! >= this.#most) this.#within -= this.#bins[this.#last--]!;
    return true;
  }
}
