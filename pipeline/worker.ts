import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Configuration } from './configuration.ts';
import { DamagedFile } from './faults.ts';
import { RenderPort } from './render-port.ts';
import { SceneAssets } from './scene-assets.ts';
import type { Stage, TaskResult } from './stage.ts';
import type { WorkMessage, WorkName } from './worker-pool.ts';

const configuration: Configuration = workerData;

/** With `import()` a thread of Node 20 does not find TypeScript, since tsx hooks it in the main thread only. */
const load = createRequire(import.meta.url);

/**
 * What does a piece of work. A thread loads a stage with its first task of it: all of them together would take as long as
 * everything else that a thread needs to start.
 */
function workOf(name: WorkName): Stage['run'] {
  if (name === 'panels') return load('./panels/panel-task.ts').makePanelTest;
  const exported: Record<string, Stage> = load(`./stages/${name}.ts`);
  return Object.values(exported).find(value => value.name === name)!.run;
}

/** A worker thread's only entry: runs one task of one stage and hands its bytes over without a copy. */
export default async function work({ stage, task, banks, drawing }: WorkMessage) {
  let result: TaskResult;
  const port =
    drawing && new RenderPort(drawing.port, new SceneAssets(banks as Required<typeof banks>, drawing.webglRenderer));
  try {
    result = await workOf(stage)(task, { configuration, banks, ...(port && { port }) });
  } catch (error) {
    // Of an error that crosses threads, the class is lost.
    if (error instanceof DamagedFile) return { damaged: error.message };
    throw error;
  } finally {
    port?.close();
  }
  return move({ [valueSymbol]: result, [transferableSymbol]: [result.bytes.buffer] } as never);
}
