import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { hash128, hashId, hashUnit } from '../sampling/hash.ts';
import { BucketFiles } from './bucket-files.ts';
import { unlessMissing } from './faults.ts';
import { makeFolder } from './make-folder.ts';
import type { Source, SourceFile } from './photo-sources.ts';
import { isAlive } from './process-alive.ts';
import { jsonFrom, writeDurably } from './shard-writer.ts';
import type { Split } from './splits.ts';

/**
 * The files of a run, in the order the run looks at them: permuted by a seeded hash and kept on disk, so that nine million
 * paths cost no memory. A block is a run of this order; a bank shard is made from one block.
 *
 * On disk: `list.jsonl`, a file a line; `offsets.bin`, the byte offset of every 64th line as a 64-bit float; `index.json`,
 * written last: a folder without it is no index.
 */
export class PhotoIndex {
  readonly facts: IndexFacts;
  readonly #folder: string;
  readonly #offsets: Float64Array;

  private constructor(folder: string, facts: IndexFacts, offsets: Float64Array) {
    this.#folder = folder;
    this.facts = facts;
    this.#offsets = offsets;
  }

  /** Opens an index; undefined when there is none, or its files do not belong together: then it is to be made again. */
  static async open(folder: string): Promise<PhotoIndex | undefined> {
    const text = await readFile(join(folder, 'index.json'), 'utf8').catch(unlessMissing);
    const facts = factsSchema.safeParse(text === undefined ? undefined : jsonFrom(text)).data;
    const bytes = await readFile(join(folder, 'offsets.bin')).catch(unlessMissing);
    const list = await stat(join(folder, 'list.jsonl')).catch(unlessMissing);
    if (!facts || !bytes || list?.size !== facts.listBytes) return undefined;
    if (bytes.length !== 8 * Math.ceil(facts.files / STRIDE)) return undefined;
    return new PhotoIndex(folder, facts, new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8));
  }

  /** Blocks of `size` files. */
  blocks(size: number): number {
    return Math.ceil(this.facts.files / size);
  }

  /** The files of a block, in order. */
  async block(number: number, size: number): Promise<IndexedFile[]> {
    const first = number * size;
    const count = Math.min(size, this.facts.files - first);
    const skip = first % STRIDE;
    const lines = await this.#lines(first - skip, skip + count);
    return lines.slice(skip).map(line => this.#parse(line));
  }

  /** Whole lines from the stride that starts at `first`, at least `count` of them as far as there are. */
  async #lines(first: number, count: number): Promise<string[]> {
    const start = this.#offsets[first / STRIDE]!;
    const end = this.#offsets[Math.ceil((first + count) / STRIDE)] ?? this.facts.listBytes;
    const file = await open(join(this.#folder, 'list.jsonl'), 'r');
    try {
      const bytes = Buffer.alloc(end - start);
      await file.read(bytes, 0, bytes.length, start);
      return bytes.toString('utf8').split('\n').slice(0, count);
    } finally {
      await file.close();
    }
  }

  #parse(line: string): IndexedFile {
    const [id, split, source, file, path, licence, author, url, changes, detail, contradictory] = JSON.parse(
      line,
    ) as Line;
    const { pack } = this.facts.sources[source]!;
    return {
      id,
      split,
      path,
      provenance: { pack, file, licence, author, url, ...(changes !== null && { changes }) },
      ...(detail !== undefined && { detail }),
      ...(contradictory && { contradictory }),
    };
  }
}

/** Where a file comes from and what it may be used for; null: not known. Labels carry it whole. */
export const provenanceSchema = z.strictObject({
  pack: z.string().describe('asset pack id, or the folder or list the file was named by'),
  file: z.string().describe('path within the pack'),
  licence: z.string().nullable().describe('SPDX expression'),
  author: z.string().nullable(),
  url: z.string().nullable(),
  changes: z.string().optional().describe('what its pack did to the author’s file; left out when nothing was'),
});
export type Provenance = z.infer<typeof provenanceSchema>;

/** A file that a run looks at. */
export interface IndexedFile {
  /** 16 hexadecimal digits, from pack and path within it: the same wherever the pack lies. */
  readonly id: string;
  readonly split: Split;
  readonly path: string;
  readonly provenance: Provenance;
  /** What its source keeps of it beside: how a dataset's masks are found, say. */
  readonly detail?: unknown;
  /** Listed more than once, with different details. */
  readonly contradictory?: true;
}

