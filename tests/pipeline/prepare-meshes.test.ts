import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacheFolder } from '../../pipeline/cache-folder.ts';
import { configure } from '../../pipeline/configuration.ts';
import { meshLabelSchema } from '../../pipeline/labels.ts';
import type { IndexedFile } from '../../pipeline/photo-index.ts';
import type { TaskResult } from '../../pipeline/stage.ts';
import { prepareMeshes } from '../../pipeline/stages/prepare-meshes.ts';
import { decodeMesh } from '../../scenes/mesh-format.ts';
import { boxDocument, gltfWriter } from './meshes/gltf-files.ts';

let folder: string;
const before = process.env.SHAPEMILL_CACHE;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-meshes-'));
  process.env.SHAPEMILL_CACHE = join(folder, 'cache');
});
afterEach(async () => {
  if (before === undefined) delete process.env.SHAPEMILL_CACHE;
  else process.env.SHAPEMILL_CACHE = before;
  await rm(folder, { recursive: true });
});

const CUBE = `${['0 0 0', '2 0 0', '2 2 0', '0 2 0', '0 0 2', '2 0 2', '2 2 2', '0 2 2'].map(v => `v ${v}`).join('\n')}
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 3 4 8 7
f 2 3 7 6
f 4 1 5 8
`;

async function run(bytes: string | Uint8Array, name = 'cube.obj', recipe = {}): Promise<TaskResult> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  const provenance = { pack: 'test', file: name, licence: 'CC0-1.0', author: 'A', url: null };
  const file: IndexedFile = { id: '0123456789abcdef', split: 'val', path, provenance };
  const configuration = await configure({});
  const meshPreparation = { ...configuration.meshPreparation, ...recipe };
  return prepareMeshes.run({ file }, { configuration: { ...configuration, meshPreparation }, banks: {} });
}

/** The files of a result that has one item. */
function contentOf({ bytes, items }: TaskResult) {
  const { image, label } = items![0]!;
  const part = ([start, length]: readonly [number, number]) => bytes.slice(start, start + length);
  const text = new TextDecoder().decode(part(label));
  return { mesh: decodeMesh(part(image)), label: meshLabelSchema.parse(JSON.parse(text)) };
}

const entries = async () =>
  (await readdir(join(folder, 'cache', 'meshes'))).map(name => join(folder, 'cache', 'meshes', name));

describe('prepare-meshes', () => {
  it('makes one item of a file, with a label of what was done', async () => {
    const result = await run(CUBE);
    expect(result).toMatchObject({ samples: 1, faults: [], counts: { looks: 1 } });
    expect(result.items![0]).toMatchObject({
      id: '0123456789abcdef-g0',
      source: '0123456789abcdef',
      split: 'val',
      rank: 0,
    });
    const { mesh, label } = contentOf(result);
    expect(mesh).toMatchObject({ triangles: 12, vertices: 24, sides: [1, 1, 1] });
    expect(label).toEqual({
      id: '0123456789abcdef-g0',
      split: 'val',
      triangles: 12,
      vertices: 24,
      sides: [1, 1, 1],
      file: { format: 'obj', triangles: 12, vertices: 8, dropped: [] },
      removed: { nonFinite: 0, degenerate: 0, duplicate: 0 },
      simplified: false,
      madeNormals: 1,
      transform: { center: [1, 1, 1], scale: 0.5 },
      provenance: { pack: 'test', file: 'cube.obj', licence: 'CC0-1.0', author: 'A', url: null },
    });
  });

  it('reads GLB too', async () => {
    const glb = await (await gltfWriter()).writeBinary(boxDocument().document);
    const { label } = contentOf(await run(glb, 'box.glb'));
    expect(label).toMatchObject({ file: { format: 'glb' }, madeNormals: 0, transform: { center: [0.5, 1, 1.5] } });
  });

  it.each([
    ['no triangle', '', 'cube.obj', 'an empty file'],
    ['only points', 'v 0 0 0\np 1\n', 'points.obj', 'it has no triangle'],
    ['one point', 'v 1 1 1\nf 1 1 1\n', 'point.obj', 'lie in one point'],
    ['a face of nothing', 'f 1 2 3\n', 'nothing.obj', 'line 1'],
    ['no glTF', 'hello', 'broken.glb', 'not a glTF'],
  ])('%s is a fault and no item', async (_, text, name, reason) => {
    const { items, faults } = await run(text, name);
    expect(items).toEqual([]);
    expect(faults).toEqual([{ item: join(folder, name), reason: expect.stringContaining(reason) }]);
    await expect(readdir(join(folder, 'cache'))).rejects.toThrow('ENOENT');
  });

  it('prepares a file once, and gives the same bytes from the cache', async () => {
    const first = await run(CUBE);
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    const { mtimeMs } = await stat(entry!);
    expect(await run(CUBE)).toEqual(first);
    expect((await stat(entry!)).mtimeMs).toBe(mtimeMs);
    // What is kept is what is given: the same content under another name, too.
    const kept = await new CacheFolder().get(`meshes/${entry!.split('/').at(-1)}`);
    expect(kept).toBeDefined();
    const { label } = contentOf(await run(CUBE, 'other.obj'));
    expect(label.provenance.file).toBe('other.obj');
    expect((await entries()).length).toBe(1);
  });

  it('makes a damaged entry again', async () => {
    const first = await run(CUBE);
    const [entry] = await entries();
    const bytes = await readFile(entry!);
    bytes[bytes.length - 9]! ^= 1;
    await writeFile(entry!, bytes);
    expect(await run(CUBE)).toEqual(first);
    bytes[bytes.length - 9]! ^= 1;
    expect(await readFile(entry!)).toEqual(bytes);
    await writeFile(entry!, bytes.subarray(0, 50));
    expect(await run(CUBE)).toEqual(first);
  });

  it('keeps what other options or other content give apart', async () => {
    await run(CUBE);
    expect(contentOf(await run(CUBE, 'cube.obj', { creaseAngle: 100 })).mesh.vertices).toBe(8);
    await run(CUBE.replace('v 2 2 2', 'v 3 2 2'));
    expect((await entries()).length).toBe(3);
    expect(contentOf(await run(CUBE)).mesh.vertices).toBe(24);
  });
});
