import type { SimplifierFlags } from 'meshoptimizer/simplifier';
import type { TriangleMesh } from './triangle-mesh.ts';

/**
 * How hard to press: first keep what hangs together and drop only what is smaller than the error, then join across creases,
 * too. Both stop early where the topology allows no more.
 */
const EFFORTS: readonly SimplifierFlags[][] = [['Prune'], ['Prune', 'Permissive']];

/** How much a turn of the normal counts beside a shift of the surface; the weight that glTF compressors use. */
const NORMAL_WEIGHTS = [0.5, 0.5, 0.5];

/** As far as it takes: the budget decides, not the error. 1 is the mesh's own size. */
const MAX_ERROR = 1;

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
  for (const flags of EFFORTS) {
    if (indices.length <= target) break;
    [indices] = MeshoptSimplifier.simplifyWithAttributes(
      indices,
      positions,
      3,
      normals,
      3,
      NORMAL_WEIGHTS,
      null,
      target,
      MAX_ERROR,
      flags,
    );
  }
  if (indices.length > target) {
    // Thousands of loose pieces: vertices are clustered, whatever hangs together.
    const [clustered] = MeshoptSimplifier.simplifySloppy(indices, positions, 3, null, target, MAX_ERROR);
    indices = clustered.length > 0 ? clustered : indices.slice(0, target);
  }
  return { positions, normals, indices };
}
