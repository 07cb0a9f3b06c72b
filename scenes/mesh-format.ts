/**
 * The stored form of a prepared mesh: arrays that a GPU takes as they are. Little-endian; every array starts at a multiple
 * of 4 bytes.
 *
 * | bytes | holds |
 * |---|---|
 * | 0 | uint32 magic number, the letters `SMSH` |
 * | 4 | uint32 version of the form: 2 |
 * | 8 | uint32 number of vertices v |
 * | 12 | uint32 number of indices i, three a triangle |
 * | 16 | float32 × 3, sides of the bounding box along x, y and z; its centre is the origin and its longest side 1 |
 * | 28 | uint32 0 |
 * | 32 | int16 × 4 v, positions: x, y, z; then the direction's first number |
 * | 32 + 8 v | int16 × 4 v, unit normals: x, y, z; then the direction's second number |
 * | 32 + 16 v | i indices, counter-clockwise seen from outside: uint16 for v ≤ 65,535, else uint32; then zeros up to a multiple of 4 |
 *
 * Positions are steps of 1/65,534 of the longest side: far below what any mesh within the triangle budget resolves, in two
 * thirds of the bytes of 32-bit floats. Normals have 16 bits too, since the steps of 8-bit ones (0.5°) show as bands in
 * mirror-like materials. A *direction* is where displacement moves a vertex: the mean of the normals of all vertices at the same
 * place, so that sharp edges, where vertices are there several times, do not tear open. It is stored as two numbers, its place
 * on an octahedron folded flat.
 */
const MAGIC = 0x48534d53;
const VERSION = 2;
const HEADER_BYTES = 32;

/** Int16 of value 1 in a normalised attribute. */
const UNIT = 32_767;

/**
 * A position as the GPU reads it from a *normalised* 16-bit attribute lies within ±1; times this it is in units of the
 * longest side, within ±0.5. Normals need no factor.
 */
export const POSITION_SCALE = 0.5;

/** Steps that the longest side is divided into. */
export const POSITION_STEPS = UNIT / POSITION_SCALE;

/** Components of a vertex in the arrays of a {@link StoredMesh}. */
export const VERTEX_COMPONENTS = 4;

/** Vertices up to which indices have 16 bits: index 65,535 would restart a primitive in WebGL 2. */
const MAX_SHORT_VERTICES = 65_535;

/** What is stored, in plain numbers. */
export interface TriangleMesh {
  /** x, y, z a vertex, within ±0.5. */
  readonly positions: Float32Array;
  /** Unit vectors, x, y, z a vertex. */
  readonly normals: Float32Array;
  /** Three a triangle, counter-clockwise seen from outside. */
  readonly indices: Uint32Array;
}

/** A prepared mesh as it is stored; the arrays are views of the file's bytes. */
export interface StoredMesh {
  readonly vertices: number;
  readonly triangles: number;
  /** Sides of the bounding box along x, y, z; the longest is 1, and the centre is the origin. */
  readonly sides: readonly [x: number, y: number, z: number];
  /** Four a vertex: x, y, z, first number of the direction. Normalised; see {@link POSITION_SCALE}. */
  readonly positions: Int16Array<ArrayBuffer>;
  /** Four a vertex: x, y, z, second number of the direction. Normalised. */
  readonly normals: Int16Array<ArrayBuffer>;
  readonly indices: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
}

/** The nearest step of the stored form to a coordinate in units of the longest side. */
export function quantizePosition(value: number): number {
  return Math.round((value / POSITION_SCALE) * UNIT);
}

/** The coordinate, in units of the longest side, of a step of the stored form. */
export function dequantizePosition(step: number): number {
  return (step / UNIT) * POSITION_SCALE;
}

/** The bytes of a mesh. Equal meshes give equal bytes. */
export function encodeMesh({ positions, normals, indices }: TriangleMesh): Uint8Array<ArrayBuffer> {
  const vertices = positions.length / 3;
  const { bytes, header, stored } = layOut(vertices, indices.length);
  const steps = stored.positions;
  for (let v = 0; v < vertices; v++) {
    for (let axis = 0; axis < 3; axis++) {
      steps[v * VERTEX_COMPONENTS + axis] = quantizePosition(positions[v * 3 + axis]!);
      stored.normals[v * VERTEX_COMPONENTS + axis] = Math.round(normals[v * 3 + axis]! * UNIT);
    }
  }
  storeDirections(stored);
  stored.indices.set(indices);
  header.setUint32(0, MAGIC, true);
  header.setUint32(4, VERSION, true);
  header.setUint32(8, vertices, true);
  header.setUint32(12, indices.length, true);
  for (let axis = 0; axis < 3; axis++) header.setFloat32(16 + axis * 4, sideOf(steps, axis), true);
  return bytes;
}

