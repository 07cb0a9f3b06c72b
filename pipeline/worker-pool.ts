import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import sharp from 'sharp';
import type { RenderHost } from '../renderers/render-host.ts';
import type { Configuration } from './configuration.ts';
import { DamagedFile } from './faults.ts';
import { serveRenderPort } from './render-port.ts';
import type { Banks, TaskResult } from './stage.ts';
import type { StageName } from './stage-names.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What workers do: the stages' tasks, and panel tests. */
export type WorkName = StageName | 'panels';

/** What is posted to a worker. Bank columns are shared memory, so a message stays small. */
export interface WorkMessage {
  readonly stage: WorkName;
  readonly task: unknown;
  readonly banks: Banks;
  /** For stages that draw. */
  readonly drawing?: { readonly port: MessagePort; readonly webglRenderer: string };
}

/** TypeScript for `require`, as at the door. By its place: a name would be looked for from the folder that the command is given in. */
const TSX = createRequire(import.meta.url).resolve('tsx/cjs');

/**
 * Tasks of a thread at a time: while libvips decodes or encodes for one, its pixels are worked on for the other. One alone
 * leaves a core idle for a fifth of the time, since a picture goes from thread to thread some two hundred times.
 */
const TASKS_A_THREAD = 2;

/** Threads that work on pixels, started with the first task; one libvips thread a picture. */
export class WorkerPool {
  readonly size: number;
  /** How many tasks they work on at a time. */
  readonly tasks: number;
  readonly #start: () => Piscina<WorkMessage, TaskResult | { damaged: string }>;
  #piscina: Piscina<WorkMessage, TaskResult | { damaged: string }> | undefined;

  constructor(configuration: Configuration, workers = availableParallelism()) {
    this.size = workers;
    this.tasks = TASKS_A_THREAD * workers;
    // libvips is one per process: its settings hold for all workers. Nothing is decoded twice, so it need not cache.
    sharp.concurrency(1);
    sharp.cache(false);
    this.#start = () =>
      new Piscina({
        filename: fileURLToPath(new URL('./worker.ts', import.meta.url)),
        execArgv: ['--require', TSX],
        minThreads: workers,
        maxThreads: workers,
        concurrentTasksPerWorker: TASKS_A_THREAD,
        workerData: configuration,
        // A thread that waits for its next task polls shared memory instead of sleeping in the event loop otherwise.
        atomics: 'disabled',
      });
  }

  /**
   * @param signal nobody waits for the answer after it; the work on it goes on until it is done, or the pool is closed.
   * @param host draws for stages that need it.
   */
  async run(message: Omit<WorkMessage, 'drawing'>, signal: AbortSignal, host?: RenderHost): Promise<TaskResult> {
    if (!host) return this.#answer(message, [], signal);
    const { port1, port2 } = new MessageChannel();
    serveRenderPort(port1, host);
    try {
      const drawing = { port: port2, webglRenderer: host.facts.webglRenderer };
      return await this.#answer({ ...message, drawing }, [port2], signal);
    } finally {
      port1.close();
    }
  }

  async #answer(message: WorkMessage, transferList: MessagePort[], signal: AbortSignal): Promise<TaskResult> {
    this.#piscina ??= this.#start();
    // Without the signal: Piscina would end the thread, and start another with everything that it loads.
    const answer = await unlessAborted(this.#piscina.run(message, { transferList }), signal);
    if ('damaged' in answer) throw new DamagedFile(answer.damaged);
    return answer;
  }

  /** Ends the threads at once. */
  async close(): Promise<void> {
    await this.#piscina?.destroy();
  }
}
