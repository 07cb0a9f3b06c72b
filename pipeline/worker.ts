import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Configuration } from './configuration.ts';
import { DamagedFile } from './faults.ts';
import { makePanelTest, type PanelTask } from './panels/panel-task.ts';
import { RenderPort } from './render-port.ts';
import { SceneAssets } from './scene-assets.ts';
import type { Stage, TaskResult } from './stage.ts';
import { STAGES } from './stages.ts';
import type { WorkMessage, WorkName } from './worker-pool.ts';

const configuration: Configuration = workerData;

const WORK: Readonly<Record<WorkName, Pick<Stage, 'run'>>> = {
  ...STAGES,
  panels: { run: (task, context) => makePanelTest(task as PanelTask, context) },
};

/** A worker thread's only entry: runs one task of one stage and hands its bytes over without a copy. */
export default async function work({ stage, task, banks, drawing }: WorkMessage) {
  let result: TaskResult;
  const port =
    drawing && new RenderPort(drawing.port, new SceneAssets(banks as Required<typeof banks>, drawing.webglRenderer));
  try {
    result = await WORK[stage].run(task, { configuration, banks, ...(port && { port }) });
  } catch (error) {
    // Of an error that crosses threads, the class is lost.
    if (error instanceof DamagedFile) return { damaged: error.message };
    throw error;
  } finally {
    port?.close();
  }
  return move({ [valueSymbol]: result, [transferableSymbol]: [result.bytes.buffer] } as never);
}