const factsSchema = z.strictObject({
  files: z.int(),
  /** Order-independent digest of all files named ({@link markOf}): tells whether another list is the same set. */
  digest: z.string(),
  listBytes: z.int(),
  splits: z.strictObject({ train: z.int(), val: z.int(), test: z.int() }),
  sources: z.array(z.strictObject({ pack: z.string() })),
});
export type IndexFacts = z.infer<typeof factsSchema>;

/** id, split, source number, file, path, licence, author, url, changes, detail, whether it is contradictory. */
type Line = [
  string,
  Split,
  number,
  string,
  string,
  string | null,
  string | null,
  string | null,
  string | null,
  unknown?,
  true?,
];

const STRIDE = 64;
const BUCKETS = 256;

/**
 * Indexes sources into `folder`: one pass spreads the files over 256 buckets on disk by a hash of their path, a second finds
 * in each bucket the files that were named twice, also by different names, and spreads the rest by the first byte of their
 * seeded hash, a third sorts each bucket in memory. The folder gets its name when it is complete.
 * @param onProgress called now and then with the number of files seen.
 * @param signal ends it; nothing of an index that is not finished stays.
 */
export async function buildPhotoIndex(
  folder: string,
  sources: readonly Source[],
  seed: number,
  onProgress: (files: number) => void = () => {},
  signal?: AbortSignal,
): Promise<PhotoIndex> {
  await removeAbandoned(folder);
  const partial = `${folder}.${hostname()}-${process.pid}.partial`;
  await rm(partial, { recursive: true, force: true });
  await makeFolder(partial);
  const [byPath, byOrder] = [new BucketFiles(BUCKETS, partial), new BucketFiles(BUCKETS, partial)];
  let facts: IndexFacts;
  try {
    const digest = await spread(byPath, sources, onProgress);
    await eachOnce(byPath, byOrder, seed, signal);
    facts = { ...(await collect(byOrder, partial, signal)), digest, sources: sources.map(({ pack }) => ({ pack })) };
    await writeDurably(join(partial, 'index.json'), JSON.stringify(facts));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await byPath.close();
    await byOrder.close();
  }
  // Another process of this run may have been first, with the same list; anything else that lies there gives way.
  const other = await PhotoIndex.open(folder);
  const same = isDeepStrictEqual(other?.facts, facts);
  await rm(same ? partial : folder, { recursive: true, force: true });
  if (!same) await rename(partial, folder);
  return (await PhotoIndex.open(folder))!;
}

