import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { readRange } from '../bank.ts';
import { BANK_KINDS, type BankKind } from '../bank-kinds.ts';
import { DamagedFile, unlessMissing } from '../faults.ts';
import { finishedShards } from '../finished-shards.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import type { Provenance } from '../photo-index.ts';
import type { RunFolder } from '../run-folder.ts';
import { SPLITS, type Split } from '../splits.ts';
import { readTar } from '../tar.ts';
import { expressionTerms } from './licence-terms.ts';

/** A file that the card describes. */
export interface RunFile {
  /** Relative to the run. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A shard of a run. */
export interface RunShard extends RunFile {
  readonly tar: string;
  readonly stage: string;
  /** A bank's kind, or a subset with its split. */
  readonly bank?: BankKind;
  readonly subset?: Subset;
  readonly split?: Split;
  readonly samples: number;
  readonly faults: number;
}

/** The list of a condition's panel tests. */
export interface PanelList extends RunFile {
  readonly condition: string;
  readonly tests: number;
}

/** What a run holds that is complete. */
export interface RunContents {
  readonly shards: readonly RunShard[];
  readonly panels: readonly PanelList[];
}

/** Looks at names and sidecars only. */
export async function contentsOf(run: RunFolder): Promise<RunContents> {
  const shards: RunShard[] = [];
  const add = async (folder: readonly string[], place: Pick<RunShard, 'bank' | 'subset' | 'split'>) => {
    for await (const { name, tar, sidecar } of finishedShards(run.at(...folder))) {
      const { stage, samples, bytes, sha256, faults } = sidecar;
      const path = [...folder, `${name}.tar`].join('/');
      shards.push({ ...place, path, tar, stage, samples, bytes, sha256, faults: faults.length });
    }
  };
  for (const bank of BANK_KINDS) await add(['banks', bank], { bank });
  for (const subset of SUBSETS) for (const split of SPLITS) await add([subset, split], { subset, split });

  const panels: PanelList[] = [];
  for (const condition of ((await readdir(run.at('panels')).catch(unlessMissing)) ?? []).sort()) {
    const path = `panels/${condition}/panels.jsonl`;
    const facts = await stat(run.at(path)).catch(unlessMissing);
    if (!facts) continue;
    const hash = createHash('sha256');
    let tests = 0;
    for await (const chunk of createReadStream(run.at(path))) {
      hash.update(chunk);
      for (const byte of chunk as Buffer) if (byte === 0x0a) tests++;
    }
    panels.push({ condition, path, tests, bytes: facts.size, sha256: hash.digest('hex') });
  }
  return { shards, panels };
}

/** A photo, mesh, panorama or picture that something of the run was made from. */
export interface Source extends Provenance {
  readonly id: string;
}

/** A source, and the labels that name it, counted by place: `banks/shapes`, `shapes2d`, `panels`. */
export interface UsedSource extends Source {
  readonly uses: Map<string, number>;
}

/** What the labels of a run say of where it comes from. */
export interface Sources {
  /** By pack and file, each once. */
  readonly used: readonly UsedSource[];
  /** Images by the share-alike licences that meet in them, joined by " + ", where there are several. */
  readonly meetings: ReadonlyMap<string, number>;
}

/**
 * Reads every label of a run, one at a time; kept is each source once.
 * @param onLabels called now and then with the number of labels read.
 */
export async function sourcesOf(
  run: RunFolder,
  { shards, panels }: RunContents,
  signal: AbortSignal,
  onLabels: (labels: number) => void = () => {},
): Promise<Sources> {
  const tally = new Tally(labels => {
    signal.throwIfAborted();
    onLabels(labels);
  });
  for (const { tar, bank, subset } of shards) {
    for await (const { name, offset, size } of readTar(tar)) {
      if (name.slice(name.indexOf('.')) !== '.json') continue;
      tally.add(parsed(await readRange(tar, offset, size), tar), bank ? `banks/${bank}` : subset!);
    }
  }
  for (const { path } of panels) {
    const lines = createInterface({ input: createReadStream(run.at(path)) });
    for await (const line of lines) tally.add(parsed(Buffer.from(line), run.at(path)), 'panels');
  }
  return tally.result();
}

function parsed(bytes: Buffer, path: string): AnyLabel {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new DamagedFile(`${path}: a label is not what was written`);
  }
}

/** What all labels have of where they come from; a bank item has one source, or several (material), a sample several. */
export interface AnyLabel {
  readonly id?: string;
  readonly photo?: { readonly id: string };
  readonly panorama?: string;
  readonly provenance?: Provenance;
  readonly sources?: readonly (
    | (Provenance & { readonly id: string; readonly photo?: string | undefined })
    | { readonly photo: string; readonly provenance: Provenance }
  )[];
}

/** What a source is known by. */
export const sourceKey = (pack: string, file: string) => `${pack}\0${file}`;

/** The sources that a label names. */
export function namedSources({ id, photo, panorama, provenance, sources }: AnyLabel): Source[] {
  if (provenance) return [sourceOf(photo?.id ?? panorama ?? fileOf(id!), provenance)];
  return (sources ?? []).map(source =>
    'provenance' in source
      ? sourceOf(source.photo, source.provenance)
      : sourceOf(source.photo ?? fileOf(source.id), source),
  );
}

/** The id of the file that a bank item was made from, as the list of sources has it. */
export const fileOf = (item: string) => item.replace(/-[a-z]\d+$/, '');

function sourceOf(id: string, { pack, file, licence, author, url, changes }: Provenance): Source {
  return { id, pack, file, licence, author, url, ...(changes !== undefined && { changes }) };
}

class Tally {
  readonly #used = new Map<string, UsedSource>();
  readonly #meetings = new Map<string, number>();
  readonly #copyleft = new Map<string | null, readonly string[]>();
  readonly #onLabels: (labels: number) => void;
  #labels = 0;

  constructor(onLabels: (labels: number) => void) {
    this.#onLabels = onLabels;
  }

  /** A label names a source, however often it does so. */
  add(label: AnyLabel, place: string): void {
    const named = new Map(namedSources(label).map(source => [sourceKey(source.pack, source.file), source]));
    for (const [key, source] of named) {
      let used = this.#used.get(key);
      if (!used) {
        used = { ...source, uses: new Map() };
        this.#used.set(key, used);
      }
      used.uses.set(place, (used.uses.get(place) ?? 0) + 1);
    }
    if (!place.startsWith('banks/')) this.#meet([...named.values()]);
    this.#labels++;
    if (this.#labels % 1000 === 0) this.#onLabels(this.#labels);
  }

  result(): Sources {
    const used = [...this.#used.values()];
    used.sort((a, b) => compare(a.pack, b.pack) || compare(a.file, b.file));
    return { used, meetings: new Map([...this.#meetings].sort(([a, n], [b, m]) => m - n || compare(a, b))) };
  }

  #meet(sources: readonly Source[]): void {
    const licences = new Set(sources.flatMap(({ licence }) => this.#copyleftOf(licence)));
    if (licences.size < 2) return;
    const key = [...licences].sort().join(' + ');
    this.#meetings.set(key, (this.#meetings.get(key) ?? 0) + 1);
  }

  #copyleftOf(expression: string | null): readonly string[] {
    let ids = this.#copyleft.get(expression);
    if (!ids) {
      const { demands, licences } = expressionTerms(expression);
      const all = licences.filter(licence => licence.demands.includes('share-alike')).map(({ id }) => id);
      ids = demands.includes('share-alike') ? all : [];
      this.#copyleft.set(expression, ids);
    }
    return ids;
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
