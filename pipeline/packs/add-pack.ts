import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { hashUnit } from '../../sampling/hash.ts';
import { DamagedFile, InputFault, unlessMissing } from '../faults.ts';
import { fullDisk } from '../full-disk.ts';
import { makeFolder } from '../make-folder.ts';
import type { Progress } from '../progress.ts';
import { jsonFrom, writeDurably } from '../shard-writer.ts';
import { TextFile } from '../text-file.ts';
import { UsageError } from '../usage-error.ts';
import { readArchive } from './archive.ts';
import { type Choice, chooseItems, UnservedChoice } from './choose-items.ts';
import { Examiner } from './examiner.ts';
import { FetchFault } from './fetch-fault.ts';
import { FETCH_SETTINGS, Fetcher, type FetchSettings } from './fetcher.ts';
import { InFlight } from './in-flight.ts';
import { expectRoom, IndexFiles, readJson } from './index-files.ts';
import type { Pack } from './manifest.ts';
import { nearDuplicates } from './near-duplicates.ts';
import { factsOf, writeMember } from './pack-file.ts';
import { type PackEntry, type PackHeader, readPackEntries, readPackHeader, writePackIndex } from './pack-index.ts';
import { lockPack } from './pack-lock.ts';
import { type Obtained, PackResults } from './pack-results.ts';
import type { PackItem, PackSource, RemoteFile, SourceContext, SourceOptions } from './pack-source.ts';
import { PACK_SOURCES } from './pack-sources.ts';
import { removeEmpty } from './remove-empty.ts';

/** What is asked for: another order makes another pack. */
export interface PackOrder extends Choice {
  readonly source: SourceOptions;
  /** Photos whose perceptual hashes differ in at most so many of 64 bits count as one; null: none are dropped. */
  readonly nearDuplicates: number | null;
}

export interface AddSettings {
  /** Of the pack; its index and files lie in it. */
  readonly folder: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly fetch?: FetchSettings;
}

export interface AddedPack {
  readonly header: PackHeader;
  /** It was there already, and nothing was done. */
  readonly wasThere: boolean;
}

/** What is known while a pack is being added: a folder in the pack's, gone when it is complete. */
export const WORK_FOLDER = '.adding';
/** Chosen files that could not be had, one a line, with the reason. */
export const FAILURES_NAME = 'failures.jsonl';
/** Files at work at a time, of all hosts. */
const AT_A_TIME = 64;
/** A longer file is no photo, mesh or panorama. */
const MOST_FILE_BYTES = 2 * 1024 ** 3;
/** So many files in a row without an answer: it is the network that is gone, and not they. */
const MOST_UNANSWERED = 200;
/** Begins the reason why a near-duplicate is not used. */
const NEAR_DUPLICATE = 'near-duplicate of';

/**
 * Adds a pack from its source, or brings it to what is asked for: reads the source's index, chooses, fetches what is not there yet, looks at it, and
 * writes the pack's index. Killed at any moment, the same call goes on. A pack that was there stays as it is until the new index takes its place;
 * files that it no longer lists stay until `assets prune`.
 * @throws UsageError for an order that the source cannot serve; FetchFault when the index or every file cannot be had; FullDisk; the signal's reason.
 */
export async function addPack(pack: Pack, order: PackOrder, settings: AddSettings): Promise<AddedPack> {
  const source = sourceOf(pack, order.source);
  const { folder } = settings;
  const recorded = JSON.parse(JSON.stringify(order)) as PackHeader['order'];
  const present = await readPackHeader(folder);
  if (present && present.pack.obtained.via !== source.name) {
    throw new UsageError(
      `there is a pack ${pack.id} of ${present.pack.obtained.via} already: --as gives this one another name`,
    );
  }
  // A folder or list of the user's own may have grown; a source's index is taken as it was.
  const settled = present?.passing === 0 && order.source.from === undefined;
  if (settled && isDeepStrictEqual(present.order, recorded)) return { header: present, wasThere: true };

  const work = join(folder, WORK_FOLDER);
  await makeFolder(work);
  const unlock = await lockPack(join(work, 'lock'), pack.id);
  // Ends what is under way at Ctrl-C, and when something else goes wrong.
  const stop = new AbortController();
  // One listener for each file on its way.
  setMaxListeners(0, stop.signal);
  const interrupt = () => stop.abort(settings.signal.reason);
  settings.signal.addEventListener('abort', interrupt, { once: true });
  if (settings.signal.aborted) interrupt();
  const fetcher = new Fetcher(stop.signal, settings.fetch ?? FETCH_SETTINGS);
  try {
    const header = await new Adding(pack, source, order, recorded, settings, fetcher, stop).run();
    return { header, wasThere: false };
  } catch (error) {
    throw fullDisk(error, folder);
  } finally {
    settings.signal.removeEventListener('abort', interrupt);
    fetcher.close();
    await unlock();
    // What was refused before anything came leaves nothing behind.
    await removeEmpty(work, folder);
  }
}

