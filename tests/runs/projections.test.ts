import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { tightMask } from '../../extractors/placed-mask.ts';
import { type Bank, openBank, readItem } from '../../pipeline/bank.ts';
import { decodeMask } from '../../pipeline/bank-images.ts';
import { configure } from '../../pipeline/configuration.ts';
import type { MeshLabel, ShapeLabel } from '../../pipeline/labels.ts';
import { fittingDistance, project, viewRotation } from '../../pipeline/stages/project-shapes.ts';
import { silhouette } from '../../renderers/silhouette.ts';
import { rotationMatrix } from '../../sampling/rotation.ts';
import { decodeMesh, encodeMesh, type StoredMesh } from '../../scenes/mesh-format.ts';
import { correlation, worstBin } from '../scenes/statistics.ts';
import { contentOf, generate, scratchFolder, sidecarsOf } from './command.ts';
import { writePhotos, writeRecipe } from './photo-folder.ts';
import { sampleLabels } from './shard-files.ts';

const scratch = scratchFolder();

/** The corners of a box and its twelve triangles, each seen from outside. */
const BOX_CORNERS = Array.from({ length: 8 }, (_, i) => [i & 1, (i >> 1) & 1, i >> 2] as const);
const BOX_TRIANGLES = [
  [0, 2, 1],
  [1, 2, 3],
  [4, 5, 6],
  [5, 7, 6],
  [0, 1, 4],
  [1, 5, 4],
  [2, 6, 3],
  [3, 6, 7],
  [0, 4, 2],
  [2, 4, 6],
  [1, 3, 5],
  [3, 7, 5],
] as const;

/** A box whose longest side is 1, in the stored form. */
function boxMesh(x: number, y: number, z: number): StoredMesh {
  const positions = Float32Array.from(
    BOX_CORNERS.flatMap(([a, b, c]) => [x * (a - 0.5), y * (b - 0.5), z * (c - 0.5)]),
  );
  const normals = Float32Array.from(BOX_CORNERS.flatMap(() => [0, 0, 1]));
  return decodeMesh(encodeMesh({ positions, normals, indices: Uint32Array.from(BOX_TRIANGLES.flat()) }));
}

function boxFile(x: number, y: number, z: number): string {
  const vertices = BOX_CORNERS.map(([a, b, c]) => `v ${a * x} ${b * y} ${c * z}`);
  const faces = BOX_TRIANGLES.map(triangle => `f ${triangle.map(corner => corner + 1).join(' ')}`);
  return `${[...vertices, ...faces].join('\n')}\n`;
}

describe('a view', () => {
  const views = Array.from({ length: 10_000 }, (_, i) => viewRotation(5, `mesh-${i % 20}`, Math.floor(i / 20), i % 3));
  const matrices = views.map(rotationMatrix);

  it('is from any side, turned anyhow: uniform over SO(3)', () => {
    // Every entry of a uniform rotation's matrix is uniform from −1 to 1 (Archimedes), and half the trace − 1 is cos θ.
    for (let entry = 0; entry < 9; entry++) {
      expect(
        worstBin(
          matrices.map(matrix => matrix[entry]!),
          -1,
          1,
          20,
        ),
      ).toBeLessThan(4);
    }
    const angles = matrices.map(matrix =>
      Math.acos(Math.min(1, Math.max(-1, (matrix[0]! + matrix[4]! + matrix[8]! - 1) / 2))),
    );
    // Density (1 − cos θ) / π: θ − sin θ is uniform.
    expect(
      worstBin(
        angles.map(angle => angle - Math.sin(angle)),
        0,
        Math.PI,
        20,
      ),
    ).toBeLessThan(4);
  });

  it('has nothing to do with the next one', () => {
    for (const entry of [0, 5, 8]) {
      const values = matrices.map(matrix => matrix[entry]!);
      expect(correlation(values.slice(0, -1), values.slice(1))).toBeLessThan(4);
      expect(correlation(values.slice(0, -20), values.slice(20))).toBeLessThan(4);
    }
  });

  it('is from where the mesh just fits', () => {
    // 18 mm over 32 mm; a box seen face on: its front decides, at half its depth, with half of its longer side.
    const t = 18 / 32;
    const seen = fittingDistance(boxMesh(0.6, 0.4, 1), [0, 0, 0, 1], 32, 1);
    expect(seen).toBeCloseTo(0.5 + 0.3 / t, 4);
    // From above (a quarter turn about x), with a tenth of the frame left free.
    const above = fittingDistance(boxMesh(0.6, 0.4, 1), [Math.SQRT1_2, 0, 0, Math.SQRT1_2], 32, 0.9);
    expect(above).toBeCloseTo(0.2 + 0.5 / (0.9 * t), 4);
  });

  it('reaches from border to border along one side of the frame at least, never into the border', async () => {
    const configuration = await configure({});
    for (const rotation of views.slice(0, 60)) {
      const seen = project(boxMesh(1, 0.7, 0.5), rotation, configuration);
      if (typeof seen === 'string') throw new Error(seen);
      const { left, top, width, height } = seen.box;
      const [right, bottom] = [512 - left - width, 512 - top - height];
      expect(Math.min(left, top, right, bottom)).toBeGreaterThanOrEqual(5);
      // A corner need not cover the centre of the last pixel.
      expect(Math.min(left, top, right, bottom)).toBeLessThanOrEqual(7);
    }
  });

  it('gives no shape where the outline is too small', async () => {
    expect(project(boxMesh(1, 0.01, 0.01), [0, 0, 0, 1], await configure({}))).toBe('too-small');
  });
});

