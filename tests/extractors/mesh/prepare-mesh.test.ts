import { describe, expect, test } from 'vitest';
import { prepareMesh } from '../../../extractors/mesh/prepare-mesh.ts';
import type { RawMesh, TriangleMesh } from '../../../extractors/mesh/triangle-mesh.ts';
import { rng } from '../../../sampling/rng.ts';
import { dequantizePosition, POSITION_STEPS, quantizePosition } from '../../../scenes/mesh-format.ts';
import { boxMesh, joined, rawMesh, sphereMesh } from './raw-meshes.ts';

const OPTIONS = { triangles: 200_000, creaseAngle: 50 };
const prepare = (raw: RawMesh, options = OPTIONS) => prepareMesh(raw, options, POSITION_STEPS);

/** Least and greatest coordinate along each axis. */
function bounds({ positions }: TriangleMesh): [number, number][] {
  return [0, 1, 2].map(axis => {
    const values = [...positions].filter((_, i) => i % 3 === axis);
    return [Math.min(...values), Math.max(...values)];
  });
}

/** Sum of the signed volumes of the tetrahedra to the origin: positive for what is wound outwards. */
function volume({ positions, indices }: TriangleMesh): number {
  let sum = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map(k => positions.subarray(indices[i + k]! * 3, indices[i + k]! * 3 + 3));
    sum += a![0]! * (b![1]! * c![2]! - b![2]! * c![1]!);
    sum += a![1]! * (b![2]! * c![0]! - b![0]! * c![2]!);
    sum += a![2]! * (b![0]! * c![1]! - b![1]! * c![0]!);
  }
  return sum / 6;
}

describe('place and size', () => {
  test('the centre of the box goes to the origin, the longest side becomes 1', async () => {
    const { mesh, placement } = await prepare(boxMesh([10, 20, 30], [14, 28, 32]));
    expect(bounds(mesh)).toEqual([
      [-0.25, 0.25].map(x => expect.closeTo(x, 4)),
      [-0.5, 0.5],
      [-0.125, 0.125].map(x => expect.closeTo(x, 4)),
    ]);
    expect(placement).toEqual({ center: [12, 24, 31], scale: 1 / 8 });
    expect(volume(mesh)).toBeCloseTo(0.5 * 1 * 0.25, 3);
  });

  test.each([1e-30, 1e-3, 1e6, 1e30])('a size of %d makes no difference', async size => {
    const { mesh } = await prepare(boxMesh([0, 0, 0], [size, size / 2, size / 4]));
    expect(mesh).toEqual((await prepare(boxMesh([0, 0, 0], [1, 0.5, 0.25]))).mesh);
  });

  test('far from the origin, no detail is lost', async () => {
    const { mesh } = await prepare(boxMesh([4_000_000, 5_000_000, 0], [4_000_001, 5_000_000.5, 0.25]));
    expect(mesh).toEqual((await prepare(boxMesh([0, 0, 0], [1, 0.5, 0.25]))).mesh);
  });

  test('what no triangle uses does not count', async () => {
    const stray = rawMesh([...points(boxMesh([0, 0, 0], [1, 1, 1])), [900, 0, 0]], []);
    const { placement } = await prepare({ ...stray, indices: boxMesh([0, 0, 0], [1, 1, 1]).indices });
    expect(placement).toEqual({ center: [0.5, 0.5, 0.5], scale: 1 });
  });

  test('coordinates are steps of the stored form', async () => {
    const { mesh } = await prepare(sphereMesh(9));
    for (const value of mesh.positions) expect(Math.fround(dequantizePosition(quantizePosition(value)))).toBe(value);
  });
});

