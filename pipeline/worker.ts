import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Configuration } from './configuration.ts';
import { DamagedFile } from './faults.ts';
import type { TaskResult } from './stage.ts';
import { STAGES } from './stages.ts';
import type { WorkMessage } from './worker-pool.ts';

const configuration: Configuration = workerData;

/** A worker thread's only entry: runs one task of one stage and hands its bytes over without a copy. */
export default async function work({ stage, task, banks }: WorkMessage) {
  let result: TaskResult;
  try {
    result = await STAGES[stage].run(task, { configuration, banks });
  } catch (error) {
    // Of an error that crosses threads, the class is lost.
    if (error instanceof DamagedFile) return { damaged: error.message };
    throw error;
  }
  return move({ [valueSymbol]: result, [transferableSymbol]: [result.bytes.buffer] } as never);
}
