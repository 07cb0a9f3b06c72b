/** Triangles over points that no two share a place. */
export interface Surface {
  /** x, y, z a point, in whole steps of a grid. */
  readonly points: Int16Array;
  /** Points of each triangle, three a triangle: its corners. */
  readonly corners: Uint32Array;
}

/** Normals of the corners of a surface. */
export interface CornerNormals {
  /** Unit vectors, x, y, z a corner. */
  readonly normals: Float32Array;
  /** Corners whose normal was made here. */
  readonly made: number;
}

/**
 * Up to so many triangles at a point are compared with each other. Where more meet is the tip of a fan: a common normal
 * means nothing there, each triangle keeps its own, and time stays in proportion to the number of triangles.
 */
const MAX_FAN = 256;

/**
 * A unit normal for every corner: the given one where it is usable, else one made from the triangles that meet there, weighted
 * by area, so that a large flat face stays flat beside the narrow ones that round its edge. Triangles that meet at more than
 * the crease angle do not share a normal: averaged over all, a cube's would point out of its corners, and it would be
 * shaded as a ball.
 * Not usable are normals that are no numbers, have no length, or point behind their triangle: they would be shaded black.
 * @param given x, y, z a corner.
 * @param creaseAngle degrees, 0–180.
 */
export function cornerNormals(surface: Surface, given: Float32Array, creaseAngle: number): CornerNormals {
  const { corners } = surface;
  const faces = faceVectors(surface);
  const normals = new Float32Array(given.length);
  let made = 0;
  for (let corner = 0; corner < corners.length; corner++) {
    const face = Math.floor(corner / 3) * 3;
    const [x, y, z] = [given[corner * 3]!, given[corner * 3 + 1]!, given[corner * 3 + 2]!];
    const towards = x * faces[face]! + y * faces[face + 1]! + z * faces[face + 2]!;
    // False for NaN, too.
    if (!(towards > 0 && setUnit(normals, corner * 3, x, y, z))) made++;
  }
  if (made > 0) fillIn(surface, faces, Math.cos((creaseAngle * Math.PI) / 180), normals);
  return { normals, made };
}

/** The cross product of two edges of each triangle: along its normal, twice its area long. */
function faceVectors({ points, corners }: Surface): Float64Array {
  const vectors = new Float64Array(corners.length);
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = [corners[i]! * 3, corners[i + 1]! * 3, corners[i + 2]! * 3];
    const [ux, uy, uz] = [points[b]! - points[a]!, points[b + 1]! - points[a + 1]!, points[b + 2]! - points[a + 2]!];
    const [vx, vy, vz] = [points[c]! - points[a]!, points[c + 1]! - points[a + 1]!, points[c + 2]! - points[a + 2]!];
    vectors[i] = uy * vz - uz * vy;
    vectors[i + 1] = uz * vx - ux * vz;
    vectors[i + 2] = ux * vy - uy * vx;
  }
  return vectors;
}

/** Makes the normals that are still 0, 0, 0. */
function fillIn({ points, corners }: Surface, faces: Float64Array, minCosine: number, normals: Float32Array): void {
  const units = new Float32Array(faces.length);
  for (let i = 0; i < faces.length; i += 3) setUnit(units, i, faces[i]!, faces[i + 1]!, faces[i + 2]!);
  const { start, around } = cornersAround(points.length / 3, corners);
  for (let corner = 0; corner < corners.length; corner++) {
    if (normals[corner * 3] !== 0 || normals[corner * 3 + 1] !== 0 || normals[corner * 3 + 2] !== 0) continue;
    const point = corners[corner]!;
    const own = Math.floor(corner / 3) * 3;
    let [x, y, z] = [0, 0, 0];
    if (start[point + 1]! - start[point]! <= MAX_FAN) {
      for (let k = start[point]!; k < start[point + 1]!; k++) {
        const face = Math.floor(around[k]! / 3) * 3;
        const cosine =
          units[own]! * units[face]! + units[own + 1]! * units[face + 1]! + units[own + 2]! * units[face + 2]!;
        if (cosine < minCosine) continue;
        x += faces[face]!;
        y += faces[face + 1]!;
        z += faces[face + 2]!;
      }
    }
    if (!setUnit(normals, corner * 3, x, y, z)) normals.set(units.subarray(own, own + 3), corner * 3);
  }
}

/** The corners at each point: those of point p stand from start[p] to start[p + 1] in `around`. */
function cornersAround(points: number, corners: Uint32Array): { start: Uint32Array; around: Uint32Array } {
  const start = new Uint32Array(points + 1);
  for (const point of corners) start[point + 1]!++;
  for (let point = 0; point < points; point++) start[point + 1]! += start[point]!;
  const next = start.slice();
  const around = new Uint32Array(corners.length);
  for (let corner = 0; corner < corners.length; corner++) around[next[corners[corner]!]!++] = corner;
  return { start, around };
}

/** Writes the unit vector along x, y, z; false, and nothing written, when there is none. */
function setUnit(target: Float32Array, at: number, x: number, y: number, z: number): boolean {
  const length = Math.sqrt(x * x + y * y + z * z);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) return false;
  target[at] = x / length;
  target[at + 1] = y / length;
  target[at + 2] = z / length;
  return true;
}