describe('broken triangles', () => {
  const good = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];

  test('NaN and infinite vertices cost their triangles', async () => {
    const raw = rawMesh(
      [...good, [Number.NaN, 0, 0], [0, Number.POSITIVE_INFINITY, 0], [0, 0, Number.NEGATIVE_INFINITY]],
      [
        [0, 1, 2],
        [0, 1, 4],
        [5, 1, 2],
        [0, 6, 2],
        [0, 2, 3],
      ],
    );
    const { mesh, removed } = await prepare(raw);
    expect(mesh.indices.length).toBe(6);
    expect(removed).toEqual({ nonFinite: 3, degenerate: 0, duplicate: 0 });
    expect(mesh.positions.every(Number.isFinite)).toBe(true);
  });

  test('triangles without area are removed, however far they reach', async () => {
    const raw = rawMesh(
      [...good, [500, 0, 0], [1000, 0, 0]],
      [
        [0, 1, 2],
        [0, 1, 1],
        [0, 4, 5],
        [2, 2, 2],
      ],
    );
    const { mesh, removed, placement } = await prepare(raw);
    expect(mesh.indices.length).toBe(3);
    expect(removed).toEqual({ nonFinite: 0, degenerate: 3, duplicate: 0 });
    expect(placement).toEqual({ center: [0.5, 0.5, 0], scale: 1 });
  });

  test('triangles smaller than a step go, and the box is that of the rest', async () => {
    const raw = rawMesh(
      [...good, [50, 50, 50], [50, 50, 50.0001], [50, 50.0001, 50]],
      [
        [0, 1, 2],
        [0, 2, 3],
        [4, 5, 6],
      ],
    );
    const { removed, placement } = await prepare(raw);
    expect(removed.degenerate).toBe(1);
    expect(placement).toEqual({ center: [0.5, 0.5, 0.5], scale: 1 });
  });

  test('of triangles with the same corners, one is left', async () => {
    const { mesh, removed } = await prepare(
      rawMesh(good, [
        [0, 1, 2],
        [2, 1, 0],
        [1, 2, 0],
        [0, 2, 3],
      ]),
    );
    expect(mesh.indices.length).toBe(6);
    expect(removed.duplicate).toBe(2);
  });

  test.each([
    ['no triangle', rawMesh(good, []), 'it has no triangle'],
    ['only NaN', rawMesh([[Number.NaN, 0, 0], ...good], [[0, 1, 2]]), 'NaN or infinite'],
    [
      'one point',
      rawMesh(
        [
          [5, 5, 5],
          [5, 5, 5],
          [5, 5, 5],
        ],
        [[0, 1, 2]],
      ),
      'lie in one point',
    ],
    [
      'one line',
      rawMesh(
        [
          [0, 0, 0],
          [1, 1, 1],
          [3, 3, 3],
        ],
        [[0, 1, 2]],
      ),
      'no triangle has an area',
    ],
  ])('%s is refused', async (_, raw, reason) => {
    await expect(prepare(raw)).rejects.toThrow(reason);
  });

  test('one triangle is a mesh, and flat', async () => {
    const { mesh } = await prepare(rawMesh(good, [[0, 1, 2]]));
    expect(mesh.indices.length).toBe(3);
    expect(bounds(mesh)).toEqual([
      [-0.5, 0.5],
      [-0.5, 0.5],
      [0, 0],
    ]);
    expect([...mesh.normals]).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1]);
  });
});

describe('normals', () => {
  test('a cube stays a cube: three normals at each corner, one a face', async () => {
    const { mesh, madeNormals } = await prepare(boxMesh([0, 0, 0], [1, 1, 1]));
    expect(madeNormals).toBe(1);
    expect(mesh.positions.length / 3).toBe(24);
    for (let v = 0; v < 24; v++) {
      const normal = [...mesh.normals.subarray(v * 3, v * 3 + 3)];
      const axis = normal.findIndex(x => x !== 0);
      expect(normal.map(Math.abs).reduce((a, b) => a + b)).toBe(1);
      expect(mesh.positions[v * 3 + axis]).toBe(normal[axis]! / 2);
    }
  });

  test('a cube is rounded by a crease angle above its edges', async () => {
    const { mesh } = await prepare(boxMesh([0, 0, 0], [1, 1, 1]), { ...OPTIONS, creaseAngle: 100 });
    expect(mesh.positions.length / 3).toBe(8);
    expect(mesh.normals[0]! / mesh.positions[0]!).toBeGreaterThan(0);
  });

  test('a sphere is smooth: normals along the radius', async () => {
    const { mesh } = await prepare(sphereMesh(24));
    for (let v = 0; v < mesh.positions.length; v += 3) {
      const along = [0, 1, 2].reduce((sum, axis) => sum + 2 * mesh.positions[v + axis]! * mesh.normals[v + axis]!, 0);
      expect(along).toBeGreaterThan(0.99);
    }
  });

  test('a large face counts for more than a narrow one beside it', async () => {
    const width = 0.1;
    const { mesh } = await prepare(
      rawMesh(
        [
          [-1, 0, 0],
          [0, 0, 0],
          [0, 0, 1],
          [-1, 0, 1],
          [width, -width / 2, 0],
          [width, -width / 2, 1],
        ],
        [
          [0, 3, 2],
          [0, 2, 1],
          [1, 2, 5],
          [1, 5, 4],
        ],
      ),
    );
    const tilts = Array.from({ length: mesh.normals.length / 3 }, (_, v) =>
      Math.atan2(mesh.normals[v * 3]!, mesh.normals[v * 3 + 1]!),
    );
    const narrow = Math.atan(0.5);
    expect(Math.max(...tilts)).toBeCloseTo(narrow, 3);
    const atFold = tilts.filter(tilt => tilt > 1e-6 && tilt < narrow - 1e-3);
    expect(atFold.length).toBe(2);
    for (const tilt of atFold) expect(tilt).toBeLessThan(narrow * 0.25);
  });

  test("the file's normals are kept, made unit, and only broken ones made", async () => {
    const raw = rawMesh(
      [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
      ],
      [[0, 1, 2]],
    );
    raw.normals.set([3, 0, 4, Number.NaN, 0, 1, 0, 0, -1]);
    const { mesh, madeNormals } = await prepare(raw);
    expect(madeNormals).toBeCloseTo(2 / 3);
    const normals = [0, 1, 2].map(v => [...mesh.normals.subarray(v * 3, v * 3 + 3)]);
    expect(normals).toContainEqual([expect.closeTo(0.6), 0, expect.closeTo(0.8)]);
    expect(normals.filter(([x, y, z]) => x === 0 && y === 0 && z === 1).length).toBe(2);
  });

  test('a fan of thousands of triangles: nothing in proportion to their square', async () => {
    const around = Array.from({ length: 30_000 }, (_, i) => {
      const a = (i / 30_000) * 2 * Math.PI;
      return [Math.cos(a), 0, Math.sin(a)];
    });
    const triangles = around.map((_, i) => [0, ((i + 1) % around.length) + 1, i + 1]);
    const { mesh } = await prepare(rawMesh([[0, 1, 0], ...around], triangles));
    expect(mesh.normals.every(Number.isFinite)).toBe(true);
  });
});

