/** A triangle mesh as a file gives it: of any size, anywhere, with any flaw that finite arrays may have. */
export interface RawMesh {
  /** x, y, z a vertex, in the file's units. 64 bits: coordinates of maps and scans lie far from the origin. */
  readonly positions: Float64Array;
  /** x, y, z a vertex, of any length; 0, 0, 0 where there is none. */
  readonly normals: Float32Array;
  /** Three a triangle, counter-clockwise seen from outside; all below the number of vertices. */
  readonly indices: Uint32Array;
}

/** A mesh about the origin whose longest side is 1, with a unit normal at each vertex and no degenerate triangle. */
export interface TriangleMesh {
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly indices: Uint32Array;
}

/** A mesh of which nothing can be drawn; the message says why. */
export class UnusableMesh extends Error {
  override name = 'UnusableMesh';
}
