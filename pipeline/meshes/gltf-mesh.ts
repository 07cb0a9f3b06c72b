import type { Accessor, GLTF, NodeIO, Primitive, Root } from '@gltf-transform/core';
import {
  determinant,
  fromParts,
  IDENTITY,
  multiply,
  type Transform,
  transformNormal,
  transformPoint,
} from '../../extractors/mesh/transform.ts';
import type { RawMesh } from '../../extractors/mesh/triangle-mesh.ts';
import { InputFault } from '../faults.ts';
import { type GltfGeometry, type GltfNode, instancesOf, rootNodes } from './gltf-json.ts';
import { checkTriangles } from './mesh-limits.ts';

/**
 * Decodes the geometry of a glTF and joins what its scene shows into one mesh: node transforms applied, instances drawn,
 * morph targets at their default weights, skins as the joints stand in the file. Points and lines are left out.
 * @param buffers the bytes of each buffer, at least as long as it states; empty for a fallback that is not there.
 * @throws InputFault when the data is malformed.
 */
export async function decodeGltf(
  geometry: GltfGeometry,
  buffers: readonly Uint8Array<ArrayBuffer>[],
): Promise<RawMesh> {
  const root = await decode(geometry, buffers);
  const worlds = worldTransforms(geometry);
  const pieces = [...worlds].flatMap(([node, world]) => piecesOf(geometry, root, worlds, node, world));
  return join(pieces);
}

/** The decoder of this thread; a fault may leave its memory in disorder, so that the next file gets a new one. */
let reader: Promise<NodeIO> | undefined;

/** Loaded by the first glTF: decoders are slow to start, and most workers never read one. */
async function makeReader(): Promise<NodeIO> {
  const { Logger, NodeIO } = await import('@gltf-transform/core');
  const extensions = await import('@gltf-transform/extensions');
  const { default: draco3d } = await import('draco3dgltf');
  const { MeshoptDecoder } = await import('meshoptimizer/decoder');
  await MeshoptDecoder.ready;
  return new NodeIO()
    .setLogger(new Logger(Logger.Verbosity.SILENT))
    .registerExtensions([
      extensions.EXTMeshGPUInstancing,
      extensions.EXTMeshoptCompression,
      extensions.KHRDracoMeshCompression,
      extensions.KHRMeshQuantization,
    ])
    .registerDependencies({
      'draco3d.decoder': await draco3d.createDecoderModule(),
      'meshopt.decoder': MeshoptDecoder,
    });
}

async function decode(geometry: GltfGeometry, buffers: readonly Uint8Array<ArrayBuffer>[]): Promise<Root> {
  const name = (i: number) => `buffer-${i}`;
  const json = { ...geometry, buffers: geometry.buffers.map((buffer, i) => ({ ...buffer, uri: name(i) })) };
  const resources = Object.fromEntries(buffers.map((bytes, i) => [name(i), bytes]));
  try {
    reader ??= makeReader();
    // Checked by its own schema, of which glTF-Transform's type knows nothing.
    const document = await (await reader).readJSON({ json: json as unknown as GLTF.IGLTF, resources });
    return document.getRoot();
  } catch (error) {
    reader = undefined;
    // No memory is no property of the file: its counts were checked.
    if (error instanceof RangeError && /alloc/i.test(error.message)) throw error;
    throw new InputFault(`its data cannot be decoded: ${(error as Error).message ?? error}`);
  }
}

/** The transform of each node that is shown, and of what is below it, to the scene. */
function worldTransforms(geometry: GltfGeometry): Map<number, Transform> {
  const { nodes } = geometry;
  const worlds = new Map<number, Transform>();
  const waiting: [number, Transform][] = rootNodes(geometry).map(i => [i, IDENTITY]);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [i, parent] = next;
    const world = multiply(parent, localTransform(nodes[i]!));
    worlds.set(i, world);
    for (const child of nodes[i]!.children ?? []) waiting.push([child, world]);
  }
  return worlds;
}

function localTransform({ matrix, translation = [0, 0, 0], rotation = [0, 0, 0, 1], scale = [1, 1, 1] }: GltfNode) {
  return matrix ?? fromParts(translation, rotation, scale);
}

/** Triangles that go one way to their place. */
interface Piece {
  readonly surface: Surface;
  /** The transform of a vertex. */
  readonly transform: (vertex: number) => Transform;
}

interface Surface {
  readonly positions: ArrayLike<number>;
  readonly normals: ArrayLike<number> | undefined;
  readonly indices: ArrayLike<number>;
}

