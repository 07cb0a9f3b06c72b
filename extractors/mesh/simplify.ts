import type { SimplifierFlags } from 'meshoptimizer/simplifier';
import type { TriangleMesh } from './triangle-mesh.ts';

/**
 * How hard to press, one after the other until the budget is met: within small errors first (shares of the mesh's size; loose
 * pieces smaller than the error are dropped), and across creases before the rest is bent much, since a mesh with many
 * creases would otherwise lose its smooth parts. Pieces are not dropped up to an error of 1: that is the whole mesh.
 */
const EFFORTS: readonly { readonly flags: SimplifierFlags[]; readonly maxError: number }[] = [
  { flags: ['Prune'], maxError: 0.005 },
  { flags: ['Prune', 'Permissive'], maxError: 0.01 },
  { flags: ['Prune', 'Permissive'], maxError: 0.03 },
  { flags: ['Permissive'], maxError: 1 },
];

/** How much a turn of the normal counts beside a shift of the surface; the weight that glTF compressors use. */
const NORMAL_WEIGHTS = [0.5, 0.5, 0.5];

/**
 * Reduces a mesh to at most so many triangles: edges are collapsed where it shows least, creases and normals count (quadric
 * error metrics, by meshoptimizer). Vertices that are left are those of the given mesh; some may be used no longer.
 */
export async function simplify(mesh: TriangleMesh, triangles: number): Promise<TriangleMesh> {
  const { MeshoptSimplifier } = await import('meshoptimizer/simplifier');
  await MeshoptSimplifier.ready;
  const { positions, normals } = mesh;
  const target = triangles * 3;
  let indices = mesh.indices;
  for (const { flags, maxError } of EFFORTS) {
    if (indices.length <= target) break;
    const [fewer] = MeshoptSimplifier.simplifyWithAttributes(
      indices,
      positions,
      3,
      normals,
      3,
      NORMAL_WEIGHTS,
      null,
      target,
      maxError,
      flags,
    );
    if (fewer.length > 0) indices = fewer;
  }
  if (indices.length > target) {
    // Thousands of loose pieces: vertices are clustered, whatever hangs together.
    const [clustered] = MeshoptSimplifier.simplifySloppy(indices, positions, 3, null, target, 1);
    indices = clustered.length > 0 ? clustered : indices.slice(0, target);
  }
  return { positions, normals, indices };
}
