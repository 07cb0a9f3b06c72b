import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBank, readItem } from '../../pipeline/bank.ts';
import type { MeshLabel } from '../../pipeline/labels.ts';
import { decodeMesh } from '../../scenes/mesh-format.ts';
import { generate, scratchFolder, sidecarsOf, start } from './command.ts';
import { labelsIn } from './shard-files.ts';

const scratch = scratchFolder();
const ARGS = ['--shapes', '2', '--subsets', 'shapes3d', '--stage', 'prepare-meshes'];
const TAR = 'banks/meshes/meshes-000000.tar';

describe('--meshes', () => {
  it('makes a bank of the starter meshes, in the splits that the pack declares', async () => {
    const run = join(scratch, 'starter');
    await generate([...ARGS, '--out', run]);
    const bank = await openBank(join(run, 'banks/meshes'));
    expect(bank).toMatchObject({ kind: 'meshes', items: 20, asked: null, splits: { train: 10, val: 5, test: 5 } });
    for (let i = 0; i < bank!.items; i++) {
      const { image, label } = await readItem(bank!, i);
      const { triangles, vertices, sides } = decodeMesh(Uint8Array.from(image));
      expect(label).toMatchObject({ triangles, vertices, sides, provenance: { licence: 'CC0-1.0' } });
      expect(Math.max(...sides)).toBe(1);
    }
  });

  it('makes a bank of a folder: faults told, the same bytes with one worker and an empty cache', async () => {
    const meshes = join(scratch, 'meshes');
    await mkdir(meshes, { recursive: true });
    for (let i = 0; i < 8; i++) {
      await writeFile(join(meshes, `triangle-${i}.obj`), `v 0 0 0\nv ${i + 1} 0 0\nv 0 1 ${i}\nf 1 2 3\n`);
    }
    await writeFile(join(meshes, 'cut.glb'), 'glTF');
    await writeFile(join(meshes, 'empty.gltf'), '');
    const run = join(scratch, 'run');
    await generate([...ARGS, '--meshes', meshes, '--out', run]);
    expect(await openBank(join(run, 'banks/meshes'))).toMatchObject({ items: 8 });
    const labels = await labelsIn<MeshLabel>(run, 'banks/meshes/');
    expect(labels.map(({ triangles, vertices }) => [triangles, vertices])).toEqual(new Array(8).fill([1, 3]));
    const faults = Object.values(await sidecarsOf(run)).flatMap(sidecar => sidecar.faults);
    expect(faults.map(({ item }) => item).sort()).toEqual([join(meshes, 'cut.glb'), join(meshes, 'empty.gltf')]);

    const again = join(scratch, 'again');
    const command = ['generate', ...ARGS, '--meshes', meshes, '--out', again, '--workers', '1'];
    const ending = await start(command, { SHAPEMILL_CACHE: join(scratch, 'cache') }).ended;
    expect(ending.code, ending.stderr).toBe(0);
    expect(await readFile(join(again, TAR))).toEqual(await readFile(join(run, TAR)));
  });
});
