import type { RenderHost } from '../renderers/render-host.ts';
import type { Fault } from './faults.ts';
import { Room } from './room.ts';
import { type BankItem, readSidecar, ShardWriter, type Sidecar } from './shard-writer.ts';
import {
  addCounts,
  type Banks,
  type Counts,
  type PlanContext,
  type ShardPlan,
  type Stage,
  type TaskResult,
} from './stage.ts';
import { UsageError } from './usage-error.ts';
import type { WorkerPool } from './worker-pool.ts';

/** What happens while a stage runs, for the progress line. */
export interface StageEvents {
  /** A shard that was complete before this process began. */
  found(sidecar: Sidecar): void;
  /** A task's samples are written. */
  made(result: { samples: number; faults: readonly Fault[] }): void;
}

export interface StageRun {
  readonly stage: Stage;
  readonly context: Omit<PlanContext, 'written'>;
  readonly pool: WorkerPool;
  /** Draws, for stages that need it; started for the first shard that is not there yet. */
  readonly host: (() => Promise<RenderHost>) | undefined;
  readonly signal: AbortSignal;
  readonly events: StageEvents;
  /** Only shards first..last are made here; the others are somebody else's. */
  readonly range: readonly [number, number] | undefined;
  /** Bank stages stop after the shard that completes so many samples; scene stages run through their plan. */
  readonly enough: number;
}

type Outcome = { readonly result: TaskResult } | { readonly error: unknown };

/** Sent to the workers, not yet written. `done` never rejects: a failure is looked at when its turn comes. */
interface Flight {
  readonly done: Promise<Outcome>;
}

/**
 * What the planner hands to the writer: a shard to be made with its flights in order, one that is there already, or a gap
 * that another process fills.
 */
type Work = { plan: ShardPlan<unknown>; flights: AsyncIterable<Flight> } | { complete: Sidecar } | 'gap';

/**
 * Runs a stage: plans shards, keeps the workers busy across shard borders with a bounded number of tasks in flight, and
 * writes results in the order of the plan, whichever worker is first. So a shard's bytes do not depend on the workers.
 */
export async function runShards(run: StageRun): Promise<{ samples: number; sidecars: Sidecar[] }> {
  const { stage, signal, events } = run;
  const shards = new ShardLedger(run);
  const room = new Room<Outcome>(stage.large ? run.pool.size : run.pool.tasks, bytesOf);
  const stop = new AbortController();
  const working = AbortSignal.any([signal, stop.signal]);
  const sidecars: Sidecar[] = [];
  let samples = 0;
  let gaps = false;
  const queue = new Handover<Work>();
  const planning = planWork(run, shards, room, queue, working).then(
    () => queue.end(),
    error => queue.fail(error),
  );
  try {
    for await (const work of queue) {
      if (work === 'gap') {
        gaps = true;
        continue;
      }
      let sidecar: Sidecar;
      if ('complete' in work) {
        sidecar = work.complete;
        events.found(sidecar);
      } else {
        sidecar = await writeShard(run, work.plan, work.flights, room);
      }
      shards.add(sidecar);
      sidecars.push(sidecar);
      samples += sidecar.samples;
      // Behind a gap nobody here knows how many items come before: the whole range is made, finalizing cuts.
      if (stage.fills && !gaps && samples >= run.enough) break;
    }
  } finally {
    stop.abort();
    shards.giveUp();
    room.open();
    await planning;
  }
  signal.throwIfAborted();
  return { samples, sidecars };
}

/** Walks the plan and sends tasks to the workers, as far as there is room. */
async function planWork(
  run: StageRun,
  ledger: ShardLedger,
  room: Room<Outcome>,
  queue: Handover<Work>,
  signal: AbortSignal,
): Promise<void> {
  const { stage, context, pool, range } = run;
  for await (const plan of stage.plan({ ...context, written: shard => ledger.written(shard) })) {
    if (signal.aborted) return;
    const complete = await readSidecar(context.folder.at(plan.path), stage.name, plan.shard);
    const ours = !range || (plan.shard >= range[0] && plan.shard <= range[1]);
    if (complete) queue.push({ complete });
    else if (ours) {
      const host = await run.host?.();
      const flights = new Handover<Flight>();
      queue.push({ plan, flights });
      for (const task of plan.tasks) {
        await room.enter();
        if (signal.aborted) break;
        const message = { stage: stage.name, task, banks: banksFor(stage, context.banks) };
        flights.push({ done: room.keep(settled(pool.run(message, signal, host))) });
      }
      flights.end();
    } else queue.push('gap');
    // Later shards are not this process's affair: rounds behind them may need shards that others make.
    if (range && plan.shard >= range[1]) return;
  }
}

