import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBank } from '../../pipeline/bank.ts';
import type { EnvironmentLabel } from '../../pipeline/labels.ts';
import { exrFile, hdrFile, type Pixel } from '../pipeline/panoramas/panorama-writers.ts';
import { generate, scratchFolder, sidecarsOf, start } from './command.ts';
import { labelsIn } from './shard-files.ts';

const scratch = scratchFolder();
const gradient: Pixel = (x, y) => [x / 64, y / 32, 0.5];

describe('--environments', () => {
  it('makes a bank of a folder: faults told, the same bytes with one worker and an empty cache', async () => {
    const panoramas = join(scratch, 'panoramas');
    await mkdir(panoramas, { recursive: true });
    await writeFile(join(panoramas, 'day.hdr'), hdrFile(64, 32, gradient));
    await writeFile(join(panoramas, 'night.exr'), exrFile(64, 32, gradient, { compression: 'ZIP' }));
    await writeFile(join(panoramas, 'square.hdr'), hdrFile(32, 32, gradient));
    await writeFile(join(panoramas, 'cut.exr'), exrFile(64, 32, gradient).subarray(0, 5000));
    const run = join(scratch, 'run');
    const args = ['--shapes', '2', '--subsets', 'shapes3d', '--stage', 'prepare-environments'];
    await generate([...args, '--environments', panoramas, '--out', run]);

    const bank = await openBank(join(run, 'banks/environments'));
    expect(bank).toMatchObject({ kind: 'environments', items: 2, asked: null });
    const labels = await labelsIn<EnvironmentLabel>(run, 'banks/environments/');
    expect(labels.map(({ provenance }) => provenance.file).sort()).toEqual(['day.hdr', 'night.exr']);
    const faults = Object.values(await sidecarsOf(run)).flatMap(sidecar => sidecar.faults);
    expect(faults.map(({ item }) => item).sort()).toEqual([join(panoramas, 'cut.exr'), join(panoramas, 'square.hdr')]);
    expect(faults.find(({ item }) => item.endsWith('square.hdr'))?.reason).toContain('twice as wide as high');

    const again = join(scratch, 'again');
    const cache = { SHAPEMILL_CACHE: join(scratch, 'cache') };
    const ending = await start(
      ['generate', ...args, '--environments', panoramas, '--out', again, '--workers', '1'],
      cache,
    ).ended;
    expect(ending.code, ending.stderr).toBe(0);
    const tar = 'banks/environments/environments-000000.tar';
    expect(await readFile(join(again, tar))).toEqual(await readFile(join(run, tar)));
  });
});