function piecesOf(
  geometry: GltfGeometry,
  root: Root,
  worlds: ReadonlyMap<number, Transform>,
  nodeNumber: number,
  world: Transform,
): Piece[] {
  const node = geometry.nodes[nodeNumber]!;
  if (node.mesh === undefined) return [];
  const weights = node.weights ?? geometry.meshes[node.mesh]!.weights ?? [];
  return root
    .listMeshes()
    [node.mesh]!.listPrimitives()
    .flatMap(primitive => {
      const surface = surfaceOf(primitive, weights);
      if (!surface) return [];
      const skinned = node.skin === undefined ? undefined : skin(geometry, root, worlds, node.skin, primitive, world);
      if (skinned) return [{ surface, transform: skinned }];
      return instances(root, node).map(instance => {
        const placed = multiply(world, instance);
        return { surface, transform: () => placed };
      });
    });
}

function instances(root: Root, node: GltfNode): Transform[] {
  const attributes = instancesOf(node);
  if (!attributes) return [IDENTITY];
  const column = (name: string, otherwise: readonly number[]) => {
    const accessor = attributes[name] === undefined ? undefined : root.listAccessors()[attributes[name]!]!;
    const numbers = accessor && numbersOf(accessor);
    const width = otherwise.length;
    return (i: number) => (numbers ? otherwise.map((_, axis) => numbers[i * width + axis] ?? Number.NaN) : otherwise);
  };
  const [translation, rotation, scale] = [
    column('TRANSLATION', [0, 0, 0]),
    column('ROTATION', [0, 0, 0, 1]),
    column('SCALE', [1, 1, 1]),
  ];
  const counts = Object.values(attributes).map(i => root.listAccessors()[i]!.getCount());
  const length = counts.length === 0 ? 0 : Math.min(...counts);
  return Array.from({ length }, (_, i) => fromParts(translation(i), rotation(i), scale(i)));
}

/** What a primitive draws; undefined for points and lines. */
function surfaceOf(primitive: Primitive, weights: readonly number[]): Surface | undefined {
  const accessor = primitive.getAttribute('POSITION');
  if (!accessor || primitive.getMode() < TRIANGLES) return undefined;
  if (accessor.getType() !== 'VEC3') throw new InputFault(`expected positions of type VEC3, got ${accessor.getType()}`);
  const normals = primitive.getAttribute('NORMAL');
  return {
    positions: morphed(primitive, 'POSITION', numbersOf(accessor), weights),
    normals: normals?.getType() === 'VEC3' ? morphed(primitive, 'NORMAL', numbersOf(normals), weights) : undefined,
    indices: trianglesOf(primitive, accessor.getCount()),
  };
}

/** The primitive modes that make triangles. */
const TRIANGLES = 4;
const TRIANGLE_STRIP = 5;

function trianglesOf(primitive: Primitive, vertices: number): ArrayLike<number> {
  const listed = primitive.getIndices()?.getArray();
  const length = listed?.length ?? vertices;
  const at = (i: number) => (listed ? listed[i]! : i);
  for (let i = 0; i < length; i++) {
    if (at(i) >= vertices) throw new InputFault(`it has a triangle of vertex ${at(i)}, and ${vertices} vertices`);
  }
  const mode = primitive.getMode();
  if (mode === TRIANGLES) {
    const whole = length - (length % 3);
    return listed ? listed.subarray(0, whole) : Uint32Array.from({ length: whole }, (_, i) => i);
  }
  const triangles = new Uint32Array(Math.max(0, length - 2) * 3);
  for (let i = 0; i + 2 < length; i++) {
    // Every other triangle of a strip is wound the other way; a fan's start at its first vertex.
    const odd = i % 2;
    const corners = mode === TRIANGLE_STRIP ? [at(i), at(i + 1 + odd), at(i + 2 - odd)] : [at(0), at(i + 1), at(i + 2)];
    triangles.set(corners, i * 3);
  }
  return triangles;
}

/** What the whole numbers of a normalised accessor are shares of. */
const FULL: Readonly<Record<number, number>> = { 5120: 127, 5121: 255, 5122: 32_767, 5123: 65_535 };

function numbersOf(accessor: Accessor): ArrayLike<number> {
  const array = accessor.getArray()!;
  const full = accessor.getNormalized() ? FULL[accessor.getComponentType()] : undefined;
  return full === undefined
    ? array
    : Float32Array.from(array as ArrayLike<number>, value => Math.max(-1, value / full));
}