describe('--projections', () => {
  const run = join(scratch, 'run');
  const MESHES = 7;
  let args: string[];
  let bank: Bank;
  let meshes: Map<string, { mesh: StoredMesh; label: MeshLabel }>;

  beforeAll(async () => {
    const folder = join(scratch, 'boxes');
    await mkdir(folder);
    for (let i = 0; i < MESHES - 1; i++)
      await writeFile(join(folder, `box-${i}.obj`), boxFile(4, 2 + i / 3, 1 + i / 2));
    // From no side as large as a shape has to be.
    await writeFile(join(folder, 'stick.obj'), boxFile(100, 1, 1));
    const recipe = await writeRecipe(join(scratch, 'projected.json'), {
      subsets: ['shapes2d'],
      projections: 20,
      'shapes2d-images': 16,
      shapes2d: {
        variations: 2,
        size: 64,
        conditions: [{ source: 'projection', background: 'white', shape: 'texture', rotated: true }],
      },
    });
    args = ['--photos', await writePhotos(scratch), '--meshes', folder, '--recipe', recipe];
    await generate([...args, '--out', run, '--workers', '2']);
    bank = (await openBank(join(run, 'banks/projected-shapes')))!;
    const meshBank = (await openBank(join(run, 'banks/meshes')))!;
    meshes = new Map();
    for (let i = 0; i < meshBank.items; i++) {
      const { image, label } = await readItem(meshBank, i);
      const known = label as MeshLabel;
      meshes.set(known.id, { mesh: decodeMesh(Uint8Array.from(image)), label: known });
    }
  });

  it('makes so many outlines, the first view of every mesh first, and as many again of others for what a mesh cannot give', async () => {
    expect(bank).toMatchObject({ kind: 'projected-shapes', items: 20, asked: 20 });
    const views: number[] = [];
    const perMesh = new Map<string, number>();
    for (let i = 0; i < bank.items; i++) {
      const { id, projected } = (await readItem(bank, i)).label as ShapeLabel;
      views.push(Number(id.slice(18)));
      perMesh.set(projected!.mesh, (perMesh.get(projected!.mesh) ?? 0) + 1);
    }
    expect(views).toEqual([0, 1, 2, 3].flatMap(view => new Array(view < 3 ? 6 : 2).fill(view)));
    expect([...perMesh.values()].sort()).toEqual([3, 3, 3, 3, 4, 4]);
    const sidecars = Object.values(await sidecarsOf(run)).filter(({ stage }) => stage === 'project-shapes');
    const total = (name: string) => sidecars.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);
    // The stick's first, second and third view; twenty tries each.
    expect([total('no-shape'), total('view-too-small')]).toEqual([3, 60]);
  });

  it('makes what the renderer sees, clear of the frame’s edges, in the mesh’s split', async () => {
    for (let i = 0; i < bank.items; i++) {
      const { image, label: item } = await readItem(bank, i);
      const label = item as ShapeLabel;
      const { mesh: id, rotation, camera, box } = label.projected!;
      const { mesh, label: of } = meshes.get(id)!;
      expect(label).toMatchObject({
        kind: 'projection',
        split: of.split,
        provenance: of.provenance,
        found: null,
        annotated: null,
      });
      expect(label.photo).toEqual({ id: id.slice(0, 16), width: 512, height: 512 });
      expect(camera).toMatchObject({ focalLength: 32, sensor: 36 });
      const seen = tightMask(silhouette(mesh, rotation, camera, 512)!)!;
      expect(await decodeMask(image)).toEqual({ ...seen.mask, data: Buffer.from(seen.mask.data) });
      expect(box).toEqual(seen.box);
      expect(label.area).toBe(seen.area);
      expect(label.area).toBeGreaterThanOrEqual(20_000);
      expect(Math.min(box.left, box.top)).toBeGreaterThanOrEqual(5);
      expect(Math.max(box.left + box.width, box.top + box.height)).toBeLessThanOrEqual(507);
    }
  });

  it('are shapes of 2D images, and natural ones that nothing shows are not looked for', async () => {
    const stages = new Set(Object.values(await sidecarsOf(run)).map(({ stage }) => stage));
    expect(stages).toEqual(new Set(['extract-textures', 'prepare-meshes', 'project-shapes', 'shapes2d']));
    const labels = await sampleLabels(run, 'shapes2d');
    expect(labels).toHaveLength(16);
    for (const { condition, instance, scene, split, sources } of labels) {
      expect(condition).toBe('projection-white-textured-rotated');
      expect(instance.id).toMatch(/^[0-9a-f]{16}-p\d+$/);
      expect(scene.background).toEqual({ kind: 'colour', rgb: [255, 255, 255] });
      const shape = sources.find(({ role }) => role === 'shape')!;
      expect(shape.file).toMatch(/^box-\d\.obj$/);
      expect([...meshes.values()].find(({ label }) => label.provenance.file === shape.file)!.label.split).toBe(split);
    }
  });

  it('are the same with one worker', async () => {
    const one = join(scratch, 'one-worker');
    await generate([...args, '--out', one, '--workers', '1', '--stage', 'prepare-meshes', 'project-shapes']);
    const banksOf = async (from: string) =>
      Object.entries(await contentOf(from)).filter(([file]) => /^(banks\/(meshes|projected)|mesh-files)/.test(file));
    const banks = await banksOf(one);
    expect(banks).toEqual(await banksOf(run));
    expect(banks.filter(([file]) => file.endsWith('.tar')).length).toBeGreaterThan(4);
  });
});
