type Vector = readonly [number, number, number];

/** Bands of equal height, which on a sphere have equal area, and sectors of each. */
const BANDS = 6;
const SECTORS = 8;
export const CELLS = BANDS * SECTORS;

/** Where the camera is, as the object sees it: what a turn of the object by a unit quaternion makes of the axis to the camera. */
export function viewDirection([x, y, z, w]: readonly [number, number, number, number]): Vector {
  // (0, 0, 1), turned back: the third row of the rotation matrix.
  return [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)];
}

/** Of the CELLS parts of the sphere of equal area, how many hold a direction. */
export function coveredCells(directions: readonly Vector[]): number {
  const cells = new Set<number>();
  for (const [x, y, z] of directions) {
    const band = Math.min(BANDS - 1, Math.floor(((y + 1) / 2) * BANDS));
    const sector = Math.min(SECTORS - 1, Math.floor((Math.atan2(z, x) / (2 * Math.PI) + 0.5) * SECTORS));
    cells.add(band * SECTORS + sector);
  }
  return cells.size;
}

/** How many so many uniform directions hold on average. */
export function expectedCells(directions: number): number {
  return CELLS * (1 - (1 - 1 / CELLS) ** directions);
}