function morphed(
  primitive: Primitive,
  semantic: string,
  numbers: ArrayLike<number>,
  weights: readonly number[],
): ArrayLike<number> {
  let sum: Float64Array | undefined;
  for (const [i, target] of primitive.listTargets().entries()) {
    const accessor = target.getAttribute(semantic);
    const weight = weights[i] ?? 0;
    if (!accessor || weight === 0) continue;
    const offsets = numbersOf(accessor);
    sum ??= Float64Array.from(numbers);
    for (let k = 0; k < sum.length; k++) sum[k]! += weight * (offsets[k] ?? 0);
  }
  return sum ?? numbers;
}

/** The transform of each vertex of a skinned primitive; undefined when it is bound to no joints. */
function skin(
  geometry: GltfGeometry,
  root: Root,
  worlds: ReadonlyMap<number, Transform>,
  skinNumber: number,
  primitive: Primitive,
  world: Transform,
): ((vertex: number) => Transform) | undefined {
  const { joints, inverseBindMatrices } = geometry.skins[skinNumber]!;
  const inverse = inverseBindMatrices === undefined ? undefined : numbersOf(root.listAccessors()[inverseBindMatrices]!);
  if (inverse && inverse.length < joints.length * 16) throw new InputFault('a skin has too few inverse bind matrices');
  const transforms = joints.map((joint, i) =>
    multiply(
      worlds.get(joint) ?? IDENTITY,
      inverse ? Array.from({ length: 16 }, (_, k) => inverse[i * 16 + k]!) : IDENTITY,
    ),
  );
  const sets: { joints: ArrayLike<number>; weights: ArrayLike<number> }[] = [];
  for (let set = 0; ; set++) {
    const [joint, weight] = [primitive.getAttribute(`JOINTS_${set}`), primitive.getAttribute(`WEIGHTS_${set}`)];
    if (!joint || !weight) break;
    sets.push({ joints: joint.getArray()!, weights: numbersOf(weight) });
  }
  if (sets.length === 0) return undefined;
  return vertex => {
    const blend = new Float64Array(16);
    let total = 0;
    for (const set of sets) {
      for (let k = vertex * 4; k < vertex * 4 + 4; k++) {
        const weight = set.weights[k] ?? 0;
        if (weight === 0) continue;
        const transform = transforms[set.joints[k]!];
        if (!transform) throw new InputFault(`a vertex is bound to joint ${set.joints[k]} of ${transforms.length}`);
        total += weight;
        for (let i = 0; i < 16; i++) blend[i]! += weight * transform[i]!;
      }
    }
    return total === 0 ? world : blend.map(value => value / total);
  };
}

function join(pieces: readonly Piece[]): RawMesh {
  const count = (of: (surface: Surface) => number) => pieces.reduce((sum, { surface }) => sum + of(surface), 0);
  const corners = count(({ indices }) => indices.length);
  // A compressed primitive may hold more than its accessors state.
  checkTriangles(corners / 3);
  const coordinates = count(({ positions }) => positions.length);
  const positions = new Float64Array(coordinates);
  const normals = new Float32Array(coordinates);
  const indices = new Uint32Array(corners);
  let [vertex, corner] = [0, 0];
  for (const { surface, transform } of pieces) {
    const { positions: p, normals: n } = surface;
    const vertices = p.length / 3;
    const mirrored = new Uint8Array(vertices);
    for (let i = 0; i < vertices; i++) {
      const matrix = transform(i);
      const [from, to] = [i * 3, (vertex + i) * 3];
      mirrored[i] = determinant(matrix) < 0 ? 1 : 0;
      transformPoint(matrix, p[from]!, p[from + 1]!, p[from + 2]!, positions, to);
      if (n) transformNormal(matrix, n[from] ?? 0, n[from + 1] ?? 0, n[from + 2] ?? 0, normals, to);
    }
    for (let i = 0; i < surface.indices.length; i += 3) {
      const [a, b, c] = [surface.indices[i]!, surface.indices[i + 1]!, surface.indices[i + 2]!];
      // A mirror turns the winding; the other way round, the outside stays outside.
      const turn = mirrored[a] === 1;
      indices[corner++] = vertex + a;
      indices[corner++] = vertex + (turn ? c : b);
      indices[corner++] = vertex + (turn ? b : c);
    }
    vertex += vertices;
  }
  return { positions, normals, indices };
}
