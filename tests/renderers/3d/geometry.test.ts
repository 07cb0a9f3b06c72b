import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RenderHost } from '../../../renderers/render-host.ts';
import type { Engine, SceneItems } from '../../../renderers/render-job.ts';
import { rotationMatrix, type UnitQuaternion } from '../../../sampling/rotation.ts';
import { halfField, type Scene3d, type Vector } from '../../../scenes/scene3d.ts';
import { cube, material, panorama, Shelf, scene, sphere } from './still-life.ts';

/** Depth and normals, which must be those of rays through the pixels' middles, worked out by hand. */
let host: RenderHost;
const shelf = new Shelf();
beforeAll(async () => {
  host = await RenderHost.start({ pages: 1 });
});
afterAll(() => host?.close());

const SKY = panorama(() => [1, 1, 1], 64);
const TURN: UnitQuaternion = [0.28, 0.365, 0.1, 0.88].map(
  (value, _, all) => value / Math.hypot(...all),
) as UnitQuaternion;

/** What a ray meets first: its depth along the camera's axis, and the normal in the camera's axes. */
interface Hit {
  readonly depth: number;
  readonly normal: Vector;
}

const dot = (a: readonly number[], b: readonly number[]) => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const scaled = (v: Vector, by: number): Vector => [v[0] * by, v[1] * by, v[2] * by];
const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

/** The ray through a pixel's middle whose parameter is the depth: its direction is 1 long along the camera's axis. */
function rayThrough(column: number, row: number, { size, camera }: Scene3d): Vector {
  const half = halfField(camera);
  return [half * ((2 * (column + 0.5)) / size - 1), -half * ((2 * (row + 0.5)) / size - 1), -1];
}

/** A ball around the origin, seen from (0, 0, distance). */
function ballHit(ray: Vector, distance: number, radius: number): Hit | undefined {
  const [a, b] = [dot(ray, ray), distance * ray[2]];
  const root = b * b - a * (distance ** 2 - radius ** 2);
  if (root < 0) return undefined;
  const depth = (-b - Math.sqrt(root)) / a;
  return { depth, normal: scaled(plus([0, 0, distance], scaled(ray, depth)), 1 / radius) };
}

/** A cube of side 1 around the origin, turned. */
function cubeHit(ray: Vector, distance: number, rotation: UnitQuaternion): Hit | undefined {
  const m = rotationMatrix(rotation);
  // A turned axis is a column of the matrix.
  const axes = [0, 1, 2].map((axis): Vector => [m[axis]!, m[3 + axis]!, m[6 + axis]!]);
  let [near, far] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let normal: Vector = [0, 0, 0];
  for (const axis of axes) {
    const [from, along] = [dot([0, 0, distance], axis), dot(ray, axis)];
    const enters = (-Math.sign(along) * 0.5 - from) / along;
    if (enters > near) [near, normal] = [enters, scaled(axis, -Math.sign(along))];
    far = Math.min(far, (Math.sign(along) * 0.5 - from) / along);
  }
  return near < far ? { depth: near, normal } : undefined;
}

/** Draws depth and normals, and compares them with what every ray meets, but for pixels beside whose middles an edge runs. */
async function compare(
  engine: Engine,
  items: SceneItems,
  description: Scene3d,
  hitOf: (ray: Vector) => Hit | undefined,
) {
  const { size } = description;
  const { pixels, geometry } = await host.render(
    { scene: description, items, engine, geometry: true, output: 'picture' },
    shelf,
  );
  expect(pixels).toHaveLength(4 * size * size);
  expect(geometry).toHaveLength(4 * size * size);
  const hits = Array.from({ length: size * size }, (_, i) =>
    hitOf(rayThrough(i % size, Math.floor(i / size), description)),
  );
  let [both, either, compared, depthError, turned] = [0, 0, 0, 0, 0];
  for (const [i, hit] of hits.entries()) {
    const [x, y, z, depth] = geometry!.subarray(4 * i, 4 * i + 4) as unknown as [number, number, number, number];
    if (depth > 0 && hit) both++;
    if (depth > 0 || hit) either++;
    if (depth === 0) {
      expect([x, y, z]).toEqual([0, 0, 0]);
      continue;
    }
    expect(Math.abs(Math.hypot(x, y, z) - 1)).toBeLessThan(1e-3);
    const neighbours = [hit, hits[i - 1], hits[i + 1], hits[i - size], hits[i + size]];
    // Where a neighbour sees another side, or nothing, rounding decides which side this pixel sees.
    if (!hit || neighbours.some(other => !other || dot(other.normal, hit.normal) < 0.9)) continue;
    compared++;
    depthError = Math.max(depthError, Math.abs(depth - hit.depth));
    turned = Math.max(turned, Math.acos(Math.min(1, dot([x, y, z], hit.normal))));
  }
  return { overlap: both / either, compared, depthError, degrees: (turned * 180) / Math.PI };
}

const plain = scene({ size: 128, camera: { distance: 1.8, focalLength: 32, sensor: 36 } });

const RASTER: Engine = { name: 'raster' };
const TRACED: Engine = { name: 'pathtrace', samples: 1, denoise: false, seed: 1 };

