import { cornerNormals } from './normals.ts';
import { both, type Placement, placeOnGrid, type RemovedTriangles } from './placement.ts';
import { simplify } from './simplify.ts';
import type { RawMesh, TriangleMesh } from './triangle-mesh.ts';
import { numberRows } from './weld.ts';

export interface PreparationOptions {
  /** Budget: a mesh of more triangles is simplified. */
  readonly triangles: number;
  /** Degrees; where normals are missing, triangles that meet at more keep an edge between them. */
  readonly creaseAngle: number;
}

export interface PreparedMesh {
  readonly mesh: TriangleMesh;
  readonly placement: Placement;
  readonly removed: RemovedTriangles & {
    /** With the corners of another. */
    readonly duplicate: number;
  };
  readonly simplified: boolean;
  /** Share of the corners whose normal is not the file's but made, 0–1, before any simplification. */
  readonly madeNormals: number;
}

/**
 * Meshes of more triangles are first rounded to a coarse grid, which leaves few millions of most: the simplifier's memory has a
 * limit of 4 GB, and takes 7 µs a triangle. Details of 1/1,024 of the longest side are lost to such a mesh anyway when it
 * is brought under the budget.
 */
const MAX_SIMPLIFIED = 6_000_000;
const COARSE_STEPS = 1024;

/** Parts of a unit normal's components that count as equal when vertices are welded: 0.06°. */
const NORMAL_STEPS = 1024;

/**
 * Makes any mesh fit to be drawn: broken and degenerate triangles removed, the centre of the box at the origin, its longest
 * side 1, vertices welded, normals made where they are missing or broken, at most so many triangles, ordered for the
 * vertex cache. A function of its arguments alone.
 * @param gridSteps coordinates become multiples of 1 / gridSteps: those that the stored form can hold.
 * @throws UnusableMesh when there is nothing to draw.
 */
export async function prepareMesh(
  raw: RawMesh,
  { triangles, creaseAngle }: PreparationOptions,
  gridSteps: number,
): Promise<PreparedMesh> {
  let steps = gridSteps;
  let removed: PreparedMesh['removed'] | undefined;
  if (raw.indices.length > MAX_SIMPLIFIED * 3) {
    // What the coarse grid swallows was no fault of the file.
    removed = { ...placeOnGrid(raw, gridSteps).removed, duplicate: 0 };
    steps = COARSE_STEPS;
  }
  // On the coarse grid a surface is rough, and its edges are no edges of the mesh.
  const smooth = steps < gridSteps ? 180 : creaseAngle;
  let tidied = tidy(raw, steps, smooth);
  while (tidied.mesh.indices.length > MAX_SIMPLIFIED * 3) {
    steps /= 2;
    tidied = tidy(raw, steps, smooth);
  }
  const { madeNormals } = tidied;
  removed ??= tidied.removed;
  let { mesh, placement } = tidied;
  const simplified = steps < gridSteps || mesh.indices.length > triangles * 3;
  if (simplified) {
    // What was simplified away may have been at the rim, and made the normals of what is left wrong.
    const fewer = tidy(toRaw(await simplify(mesh, triangles)), gridSteps, creaseAngle);
    mesh = fewer.mesh;
    placement = both(placement, fewer.placement);
  }
  return { mesh: await orderForVertexCache(mesh), placement, removed, simplified, madeNormals };
}

interface TidyMesh extends Pick<PreparedMesh, 'mesh' | 'placement' | 'removed' | 'madeNormals'> {}

/** Everything but the budget and the order. */
function tidy(raw: RawMesh, gridSteps: number, creaseAngle: number): TidyMesh {
  const { steps, indices, placement, removed } = placeOnGrid(raw, gridSteps);
  const { numbers, first } = numberRows(steps, 3);
  const points = new Int16Array(first.length * 3);
  for (let i = 0; i < points.length; i++) points[i] = steps[first[Math.floor(i / 3)]! * 3 + (i % 3)]!;
  const all = indices.map(v => numbers[v]!);
  const chosen = firstOfEach(all);
  const corners = new Uint32Array(chosen.length * 3);
  const given = new Float32Array(corners.length * 3);
  for (let corner = 0; corner < corners.length; corner++) {
    const from = chosen[Math.floor(corner / 3)]! * 3 + (corner % 3);
    corners[corner] = all[from]!;
    for (let axis = 0; axis < 3; axis++) given[corner * 3 + axis] = raw.normals[indices[from]! * 3 + axis]!;
  }
  const { normals, made } = cornerNormals({ points, corners }, given, creaseAngle);
  return {
    mesh: weldCorners(points, corners, normals, gridSteps),
    placement,
    removed: { ...removed, duplicate: indices.length / 3 - chosen.length },
    madeNormals: made / corners.length,
  };
}

/**
 * Numbers of the triangles that lie where none before them does. Exporters write two-sided surfaces as two triangles with the
 * same corners; scenes show both sides anyway, and rays would meet the surface twice.
 */
function firstOfEach(corners: Uint32Array): Uint32Array {
  const sorted = new Int32Array(corners);
  for (let i = 0; i < sorted.length; i += 3) {
    const [a, b, c] = [sorted[i]!, sorted[i + 1]!, sorted[i + 2]!];
    sorted[i] = Math.min(a, b, c);
    sorted[i + 2] = Math.max(a, b, c);
    sorted[i + 1] = a + b + c - sorted[i]! - sorted[i + 2]!;
  }
  return numberRows(sorted, 3).first;
}

/** One vertex for all corners of equal place and, as good as, equal normal. */
function weldCorners(
  points: Int16Array,
  corners: Uint32Array,
  cornerNormals: Float32Array,
  gridSteps: number,
): TriangleMesh {
  const rows = new Int32Array(corners.length * 4);
  for (let corner = 0; corner < corners.length; corner++) {
    rows[corner * 4] = corners[corner]!;
    for (let axis = 0; axis < 3; axis++) {
      rows[corner * 4 + 1 + axis] = Math.round(cornerNormals[corner * 3 + axis]! * NORMAL_STEPS);
    }
  }
  const { numbers: indices, first } = numberRows(rows, 4);
  const positions = new Float32Array(first.length * 3);
  const normals = new Float32Array(first.length * 3);
  for (let i = 0; i < positions.length; i++) {
    const [corner, axis] = [first[Math.floor(i / 3)]!, i % 3];
    positions[i] = points[corners[corner]! * 3 + axis]! / gridSteps;
    normals[i] = cornerNormals[corner * 3 + axis]!;
  }
  return { positions, normals, indices };
}

const toRaw = ({ positions, normals, indices }: TriangleMesh): RawMesh => ({
  positions: Float64Array.from(positions),
  normals,
  indices,
});

/** Triangles so that vertices are used again soon, vertices in the order of their first use (meshoptimizer). */
async function orderForVertexCache({ positions, normals, indices }: TriangleMesh): Promise<TriangleMesh> {
  const { MeshoptEncoder } = await import('meshoptimizer/encoder');
  await MeshoptEncoder.ready;
  const ordered = indices.slice();
  const [places, vertices] = MeshoptEncoder.reorderMesh(ordered, true, false);
  const moved = (values: Float32Array) => {
    const result = new Float32Array(vertices * 3);
    for (let i = 0; i < values.length; i++) result[places[Math.floor(i / 3)]! * 3 + (i % 3)] = values[i]!;
    return result;
  };
  return { positions: moved(positions), normals: moved(normals), indices: ordered };
}
