import { describe, expect, test } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { decodeMesh, dequantizePosition, encodeMesh, type TriangleMesh } from '../../scenes/mesh-format.ts';

/** `vertices` points within the unit box, and as many random triangles. */
function randomMesh(vertices: number): TriangleMesh {
  const random = rng(1, 'mesh-format', String(vertices));
  const numbers = (n: number, draw: () => number) => Float32Array.from({ length: n }, draw);
  const positions = numbers(vertices * 3, () => random.next() - 0.5);
  const normals = numbers(vertices * 3, () => random.next() - 0.5);
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!);
    for (let axis = 0; axis < 3; axis++) normals[i + axis]! /= length;
  }
  const indices = Uint32Array.from({ length: vertices * 3 }, () => Math.floor(random.next() * vertices));
  return { positions, normals, indices };
}

describe('stored mesh', () => {
  test.each([1, 3, 1000, 65_535, 65_536])('%i vertices come back within half a step', vertices => {
    const mesh = randomMesh(vertices);
    const stored = decodeMesh(encodeMesh(mesh));
    expect(stored).toMatchObject({ vertices, triangles: vertices });
    expect(stored.indices).toBeInstanceOf(vertices <= 65_535 ? Uint16Array : Uint32Array);
    expect(Array.from(stored.indices)).toEqual(Array.from(mesh.indices));
    let worst = 0;
    let worstNormal = 0;
    for (let i = 0; i < vertices * 3; i++) {
      const at = Math.floor(i / 3) * 4 + (i % 3);
      worst = Math.max(worst, Math.abs(dequantizePosition(stored.positions[at]!) - mesh.positions[i]!));
      worstNormal = Math.max(worstNormal, Math.abs(stored.normals[at]! / 32_767 - mesh.normals[i]!));
    }
    expect(worst).toBeLessThanOrEqual(0.5 / 65_534 + 1e-7);
    expect(worstNormal).toBeLessThanOrEqual(0.5 / 32_767 + 1e-7);
  });

  test('arrays are views of the bytes, aligned to 4', () => {
    const bytes = encodeMesh(randomMesh(5));
    const stored = decodeMesh(bytes);
    for (const array of [stored.positions, stored.normals, stored.indices]) {
      expect(array.buffer).toBe(bytes.buffer);
      expect(array.byteOffset % 4).toBe(0);
    }
    expect(bytes.length % 4).toBe(0);
  });

  test('bytes at any place of a buffer are taken', () => {
    const bytes = encodeMesh(randomMesh(5));
    const moved = new Uint8Array(bytes.length + 1);
    moved.set(bytes, 1);
    expect(decodeMesh(moved.subarray(1)).indices).toEqual(decodeMesh(bytes).indices);
    expect(decodeMesh(bytes.buffer).positions).toEqual(decodeMesh(bytes).positions);
  });

  test('the sides of the box are those of the stored positions', () => {
    const positions = Float32Array.of(-0.5, 0, -0.25, 0.5, 0, 0.25, 0, 0, 0);
    const normals = Float32Array.of(0, 1, 0, 0, 1, 0, 0, 1, 0);
    const { sides } = decodeMesh(encodeMesh({ positions, normals, indices: Uint32Array.of(0, 1, 2) }));
    expect(sides[0]).toBe(1);
    expect(sides[1]).toBe(0);
    expect(sides[2]).toBeCloseTo(0.5, 4);
  });

  test('what is no mesh is refused with the reason', () => {
    const bytes = encodeMesh(randomMesh(4));
    const changed = (at: number, value: number) => {
      const copy = bytes.slice();
      new DataView(copy.buffer).setUint32(at, value, true);
      return copy;
    };
    expect(() => decodeMesh(bytes.slice(0, 20))).toThrow('got 20 bytes');
    expect(() => decodeMesh(changed(0, 1))).toThrow('another kind of file');
    expect(() => decodeMesh(changed(4, 9))).toThrow('got version 9');
    expect(() => decodeMesh(changed(8, 1_000_000))).toThrow('vertices');
    expect(() => decodeMesh(bytes.slice(0, -4))).toThrow('bytes for 4 vertices');
    expect(() => decodeMesh(changed(32 + 16 * 4, 77))).toThrow('below 4, got 77');
  });

  test('displacement moves all vertices of one place the same way: along the mean of their normals', () => {
    // The corner of a box: three vertices at one place; and one that is alone, looking down.
    const positions = Float32Array.of(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5, 0, 0);
    const normals = Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 0.6, 0, -0.8);
    const { positions: p, normals: n } = decodeMesh(
      encodeMesh({ positions, normals, indices: Uint32Array.of(0, 1, 3, 1, 2, 3) }),
    );
    const direction = (vertex: number) => {
      const [u, v] = [p[4 * vertex + 3]! / 32_767, n[4 * vertex + 3]! / 32_767];
      const z = 1 - Math.abs(u) - Math.abs(v);
      const folded = z < 0;
      const x = folded ? (1 - Math.abs(v)) * (u < 0 ? -1 : 1) : u;
      const y = folded ? (1 - Math.abs(u)) * (v < 0 ? -1 : 1) : v;
      const length = Math.hypot(x, y, z);
      return [x / length, y / length, z / length];
    };
    for (const vertex of [0, 1, 2]) {
      for (const component of direction(vertex)) expect(component).toBeCloseTo(1 / Math.sqrt(3), 3);
    }
    for (const [axis, expected] of [0.6, 0, -0.8].entries()) expect(direction(3)[axis]).toBeCloseTo(expected, 3);
  });
});