/** Removes what processes of this machine that are gone had begun. */
async function removeAbandoned(folder: string): Promise<void> {
  const start = `${basename(folder)}.${hostname()}-`;
  for (const name of await readdir(dirname(folder)).catch(() => [])) {
    if (!name.startsWith(start) || !name.endsWith('.partial')) continue;
    const pid = Number(name.slice(start.length, -'.partial'.length));
    if (!isAlive(pid)) await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

async function spread(
  buckets: BucketFiles,
  sources: readonly Source[],
  onProgress: (files: number) => void,
): Promise<string> {
  const seen = new SeenFiles();
  for (const [number, source] of sources.entries()) {
    for await (const found of source.files()) {
      const { path, file, licence, author, url, changes = null, detail } = found;
      const id = idOf(source, file);
      const line: Line = [id, splitIn(source, found), number, file, path, licence, author, url, changes];
      if (detail !== undefined) line.push(detail);
      await buckets.append(hash128(path)[0] >>> 24, JSON.stringify(line));
      seen.add(markOf(source, found));
      if (seen.files % 10_000 === 0) onProgress(seen.files);
    }
  }
  return seen.digest();
}

/**
 * Passes on each file of the path buckets once. Of its names the one counts that tells its licence, then that of the source
 * named first, then the shortest: nothing of one photo may come under two ids, which may be in two splits. Where its details
 * differ, none of them counts: it is marked.
 */
async function eachOnce(named: BucketFiles, ordered: BucketFiles, seed: number, signal?: AbortSignal): Promise<void> {
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    signal?.throwIfAborted();
    const byPath = new Map<string, Line>();
    for (const text of await named.take(bucket)) {
      const line = JSON.parse(text) as Line;
      const other = byPath.get(line[4]);
      const kept = !other || compareNames(line, other) < 0 ? line : other;
      const contradicts = other !== undefined && (other[10] || JSON.stringify(line[9]) !== JSON.stringify(other[9]));
      if (contradicts) kept[10] = true;
      byPath.set(line[4], kept);
    }
    for (const line of byPath.values()) {
      const key = hash128(`${seed}/${line[0]}`)[0];
      await ordered.append(key >>> 24, `${key.toString(16).padStart(8, '0')}${JSON.stringify(line)}`);
    }
  }
}

function compareNames([, , a, fileA, , licenceA]: Line, [, , b, fileB, , licenceB]: Line): number {
  return (
    Number(licenceA === null) - Number(licenceB === null) ||
    a - b ||
    fileA.length - fileB.length ||
    (fileA < fileB ? -1 : 1)
  );
}

/**
 * Digest of what sources hold now, to be compared with an index's: whether a run's photos are still the same. Files are
 * known by their names, those of datasets also by what is said of them ({@link markOf}); their content is not read.
 */
export async function digestSources(sources: readonly Source[]): Promise<string> {
  const seen = new SeenFiles();
  for (const source of sources) {
    for await (const file of source.files()) seen.add(markOf(source, file));
  }
  return seen.digest();
}

const idOf = ({ pack }: Source, file: string) => hashId(`${pack}/${file}`);

/** The split that a source declares for a file; else by the hash of its id, or its group's. */
function splitIn(source: Source, { file, split, group }: SourceFile): Split {
  return split ?? splitOf(idOf(source, group ?? file));
}

/**
 * What a digest knows a file by, 16 hexadecimal digits: its id; with a `detail`, which labels are made from, that and the
 * licence and split too. Paths within the source's folder count from there: a dataset may be moved.
 */
function markOf(source: Source, file: SourceFile): string {
  const id = idOf(source, file.file);
  if (file.detail === undefined) return id;
  const { root } = source;
  const detail = JSON.stringify(file.detail);
  const placeless = root === undefined ? detail : detail.replaceAll(JSON.stringify(root).slice(1, -1), '');
  const rest = JSON.stringify([file.licence, splitIn(source, file)]);
  // Details may be long, and this hash is the fastest for long ones.
  return createHash('sha256').update(`${id}${rest}${placeless}`).digest('hex').slice(0, 16);
}

/** Counts files and sums up their marks in a way that no order changes. */
class SeenFiles {
  files = 0;
  #sum = 0;
  #xor = 0;

  add(mark: string): void {
    this.files++;
    this.#sum = (this.#sum + Number.parseInt(mark.slice(0, 8), 16)) >>> 0;
    this.#xor = (this.#xor ^ Number.parseInt(mark.slice(8), 16)) >>> 0;
  }

  digest(): string {
    const hex = [this.#sum, this.#xor].map(word => word.toString(16).padStart(8, '0')).join('');
    return `${this.files}-${hex}`;
  }
}

/** 80 % train, 10 % val, 10 % test, by the hash of the source's id: all that one photo gives is in one split. */
export function splitOf(id: string): Split {
  const u = hashUnit(`split/${id}`);
  return u < 0.8 ? 'train' : u < 0.9 ? 'val' : 'test';
}

/** Sorts the buckets into the final list. */
async function collect(
  buckets: BucketFiles,
  folder: string,
  signal?: AbortSignal,
): Promise<Pick<IndexFacts, 'files' | 'listBytes' | 'splits'>> {
  const list = await open(join(folder, 'list.jsonl'), 'w');
  const facts = { files: 0, listBytes: 0, splits: { train: 0, val: 0, test: 0 } };
  const offsets: number[] = [];
  try {
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      signal?.throwIfAborted();
      const lines = sortedLines(await buckets.take(bucket));
      let chunk = '';
      let previous = '';
      for (const keyed of lines) {
        const line = keyed.slice(8);
        const [id, split] = JSON.parse(line) as Line;
        if (id === previous) continue;
        previous = id;
        if (facts.files % STRIDE === 0) offsets.push(facts.listBytes);
        facts.files++;
        facts.splits[split]++;
        facts.listBytes += Buffer.byteLength(line) + 1;
        chunk += `${line}\n`;
      }
      await list.writeFile(chunk);
    }
  } finally {
    await list.close();
  }
  await writeFile(join(folder, 'offsets.bin'), new Uint8Array(Float64Array.from(offsets).buffer));
  return facts;
}

/** Lines by key, then by the id that the rest starts with: equal ids are neighbours. */
function sortedLines(lines: string[]): string[] {
  return lines.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
