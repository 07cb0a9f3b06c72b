import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  FloatType,
  RGBAFormat,
  RGBAIntegerFormat,
  ShortType,
  UnsignedIntType,
  Vector3,
} from 'three';
import { MeshBVH, SAH } from 'three-mesh-bvh';
import { POSITION_SCALE, type StoredMesh, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';

/**
 * A mesh's bounding volume hierarchy, found by three-mesh-bvh, in a form of our own for the GPU (`tree-rays.ts` walks it).
 *
 * A node is one texel of four 32-bit words: lower (low half) and upper (high half) bound along x, y and z, in steps of a grid over
 * the whole mesh, and what comes next. Nodes lie depth first, so that a ray that meets a node goes on with the next texel, and
 * one that misses it goes on where the word says: no stack is needed. Since the nearer child should come first, there are
 * eight such orders, one for each octant that a direction can lie in.
 *
 * A triangle is three texels of floats: a corner and the edges to the other two; the fourth components hold the numbers of the
 * vertices.
 */

/** Width of all textures here: a power of two makes places of indices cheap. Graphics cards take 16,384 rows, so that meshes of five million triangles fit. */
export const TREE_ROW = 4096;

const OCTANTS = 8;
/** Triangles of a leaf, as a rule: with 4, software takes a twentieth longer, with 8 a tenth. */
const LEAF_TRIANGLES = 2;
/** Set in the last word of a leaf, above the number of its first triangle. */
const LEAF = 0x8000_0000;
const STEPS = 65_535;
/** Bounds are widened by this part of a step, for the rounding of the ray's side of the comparison. */
const SLACK = 0.25;

/** Textures and grid of a tree whose vertices are at certain places. */
export interface PlacedTree {
  readonly nodes: DataTexture;
  readonly triangles: DataTexture;
  /** The grid's first corner, and its steps per unit of length. */
  readonly corner: Vector3;
  readonly stepsPerLength: Vector3;
  /** Nodes of one order. */
  readonly size: number;
  dispose(): void;
}

/** A node of an inner level is (offset of its second child) << 2 | axis of the split; of a leaf, {@link LEAF} | first triangle. */
type Topology = Uint32Array<ArrayBuffer>;

export class MeshTree {
  readonly #topology: Topology;
  /** Vertices of the triangles, in the order of the leaves. */
  readonly #indices: Uint32Array<ArrayBuffer>;
  /** Positions and normals as they are stored, one texel a vertex each. */
  readonly positions: DataTexture;
  readonly normals: DataTexture;
  readonly #mesh: StoredMesh;
  #undisplaced: PlacedTree | undefined;

  private constructor(mesh: StoredMesh, topology: Topology, indices: Uint32Array<ArrayBuffer>) {
    this.#topology = topology;
    this.#indices = indices;
    this.#mesh = mesh;
    this.positions = vertexTexture(mesh.positions);
    this.normals = vertexTexture(mesh.normals);
  }

  get vertices(): number {
    return this.#mesh.vertices;
  }

  /** Of its largest texture. */
  get rows(): number {
    return Math.ceil((OCTANTS * this.#topology.length) / TREE_ROW);
  }

  /** With the vertices where they are stored; made when it is first asked for: most scenes displace theirs. */
  get undisplaced(): PlacedTree {
    this.#undisplaced ??= this.place(storedPositions(this.#mesh), 3);
    return this.#undisplaced;
  }

  /** Finds the tree of a mesh: about 2 s for a million triangles. */
  static build(mesh: StoredMesh): MeshTree {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(storedPositions(mesh), 3));
    const indices = Uint32Array.from(mesh.indices);
    geometry.setIndex(new BufferAttribute(indices, 1));
    const tree = new MeshBVH(geometry, { strategy: SAH, targetLeafSize: LEAF_TRIANGLES, verbose: false });
    const { roots } = MeshBVH.serialize(tree, { cloneBuffers: false });
    return new MeshTree(mesh, topologyOf(roots[0]!), indices);
  }

  /** A mesh's tree from the bytes that {@link kept} gave; undefined when they are of another form or mesh. */
  static fromKept(mesh: StoredMesh, bytes: Uint8Array<ArrayBuffer>): MeshTree | undefined {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const [triangles, nodes] = words;
    if (triangles !== mesh.triangles || words.length !== 2 + nodes! + 3 * triangles) return undefined;
    return new MeshTree(mesh, words.slice(2, 2 + nodes!), words.slice(2 + nodes!));
  }

  /** What finding it took, in bytes: numbers of triangles and nodes, the nodes, the triangles' vertices; all 32 bits. */
  kept(): Uint8Array<ArrayBuffer> {
    const words = new Uint32Array(2 + this.#topology.length + this.#indices.length);
    words.set([this.#indices.length / 3, this.#topology.length]);
    words.set(this.#topology, 2);
    words.set(this.#indices, 2 + this.#topology.length);
    return new Uint8Array(words.buffer);
  }

  /**
   * The tree with its vertices at other places, its bounds fitted anew.
   * @param positions x, y and z of each vertex. @param stride numbers a vertex.
   */
  place(positions: Float32Array, stride: number): PlacedTree {
    const bounds = boundsOf(this.#topology, this.#indices, positions, stride);
    const size = this.#topology.length;
    const corner = new Vector3(bounds[0], bounds[1], bounds[2]);
    const stepsPerLength = new Vector3(bounds[3], bounds[4], bounds[5]).sub(corner);
    // A flat mesh has no extent along an axis: any grid will do. A step is left at each end for what is widened.
    for (const axis of ['x', 'y', 'z'] as const) {
      stepsPerLength[axis] = (STEPS - 2) / Math.max(stepsPerLength[axis], 1e-6);
      corner[axis] -= 1 / stepsPerLength[axis];
    }
    const nodes = texture(
      orders(this.#topology, steps(bounds, corner, stepsPerLength)),
      RGBAIntegerFormat,
      UnsignedIntType,
    );
    const triangles = texture(triangleTexels(this.#topology, this.#indices, positions, stride), RGBAFormat, FloatType);
    const dispose = () => {
      nodes.dispose();
      triangles.dispose();
    };
    return { nodes, triangles, corner, stepsPerLength, size, dispose };
  }

  dispose(): void {
    this.positions.dispose();
    this.normals.dispose();
    this.#undisplaced?.dispose();
  }
}

/** As the GPU reads them from normalised 16-bit attributes. */
function storedPositions({ vertices, positions }: StoredMesh): Float32Array<ArrayBuffer> {
  const places = new Float32Array(3 * vertices);
  for (let v = 0; v < vertices; v++) {
    for (let axis = 0; axis < 3; axis++) {
      places[3 * v + axis] = POSITION_SCALE * Math.max(-1, positions[VERTEX_COMPONENTS * v + axis]! / 32_767);
    }
  }
  return places;
}

/** three-mesh-bvh's nodes have 32 bytes: six bounds, then the second child's offset or first triangle, then axis or leaf. */
function topologyOf(root: ArrayBuffer): Topology {
  const words = new Uint32Array(root);
  const topology = new Uint32Array(words.length / 8);
  for (let node = 0; node < topology.length; node++) {
    const next = words[8 * node + 6]!;
    const kind = words[8 * node + 7]!;
    topology[node] = kind >>> 16 ? LEAF | next : (next << 2) | kind;
  }
  return topology;
}

/** Six bounds a node: lower x, y, z; upper x, y, z. Children lie behind their parents. */
function boundsOf(topology: Topology, indices: Uint32Array, positions: Float32Array, stride: number): Float32Array {
  const bounds = new Float32Array(6 * topology.length);
  let end = indices.length;
  for (let node = topology.length - 1; node >= 0; node--) {
    const at = 6 * node;
    const word = topology[node]!;
    if (word >= LEAF) {
      bounds.fill(Number.POSITIVE_INFINITY, at, at + 3).fill(Number.NEGATIVE_INFINITY, at + 3, at + 6);
      const first = 3 * (word - LEAF);
      for (let i = first; i < end; i++) {
        const p = stride * indices[i]!;
        for (let axis = 0; axis < 3; axis++) {
          const value = positions[p + axis]!;
          if (value < bounds[at + axis]!) bounds[at + axis] = value;
          if (value > bounds[at + 3 + axis]!) bounds[at + 3 + axis] = value;
        }
      }
      end = first;
    } else {
      const [left, right] = [at + 6, at + 6 * (word >>> 2)];
      for (let axis = 0; axis < 3; axis++) {
        bounds[at + axis] = Math.min(bounds[left + axis]!, bounds[right + axis]!);
        bounds[at + 3 + axis] = Math.max(bounds[left + 3 + axis]!, bounds[right + 3 + axis]!);
      }
    }
  }
  return bounds;
}

/** Bounds in steps of the grid, as three words a node. */
function steps(bounds: Float32Array, corner: Vector3, stepsPerLength: Vector3): Uint32Array {
  const words = new Uint32Array(bounds.length / 2);
  const [start, scale] = [corner.toArray(), stepsPerLength.toArray()];
  for (let node = 0; node < bounds.length / 6; node++) {
    for (let axis = 0; axis < 3; axis++) {
      const lower = Math.floor((bounds[6 * node + axis]! - start[axis]!) * scale[axis]! - SLACK);
      const upper = Math.ceil((bounds[6 * node + 3 + axis]! - start[axis]!) * scale[axis]! + SLACK);
      words[3 * node + axis] = Math.max(0, lower) | (Math.min(STEPS, upper) << 16);
    }
  }
  return words;
}

/** All eight orders, one behind the other. */
function orders(topology: Topology, steps: Uint32Array): Uint32Array<ArrayBuffer> {
  const size = topology.length;
  // Nodes of the tree below each node, itself included.
  const below = new Uint32Array(size);
  for (let node = size - 1; node >= 0; node--) {
    const word = topology[node]!;
    below[node] = word >= LEAF ? 1 : 1 + below[node + 1]! + below[node + (word >>> 2)]!;
  }
  const texels = new Uint32Array(4 * padded(OCTANTS * size));
  const places = new Uint32Array(size);
  for (let octant = 0; octant < OCTANTS; octant++) {
    places[0] = octant * size;
    for (let node = 0; node < size; node++) {
      const word = topology[node]!;
      const place = places[node]!;
      let next = word;
      if (word < LEAF) {
        const [left, right] = [node + 1, node + (word >>> 2)];
        const [near, far] = (octant >> (word & 3)) & 1 ? [right, left] : [left, right];
        places[near] = place + 1;
        places[far] = place + 1 + below[near]!;
        next = place + below[node]!;
      }
      texels[4 * place] = steps[3 * node]!;
      texels[4 * place + 1] = steps[3 * node + 1]!;
      texels[4 * place + 2] = steps[3 * node + 2]!;
      texels[4 * place + 3] = next;
    }
  }
  return texels;
}

/** Corner and two edges of each triangle; the first vertex' number is stored as −1 − number in the last triangle of a leaf. */
function triangleTexels(
  topology: Topology,
  indices: Uint32Array,
  positions: Float32Array,
  stride: number,
): Float32Array<ArrayBuffer> {
  const texels = new Float32Array(4 * padded(indices.length));
  for (let i = 0; i < indices.length; i += 3) {
    const a = stride * indices[i]!;
    for (let corner = 0; corner < 3; corner++) {
      const at = 4 * (i + corner);
      const p = stride * indices[i + corner]!;
      for (let axis = 0; axis < 3; axis++) {
        texels[at + axis] = corner === 0 ? positions[p + axis]! : positions[p + axis]! - positions[a + axis]!;
      }
      texels[at + 3] = indices[i + corner]!;
    }
  }
  const endLeaf = (triangle: number) => {
    const at = 12 * triangle + 3;
    texels[at] = -1 - texels[at]!;
  };
  for (const word of topology) if (word > LEAF) endLeaf(word - LEAF - 1);
  endLeaf(indices.length / 3 - 1);
  return texels;
}

const padded = (texels: number) => Math.ceil(texels / TREE_ROW) * TREE_ROW;

/** Four 16-bit numbers a vertex, as they are. */
function vertexTexture(components: Int16Array): DataTexture {
  const texels = new Int16Array(4 * padded(components.length / 4));
  texels.set(components);
  return texture(texels, RGBAIntegerFormat, ShortType);
}

function texture(
  texels: Int16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>,
  format: typeof RGBAFormat | typeof RGBAIntegerFormat,
  type: typeof ShortType | typeof UnsignedIntType | typeof FloatType,
): DataTexture {
  const made = new DataTexture(texels, TREE_ROW, texels.length / 4 / TREE_ROW, format, type);
  made.needsUpdate = true;
  return made;
}
