import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import glob from 'fast-glob';
import { z } from 'zod';
import type { BankKind } from './bank-kinds.ts';
import { unlessMissing } from './faults.ts';
import { SUBSETS } from './generate-options.ts';
import { isAlive } from './process-alive.ts';
import { RASTERISED } from './rendering.ts';
import { writeDurably } from './shard-writer.ts';
import { INDEX_NAMES } from './stage.ts';
import { UsageError } from './usage-error.ts';

/** What `run.json` records, and what a resume has to agree with. */
const runRecordSchema = z.strictObject({
  shapemill: z.string().describe('version that began the run'),
  command: z.array(z.string()),
  started: z.string().describe('ISO 8601'),
  configuration: z
    .record(z.string(), z.unknown())
    // Runs that are older than the choice of an engine.
    .transform((configuration): Record<string, unknown> => ({ ...RASTERISED, ...configuration })),
  assets: z.record(z.string(), z.string()).describe('digest of the photos and of banks from outside'),
  platform: z.strictObject({
    arch: z.string(),
    libvips: z.string(),
    sharp: z.string(),
  }),
  machine: z.strictObject({ node: z.string(), os: z.string(), cores: z.int() }),
  renderers: z.array(z.string()).optional().describe('what drew 3D scenes: WebGL renderer and browser'),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** Names that `--fresh` may meet: a folder with anything else is not ours to delete. */
const OURS: ReadonlySet<string> = new Set([
  'run.json',
  'banks',
  ...INDEX_NAMES,
  ...SUBSETS,
  'report',
  'panels',
  'locks',
  'README.md',
  'croissant.json',
  'attribution.csv',
]);

/** A folder that holds this is a run. */
const RECORD = 'run.json';

/** Lists of files, made before the record. */
const LISTS: ReadonlySet<string> = new Set(INDEX_NAMES);

/** One output folder, and where everything lies in it. */
export class RunFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** Folder of a bank in this run. */
  bank(kind: BankKind): string {
    return this.at('banks', kind);
  }

  async record(): Promise<RunRecord | undefined> {
    const text = await readFile(this.at(RECORD), 'utf8').catch(unlessMissing);
    if (text === undefined) return undefined;
    try {
      return runRecordSchema.parse(JSON.parse(text));
    } catch {
      throw new UsageError(`${this.at('run.json')}: expected a run record; delete the folder or give another --out`);
    }
  }

  /**
   * Begins the run, or agrees to continue it.
   * @throws UsageError when the folder holds a run with another recipe, seed, assets or platform (naming the first
   *   differences), or holds other things.
   */
  async begin(record: RunRecord): Promise<'new' | 'continued'> {
    const before = await this.record();
    if (before) {
      this.#refuse(differences(before, record));
      return 'continued';
    }
    await this.refuseForeign();
    await writeDurably(this.at('run.json'), JSON.stringify(record, null, 2));
    return 'new';
  }

  /** Looks whether a run that is here has this configuration; its assets are not looked at. @throws UsageError likewise. */
  async refuseOther(configuration: RunRecord['configuration']): Promise<void> {
    const before = await this.record();
    if (before) this.#refuse(differingValues(decisive(before.configuration), decisive(configuration)));
  }

  #refuse(what: readonly string[]): void {
    if (what.length === 0) return;
    throw new UsageError(
      `${this.path} holds a run that differs in ${what.slice(0, 4).join('; ')}. Give another --out, or --fresh to start over`,
    );
  }

  /** Records what draws this run's 3D scenes. @returns what drew them before. */
  async noteRenderer(renderer: string): Promise<readonly string[]> {
    const record = await this.record();
    const before = record?.renderers ?? [];
    if (record && !before.includes(renderer)) {
      await writeDurably(this.at(RECORD), JSON.stringify({ ...record, renderers: [...before, renderer] }, null, 2));
    }
    return before;
  }

  /**
   * Looks whether a run may be here, before anything is written or replaced.
   * @throws UsageError when the folder holds other things and no run.
   */
  async refuseForeign(): Promise<void> {
    const stranger = await this.#stranger();
    if (stranger === undefined) return;
    throw new UsageError(`${this.path} holds "${stranger}" and no run: give another --out, or an empty folder`);
  }

  /**
   * Makes a folder where the run is or will be, and takes it away again: permissions tell too little (root may do all, and
   * yet nobody can write into /proc), and photos are listed for minutes before the run writes.
   * @throws UsageError with the system's reason when nothing can be written there.
   */
  async refuseUnwritable(): Promise<void> {
    const trial = join(await nearestFolder(this.path), `${RECORD}.${hostname()}-${process.pid}.partial`);
    try {
      await mkdir(trial);
      await rmdir(trial);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // A full disk is nothing that another --out would be asked for: the run says so itself, and what it needs may fit.
      if (code === 'ENOSPC' || code === 'EDQUOT') return;
      throw new UsageError(
        `nothing can be written into ${dirname(trial)} (${message.split(',')[0]}): give another --out`,
      );
    }
  }

  /** Deletes the run. @throws UsageError when the folder holds anything that is not a run's. */
  async clear(): Promise<void> {
    const names = await entries(this.path);
    const stranger = names.find(name => !OURS.has(name) && !name.endsWith('.partial')) ?? (await this.#stranger());
    if (stranger !== undefined) {
      throw new UsageError(`--fresh: ${this.path} holds "${stranger}", which is not a run's; nothing was deleted`);
    }
    // The record goes last: without it, what is left would be taken for somebody else's.
    for (const name of names) if (name !== RECORD) await rm(this.at(name), { recursive: true, force: true });
    await rm(this.at(RECORD), { force: true });
  }

  /**
   * What lies here beside no run. Names prove nothing then: somebody's own pictures may lie in a folder called `photos`. A
   * list that was made just before the record is told by what it holds.
   */
  async #stranger(): Promise<string | undefined> {
    const names = await entries(this.path);
    if (names.includes(RECORD)) return undefined;
    for (const name of names) {
      const lists =
        LISTS.has(name) || [...LISTS].some(list => name.startsWith(`${list}.`) && name.endsWith('.partial'));
      if (!lists && !/^run\.json\..*\.partial$/.test(name)) return name;
      if (!lists) continue;
      const inside = await entries(this.at(name));
      if (!inside.every(file => /^(list\.jsonl|offsets\.bin|index\.json|.*\.partial)$/.test(file))) return name;
    }
    return undefined;
  }

  /**
   * Says that this process works on the folder, so that the same command started twice does not write twice.
   * @param range shards this process makes; all when left out. Disjoint ranges may work at the same time.
   * @returns a function that takes the word back.
   * @throws UsageError when a living process of this machine works on the same shards.
   */
  async lock(range: readonly [number, number] | undefined): Promise<() => Promise<void>> {
    const folder = this.at('locks');
    const own = `${hostname()}-${process.pid}.json`;
    const release = () => rm(join(folder, own), { force: true });
    // Said first, looked around after: of two that start at once at least one sees the other.
    await writeDurably(join(folder, own), JSON.stringify({ host: hostname(), pid: process.pid, range: range ?? null }));
    try {
      const others = await this.#othersAtWork(folder, own);
      for (const other of others) {
        if (!overlap(range, other.range ?? undefined)) continue;
        throw new UsageError(
          `process ${other.pid} on ${other.host} is working on ${this.path}: wait for it, or give both a disjoint --shard-range` +
            `; if that is no shapemill any more, delete its file in ${folder}`,
        );
      }
      if (others.length === 0) await this.#removeLeftovers();
    } catch (error) {
      await release();
      throw error;
    }
    return release;
  }

  /** The locks of living processes; those of dead ones of this machine are removed. */
  async #othersAtWork(folder: string, own: string): Promise<Lock[]> {
    const others: Lock[] = [];
    for (const name of await entries(folder)) {
      if (name === own || name.endsWith('.partial')) continue;
      const lock = lockSchema.safeParse(await readJson(join(folder, name)));
      if (!lock.success || (lock.data.host === hostname() && !isAlive(lock.data.pid))) {
        await rm(join(folder, name), { recursive: true, force: true });
      } else others.push(lock.data);
    }
    return others;
  }

  /** Removes what killed processes had begun; called while nobody else is at work. */
  async #removeLeftovers(): Promise<void> {
    // What lies in an unfinished folder goes with it. (A pattern that ends in /** would leave out the folder itself.)
    for (const path of await glob('**/*.partial', { cwd: this.path, onlyFiles: false, ignore: ['**/*.partial/*'] })) {
      // Some names end in the process that began them; one that is still to take its lock may be at it.
      const pid = /(\d+)\.partial$/.exec(path)?.[1];
      if (pid === undefined || !isAlive(Number(pid))) await rm(this.at(path), { recursive: true, force: true });
    }
  }
}

