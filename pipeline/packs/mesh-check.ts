import { MESH_PREPARATION } from '../configuration.ts';
import { InputFault } from '../faults.ts';
import { prepareMeshFile } from '../stages/prepare-meshes.ts';

/**
 * A worker thread's only entry: prepares a mesh as a run does, so that what runs cannot use is known before them, and what they can
 * lies in the cache for them.
 * @returns why no run can use it; null when all is well.
 */
export default async function checkMesh(path: string): Promise<string | null> {
  try {
    await prepareMeshFile(path, MESH_PREPARATION);
    return null;
  } catch (error) {
    if (error instanceof InputFault) return error.message;
    throw error;
  }
}
