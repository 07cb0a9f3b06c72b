import type { Bank } from './bank.ts';
import type { BankKind } from './bank-kinds.ts';
import type { Configuration } from './configuration.ts';
import type { Fault } from './faults.ts';
import type { PhotoIndex } from './photo-index.ts';
import type { RenderPort } from './render-port.ts';
import type { RunFolder } from './run-folder.ts';
import type { BankItem, Sidecar } from './shard-writer.ts';
import type { StageName } from './stage-names.ts';

/** The banks that scenes draw from, as far as they are finished. Their columns are shared with the workers, not copied. */
export type Banks = { readonly [K in BankKind]?: Bank };

/** File lists of a run: photos, meshes and panoramas, the folders given instead of extracting, pictures of segmentation data. */
export const INDEX_NAMES = [
  'photos',
  'shape-files',
  'texture-files',
  'material-files',
  'mesh-files',
  'environment-files',
  'segmentation-images',
  'semantic-images',
] as const;
export type IndexName = (typeof INDEX_NAMES)[number];

/** What a stage plans with, on the main thread. */
export interface PlanContext {
  readonly configuration: Configuration;
  readonly folder: RunFolder;
  readonly banks: Banks;
  /** The files that a stage takes in, in the order it looks at them. */
  readonly index: (name: IndexName) => Promise<PhotoIndex>;
  /** Says something that the user should know now, once. */
  readonly warn: (message: string) => void;
  /** The sidecar of a shard of this stage as soon as it is written; fails where another process has to write it. */
  readonly written: (shard: number) => Promise<Sidecar>;
}

/** One shard to be made: its place, and its tasks in the order of their samples. */
export interface ShardPlan<Task> {
  /** Number within the stage: what `--shard-range` counts. */
  readonly shard: number;
  /** Path without extension, relative to the run folder. */
  readonly path: string;
  readonly tasks: readonly Task[];
}

/** What a stage works with, in a worker thread. */
export interface WorkContext {
  readonly configuration: Configuration;
  readonly banks: Banks;
  /** For stages that draw: draws 3D scenes. */
  readonly port?: RenderPort;
}

/** How often what happened. */
export type Counts = Record<string, number>;

/** Adds counts to those of the same names, in place. */
export function addCounts(to: Counts, counts: Readonly<Counts>): void {
  for (const [name, count] of Object.entries(counts)) to[name] = (to[name] ?? 0) + count;
}

/** What a task gave: zero or more samples as a piece of a tar, and what happened on the way. */
export interface TaskResult {
  /** Whole tar entries; its buffer is handed over, not copied. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly samples: number;
  readonly faults: readonly Fault[];
  readonly counts: Readonly<Counts>;
  /** Bank stages: the samples as bank items, offsets counted from the start of `bytes`. */
  readonly items?: readonly BankItem[];
}

/** How much a stage has to do: for the plan that `--dry-run` prints, and for progress. */
export interface Estimate {
  readonly samples: number;
  readonly shards: number;
  /** Average bytes of a sample in its shard, label included, as measured on the starter photos (docs/performance.md). */
  readonly bytesPerSample: number;
  /** Seconds of one core for a sample, as measured there. */
  readonly secondsPerSample: number;
  /** What the user should know before the run: that the inputs will not give what is asked for. */
  readonly warning?: string;
}

/** A stage: plans shards on the main thread, makes their samples in workers. All stages are of this form. */
export interface Stage<Task = unknown> {
  readonly name: StageName;
  /** For the progress line: "natural shapes". */
  readonly title: string;
  /** What its samples are called. */
  readonly unit: BankKind | 'images';
  /** The banks that have to be finished before it starts. */
  readonly reads: readonly BankKind[];
  /** Whether a task may take gigabytes: then there are only as many at a time as threads. */
  readonly large?: boolean;
  /** Whether it needs a browser that draws 3D scenes. */
  readonly draws?: boolean;
  /** The bank it fills, if any. */
  readonly fills?: BankKind;
  /** How many samples are asked for, where that is no matter of the estimate; null: all that the inputs give. */
  asked?(configuration: Configuration): number | null;
  /** Whether fewer than asked are no shortage, but for none at all: at most so many are wanted. */
  atMost?(configuration: Configuration): boolean;
  /** Bank stages: how many shards there are when the inputs are used to the last. */
  shardCount?(context: Pick<PlanContext, 'configuration' | 'index' | 'banks'>): Promise<number>;
  estimate(context: Pick<PlanContext, 'configuration' | 'index'>): Promise<Estimate>;
  /** The shards in order, made as they are asked for. */
  plan(context: PlanContext): AsyncIterable<ShardPlan<Task>>;
  /** Makes one task's samples. Pure but for reading its inputs; throws only for faults of the environment. */
  run(task: Task, context: WorkContext): Promise<TaskResult>;
}
