import { type RawMesh, UnusableMesh } from './triangle-mesh.ts';

/** How a mesh was moved: placed = (given − center) × scale. */
export interface Placement {
  readonly center: readonly [x: number, y: number, z: number];
  readonly scale: number;
}

/** The usable triangles of a mesh, about the origin, on a grid. */
export interface PlacedMesh {
  /** x, y, z a vertex of the given mesh, in steps from the origin; meaningless where no triangle uses the vertex. */
  readonly steps: Int16Array;
  /** Those of the given indices that make triangles. */
  readonly indices: Uint32Array;
  readonly placement: Placement;
  readonly removed: RemovedTriangles;
}

/** Triangles left out, by reason. */
export interface RemovedTriangles {
  /** With a coordinate that is NaN or infinite. */
  readonly nonFinite: number;
  /** Without area, or smaller than a step of the grid. */
  readonly degenerate: number;
}

/** A triangle of less height over its longest edge has no area: 32-bit coordinates of points on a line differ by as much. */
const MIN_HEIGHT = 1e-7;

/**
 * Moves the centre of the bounding box to the origin, makes its longest side `gridSteps` steps, and rounds to whole steps.
 * The box is that of the triangles that are left, so that nothing invisible decides about the size.
 * @param gridSteps at most 65,534.
 * @throws UnusableMesh when no triangle is left, or all lie in one point.
 */
export function placeOnGrid({ positions, indices: all }: RawMesh, gridSteps: number): PlacedMesh {
  if (all.length === 0) throw new UnusableMesh('it has no triangle');
  const finite = keepTriangles(
    all,
    (a, b, c) => isFinitePoint(positions, a) && isFinitePoint(positions, b) && isFinitePoint(positions, c),
  );
  if (finite.length === 0) throw new UnusableMesh('every triangle has a coordinate that is NaN or infinite');
  const first = boxOf(positions, finite);
  if (first.side === 0) throw new UnusableMesh('all its triangles lie in one point');
  let indices = keepTriangles(finite, (a, b, c) => hasArea(positions, a, b, c));
  const steps = new Int16Array(positions.length);
  for (;;) {
    if (indices.length === 0) throw new UnusableMesh('no triangle has an area');
    const box = boxOf(positions, indices);
    const { center, side } = box;
    // Divided first: the product overflows for the smallest boxes.
    for (const v of indices) {
      for (let axis = 0; axis < 3; axis++) {
        const share = (positions[v * 3 + axis]! - center[axis]!) / side;
        steps[v * 3 + axis] = Math.round(share * gridSteps);
      }
    }
    const left = keepTriangles(indices, (a, b, c) => hasAreaOnGrid(steps, a, b, c));
    const allLeft = left.length === indices.length;
    indices = left;
    // What was removed may have been at the rim.
    if (!allLeft && !(left.length > 0 && equalBoxes(boxOf(positions, left), box))) continue;
    return {
      steps,
      indices,
      placement: { center, scale: 1 / side },
      removed: { nonFinite: (all.length - finite.length) / 3, degenerate: (finite.length - indices.length) / 3 },
    };
  }
}

/** The placement that does the same as one after the other. */
export function both(first: Placement, second: Placement): Placement {
  const [x, y, z] = [0, 1, 2].map(axis => first.center[axis]! + second.center[axis]! / first.scale);
  return { center: [x!, y!, z!], scale: first.scale * second.scale };
}

function keepTriangles(indices: Uint32Array, keep: (a: number, b: number, c: number) => boolean): Uint32Array {
  const kept = new Uint32Array(indices.length);
  let length = 0;
  for (let i = 0; i + 2 < indices.length; i += 3) {
    const [a, b, c] = [indices[i]!, indices[i + 1]!, indices[i + 2]!];
    if (!keep(a, b, c)) continue;
    kept[length] = a;
    kept[length + 1] = b;
    kept[length + 2] = c;
    length += 3;
  }
  return kept.subarray(0, length);
}

function isFinitePoint(positions: Float64Array, v: number): boolean {
  // Infinite numbers and NaN make a difference that is NaN.
  return (
    positions[v * 3]! -
      positions[v * 3]! +
      (positions[v * 3 + 1]! - positions[v * 3 + 1]!) +
      (positions[v * 3 + 2]! - positions[v * 3 + 2]!) ===
    0
  );
}

interface Box {
  readonly center: readonly [number, number, number];
  /** The longest. */
  readonly side: number;
}

function boxOf(positions: Float64Array, indices: Uint32Array): Box {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const greatest = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const v of indices) {
    for (let axis = 0; axis < 3; axis++) {
      const value = positions[v * 3 + axis]!;
      if (value < least[axis]!) least[axis] = value;
      if (value > greatest[axis]!) greatest[axis] = value;
    }
  }
  // Halves are added, since the sum of two great numbers may be infinite.
  const [x, y, z] = least.map((value, axis) => value / 2 + greatest[axis]! / 2);
  return { center: [x!, y!, z!], side: Math.max(...least.map((value, axis) => greatest[axis]! - value)) };
}

const equalBoxes = (a: Box, b: Box) => a.side === b.side && a.center.every((value, axis) => value === b.center[axis]);

/** Whether a triangle is more than a line or a point, whatever its size. */
function hasArea(p: Float64Array, a: number, b: number, c: number): boolean {
  const [x, y, z] = [p[a * 3]!, p[a * 3 + 1]!, p[a * 3 + 2]!];
  const [ux, uy, uz] = [p[b * 3]! - x, p[b * 3 + 1]! - y, p[b * 3 + 2]! - z];
  const [vx, vy, vz] = [p[c * 3]! - x, p[c * 3 + 1]! - y, p[c * 3 + 2]! - z];
  const longest = Math.max(Math.abs(ux), Math.abs(uy), Math.abs(uz), Math.abs(vx), Math.abs(vy), Math.abs(vz));
  // Relative to the longest edge before anything is multiplied, so that no product over- or underflows.
  const nx = (uy / longest) * (vz / longest) - (uz / longest) * (vy / longest);
  const ny = (uz / longest) * (vx / longest) - (ux / longest) * (vz / longest);
  const nz = (ux / longest) * (vy / longest) - (uy / longest) * (vx / longest);
  return nx * nx + ny * ny + nz * nz > MIN_HEIGHT * MIN_HEIGHT;
}

function hasAreaOnGrid(s: Int16Array, a: number, b: number, c: number): boolean {
  const [x, y, z] = [s[a * 3]!, s[a * 3 + 1]!, s[a * 3 + 2]!];
  const [ux, uy, uz] = [s[b * 3]! - x, s[b * 3 + 1]! - y, s[b * 3 + 2]! - z];
  const [vx, vy, vz] = [s[c * 3]! - x, s[c * 3 + 1]! - y, s[c * 3 + 2]! - z];
  // Whole numbers below 2^53: exact.
  return uy * vz !== uz * vy || uz * vx !== ux * vz || ux * vy !== uy * vx;
}
