import { readdir, readFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import type { RenderHost } from '../../../renderers/render-host.ts';

type ProcessType = 'gpu-process' | 'renderer';

/** Process ids of a host's browser by what they are. Linux only. */
export async function browserProcesses(host: RenderHost, type: ProcessType): Promise<number[]> {
  return browserProcessesBelow((await host.browser()).process()!.pid!, type);
}

/** The pages of a host that draw. */
export async function drawingPages(host: RenderHost): Promise<Page[]> {
  return (await (await host.browser()).pages()).filter(page => page.url().startsWith('http'));
}

/** Kills the processes of all pages: which of them draws, nobody can tell. */
export async function killPages(host: RenderHost): Promise<void> {
  const processes = await browserProcesses(host, 'renderer');
  expect(processes.length).toBeGreaterThan(0);
  for (const pid of processes) process.kill(pid, 'SIGKILL');
}

/** Process ids of browsers that a process started, or is. */
export async function browserProcessesBelow(ancestor: number, type: ProcessType): Promise<number[]> {
  const parents = new Map<number, number>();
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (command.includes(`--type=${type}`)) found.push(pid);
  }
  const descends = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === ancestor || descends(parents.get(pid)));
  return found.filter(descends);
}