const lockSchema = z.strictObject({
  host: z.string(),
  pid: z.int().positive(),
  range: z.tuple([z.int(), z.int()]).nullable(),
});
type Lock = z.infer<typeof lockSchema>;

async function entries(folder: string): Promise<string[]> {
  return readdir(folder).catch(error => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new UsageError(`expected a folder, found a file: ${error.path}`);
    throw error;
  });
}

/** The folder itself, or the nearest above it that is there. */
async function nearestFolder(path: string): Promise<string> {
  return (await stat(path).catch(unlessMissing)) ? path : nearestFolder(dirname(path));
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function overlap(a: readonly [number, number] | undefined, b: readonly [number, number] | undefined): boolean {
  return !a || !b || (a[0] <= b[1] && b[0] <= a[1]);
}

/** Where two records disagree on what decides a run's content, as "name: was A, is B". */
function differences(before: RunRecord, now: RunRecord): string[] {
  const deciding = ({ configuration, assets, platform, shapemill }: RunRecord) => ({
    ...decisive(configuration),
    assets,
    platform,
    shapemill,
  });
  return differingValues(deciding(before), deciding(now));
}

/** Values of a configuration that no bytes depend on: whether fewer than a number are a shortage. */
const INDECISIVE = ['semanticShapesAsked', 'importsAsked'];

function decisive(configuration: RunRecord['configuration']): RunRecord['configuration'] {
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => !INDECISIVE.includes(name)));
}

/** Where two values differ, as "name: was A, is B", names of values in mappings joined by dots. */
export function differingValues(before: unknown, now: unknown, name = ''): string[] {
  if (isDeepStrictEqual(before, now)) return [];
  if (!isMapping(before) || !isMapping(now))
    return [`${name}: was ${JSON.stringify(before)}, is ${JSON.stringify(now)}`];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap(key =>
    differingValues(before[key], now[key], name ? `${name}.${key}` : key),
  );
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A path as people want to read it: relative to where they are, when that is shorter. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.length < path.length && !short.startsWith('../../') ? short : path;
}
