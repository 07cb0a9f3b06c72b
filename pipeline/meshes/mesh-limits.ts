import { InputFault } from '../faults.ts';

/** Meshes above are refused: working on one takes about 100 bytes a triangle. */
export const MAX_TRIANGLES = 50_000_000;
/** Three a triangle at most can be used. */
export const MAX_VERTICES = 3 * MAX_TRIANGLES;

/** @throws InputFault for more triangles than are worked on. */
export function checkTriangles(triangles: number): void {
  if (triangles > MAX_TRIANGLES) {
    throw new InputFault(`${triangles} triangles exceed the limit of ${MAX_TRIANGLES}`);
  }
}