/** Whether a pack in a folder was begun and is not complete: the same `assets add` continues it. */
export async function isBeingAdded(folder: string): Promise<boolean> {
  return (await stat(join(folder, WORK_FOLDER)).catch(unlessMissing)) !== undefined;
}

function sourceOf({ id, obtained }: Pack, options: SourceOptions): PackSource {
  if (!('addresses' in obtained)) throw new UsageError(`${id} comes with shapemill or from Debian packages`);
  const source = PACK_SOURCES[obtained.via];
  const surplus = Object.entries(options).find(
    ([name, value]) => value !== undefined && name !== 'from' && !source.takes.some(taken => taken === name),
  );
  if (!surplus) return source;
  const takes =
    source.takes.length > 0 ? `takes ${source.takes.map(name => `--${name}`).join(', ')}` : 'takes none such';
  throw new UsageError(`--${surplus[0]}: ${id} ${takes}`);
}

const planHeaderSchema = z.strictObject({
  order: z.record(z.string(), z.unknown()),
  addresses: z.unknown(),
  files: z.int(),
});

/** A pack that is being added. */
class Adding {
  readonly #pack: Pack;
  readonly #source: PackSource;
  readonly #order: PackOrder;
  readonly #recorded: PackHeader['order'];
  readonly #folder: string;
  readonly #progress: Progress;
  readonly #stop: AbortController;
  readonly #fetcher: Fetcher;
  readonly #work: string;
  readonly #addresses: unknown;
  readonly #context: SourceContext;

