import { execFile } from 'node:child_process';
import { access, constants, readdir, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import { bundledChromium } from './bundled-chromium.ts';
import type { GlBackEnd } from './gl-back-ends.ts';
import { withLimit } from './time-limit.ts';

/** A browser to draw with, and how it came to be the one. */
export interface FoundBrowser {
  readonly path: string;
  readonly origin: 'named' | 'installed' | 'downloaded by puppeteer' | 'from npm';
  /** What it needs in its environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A back end that the browser can be started with. */
export type StartedBackEnd = Exclude<GlBackEnd, 'auto'>;

const NAMES = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome'];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The browser that is named (by option or environment), an installed one, the one that `npx puppeteer browsers install
 * chrome` fetched, or the one that npm brought: in this order.
 * @throws Error that says what to do, when there is none.
 */
export async function findBrowser(named: string | undefined): Promise<FoundBrowser> {
  const asked = named ?? (process.env.SHAPEMILL_BROWSER || process.env.PUPPETEER_EXECUTABLE_PATH || undefined);
  if (asked !== undefined) {
    const fault = await browserFault(asked);
    if (fault === undefined) return { path: asked, origin: 'named', environment: {} };
    throw new Error(`expected a Chrome or Chromium that can be run, got "${asked}" (${fault})`);
  }
  const installed = await firstBrowser([
    ...(process.env.PATH ?? '').split(delimiter).flatMap(folder => NAMES.map(name => join(folder, name))),
    ...PLACES,
  ]);
  if (installed) return { path: installed, origin: 'installed', environment: {} };
  const downloaded = await firstBrowser(await downloadedChromes());
  if (downloaded) return { path: downloaded, origin: 'downloaded by puppeteer', environment: {} };
  const bundled = await bundledChromium();
  if (bundled) return { ...bundled, origin: 'from npm' };
  throw new Error('found no Chrome or Chromium: install one, or run npx puppeteer browsers install chrome');
}

/** Chromes in puppeteer's cache, the newest first. */
async function downloadedChromes(): Promise<string[]> {
  const folder = join(process.env.PUPPETEER_CACHE_DIR ?? join(homedir(), '.cache', 'puppeteer'), 'chrome');
  const versions = (await readdir(folder).catch(() => [])).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return versions.flatMap(version => [
    join(folder, version, 'chrome-linux64', 'chrome'),
    join(folder, version, 'chrome-mac-arm64', 'Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing'),
    join(folder, version, 'chrome-mac-x64', 'Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing'),
  ]);
}

async function firstBrowser(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await browserFault(path)) === undefined) return path;
  return undefined;
}

const run = promisify(execFile);

/**
 * Why a file is no browser that can be started; undefined when it is one. Asked for its version, since a name says little:
 * there are folders of that name, programs for other machines, ones that lack libraries, and stubs that tell how to install
 * the browser.
 */
async function browserFault(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    const { stdout } = await run(path, ['--version'], { timeout: 30_000, killSignal: 'SIGKILL' });
    return /chrom/i.test(stdout) ? undefined : `its --version is "${stdout.trim().split('\n')[0]}"`;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr?.trim() || message).split('\n').at(-1);
  }
}

/** Ends a browser, also one that does not answer. */
export async function endBrowser(browser: Browser): Promise<void> {
  await withLimit(browser.close(), 5000, 'closing').catch(() => {});
  killBrowser(browser);
}

/**
 * Ends a browser with all its processes, which form a group: those that hang do not notice that the browser is gone. Of a
 * browser that has ended, only they are left.
 */
export function killBrowser(browser: Browser): void {
  const leader = browser.process()?.pid;
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // nothing of it is left
  }
}

/** How each back end is asked for (ANGLE's names; measured combinations, see docs/rendering.md). */
const BACK_END_ARGS: Readonly<Record<StartedBackEnd, readonly string[]>> = {
  vulkan: ['--use-angle=vulkan', '--enable-features=Vulkan', '--disable-vulkan-surface', '--ignore-gpu-blocklist'],
  egl: ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
  swiftshader: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
};

const ARGS = [
  '--no-sandbox', // the usual container runs as root, where Chromium's sandbox does not start
  '--disable-dev-shm-usage',
  '--no-zygote',
  '--force-color-profile=srgb',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  // Several pages draw at a time, and none is ever in front.
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--disable-backgrounding-occluded-windows',
  // A GPU process that dies is started again, however often, and pages may use it again.
  '--disable-gpu-process-crash-limit',
  '--disable-domain-blocking-for-3d-apis',
];

/** Mesa keeps its shaders in a file that it maps: where the disk has no room for it, the GPU process dies of it. */
const MESA_CACHE_BYTES = 16e6;

async function mesaSettings(): Promise<Record<string, string>> {
  const disk = await statfs(process.env.XDG_CACHE_HOME || join(homedir(), '.cache')).catch(() => undefined);
  return disk && disk.bavail * disk.bsize < MESA_CACHE_BYTES ? { MESA_SHADER_CACHE_DISABLE: 'true' } : {};
}

/**
 * Starts a browser without a window, with a profile of its own that goes when it ends.
 * @param signal ends it, also while it starts.
 */
export async function startBrowser(
  { path, environment }: FoundBrowser,
  backEnd: StartedBackEnd,
  signal?: AbortSignal,
): Promise<Browser> {
  // Loaded here: most commands start no browser, and it takes a third of a second.
  const { default: puppeteer } = await import('puppeteer-core');
  return puppeteer.launch({
    executablePath: path,
    env: { ...process.env, ...(await mesaSettings()), ...environment },
    headless: true,
    ...(signal && { signal }),
    pipe: true, // a browser whose pipe is cut ends itself: none outlives a process that was killed
    args: [...ARGS, ...BACK_END_ARGS[backEnd]],
    defaultViewport: null,
    // With network events on, every body also travels through DevTools: half the speed.
    networkEnabled: false,
    handleSIGINT: false, // ours to handle: a shard is put away first
    handleSIGTERM: false,
    handleSIGHUP: false,
    protocolTimeout: 0, // whoever draws watches for signs of life: in software an image may take many minutes
  });
}
