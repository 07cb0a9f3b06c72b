import { BANK_KINDS } from '../bank-kinds.ts';
import type { Fault } from '../faults.ts';
import { finishedShards } from '../finished-shards.ts';
import { SUBSETS } from '../generate-options.ts';
import type { RunFolder } from '../run-folder.ts';
import type { Sidecar } from '../shard-writer.ts';
import { SPLITS, type Split } from '../splits.ts';
import { STAGE_NAMES, type StageName } from '../stage-names.ts';
import { STAGES } from '../stages.ts';

/** What the sidecars of a stage come to. */
export interface StageFacts {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly splits: Readonly<Record<Split, number>>;
  readonly shards: number;
  readonly samples: number;
  readonly bytes: number;
  /** Time that its shards took, each from its first to its last sample. */
  readonly seconds: number;
  /** Its own tallies: looks, rejections by reason. */
  readonly counts: ReadonlyMap<string, number>;
  /** Items that were given up, each once. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}

/** Faults of a stage that are kept. */
const KEPT_FAULTS = 20;

/** The stages of a run that have finished shards, in the order they run. */
export async function stageFacts(folder: RunFolder): Promise<StageFacts[]> {
  const places = [
    ...BANK_KINDS.map(kind => ({ path: folder.bank(kind), split: undefined })),
    ...SUBSETS.flatMap(subset => SPLITS.map(split => ({ path: folder.at(subset, split), split }))),
  ];
  const tallies = new Map<string, Tally>();
  for (const { path, split } of places) {
    for await (const { sidecar } of finishedShards(path)) {
      const tally = tallies.get(sidecar.stage) ?? new Tally(sidecar.stage);
      tallies.set(sidecar.stage, tally);
      tally.add(sidecar, split);
    }
  }
  const order = STAGE_NAMES as readonly string[];
  return [...tallies.values()].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

class Tally implements StageFacts {
  readonly name: string;
  readonly splits: Record<Split, number> = { train: 0, val: 0, test: 0 };
  readonly counts = new Map<string, number>();
  shards = 0;
  samples = 0;
  bytes = 0;
  seconds = 0;
  readonly #faults = new Map<string, Fault>();

  constructor(name: string) {
    this.name = name;
  }

  get title(): string {
    return STAGES[this.name as StageName]?.title ?? this.name;
  }

  get unit(): string {
    return STAGES[this.name as StageName]?.unit ?? 'samples';
  }

  get faults(): Fault[] {
    return [...this.#faults.values()].slice(0, KEPT_FAULTS);
  }

  get faultCount(): number {
    return this.#faults.size;
  }

  add({ samples, bytes, seconds, counts, faults, items }: Sidecar, split: Split | undefined): void {
    this.shards++;
    this.samples += samples;
    this.bytes += bytes;
    this.seconds += seconds;
    if (split) this.splits[split] += samples;
    for (const item of items ?? []) this.splits[item.split]++;
    for (const [name, count] of Object.entries(counts)) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
    for (const fault of faults) this.#faults.set(fault.item, fault);
  }
}
