import { describe, expect, it } from 'vitest';
import { silhouette } from '../../renderers/silhouette.ts';
import { uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { rotationMatrix, uniformRotation } from '../../sampling/rotation.ts';
import { decodeMesh, encodeMesh } from '../../scenes/mesh-format.ts';
import type { Camera, Quaternion } from '../../scenes/scene3d.ts';
import { sphere } from './3d/still-life.ts';

/** Triangles anywhere in the unit box. */
function heap(random: Rng, triangles: number) {
  const positions = Float32Array.from({ length: 9 * triangles }, () => uniform(random, -0.5, 0.5));
  const normals = positions.map((_, i) => (i % 3 === 2 ? 1 : 0));
  const indices = Uint32Array.from({ length: 3 * triangles }, (_, i) => i);
  return decodeMesh(encodeMesh({ positions, normals, indices }));
}

/** Literally: a pixel is set when the ray through its centre passes a triangle, by the signs of three volumes. */
function literal(mesh: ReturnType<typeof heap>, rotation: Quaternion, camera: Camera, size: number): Uint8Array {
  const m = rotationMatrix(rotation);
  const point = (v: number) => {
    const p = [0, 1, 2].map(c => mesh.positions[4 * v + c]! / 65_534);
    const turned = [0, 1, 2].map(row => m[3 * row]! * p[0]! + m[3 * row + 1]! * p[1]! + m[3 * row + 2]! * p[2]!);
    return [turned[0]!, turned[1]!, turned[2]! - camera.distance];
  };
  const volume = (a: number[], b: number[], c: number[]) =>
    a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) -
    a[1]! * (b[0]! * c[2]! - b[2]! * c[0]!) +
    a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
  const data = new Uint8Array(size * size);
  const half = camera.sensor / 2 / camera.focalLength;
  for (let i = 0; i < mesh.indices.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map(k => point(mesh.indices[i + k]!)) as [number[], number[], number[]];
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        const ray = [half * ((2 * (x + 0.5)) / size - 1), -half * ((2 * (y + 0.5)) / size - 1), -1];
        const signs = [volume(ray, a, b), volume(ray, b, c), volume(ray, c, a)];
        if (signs.every(s => s > 0) || signs.every(s => s < 0)) data[y * size + x] = 255;
      }
    }
  }
  return data;
}

describe('a silhouette', () => {
  it('is that of rays through the pixels', () => {
    const random = rng(1, 'test', 'silhouette');
    for (let i = 0; i < 20; i++) {
      const mesh = heap(random, 12);
      const rotation = uniformRotation(random);
      const camera = { distance: uniform(random, 1, 2.5), focalLength: 32, sensor: 36 };
      const fast = silhouette(mesh, rotation, camera, 48)!;
      expect(Buffer.compare(fast.data, literal(mesh, rotation, camera, 48))).toBe(0);
    }
  });

  it('of a ball has the size that geometry says', () => {
    const mesh = decodeMesh(encodeMesh(sphere(64)));
    const camera = { distance: 1.5, focalLength: 32, sensor: 36 };
    const { data } = silhouette(mesh, [0, 0, 0, 1], camera, 256)!;
    const radius = (256 / 2 / (18 / 32)) * (0.5 / Math.sqrt(1.5 ** 2 - 0.25));
    const area = data.reduce((sum, value) => sum + value / 255, 0);
    expect(area / (Math.PI * radius ** 2)).toBeCloseTo(1, 2);
  });

  it('does not exist where the camera stands in the object', () => {
    const mesh = decodeMesh(encodeMesh(sphere(16)));
    expect(silhouette(mesh, [0, 0, 0, 1], { distance: 0.45, focalLength: 32, sensor: 36 }, 64)).toBeUndefined();
  });
});
