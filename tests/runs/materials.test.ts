import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { openBank } from '../../pipeline/bank.ts';
import type { MaterialLabel } from '../../pipeline/labels.ts';
import { generate, scratchFolder, sidecarsOf } from './command.ts';
import { writePhotos, writeRecipe } from './photo-folder.ts';
import { labelsIn, readShard } from './shard-files.ts';

const scratch = scratchFolder();

describe('materials of a run', () => {
  it('are made of its textures, the same bytes with any number of workers, and shown', async () => {
    const photos = await writePhotos(scratch);
    const recipe = await writeRecipe(join(scratch, 'small.json'), {
      textures: 5,
      materials: 12,
      subsets: ['materials3d'],
      'material-maps': { size: 64 },
    });
    const stages = ['--stage', 'extract-textures', 'make-materials'];
    const run = join(scratch, 'run');
    await generate(['--photos', photos, '--recipe', recipe, '--out', run, '--workers', '2', ...stages]);

    expect(await openBank(join(run, 'banks/materials'))).toMatchObject({ kind: 'materials', items: 12, asked: 12 });
    const labels = await labelsIn<MaterialLabel>(run, 'banks/materials/');
    expect(new Set(labels.map(({ id }) => id)).size).toBe(12);
    expect(new Set(labels.flatMap(({ sources }) => sources.map(({ texture }) => texture))).size).toBe(5);
    const files = await readShard(join(run, 'banks/materials/materials-000000.tar'));
    expect(files.slice(0, 6).map(({ name }) => name.replace(/^[^.]*/, ''))).toEqual([
      '.color.jpg',
      '.height.jpg',
      '.json',
      '.metallic.jpg',
      '.normal.jpg',
      '.roughness.jpg',
    ]);
    expect((await readFile(join(run, 'report/materials.jpg'))).length).toBeGreaterThan(5000);

    const again = join(scratch, 'again');
    await generate(['--photos', photos, '--recipe', recipe, '--out', again, '--workers', '1', ...stages]);
    for (const shard of ['0', '1', '2']) {
      const tar = `banks/materials/materials-00000${shard}.tar`;
      expect((await readFile(join(again, tar))).equals(await readFile(join(run, tar)))).toBe(true);
    }
  });

  it('are read from a folder of map sets, a broken one told', async () => {
    const sets = join(scratch, 'sets');
    await mkdir(sets);
    const grey = (level: number) =>
      sharp({ create: { width: 40, height: 40, channels: 3, background: { r: level, g: level, b: level } } });
    for (const [name, level] of [
      ['Wood001_1K-JPG_Color.jpg', 90],
      ['Wood001_1K-JPG_Roughness.jpg', 200],
      ['mud_diff_1k.jpg', 50],
      ['mud_arm_1k.jpg', 128],
      ['Lost_Color.jpg', 10],
    ] as const) {
      await writeFile(join(sets, name), await grey(level).jpeg().toBuffer());
    }
    await writeFile(join(sets, 'Lost_Roughness.jpg'), 'no picture');
    const run = join(scratch, 'imported');
    const args = ['--shapes', '2', '--subsets', 'materials3d', '--stage', 'import-materials', '--material-bank', sets];
    // All that the folder holds are enough where nobody asked for more.
    expect((await generate([...args, '--out', run])).stdout).toMatch(/imported PBR materials +2 from 3 sets/);
    const ending = await generate([...args, '--materials', '5', '--out', join(scratch, 'too-few')], 3);
    expect(ending.stdout).toContain('fewer materials than asked');
    const labels = await labelsIn<MaterialLabel>(run, 'banks/materials/');
    expect(labels.map(({ sources }) => sources[0]!.provenance.file).sort()).toEqual([
      'Wood001_1K-JPG_Color.jpg',
      'mud_diff_1k.jpg',
    ]);
    expect(labels.find(({ maps }) => maps.occlusion)!.sources[0]!.provenance.file).toBe('mud_diff_1k.jpg');
    const faults = Object.values(await sidecarsOf(run)).flatMap(sidecar => sidecar.faults);
    expect(faults).toEqual([
      { item: join(sets, 'Lost_Color.jpg'), reason: expect.stringContaining('Lost_Roughness.jpg') },
    ]);
  });
});
