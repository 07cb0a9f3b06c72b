import type { GreyImage } from '../extractors/image.ts';
import { rotationMatrix } from '../sampling/rotation.ts';
import { POSITION_SCALE, type StoredMesh, VERTEX_COMPONENTS } from '../scenes/mesh-format.ts';
import { type Camera, halfField, type Quaternion } from '../scenes/scene3d.ts';

/** How near to the camera a part of a mesh may be, as a rule. */
export const NEAREST = 0.02;

/**
 * Where a mesh is seen, worked out without a graphics card, so that which views are accepted does not depend on one: 255 for
 * each pixel whose centre a triangle covers, else 0. Displacement is left out.
 * @param size side of the image, pixels.
 * @returns undefined when a part of the mesh is nearer to the camera than `nearest`, or behind it.
 */
export function silhouette(
  mesh: Pick<StoredMesh, 'vertices' | 'positions' | 'indices'>,
  rotation: Quaternion,
  camera: Camera,
  size: number,
  nearest = NEAREST,
): GreyImage | undefined {
  const places = project(mesh, rotation, camera, size, nearest);
  if (!places) return undefined;
  const data = new Uint8Array(size * size);
  const { indices } = mesh;
  for (let i = 0; i < indices.length; i += 3) {
    fillTriangle(data, size, places, 2 * indices[i]!, 2 * indices[i + 1]!, 2 * indices[i + 2]!);
  }
  return { width: size, height: size, data };
}

/** x and y of each vertex in the image, pixels from its upper left corner. */
function project(
  { vertices, positions }: Pick<StoredMesh, 'vertices' | 'positions'>,
  rotation: Quaternion,
  camera: Camera,
  size: number,
  nearest: number,
): Float64Array | undefined {
  const unit = POSITION_SCALE / 32_767;
  const [a, b, c, d, e, f, g, h, k] = rotationMatrix(rotation).map(entry => entry * unit) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const perTangent = size / 2 / halfField(camera);
  const places = new Float64Array(2 * vertices);
  for (let v = 0; v < vertices; v++) {
    const at = v * VERTEX_COMPONENTS;
    const x = positions[at]!;
    const y = positions[at + 1]!;
    const z = positions[at + 2]!;
    const depth = camera.distance - (g * x + h * y + k * z);
    if (depth < nearest) return undefined;
    places[2 * v] = size / 2 + (perTangent * (a * x + b * y + c * z)) / depth;
    places[2 * v + 1] = size / 2 - (perTangent * (d * x + e * y + f * z)) / depth;
  }
  return places;
}

/** Sets the pixels whose centres lie in a triangle, row by row. */
function fillTriangle(data: Uint8Array, size: number, places: Float64Array, p: number, q: number, r: number): void {
  const py = places[p + 1]!;
  const qy = places[q + 1]!;
  const ry = places[r + 1]!;
  const first = Math.max(0, Math.ceil(Math.min(py, qy, ry) - 0.5));
  const last = Math.min(size - 1, Math.floor(Math.max(py, qy, ry) - 0.5));
  for (let row = first; row <= last; row++) {
    const y = row + 0.5;
    let left = Number.POSITIVE_INFINITY;
    let right = Number.NEGATIVE_INFINITY;
    const cross = (from: number, to: number, fromY: number, toY: number) => {
      if (fromY <= y === toY <= y) return;
      const x = places[from]! + ((y - fromY) / (toY - fromY)) * (places[to]! - places[from]!);
      if (x < left) left = x;
      if (x > right) right = x;
    };
    cross(p, q, py, qy);
    cross(q, r, qy, ry);
    cross(r, p, ry, py);
    const start = Math.max(0, Math.ceil(left - 0.5));
    const end = Math.min(size - 1, Math.floor(right - 0.5));
    if (start <= end) data.fill(255, row * size + start, row * size + end + 1);
  }
}
