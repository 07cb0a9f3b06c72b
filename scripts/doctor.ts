import { execFile } from 'node:child_process';
import { access, constants, readdir } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import glob from 'fast-glob';
import sharp from 'sharp';
import type { CommandModule } from 'yargs';
import { freeBytes } from '../pipeline/free-bytes.ts';
import { GENERATE_OPTIONS } from '../pipeline/generate-options.ts';
import { listPacks } from '../pipeline/packs/pack-store.ts';
import { bytesText } from '../pipeline/progress.ts';
import { VERSION } from '../pipeline/version.ts';
import { type FoundBrowser, findBrowser } from '../renderers/browser.ts';
import { defaultCacheFolder } from '../renderers/cache-place.ts';
import type { GlBackEnd } from '../renderers/gl-back-ends.ts';
import { startDrawing } from '../renderers/gl-probe.ts';
import { addOptions, readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';

/** One thing that was looked at: how it is, and what to do when it is not well. */
interface Finding {
  readonly what: string;
  readonly state: string;
  readonly advice?: string;
  /** Whether `generate` cannot run with it. */
  readonly fatal?: boolean;
}

const OPTIONS = { browser: GENERATE_OPTIONS.browser, gl: GENERATE_OPTIONS.gl } as const;

export const doctorCommand: CommandModule = {
  command: 'doctor',
  describe:
    'look at the machine: Node, libvips, threads, disk, browser, graphics card, asset packs, and what to do about what is missing',
  builder: argv =>
    addOptions(argv, OPTIONS)
      .example('$0 doctor', 'what "generate" would use')
      .example('$0 doctor --gl vulkan', 'whether this back end draws, and with what'),
  handler: async parsed => {
    const { browser, gl } = readOptions(OPTIONS, parsed);
    const findings = [
      ...(await machine()),
      await cache(),
      ...(await drawing(browser, gl)),
      ...(await packs()),
      await python(),
    ];
    const width = Math.max(...findings.map(({ what }) => what.length));
    for (const { what, state, advice, fatal } of findings) {
      console.log(`${fatal ? '✗' : advice ? '!' : '✓'} ${what.padEnd(width)}  ${state}`);
      if (advice) console.log(`  ${' '.repeat(width)}  → ${advice}`);
    }
    if (findings.some(finding => finding.fatal)) process.exitCode = ExitCode.failed;
  },
};

async function machine(): Promise<Finding[]> {
  const free = await freeBytes('out');
  const threads = availableParallelism();
  const pool = Number(process.env.UV_THREADPOOL_SIZE);
  return [
    { what: 'shapemill', state: VERSION },
    { what: 'node', state: process.version },
    { what: 'libvips', state: `${sharp.versions.vips} (sharp ${sharp.versions.sharp}, ${process.arch})` },
    {
      what: 'threads',
      state: `${threads} workers by default, ${pool} decoding threads`,
      ...(pool < 2 * threads && { advice: `unset UV_THREADPOOL_SIZE or set it to at least ${2 * threads}` }),
    },
    { what: 'memory', state: `${bytesText(freemem())} free of ${bytesText(totalmem())}` },
    {
      what: 'disk',
      state: `${bytesText(free)} free for out/`,
      ...(free < 1e9 && { advice: 'a run of 350,000 shapes takes about 30 GB: use --out on a larger disk' }),
    },
  ];
}

/** What is kept between runs: prepared meshes and panoramas, prefiltered light, npm's browser. */
async function cache(): Promise<Finding> {
  const folder = defaultCacheFolder();
  const entries = await glob('**', { cwd: folder, stats: true, suppressErrors: true });
  const bytes = entries.reduce((sum, { stats }) => sum + (stats?.size ?? 0), 0);
  return {
    what: 'cache',
    state:
      entries.length === 0
        ? `${folder}, empty: the first 3D run fills it`
        : `${folder}, ${entries.length} files, ${bytesText(bytes)}`,
  };
}

/** Whether 3D scenes can be drawn and with what: a browser is started to see. */
async function drawing(named: string | undefined, gl: GlBackEnd = 'auto'): Promise<Finding[]> {
  const seen = await graphics();
  const card: Finding = { what: 'graphics card', state: seen.text };
  let found: FoundBrowser;
  try {
    found = await findBrowser(named);
  } catch (error) {
    return [{ what: 'browser', state: (error as Error).message, advice: NO_BROWSER }, card];
  }
  try {
    const { browser, backEnd, webglRenderer, software } = await startDrawing(found, gl);
    const version = await browser.version();
    await browser.close();
    return [
      { what: 'browser', state: `${version} (${found.origin}: ${found.path})` },
      card,
      {
        what: 'WebGL',
        state: `${backEnd}, ${webglRenderer}: ${software ? 'software' : 'hardware'}`,
        ...(software && { advice: `${SOFTWARE}; ${hardwareAdvice(found, seen)}` }),
      },
    ];
  } catch (error) {
    return [
      { what: 'browser', state: `${found.origin}: ${found.path}` },
      card,
      { what: 'WebGL', state: (error as Error).message, advice: NO_BROWSER },
    ];
  }
}

const NO_BROWSER =
  '3D subsets cannot be made (--subsets shapes2d textures2d silhouettes can): install chromium or google-chrome, run npx puppeteer browsers install chrome, or give --browser PATH';
const SOFTWARE = 'the processor draws: nothing is wrong with the pictures, but they come at a few a second';

interface Graphics {
  readonly text: string;
  /** Device files of graphics cards. */
  readonly devices: readonly string[];
  /** Those that this user may not open. */
  readonly closed: readonly string[];
  /** Names of the EGL drivers that are installed. */
  readonly egl: readonly string[];
}

const EGL_FOLDER = '/usr/share/glvnd/egl_vendor.d';
const VULKAN_FOLDERS = ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d'];

/** Graphics devices and drivers as Linux shows them. */
async function graphics(): Promise<Graphics> {
  if (process.platform !== 'linux') return { text: `as ${process.platform} has it`, devices: [], closed: [], egl: [] };
  const devices = [...(await list('/dev/dri', /^renderD\d+$/)), ...(await list('/dev', /^(nvidia\d+|dxg)$/))];
  const closed: string[] = [];
  for (const device of devices) {
    await access(device, constants.R_OK | constants.W_OK).catch(() => closed.push(device));
  }
  const drivers = async (...folders: string[]) =>
    (await Promise.all(folders.map(folder => list(folder, /\.json$/)))).flat();
  const egl = await drivers(EGL_FOLDER);
  const vulkan = await drivers(...VULKAN_FOLDERS);
  const names = (paths: readonly string[]) => paths.map(path => path.replace(/^.*\/|\.json$/g, '')).join(' ') || 'none';
  return {
    text: `${devices.join(' ') || 'none at /dev/dri/renderD* or /dev/nvidia*'} (drivers for EGL: ${names(egl)}, for Vulkan: ${names(vulkan)})`,
    devices,
    closed,
    egl,
  };
}

async function list(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter(name => pattern.test(name))
    .sort()
    .map(name => join(folder, name));
}

/** What keeps a browser from the graphics card. */
function hardwareAdvice({ origin }: FoundBrowser, { devices, closed, egl }: Graphics): string {
  if (process.platform !== 'linux') return 'an installed Chrome reaches the graphics card';
  if (devices.length === 0)
    return 'no graphics card is seen here (a container has to be given it: --gpus all, or --device /dev/dri)';
  if (closed.length > 0) return `this user may not open ${closed.join(' ')}: join the groups render and video`;
  if (origin === 'from npm') return 'the browser from npm knows software only: install chromium or google-chrome';
  const nvidia = egl.find(path => path.includes('nvidia'));
  if (devices.some(device => device.includes('nvidia')) && nvidia && egl.length > 1)
    return `with NVIDIA's and Mesa's drivers side by side, set __EGL_VENDOR_LIBRARY_FILENAMES=${nvidia}, or try --gl vulkan`;
  return "install the card's EGL or Vulkan driver (in containers of NVIDIA: NVIDIA_DRIVER_CAPABILITIES=all), then try --gl vulkan and --gl egl";
}

async function packs(): Promise<Finding[]> {
  return (await listPacks()).map(({ pack, state, files, bytes }) =>
    state === 'not added'
      ? { what: pack.id, state: `not added (${pack.title})`, advice: `optional: npm run assets -- add ${pack.id}` }
      : { what: pack.id, state: `${files} files, ${bytesText(bytes)} (${pack.title})` },
  );
}

async function python(): Promise<Finding> {
  for (const command of ['python3', '/usr/bin/python3']) {
    const version = await promisify(execFile)(command, ['-c', 'import cv2; print(cv2.__version__)']).catch(
      () => undefined,
    );
    if (version)
      return { what: 'python + OpenCV', state: `${version.stdout.trim()} (${command}; benches compare with it)` };
  }
  return { what: 'python + OpenCV', state: 'not found', advice: 'optional, only benches compare with it' };
}
