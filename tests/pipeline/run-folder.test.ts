import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Configuration, configure } from '../../pipeline/configuration.ts';
import { RunFolder, type RunRecord } from '../../pipeline/run-folder.ts';

/** Whether a run is continued with another way of drawing its 3D scenes. */
let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'shapemill-run-'));
});
afterAll(() => rm(path, { recursive: true }));

const recordOf = (configuration: Configuration): RunRecord => ({
  shapemill: '0.1.0',
  command: ['shapemill', 'generate'],
  started: '2026-01-01T00:00:00.000Z',
  configuration: JSON.parse(JSON.stringify(configuration)),
  assets: {},
  platform: { arch: 'x64', libvips: '8', sharp: '0' },
  machine: { node: 'v20', os: 'Linux', cores: 2 },
});

it('names every difference in engine, samples and files beside the picture', async () => {
  const run = new RunFolder(join(path, 'traced'));
  const traced = { engine: 'pathtrace', samples: 64, aov: ['depth'] } as const;
  await run.begin(recordOf(await configure({ ...traced, aov: ['depth'] })));
  const refusal = async (flags: Parameters<typeof configure>[0]) =>
    (await run.begin(recordOf(await configure(flags))).catch(error => error)).message;
  expect(await refusal({ ...traced, aov: ['depth'], samples: 32 })).toContain('differs in samples: was 64, is 32.');
  expect(await refusal({ ...traced, aov: ['normal', 'depth'] })).toContain(
    'differs in aov: was ["depth"], is ["depth","normal"].',
  );
  expect(await refusal({ ...traced, aov: ['depth'], denoise: true })).toContain(
    'differs in denoise: was false, is true.',
  );
  expect(await refusal({ aov: ['depth'] })).toContain(
    'differs in engine: was "pathtrace", is "raster"; samples: was 64, is null.',
  );
  expect(await run.begin(recordOf(await configure({ ...traced, aov: ['depth'] })))).toBe('continued');
});

it('continues a run that is older than the choice, rasterised as it began', async () => {
  const run = new RunFolder(join(path, 'old'));
  const now = await configure({});
  await run.begin(recordOf(now));
  const file = run.at('run.json');
  const record = JSON.parse(await readFile(file, 'utf8'));
  for (const name of ['engine', 'samples', 'denoise', 'aov']) delete record.configuration[name];
  await writeFile(file, JSON.stringify(record));
  expect(await run.begin(recordOf(now))).toBe('continued');
  expect((await run.record())!.configuration).toMatchObject({ engine: 'raster', samples: null, aov: [] });
  await expect(run.begin(recordOf(await configure({ engine: 'pathtrace' })))).rejects.toThrow(
    'differs in engine: was "raster", is "pathtrace"; samples: was null, is 120.',
  );
});
