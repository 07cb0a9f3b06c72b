import { rotationMatrix } from '../../sampling/rotation.ts';
import type { PackedMaterial } from '../../scenes/material-format.ts';
import { decodeMesh, dequantizePosition, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';
import type { Scene3d, Vector } from '../../scenes/scene3d.ts';

/** A mesh as it is drawn, x, y, z a vertex, in the object's space. */
export interface DisplacedMesh {
  readonly positions: Float32Array<ArrayBuffer>;
  /** Where vertices lie before they are displaced: what the material is looked up by. */
  readonly rest: Float32Array<ArrayBuffer>;
  /** Unit vectors. */
  readonly normals: Float32Array<ArrayBuffer>;
  readonly indices: Uint32Array<ArrayBuffer>;
}

const INT16_MAX = 32_767;

/** Displaces a mesh as docs/rendering.md says, written anew from there in plain arithmetic. */
export function displacedMesh(
  bytes: Uint8Array<ArrayBuffer>,
  { mapping, displacement }: Scene3d['material'],
  { normalHeight, side }: PackedMaterial,
): DisplacedMesh {
  const stored = decodeMesh(bytes);
  const rest = new Float32Array(3 * stored.vertices);
  const normals = new Float32Array(3 * stored.vertices);
  const positions = new Float32Array(3 * stored.vertices);
  const turn = rotationMatrix(mapping.rotation);
  const height = (u: number, v: number) => bilinear(normalHeight, side, u, v);
  for (let vertex = 0; vertex < stored.vertices; vertex++) {
    const at = vertex * VERTEX_COMPONENTS;
    const point = vector(axis => dequantizePosition(stored.positions[at + axis]!));
    const direction = unfold(stored.positions[at + 3]! / INT16_MAX, stored.normals[at + 3]! / INT16_MAX);
    rest.set(point, 3 * vertex);
    normals.set(unit(vector(axis => stored.normals[at + axis]! / INT16_MAX)), 3 * vertex);
    const lift = displacement === 0 ? 0 : displacement * boxHeight(point, direction, mapping, turn, height);
    positions.set(
      vector(axis => point[axis]! + lift * direction[axis]!),
      3 * vertex,
    );
  }
  return { positions, rest, normals, indices: Uint32Array.from(stored.indices) };
}

function boxHeight(
  point: Vector,
  direction: Vector,
  { scale, offset, blend }: Scene3d['material']['mapping'],
  turn: readonly number[],
  height: (u: number, v: number) => number,
): number {
  const [x, y, z] = turned(
    turn,
    vector(axis => scale[axis]! * point[axis]!),
  ).map((value, axis) => value + offset[axis]!) as Vector;
  const n = unit(
    turned(
      turn,
      vector(axis => direction[axis]! / scale[axis]!),
    ),
  );
  const most = Math.max(...n.map(Math.abs));
  const weights = n.map(c => (blend > 0 ? Math.max(0, 1 - (most - Math.abs(c)) / blend) : Number(Math.abs(c) >= most)));
  const heights = [height(n[0] < 0 ? z : -z, -y), height(x, n[1] < 0 ? -z : z), height(n[2] < 0 ? -x : x, -y)];
  const sum = weights.reduce((a, b) => a + b);
  return heights.reduce((mean, h, i) => mean + (weights[i]! / sum) * h, 0);
}

/** Alpha of a repeated image at a place, 0 to 1 over it. */
function bilinear(rgba: Uint8Array, side: number, u: number, v: number): number {
  const [x, y] = [u * side - 0.5, v * side - 0.5];
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const texel = (column: number, row: number) => {
    const [c, r] = [((column % side) + side) % side, ((row % side) + side) % side];
    return rgba[4 * (r * side + c) + 3]! / 255;
  };
  const [fx, fy] = [x - left, y - top];
  const above = (1 - fx) * texel(left, top) + fx * texel(left + 1, top);
  const below = (1 - fx) * texel(left, top + 1) + fx * texel(left + 1, top + 1);
  return (1 - fy) * above + fy * below;
}

/** A direction from its place on an octahedron folded flat. */
function unfold(u: number, v: number): Vector {
  const z = 1 - Math.abs(u) - Math.abs(v);
  if (z >= 0) return unit([u, v, z]);
  return unit([(1 - Math.abs(v)) * (u < 0 ? -1 : 1), (1 - Math.abs(u)) * (v < 0 ? -1 : 1), z]);
}

const vector = (component: (axis: number) => number): Vector => [component(0), component(1), component(2)];

function unit(v: Vector): Vector {
  const length = Math.hypot(...v);
  return vector(axis => v[axis]! / length);
}

function turned(matrix: readonly number[], v: Vector): Vector {
  return vector(row => matrix[3 * row]! * v[0] + matrix[3 * row + 1]! * v[1] + matrix[3 * row + 2]! * v[2]);
}
