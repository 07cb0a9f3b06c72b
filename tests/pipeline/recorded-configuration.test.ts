import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configure } from '../../pipeline/configuration.ts';
import { recordedRun } from '../../pipeline/recorded-configuration.ts';
import { RunFolder } from '../../pipeline/run-folder.ts';
import { UsageError } from '../../pipeline/usage-error.ts';

let folder: RunFolder;
beforeAll(async () => {
  folder = new RunFolder(await mkdtemp(join(tmpdir(), 'recorded-')));
});
afterAll(() => rm(folder.path, { recursive: true }));

async function read(change: (configuration: Record<string, unknown>) => void) {
  const configuration = { ...(await configure({ seed: 7, textures: 30 })) } as unknown as Record<string, unknown>;
  change(configuration);
  const record = {
    shapemill: '0.0.9',
    command: [],
    started: '2026-01-01T00:00:00Z',
    configuration,
    assets: {},
    platform: { arch: '', libvips: '', sharp: '' },
    machine: { node: '', os: '', cores: 1 },
  };
  await writeFile(folder.at('run.json'), JSON.stringify(record));
  const warnings: string[] = [];
  const run = await recordedRun(folder, message => warnings.push(message));
  return { ...run, warnings };
}

it('reads a run as it was made', async () => {
  const { configuration, warnings } = await read(() => {});
  expect(configuration).toEqual(await configure({ seed: 7, textures: 30 }));
  expect(warnings).toEqual([]);
});

it('reads a run that is older than an option with its default, and says so', async () => {
  const { configuration, warnings } = await read(older => {
    delete older.semantic;
    const { rounds: _, ...naturalShapes } = older.naturalShapes as Record<string, unknown>;
    older.naturalShapes = naturalShapes;
  });
  expect(configuration).toEqual(await configure({ seed: 7, textures: 30 }));
  expect(warnings).toEqual([
    'the run was recorded without naturalShapes.rounds: 24, semantic: []: read as these defaults',
  ]);
});

it.each<[what: string, change: (configuration: Record<string, unknown>) => void, expected: string]>([
  ['a name', run => Object.assign(run, { fancy: 1 }), 'unknown name "fancy"'],
  ['a name within', run => Object.assign(run.silhouettes as object, { glow: 1 }), 'unknown name "silhouettes.glow"'],
  ['a value', run => Object.assign(run, { seed: 'x' }), '"seed": expected something like 1, got "x"'],
  [
    'a list',
    run => Object.assign(run, { photos: 'here' }),
    '"photos": expected something like ["starter-photos"], got "here"',
  ],
  ['a condition', run => Object.assign(run, { shapes2d: { conditions: ['plain'] } }), 'unknown condition "plain"'],
])('refuses what this version does not know: %s', async (_, change, expected) => {
  const reading = read(change);
  await expect(reading).rejects.toThrow(UsageError);
  await expect(reading).rejects.toThrow(`${folder.at('run.json')}: ${expected}. It was recorded by shapemill 0.0.9`);
});

it('refuses what is no run', async () => {
  await expect(recordedRun(new RunFolder(join(folder.path, 'none')), () => {})).rejects.toThrow('found no run.json');
});
