import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, type ExpectStatic, it } from 'vitest';
import { GENERATE_OPTIONS } from '../../pipeline/generate-options.ts';
import type { Option } from '../../pipeline/options.ts';
import { VERSION } from '../../pipeline/version.ts';
import { refusal } from '../runs/refusal.ts';

const DOOR = fileURLToPath(new URL('../../bin/shapemill.cjs', import.meta.url));

/** Commands are called where nothing is lost should one of them run. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function shapemill(...args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [DOOR, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text;
    });
    child.on('error', reject).on('close', code => resolve({ code, stdout, stderr }));
  });
}

/** The help as one line, so that wrapping does not matter. */
const flat = (help: string) => help.replace(/\s+/g, ' ');

describe.concurrent('--help', () => {
  it('of generate lists every option with its help and its default', async ({ expect }) => {
    const { code, stdout, stderr } = await shapemill('generate', '--help');
    expect([code, stderr]).toEqual([0, '']);
    const help = flat(stdout);
    // An option begins its line; texts of other options may name it too.
    const entries = stdout.split(/^ {2,8}(?=--)/m).map(flat);
    for (const [name, option] of Object.entries(GENERATE_OPTIONS) as [string, Option][]) {
      const entry = entries.find(text => text.startsWith(`--${name} `));
      expect(entry, name).toContain(flat(option.help));
      if (option.default) expect(entry).toContain(`[default: ${option.default}]`);
      else expect(entry).not.toContain('[default');
    }
    for (const group of new Set(Object.values(GENERATE_OPTIONS).map(option => option.group))) {
      expect(help).toContain(`${group}:`);
    }
  });

  it.for([
    [
      [],
      [
        'shapemill generate',
        'shapemill preview [run]',
        'shapemill panels [run]',
        'shapemill assets [action]',
        'shapemill doctor',
        '130',
      ],
    ],
    [['preview'], ['shapemill preview [run]', 'run folder']],
    [
      ['assets'],
      [
        'shapemill assets [action] [pack] [from]',
        'list, add, verify and prune asset packs',
        'debian-photos',
        '--count',
      ],
    ],
    [['doctor'], ['shapemill doctor', 'look at the machine']],
  ] as const)('of %j says what it takes', async ([command, parts], { expect }) => {
    const { code, stdout, stderr } = await shapemill(...command, '--help');
    expect([code, stderr]).toEqual([0, '']);
    for (const part of parts) expect(flat(stdout)).toContain(part);
  });
});

type Case = [what: string, args: string[], line: RegExp];

describe.concurrent('wrong usage', () => {
  async function endsWithOneLine([, args, line]: Case, { expect }: { expect: ExpectStatic }): Promise<void> {
    const { code, stdout, stderr } = await shapemill(...args);
    expect(stderr).toMatch(line);
    expect(stderr.split('\n')).toEqual([expect.any(String), '']); // no stack
    expect([code, stdout]).toEqual([2, '']);
  }

  it.for<Case>([
    [
      'no command',
      [],
      /^shapemill: expected a command: generate, preview, panels, export, card, validate, assets or doctor\n/,
    ],
    ['a misspelt command', ['genrate'], /^shapemill: .*generate/],
    [
      'a misspelt flag',
      ['generate', '--shpaes', '3'],
      /^shapemill: unknown option --shpaes \(did you mean "shapes"\?\)/,
    ],
    ['a run that is none', ['preview', 'nowhere'], /^shapemill: expected a run folder, found no run\.json in nowhere/],
  ])('ends with exit code 2 and one line: %s', endsWithOneLine);
});

describe('wrong usage', () => {
  it.for<Case>([
    ['a misspelt value', ['generate', '--subsets', 'shape2d'], /^--subsets: .* \(did you mean "shapes2d"\?\)/],
    ['a flag without its value', ['generate', '--shapes'], /shapes/],
    ['a misspelt action', ['assets', 'lits'], /"lits".* \(did you mean "list"\?\)/],
    ['a misspelt pack', ['assets', 'add', 'urll'], /"urll" \(did you mean "url"\?\)/],
    ['an option of another action', ['assets', 'list', '--count', '3'], /assets list takes no --count/],
    [
      'no list to add',
      ['assets', 'add', 'url'],
      /assets add url: expected an address or a list of addresses behind it/,
    ],
    [
      'an option of another pack',
      ['assets', 'add', 'debian-photos', '--count', '3'],
      /--count: debian-photos is added whole/,
    ],
    ['a switch that is neither on nor off', ['generate', '--fresh=maybe', '--dry-run'], /^--fresh: expected/],
  ])('is refused: %s', async ([, args, line], { expect }) => {
    expect(await refusal(...args)).toMatch(line);
  });
});

it('--version prints the version', async ({ expect }) => {
  expect(await shapemill('--version')).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

it('no wrong call has left anything behind', async ({ expect }) => {
  expect(await readdir(folder)).toEqual([]);
});
