import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Piscina } from 'piscina';
import sharp from 'sharp';
import type { Configuration } from './configuration.ts';
import { DamagedFile } from './faults.ts';
import type { Banks, TaskResult } from './stage.ts';
import type { StageName } from './stage-names.ts';

/** What is posted to a worker. Bank columns are shared memory, so a message stays small. */
export interface WorkMessage {
  readonly stage: StageName;
  readonly task: unknown;
  readonly banks: Banks;
}

/** By its place: a name would be looked for from the folder that the command is given in. */
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Threads that work on pixels; one libvips thread each. */
export class WorkerPool {
  readonly size: number;
  readonly #piscina: Piscina<WorkMessage, TaskResult | { damaged: string }>;

  constructor(configuration: Configuration, workers = availableParallelism()) {
    this.size = workers;
    // libvips is one per process: its settings hold for all workers. Nothing is decoded twice, so it need not cache.
    sharp.concurrency(1);
    sharp.cache(false);
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./worker.ts', import.meta.url)),
      execArgv: ['--import', TSX],
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: 1,
      workerData: configuration,
      // A thread that waits for its next task polls shared memory instead of sleeping in the event loop otherwise.
      atomics: 'disabled',
    });
  }

  async run(message: WorkMessage, signal: AbortSignal): Promise<TaskResult> {
    const answer = await this.#piscina.run(message, { signal });
    if ('damaged' in answer) throw new DamagedFile(answer.damaged);
    return answer;
  }

  /** Ends the threads at once. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