  constructor(
    pack: Pack,
    source: PackSource,
    order: PackOrder,
    recorded: PackHeader['order'],
    { folder, progress }: AddSettings,
    fetcher: Fetcher,
    stop: AbortController,
  ) {
    this.#pack = pack;
    this.#source = source;
    this.#order = order;
    this.#recorded = recorded;
    this.#folder = folder;
    this.#progress = progress;
    this.#stop = stop;
    this.#fetcher = fetcher;
    this.#work = join(folder, WORK_FOLDER);
    const parsed = source.addresses.safeParse('addresses' in pack.obtained ? pack.obtained.addresses : {});
    if (!parsed.success) {
      throw new UsageError(
        `the manifest's addresses of ${pack.id} are not as expected: ${z.prettifyError(parsed.error)}`,
      );
    }
    this.#addresses = parsed.data;
    const index = new IndexFiles(join(this.#work, 'downloads'), fetcher, progress);
    this.#context = {
      options: order.source,
      signal: stop.signal,
      fetch: (remote, name) => index.fetch(remote, name),
      json: async (remote, name) => readJson(await index.fetch(remote, name)),
      note: message => progress.info(message),
    };
  }

  async run(): Promise<PackHeader> {
    const files = await this.#plan();
    const results = await PackResults.open(this.#at('journal.jsonl'), files);
    try {
      if (results.count === 0) await this.#recall(results);
      await this.#lookAtDisk(results);
      await this.#obtain(results);
      return await this.#finish(results);
    } finally {
      results.close();
    }
  }

  #at(name: string): string {
    return join(this.#work, name);
  }

  /** Chooses what belongs to the pack, unless an earlier process did. @returns the number of files. */
  async #plan(): Promise<number> {
    const path = this.#at('plan.json');
    const text = await readFile(path, 'utf8').catch(unlessMissing);
    const plan = planHeaderSchema.safeParse(text === undefined ? undefined : jsonFrom(text)).data;
    const asked = { order: this.#recorded, addresses: this.#addresses };
    if (plan && isDeepStrictEqual({ order: plan.order, addresses: plan.addresses }, asked)) return plan.files;
    await rm(path, { force: true });
    await rm(this.#at('journal.jsonl'), { force: true });
    const items = this.#source.items(this.#addresses, this.#context);
    const chosen = await chooseItems(items, this.#order, this.#at('plan.jsonl'), this.#work, listed => {
      this.#stop.signal.throwIfAborted();
      this.#progress.count('files listed', listed);
    }).catch(error => this.#startOver(error));
    const [first] = chosen.refused;
    if (first !== undefined) {
      this.#progress.warn(
        `${chosen.refused.length} files are left out, since they may not lie where their paths say: ${first} …`,
      );
    }
    await writeDurably(path, JSON.stringify({ ...asked, files: chosen.files }));
    return chosen.files;
  }

  /** The next attempt makes the plan anew, and fetches a broken archive or list anew; one that only has nothing of what was wanted stays. */
  async #startOver(error: unknown): Promise<never> {
    if (error instanceof DamagedFile || error instanceof UsageError) {
      for (const name of ['plan.json', 'plan.jsonl']) await rm(this.#at(name), { force: true });
      if (!(error instanceof UnservedChoice)) await rm(this.#at('downloads'), { recursive: true, force: true });
    }
    throw error;
  }

  async *#items(): AsyncGenerator<[number: number, item: PackItem]> {
    let i = 0;
    for await (const line of createInterface({ input: createReadStream(this.#at('plan.jsonl')) })) {
      this.#stop.signal.throwIfAborted();
      yield [i++, JSON.parse(line) as PackItem];
    }
  }

  /** Takes over what the pack has already from an earlier order. */
  async #recall(results: PackResults): Promise<void> {
    if (!(await readPackHeader(this.#folder))) return;
    const numbers = new Map<number, number>();
    for await (const [i, { id, path }] of this.#items()) numbers.set(hashUnit(`${id}\0${path}`), i);
    for await (const { id, path, local, bytes, sha256, likeness, unusable } of readPackEntries(this.#folder)) {
      const i = numbers.get(hashUnit(`${id}\0${path}`));
      if (i === undefined || local !== undefined || (this.#order.nearDuplicates !== null && likeness === undefined))
        continue;
      const there = await stat(join(this.#folder, path)).catch(unlessMissing);
      if (there?.size !== bytes) continue;
      results.obtained(i, {
        bytes,
        sha256,
        likeness,
        unusable: unusable?.startsWith(NEAR_DUPLICATE) ? undefined : unusable,
      });
    }
  }

  /** @throws FullDisk when what is missing has no room. */
  async #lookAtDisk(results: PackResults): Promise<void> {
    let needed = 0;
    for await (const [i, { origin }] of this.#items()) {
      if (results.isSettled(i) || 'local' in origin) continue;
      needed += ('bytes' in origin ? origin.bytes : undefined) ?? this.#source.typicalBytes;
    }
    await expectRoom(this.#folder, needed);
  }

  /** Fetches, unpacks or finds each file that is not settled. */
  async #obtain(results: PackResults): Promise<void> {
    this.#progress.begin({ name: 'fetch', title: this.#pack.id, unit: 'files', total: results.files });
    const examiner = new Examiner(this.#pack.kind, this.#order.nearDuplicates !== null);
    const arrivals = new Arrivals(results, examiner, this.#progress);
    const inFlight = new InFlight(AT_A_TIME, error => this.#stop.abort(error));
    const archives = new Map<string, Members>();
    try {
      for await (const [i, { id, path: name, origin }] of this.#items()) {
        const path = join(this.#folder, name);
        if (results.isSettled(i)) this.#progress.found(1);
        else if ('archive' in origin) {
          const members: Members = archives.get(origin.archive) ?? new Map();
          archives.set(origin.archive, members.set(origin.member, { i, id, path }));
        } else if ('local' in origin) {
          await inFlight.add(arrivals.take({ i, id, path: origin.local }, () => factsOf(origin.local)));
        } else {
          await inFlight.add(arrivals.take({ i, id, path }, () => this.#fetch(origin, path)));
        }
      }
      await inFlight.done();
      for (const [archive, members] of archives) {
        await this.#unpack(archive, members, arrivals).catch(error => this.#startOver(error));
      }
    } finally {
      await inFlight.settled();
      await examiner.close();
      this.#progress.end();
    }
  }

  /** Writes the members of an archive that are wanted, in one pass. */
  async #unpack(archive: string, members: Members, arrivals: Arrivals): Promise<void> {
    for await (const { member, bytes, contents } of readArchive(archive)) {
      this.#stop.signal.throwIfAborted();
      const file = members.get(member);
      if (!file) continue;
      members.delete(member);
      await arrivals.take(file, () => writeMember(file.path, bytes, contents, MOST_FILE_BYTES));
    }
    for (const file of members.values()) {
      await arrivals.take(file, () => Promise.reject(new InputFault('no longer in its archive')));
    }
  }

  async #fetch(origin: RemoteFile | { readonly lookup: string }, path: string): Promise<Obtained> {
    if ('url' in origin) return this.#fetcher.fetch(origin, path, MOST_FILE_BYTES);
    if (!this.#source.locate) throw new Error(`${this.#source.name} gives addresses to look up and cannot`);
    const remote = await this.#source.locate(origin.lookup, this.#addresses, this.#context);
    return this.#fetcher.fetch(remote, path, MOST_FILE_BYTES);
  }

  /** Writes the index, and removes what was needed on the way. */
  async #finish(results: PackResults): Promise<PackHeader> {
    const missing = results.missingFiles;
    if (results.count === 0) {
      const [first] = missing.values();
      // Nothing is lost by asking for all of them anew, and whatever was wrong may be mended.
      await rm(this.#at('journal.jsonl'), { force: true });
      throw new FetchFault(
        `${this.#pack.id}: none of ${results.files} files could be had (${first?.reason})`,
        'lasting',
      );
    }
    const { nearDuplicates: most } = this.#order;
    const duplicates = most === null ? new Map<number, number>() : nearDuplicates(results.likenesses(), most);
    const header: PackHeader = {
      pack: this.#pack,
      order: this.#recorded,
      ...results.total(),
      unusable: results.unusable + duplicates.size,
      failed: missing.size,
      passing: [...missing.values()].filter(({ lasting }) => !lasting).length,
    };
    const failures = new TextFile(join(this.#folder, FAILURES_NAME));
    await writePackIndex(this.#folder, header, this.#entries(results, duplicates, failures));
    failures.finish();
    await rm(this.#work, { recursive: true, force: true });
    return header;
  }

  /** The files that are here, in the order of the plan; those that are not go into another list. */
  async *#entries(
    results: PackResults,
    duplicates: ReadonlyMap<number, number>,
    failures: TextFile,
  ): AsyncGenerator<PackEntry> {
    const liked = new Set(duplicates.values());
    const ids = new Map<number, string>();
    for await (const [i, item] of this.#items()) {
      const { id, path, licence, author, url, category, group, changes, origin } = item;
      if (liked.has(i)) ids.set(i, id);
      const file = results.at(i);
      if (!file) {
        failures.append(`${JSON.stringify({ id, url, ...results.missingFiles.get(i) })}\n`);
        continue;
      }
      const like = duplicates.get(i);
      const unusable = like === undefined ? file.unusable : `${NEAR_DUPLICATE} ${ids.get(like)}`;
      const local = 'local' in origin ? origin.local : undefined;
      yield { id, path, ...file, licence, author, url, category, group, changes, local, unusable };
    }
  }
}

/** Files of an archive by their names there. */
type Members = Map<string, Arrival>;

/** A file that is to come: its number in the plan, its id, and where it will be. */
interface Arrival {
  readonly i: number;
  readonly id: string;
  readonly path: string;
}

/** What the system says where a file's name cannot be had: another's folder has it, or a file has the name of its folder. */
const NAME_CODES = new Set(['EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'ENAMETOOLONG']);

/** Such an error as a fault of the file; others as they are. */
function nameTaken(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return NAME_CODES.has(code) ? new InputFault(`cannot have its name beside other files of the pack (${code})`) : error;
}

/** Takes in files as they come, and writes down what becomes of each. */
class Arrivals {
  readonly #results: PackResults;
  readonly #examiner: Examiner;
  readonly #progress: Progress;
  /** Since the last that came. */
  #unanswered = 0;

  constructor(results: PackResults, examiner: Examiner, progress: Progress) {
    this.#results = results;
    this.#examiner = examiner;
    this.#progress = progress;
  }

  /** @throws FetchFault when the network is gone; whatever is no fault of the file. */
  async take({ i, id, path }: Arrival, get: () => Promise<Obtained>): Promise<void> {
    try {
      const { bytes, sha256 } = await get();
      this.#results.obtained(i, { bytes, sha256, ...(await this.#examiner.examine(path)) });
      this.#unanswered = 0;
      this.#progress.advance(1, []);
    } catch (caught) {
      const error = nameTaken(caught);
      if (!(error instanceof InputFault)) throw error;
      const lasting = !(error instanceof FetchFault) || error.kind !== 'passing';
      this.#results.missing(i, { reason: error.message, lasting });
      this.#progress.advance(1, [{ item: id, reason: error.message }]);
      this.#unanswered = lasting ? 0 : this.#unanswered + 1;
      if (this.#unanswered < MOST_UNANSWERED) return;
      throw new FetchFault(
        `${MOST_UNANSWERED} files in a row got no answer (${error.message}). Run the same command again when the network is well: it continues`,
        'passing',
      );
    }
  }
}