function banksFor(stage: Stage, banks: Banks): Banks {
  return Object.fromEntries(stage.reads.map(kind => [kind, banks[kind]]));
}

async function settled(promise: Promise<TaskResult>): Promise<Outcome> {
  try {
    return { result: await promise };
  } catch (error) {
    return { error };
  }
}

/** What a result takes beside its samples. */
const BYTES_A_RESULT = 4096;

function bytesOf(outcome: Outcome): number {
  return BYTES_A_RESULT + ('result' in outcome ? outcome.result.bytes.length : 0);
}

async function writeShard(
  { stage, context, events, signal }: StageRun,
  plan: ShardPlan<unknown>,
  flights: AsyncIterable<Flight>,
  room: Room<Outcome>,
): Promise<Sidecar> {
  const started = performance.now();
  const writer = await ShardWriter.create(context.folder.at(plan.path));
  const faults: Fault[] = [];
  const counts: Counts = {};
  const items: BankItem[] = [];
  let samples = 0;
  try {
    for await (const { done } of flights) {
      const outcome = await done;
      room.leave(outcome);
      signal.throwIfAborted();
      if ('error' in outcome) throw outcome.error;
      const { result } = outcome;
      for (const item of result.items ?? []) items.push(shifted(item, writer.bytes));
      await writer.append(result.bytes);
      samples += result.samples;
      faults.push(...result.faults);
      addCounts(counts, result.counts);
      events.made(result);
    }
    signal.throwIfAborted();
    const seconds = Number(((performance.now() - started) / 1000).toFixed(3));
    const facts = { stage: stage.name, shard: plan.shard, samples, seconds, faults, counts: sorted(counts) };
    return await writer.finish(stage.fills ? { ...facts, items } : facts);
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

function shifted(item: BankItem, by: number): BankItem {
  return { ...item, image: [item.image[0] + by, item.image[1]], label: [item.label[0] + by, item.label[1]] };
}

function sorted(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The shards of a stage that are complete, and who waits for one. */
class ShardLedger {
  readonly #run: StageRun;
  readonly #sidecars = new Map<number, Sidecar>();
  readonly #waiting = new Map<number, ((sidecar: Sidecar | undefined) => void)[]>();
  #ended = false;

  constructor(run: StageRun) {
    this.#run = run;
  }

  add(sidecar: Sidecar): void {
    this.#sidecars.set(sidecar.shard, sidecar);
    for (const tell of this.#waiting.get(sidecar.shard) ?? []) tell(sidecar);
    this.#waiting.delete(sidecar.shard);
  }

  async written(shard: number): Promise<Sidecar> {
    const known = this.#sidecars.get(shard);
    if (known) return known;
    const { range, stage } = this.#run;
    if (range && (shard < range[0] || shard > range[1])) {
      throw new UsageError(
        `${stage.name}: shard ${shard} is needed first and lies outside --shard-range ${range[0]}..${range[1]}: ` +
          'let the process that makes it finish, then run this again',
      );
    }
    const sidecar = this.#ended
      ? undefined
      : await new Promise<Sidecar | undefined>(tell => {
          this.#waiting.set(shard, [...(this.#waiting.get(shard) ?? []), tell]);
        });
    if (!sidecar) throw new Error('planning ended');
    return sidecar;
  }

  /** Nothing more will be written: whoever waits is let go. */
  giveUp(): void {
    this.#ended = true;
    for (const tells of this.#waiting.values()) for (const tell of tells) tell(undefined);
    this.#waiting.clear();
  }
}

/** A queue between one producer and one consumer. */
class Handover<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #ended = false;
  #error: unknown;
  #wake: () => void = () => {};

  push(value: T): void {
    this.#values.push(value);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      if (this.#values.length > 0) {
        yield this.#values.shift()!;
        continue;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
    }
  }
}