describe('weld', () => {
  test('equal places become one vertex where their normals agree', async () => {
    const sphere = sphereMesh(24);
    const loose: RawMesh = {
      positions: Float64Array.from([...sphere.indices].flatMap(v => [...sphere.positions.subarray(v * 3, v * 3 + 3)])),
      normals: new Float32Array(sphere.indices.length * 3),
      indices: Uint32Array.from(sphere.indices.keys()),
    };
    const { mesh } = await prepare(loose);
    expect(mesh.positions.length / 3).toBe(23 * 48 + 2);
    expect(mesh).toEqual((await prepare(sphere)).mesh);
  });
});

describe('budget', () => {
  test('a mesh within the budget is not simplified', async () => {
    expect((await prepare(sphereMesh(24))).simplified).toBe(false);
  });

  test.each([4000, 500, 100])('a sphere of 39,800 triangles in %i stays a sphere', async triangles => {
    const { mesh, simplified, placement } = await prepare(sphereMesh(100), { ...OPTIONS, triangles });
    expect(simplified).toBe(true);
    expect(mesh.indices.length / 3).toBeLessThanOrEqual(triangles);
    expect(mesh.indices.length / 3).toBeGreaterThan(triangles * 0.7);
    expect(Math.max(...bounds(mesh).map(([low, high]) => high - low))).toBeCloseTo(1, 4);
    expect(volume(mesh)).toBeGreaterThan((0.9 * Math.PI) / 6 - 20 / triangles);
    expect(placement.scale).toBeCloseTo(0.5, 1);
    for (let v = 0; v < mesh.positions.length; v += 3) {
      const along = [0, 1, 2].reduce((sum, axis) => sum + 2 * mesh.positions[v + axis]! * mesh.normals[v + axis]!, 0);
      expect(along).toBeGreaterThan(0.8);
    }
  });

  test('what is smooth does not pay for what has edges', async () => {
    const row = Array.from({ length: 300 }, (_, i) =>
      boxMesh([-1 + i / 150, -1.2, -0.1], [-1 + (i + 0.8) / 150, -1.1, 0.1]),
    );
    const { mesh } = await prepare(joined([sphereMesh(60), ...row]), { ...OPTIONS, triangles: 5000 });
    expect(mesh.indices.length / 3).toBeLessThanOrEqual(5000);
    const size = 1 / 2.2;
    expect(volume(mesh)).toBeGreaterThan(0.97 * (4 / 3) * Math.PI * size ** 3);
  });

  test('thousands of loose triangles are brought under the budget, too', async () => {
    const random = rng(1, 'loose-triangles', 0);
    const points = Array.from({ length: 9000 }, (_, i) => {
      const corner = Math.floor(i / 3);
      const [x, y, z] = [corner % 15, Math.floor(corner / 15) % 15, Math.floor(corner / 225)];
      return [x + random.next() * 0.3, y + random.next() * 0.3, z + random.next() * 0.3];
    });
    const raw = rawMesh(
      points,
      Array.from({ length: 3000 }, (_, i) => [i * 3, i * 3 + 1, i * 3 + 2]),
    );
    const { mesh } = await prepare(raw, { ...OPTIONS, triangles: 200 });
    expect(mesh.indices.length / 3).toBeGreaterThan(0);
    expect(mesh.indices.length / 3).toBeLessThanOrEqual(200);
  });
});

test('the same mesh gives the same result, and no vertex is unused', async () => {
  const [a, b] = [await prepare(sphereMesh(40)), await prepare(sphereMesh(40))];
  expect(a).toEqual(b);
  expect(new Set(a.mesh.indices).size).toBe(a.mesh.positions.length / 3);
});

function points({ positions }: RawMesh): number[][] {
  return Array.from({ length: positions.length / 3 }, (_, v) => [...positions.subarray(v * 3, v * 3 + 3)]);
}
