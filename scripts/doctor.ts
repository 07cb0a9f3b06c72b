import { execFile } from 'node:child_process';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { CommandModule } from 'yargs';
import { freeBytes } from '../pipeline/generate.ts';
import { listPacks } from '../pipeline/packs/pack-store.ts';
import { bytesText } from '../pipeline/progress.ts';
import { VERSION } from '../pipeline/version.ts';
import { readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';

/** One thing that was looked at: how it is, and what to do when it is not well. */
interface Finding {
  readonly what: string;
  readonly state: string;
  readonly advice?: string;
  /** Whether `generate` cannot run with it. */
  readonly fatal?: boolean;
}

export const doctorCommand: CommandModule = {
  command: 'doctor',
  describe: 'look at the machine: Node, libvips, threads, disk, asset packs, and what to do about what is missing',
  handler: async parsed => {
    readOptions({}, parsed);
    const findings = [...(await machine()), ...(await packs()), await python()];
    for (const { what, state, advice, fatal } of findings) {
      console.log(`${fatal ? '✗' : advice ? '!' : '✓'} ${what.padEnd(16)} ${state}`);
      if (advice) console.log(`  ${' '.repeat(16)} → ${advice}`);
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
      ...(pool < threads && { advice: `unset UV_THREADPOOL_SIZE or set it to at least ${threads}` }),
    },
    { what: 'memory', state: `${bytesText(freemem())} free of ${bytesText(totalmem())}` },
    {
      what: 'disk',
      state: `${bytesText(free)} free for out/`,
      ...(free < 1e9 && { advice: 'a run of 350,000 shapes takes about 30 GB: use --out on a larger disk' }),
    },
  ];
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