describe.each([RASTER, TRACED])('depth and normals of the engine $name', engine => {
  it('of a ball', async () => {
    const items = shelf.put(sphere(128), material({}), SKY);
    const found = await compare(engine, items, plain, ray => ballHit(ray, 1.8, 0.5));
    expect(found.compared).toBeGreaterThan(2500);
    expect(found.overlap).toBeGreaterThan(0.99);
    // Its sides are flat: at most 0.5 · (1 − cos(π / 256)) within the ball, seen at a slant farther.
    expect(found.depthError).toBeLessThan(1e-3);
    expect(found.degrees).toBeLessThan(0.5);
  });

  it('of a tilted cube, through glass as well', async () => {
    const tilted = { ...plain, object: { id: 'x', rotation: TURN } };
    for (const transmissive of [false, true]) {
      const laid = material({ transmission: transmissive ? 255 : 0 });
      const found = await compare(engine, shelf.put(cube(), laid, SKY), tilted, ray => cubeHit(ray, 1.8, TURN));
      expect(found.compared).toBeGreaterThan(2500);
      expect(found.overlap).toBeGreaterThan(0.99);
      expect(found.depthError).toBeLessThan(1e-4);
      expect(found.degrees).toBeLessThan(0.1);
    }
  });

  it('of a displaced ball: the surface is where it was lifted to', async () => {
    const items = shelf.put(sphere(128), material({ height: 255 }), SKY);
    const lifted = { ...plain, material: { ...plain.material, displacement: 0.1 } };
    const found = await compare(engine, items, lifted, ray => ballHit(ray, 1.8, 0.6));
    expect(found.overlap).toBeGreaterThan(0.99);
    expect(found.depthError).toBeLessThan(1e-3);
  });

  it('of the inside of a mesh: normals look at the camera', async () => {
    const shape = sphere(32);
    // Only what is behind the middle, so that the ball is looked into.
    const indices = shape.indices.filter((_, i) => {
      const corner = Math.floor(i / 3) * 3;
      return [0, 1, 2].every(k => shape.positions[3 * shape.indices[corner + k]! + 2]! < 0.01);
    });
    const items = shelf.put({ ...shape, indices }, material({}), SKY);
    const { geometry } = await host.render({ scene: plain, items, engine, geometry: true, output: 'picture' }, shelf);
    const [x, y, z, depth] = geometry!.subarray(4 * (64 * 128 + 64));
    expect(depth).toBeCloseTo(2.3, 2);
    expect(Math.hypot(x!, y!, z! - 1)).toBeLessThan(0.05);
  });

  it('come behind radiance too, and change nothing of the picture', async () => {
    const items = shelf.put(cube(), material({ color: [200, 80, 40] }), SKY);
    const tilted = { ...plain, size: 32, object: { id: 'x', rotation: TURN } };
    const job = { scene: tilted, items, engine, output: 'radiance' } as const;
    const alone = await host.render(job, shelf);
    const both = await host.render({ ...job, geometry: true }, shelf);
    expect(alone.geometry).toBeUndefined();
    expect(Buffer.compare(alone.pixels, both.pixels)).toBe(0);
    expect(both.geometry!.some(value => value !== 0)).toBe(true);
  });
});

describe('both engines', () => {
  /** Hills of many heights, so that displacement tells places apart. */
  const hills = material((u, v) => ({ height: Math.round(127 * (1 + Math.sin(8 * u) * Math.cos(6 * v))) }));
  const shape = sphere(48);
  const turned = { ...plain, object: { id: 'x', rotation: TURN } };
  const laid = { ...turned.material, displacement: 0.08 };
  const mapping = {
    ...laid.mapping,
    scale: [0.7, 1.1, 0.9] as Vector,
    rotation: TURN,
    offset: [0.3, 0.1, 0.2] as Vector,
  };

  it.each([
    ['a ball', shape, turned],
    ['a displaced ball with hills', shape, { ...turned, material: { ...laid, mapping } }],
    ['a displaced cube', cube(), { ...turned, material: { ...laid, mapping } }],
  ] as const)('show the same surface of %s', async (_, mesh, description) => {
    const { size } = description;
    const items = shelf.put(mesh, hills, SKY);
    const [a, b] = await Promise.all(
      [RASTER, TRACED].map(async engine => {
        const job = { scene: description, items, engine, geometry: true, output: 'picture' } as const;
        return (await host.render(job, shelf)).geometry!;
      }),
    );
    const depthOf = (pixels: Float32Array, i: number) => pixels[4 * i + 3] ?? 0;
    const normalOf = (pixels: Float32Array, i: number) => pixels.subarray(4 * i, 4 * i + 3) as unknown as Vector;
    let [both, either, compared, depthError, turnedBy] = [0, 0, 0, 0, 0];
    for (let i = 0; i < size * size; i++) {
      const [there, here] = [depthOf(a!, i) > 0, depthOf(b!, i) > 0];
      if (there && here) both++;
      if (there || here) either++;
      // Where something nearer or farther, or another side, is beside it, rounding decides what the pixel shows.
      const around = [i, i - 1, i + 1, i - size, i + size];
      const smooth = around.every(
        j => Math.abs(depthOf(a!, j) - depthOf(a!, i)) < 0.05 && dot(normalOf(a!, j), normalOf(a!, i)) > 0.9,
      );
      if (!there || !here || !smooth) continue;
      compared++;
      depthError = Math.max(depthError, Math.abs(depthOf(a!, i) - depthOf(b!, i)));
      turnedBy = Math.max(turnedBy, Math.acos(Math.min(1, dot(normalOf(a!, i), normalOf(b!, i)))));
    }
    expect(both / either).toBeGreaterThan(0.99);
    expect(compared).toBeGreaterThan(0.8 * both);
    expect(depthError).toBeLessThan(1e-3);
    expect((turnedBy * 180) / Math.PI).toBeLessThan(1);
  });
});
