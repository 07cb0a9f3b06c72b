import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../bin/shapemill.cjs', import.meta.url));

/** How a command ended, with all it said. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs: its process, and its end. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ending>;
}

/** Starts the real command line as a process of its own. */
export function start(args: readonly string[], environment: Record<string, string> = {}, cwd = process.cwd()): Running {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    cwd,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', text => {
    stdout += text;
  });
  child.stderr.on('data', text => {
    stderr += text;
  });
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended };
}

/** Runs a command to its end. */
export function shapemill(...args: string[]): Promise<Ending> {
  return start(args).ended;
}

/** Runs `generate` and expects it to end with `code`, so that a failure shows what the command said. */
export async function generate(args: readonly string[], code = 0): Promise<Ending> {
  const ending = await shapemill('generate', ...args);
  if (ending.code !== code) {
    throw new Error(`expected exit code ${code}, got ${ending.code ?? ending.signal}\n${ending.stderr}`);
  }
  return ending;
}

/** What a command said to people: standard error without its structured log lines. */
export function complaint({ stderr }: Ending): string {
  return stderr
    .split('\n')
    .filter(line => line.trim() !== '' && !line.startsWith('{'))
    .join('\n');
}

/** An empty folder that goes away after the last test of the file that asks for it, at its top. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shapemill-test-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** All files below a folder, sorted, relative to it. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * All that a run made, by path: sidecars as JSON without `seconds`, every other file as its sha256. Left out is what may
 * differ between equal runs: the record of the machine and the time, the description with the date, pages with the folder's
 * name, unfinished files.
 */
export async function contentOf(run: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const file of await filesIn(run)) {
    if (/^(run\.json|croissant\.json|report|locks)/.test(file) || isPartial(file)) continue;
    const bytes = await readFile(join(run, file));
    content[file] = /-\d{6}\.json$/.test(file) ? withoutSeconds(bytes.toString()) : sha256(bytes);
  }
  return content;
}

/** Whether a file, or the folder it lies in, is something that was not finished. */
export function isPartial(file: string): boolean {
  return /\.partial(\/|$)/.test(file);
}

function withoutSeconds(sidecar: string): string {
  const { seconds, ...facts } = JSON.parse(sidecar);
  if (typeof seconds !== 'number') throw new Error('expected a sidecar with seconds');
  return JSON.stringify(facts);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Shards of a run that are not what their sidecar says, or have none: there should never be any, at no moment. */
export async function damagedShards(run: string): Promise<string[]> {
  const damaged: string[] = [];
  for (const file of await filesIn(run)) {
    if (!file.endsWith('.tar')) continue;
    const bytes = await readFile(join(run, file));
    const sidecar = await readFile(join(run, file.replace(/\.tar$/, '.json')), 'utf8').catch(() => 'null');
    const facts = JSON.parse(sidecar) as { bytes: number; sha256: string } | null;
    if (facts?.bytes !== bytes.length || facts.sha256 !== sha256(bytes)) damaged.push(file);
  }
  return damaged;
}

/** The sidecars of a run by path, parsed. */
export async function sidecarsOf(run: string): Promise<Record<string, SidecarFacts>> {
  const sidecars: Record<string, SidecarFacts> = {};
  for (const file of await filesIn(run)) {
    if (/-\d{6}\.json$/.test(file)) sidecars[file] = JSON.parse(await readFile(join(run, file), 'utf8'));
  }
  return sidecars;
}
export interface SidecarFacts {
  readonly stage: string;
  readonly samples: number;
  readonly faults: readonly { item: string; reason: string }[];
  readonly counts: Record<string, number>;
  readonly items?: readonly { id: string; source: string; split: string; rank: number }[];
}

/** Whether a process says that it works on a run. */
export async function isLocked(run: string): Promise<boolean> {
  return (await filesIn(join(run, 'locks'))).some(file => file.endsWith('.json'));
}

/** Waits until something holds, looking every few milliseconds; gives up when `unless` comes first. */
export async function until(holds: () => Promise<boolean> | boolean, unless: Promise<unknown>): Promise<boolean> {
  let over = false;
  unless.then(() => {
    over = true;
  });
  while (!over) {
    if (await holds()) return true;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  return false;
}
