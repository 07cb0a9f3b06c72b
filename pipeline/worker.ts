import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Configuration } from './configuration.ts';
import type { TaskResult } from './stage.ts';
import { STAGES } from './stages.ts';
import type { WorkMessage } from './worker-pool.ts';

const configuration: Configuration = workerData;

/** A worker thread's only entry: runs one task of one stage and hands its bytes over without a copy. */
export default async function work({ stage, task, banks }: WorkMessage) {
  const result: TaskResult = await STAGES[stage].run(task, { configuration, banks });
  return move({ [valueSymbol]: result, [transferableSymbol]: [result.bytes.buffer] } as never);
}