/**
 * The mesh in bytes that {@link encodeMesh} made: views of them, nothing is copied unless they do not start at a multiple of
 * 4 bytes of their buffer. Written for little-endian machines, as all that run a browser are.
 * @throws Error when the bytes are no such mesh.
 */
export function decodeMesh(data: Uint8Array<ArrayBuffer> | ArrayBuffer): StoredMesh {
  const given = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  if (given.length < HEADER_BYTES) throw new Error(`expected a mesh, got ${given.length} bytes`);
  const bytes = given.byteOffset % 4 === 0 ? given : given.slice();
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  if (header.getUint32(0, true) !== MAGIC) throw new Error('expected a mesh, got another kind of file');
  const version = header.getUint32(4, true);
  if (version !== VERSION) throw new Error(`expected a mesh of version ${VERSION}, got version ${version}`);
  const vertices = header.getUint32(8, true);
  const indexCount = header.getUint32(12, true);
  const expected = byteLength(vertices, indexCount);
  if (bytes.length !== expected || indexCount % 3 !== 0) {
    throw new Error(
      `expected ${expected} bytes for ${vertices} vertices and ${indexCount} indices, got ${bytes.length}`,
    );
  }
  const stored = views(bytes.buffer, bytes.byteOffset, vertices, indexCount);
  for (const index of stored.indices) {
    if (index >= vertices) throw new Error(`expected indices below ${vertices}, got ${index}`);
  }
  const side = (axis: number) => header.getFloat32(16 + axis * 4, true);
  return { vertices, triangles: indexCount / 3, sides: [side(0), side(1), side(2)], ...stored };
}

/** Sets the fourth components: the mean normal of all vertices at a vertex's place, its own where they cancel out. */
function storeDirections({ positions, normals }: Arrays): void {
  const sums = new Map<number, [x: number, y: number, z: number]>();
  const placeOf = (at: number) =>
    ((positions[at]! + UNIT) * 65_536 + positions[at + 1]! + UNIT) * 65_536 + positions[at + 2]! + UNIT;
  for (let at = 0; at < positions.length; at += VERTEX_COMPONENTS) {
    const place = placeOf(at);
    const sum = sums.get(place) ?? [0, 0, 0];
    for (let axis = 0; axis < 3; axis++) sum[axis]! += normals[at + axis]!;
    sums.set(place, sum);
  }
  for (let at = 0; at < positions.length; at += VERTEX_COMPONENTS) {
    const [x, y, z] = sums.get(placeOf(at))!;
    const own = Math.hypot(x, y, z) < UNIT / 100;
    const [u, v] = own ? fold(normals[at]!, normals[at + 1]!, normals[at + 2]!) : fold(x, y, z);
    positions[at + 3] = Math.round(u * UNIT);
    normals[at + 3] = Math.round(v * UNIT);
  }
}

/** A direction's place on an octahedron folded flat, both numbers in −1 to 1. The length does not matter. */
function fold(x: number, y: number, z: number): [u: number, v: number] {
  const sum = Math.abs(x) + Math.abs(y) + Math.abs(z) || 1;
  const [u, v] = [x / sum, y / sum];
  if (z >= 0) return [u, v];
  return [(1 - Math.abs(v)) * (u < 0 ? -1 : 1), (1 - Math.abs(u)) * (v < 0 ? -1 : 1)];
}

type Arrays = Pick<StoredMesh, 'positions' | 'normals' | 'indices'>;

function layOut(vertices: number, indexCount: number) {
  const bytes = new Uint8Array(byteLength(vertices, indexCount));
  const header = new DataView(bytes.buffer, 0, HEADER_BYTES);
  return { bytes, header, stored: views(bytes.buffer, 0, vertices, indexCount) };
}

function byteLength(vertices: number, indexCount: number): number {
  const indexBytes = vertices <= MAX_SHORT_VERTICES ? 2 : 4;
  return HEADER_BYTES + vertices * 16 + Math.ceil((indexCount * indexBytes) / 4) * 4;
}

function views(buffer: ArrayBuffer, start: number, vertices: number, indexCount: number): Arrays {
  const at = start + HEADER_BYTES;
  const length = vertices * VERTEX_COMPONENTS;
  const Indices = vertices <= MAX_SHORT_VERTICES ? Uint16Array : Uint32Array;
  return {
    positions: new Int16Array(buffer, at, length),
    normals: new Int16Array(buffer, at + length * 2, length),
    indices: new Indices(buffer, at + length * 4, indexCount),
  };
}

function sideOf(steps: Int16Array, axis: number): number {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = axis; i < steps.length; i += VERTEX_COMPONENTS) {
    least = Math.min(least, steps[i]!);
    greatest = Math.max(greatest, steps[i]!);
  }
  return steps.length === 0 ? 0 : dequantizePosition(greatest - least);
}
