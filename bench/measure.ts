import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RunSettings } from '../pipeline/generate.ts';

/** What every bench may be told. */
export interface BenchSettings {
  /** Folder, glob or pack of photos instead of the starter photos. */
  readonly photos: string | undefined;
  /** How many photos, images or samples; each bench has its own default. */
  readonly count: number | undefined;
  /** What draws 3D scenes. */
  readonly browser: string | undefined;
  readonly gl: string | undefined;
  /** Segmentation data, as `--segmentation` takes them. */
  readonly segmentation: string | undefined;
  /** Only scenes whose name holds this. */
  readonly scenes: string | undefined;
  /** Folder of a report. */
  readonly out: string | undefined;
}

/**
 * CPU seconds (user and system, all threads of this process) that a piece of work takes: what one core would need, on a
 * quiet machine and on a busy one.
 */
export async function cpuSeconds<T>(work: () => Promise<T> | T): Promise<{ seconds: number; result: T }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (user + system) / 1e6, result };
}

/** How a bench runs the pipeline: all of it, in a folder of its own. */
export function runSettings(out: string, drawing: RunSettings['drawing'] = { requireGpu: false }): RunSettings {
  return {
    out,
    workers: undefined,
    stages: undefined,
    range: undefined,
    fresh: false,
    drawing,
    command: ['bench'],
  };
}

/** Results in order, one after the other: as a worker works. */
export async function oneByOne<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** One line of a bench: so many things in so many seconds. */
export interface Row {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
  /** What else is worth saying: the yield, say. */
  readonly note?: string;
}

/** Prints `ours 12.3 photos/s` and the like, with each row's time beside ours. */
export function printRows(unit: string, rows: readonly Row[]): void {
  const ours = rows[0]!.seconds / rows[0]!.count;
  for (const { name, count, seconds, note } of rows) {
    const each = seconds / count;
    const ratio = name === 'ours' ? '' : `${(each / ours).toFixed(each / ours < 10 ? 2 : 0)} × ours`;
    console.log(
      `${name.padEnd(9)}${(1 / each).toFixed(each > 1 ? 3 : 1).padStart(9)} ${unit}/s ${(1000 * each).toFixed(1).padStart(9)} ms each  ${ratio.padEnd(13)}${note ?? ''}`,
    );
  }
}

/** What the Python scripts print. */
export interface PythonResult {
  readonly seconds: number;
  readonly [count: string]: number;
}

/** Runs a script of bench/python with the first Python that has OpenCV; undefined, and a line that says so, without one. */
export async function runPython(script: string, args: readonly string[]): Promise<PythonResult | undefined> {
  const run = promisify(execFile);
  for (const python of ['python3', '/usr/bin/python3']) {
    const has = await run(python, ['-c', 'import cv2']).catch(() => undefined);
    if (!has) continue;
    const path = fileURLToPath(new URL(`./python/${script}`, import.meta.url));
    const { stdout } = await run(python, [path, ...args], { maxBuffer: 1 << 26 });
    return JSON.parse(stdout);
  }
  console.log('python   skipped: no python3 with OpenCV (cv2) on this machine');
  return undefined;
}
