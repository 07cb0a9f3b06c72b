import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacheFolder } from '../../pipeline/cache-folder.ts';
import { configure } from '../../pipeline/configuration.ts';
import { environmentLabelSchema } from '../../pipeline/labels.ts';
import type { IndexedFile } from '../../pipeline/photo-index.ts';
import type { TaskResult } from '../../pipeline/stage.ts';
import { prepareEnvironment, prepareEnvironments } from '../../pipeline/stages/prepare-environments.ts';
import { decodePanorama, panoramaDirection } from '../../scenes/panorama-format.ts';
import { exrFile, hdrFile, type Pixel } from './panoramas/panorama-writers.ts';

let folder: string;
const before = process.env.SHAPEMILL_CACHE;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-environments-'));
  process.env.SHAPEMILL_CACHE = join(folder, 'cache');
});
afterEach(async () => {
  if (before === undefined) delete process.env.SHAPEMILL_CACHE;
  else process.env.SHAPEMILL_CACHE = before;
  await rm(folder, { recursive: true });
});

/** Grey, with a sun at the top left that no half float and no RGB9E5 holds. */
const sunny: Pixel = (x, y) => (x < 2 && y < 2 ? [1e5, 2e5, 1e5] : [0.5, 0.5, 0.5]);

async function run(bytes: Uint8Array, name = 'sunny.exr'): Promise<TaskResult> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  const provenance = { pack: 'test', file: name, licence: 'CC0-1.0', author: 'A', url: null };
  const file: IndexedFile = { id: '0123456789abcdef', split: 'val', path, provenance };
  return prepareEnvironments.run({ file }, { configuration: await configure({}), banks: {} });
}

/** The files of a result that has one item. */
function contentOf({ bytes, items }: TaskResult) {
  const { image, label } = items![0]!;
  const part = ([start, length]: readonly [number, number]) => bytes.slice(start, start + length);
  const text = new TextDecoder().decode(part(label));
  return { panorama: decodePanorama(part(image)), label: environmentLabelSchema.parse(JSON.parse(text)) };
}

async function entryPath(): Promise<string> {
  const cache = join(folder, 'cache', 'environments');
  const [entry, ...others] = await readdir(cache);
  expect(others).toEqual([]);
  return join(cache, entry!);
}

describe('prepare-environments', () => {
  it('makes one item of a file, with a label of what was measured', async () => {
    const result = await run(exrFile(64, 32, sunny, { type: 'float', compression: 'ZIP' }));
    expect(result.items).toHaveLength(1);
    expect(result.items![0]).toMatchObject({
      id: '0123456789abcdef-e0',
      source: '0123456789abcdef',
      split: 'val',
      rank: 0,
      width: 64,
      height: 32,
    });
    const { panorama, label } = contentOf(result);
    expect([...panorama.data.slice(0, 9)]).toEqual([65408, 65408, 65408, 65408, 65408, 65408, 0.5, 0.5, 0.5]);
    expect(label).toMatchObject({
      panorama: '0123456789abcdef',
      file: { format: 'exr', compression: 'ZIP', width: 64, height: 32 },
      cleaned: { nan: 0, infinite: 0, negative: 0 },
      clamped: 4,
      provenance: { pack: 'test', licence: 'CC0-1.0' },
    });
    expect(label.light.brightest.direction).toEqual(panoramaDirection(0.5 / 64, 0.5 / 32));
    expect(label.light.brightest.luminance).toBeCloseTo(65408, 6);
  });

  it('shrinks what is wider than the recipe says, and keeps the light', async () => {
    const recipe = { width: 40, maxPixels: 1_000_000, maxBrokenShare: 0 };
    const bytes = hdrFile(128, 64, (x, y) => [1 + (x % 7), 1 + (y % 5), 4]);
    const [small, whole] = await Promise.all([
      prepareEnvironment(bytes, recipe),
      prepareEnvironment(bytes, { ...recipe, width: 2048 }),
    ]);
    expect([small.facts.width, small.facts.height, small.facts.file.width]).toEqual([40, 20, 128]);
    for (const c of [0, 1, 2] as const) {
      expect(Math.abs(small.facts.light.mean[c] / whole.facts.light.mean[c] - 1)).toBeLessThan(2 ** -9);
    }
  });

  it('gives the same bytes with an empty cache, a full one, and damaged entries', async () => {
    const bytes = exrFile(64, 32, sunny, { type: 'float' });
    const first = (await run(bytes)).bytes;
    expect((await run(bytes)).bytes).toEqual(first);
    await truncate(await entryPath(), 100);
    expect((await run(bytes)).bytes).toEqual(first);
    await writeFile(await entryPath(), 'nothing');
    expect((await run(bytes)).bytes).toEqual(first);
  });

  it('takes what the cache holds, by content and not by name', async () => {
    const bytes = exrFile(64, 32, sunny);
    await run(bytes);
    const cache = new CacheFolder();
    const key = (await entryPath()).slice(join(folder, 'cache').length + 1);
    const entry = (await cache.get(key))!;
    await cache.put(key, Buffer.from(entry.toString('latin1').replace('"clamped":4', '"clamped":9'), 'latin1'));
    expect(contentOf(await run(bytes, 'renamed.exr')).label.clamped).toBe(9);
    expect(contentOf(await run(exrFile(64, 32, () => [1, 1, 1]))).label.clamped).toBe(0);
  });

  it('refuses a panorama that lights nothing', async () => {
    for (let time = 0; time < 2; time++) {
      const { samples, faults } = await run(hdrFile(16, 8, () => [0, 0, 0]));
      expect(samples).toBe(0);
      expect(faults[0]!.reason).toBe('no light comes from it: expected a mean radiance of 0.0001 or more, got 0');
    }
  });

  it('records a fault of the data, and keeps nothing of it', async () => {
    const whole = exrFile(64, 32, sunny);
    const { items, samples, faults } = await run(whole.subarray(0, 3000));
    expect([items, samples]).toEqual([[], 0]);
    expect(faults).toEqual([{ item: join(folder, 'sunny.exr'), reason: expect.stringContaining('the file ends') }]);
    await expect(readdir(join(folder, 'cache'))).rejects.toThrow('ENOENT');
  });
});
