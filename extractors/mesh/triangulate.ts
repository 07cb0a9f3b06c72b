/** Polygons of more corners are cut as fans whatever their form: clipping ears takes time in proportion to the square. */
const MAX_CLIPPED = 1000;

/**
 * Cuts a polygon in space, as flat as it may be, into triangles of the same winding. A polygon whose fan from the first corner
 * lies within it becomes that fan; of others (concave ones) ears are clipped.
 * @param at coordinate of a corner along an axis, 0–2.
 * @returns three corner numbers a triangle; corners − 2 triangles.
 */
export function triangulate(corners: number, at: (corner: number, axis: number) => number): number[] {
  const fan: number[] = [];
  for (let i = 1; i + 1 < corners; i++) fan.push(0, i, i + 1);
  if (corners <= 3 || corners > MAX_CLIPPED) return fan;
  const normal = polygonNormal(corners, at);
  const facing = (a: number, b: number, c: number) => areaAlong(normal, at, a, b, c);
  for (let i = 0; i < fan.length; i += 3) {
    if (facing(fan[i]!, fan[i + 1]!, fan[i + 2]!) < 0) return clipEars(corners, facing) ?? fan;
  }
  return fan;
}

type Vector = readonly [number, number, number];

/** Newell's normal: right for concave and slightly bent polygons too. */
function polygonNormal(corners: number, at: (corner: number, axis: number) => number): Vector {
  const normal: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < corners; i++) {
    const next = (i + 1) % corners;
    for (let axis = 0; axis < 3; axis++) {
      const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
      // From the first corner, so that a polygon far from the origin loses no digits.
      const from = (corner: number, a: number) => at(corner, a) - at(0, a);
      normal[axis]! += (from(i, u) - from(next, u)) * (from(i, v) + from(next, v));
    }
  }
  return normal;
}

/** Twice the area of a triangle as seen against the normal; negative when it is seen from behind. */
function areaAlong(
  normal: Vector,
  at: (corner: number, axis: number) => number,
  a: number,
  b: number,
  c: number,
): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const cross = (at(b, u) - at(a, u)) * (at(c, v) - at(a, v)) - (at(b, v) - at(a, v)) * (at(c, u) - at(a, u));
    sum += cross * normal[axis]!;
  }
  return sum;
}

/** Cuts off a corner whose triangle holds no other, until three are left; undefined when none is found, as of a knot. */
function clipEars(corners: number, facing: (a: number, b: number, c: number) => number): number[] | undefined {
  const left = Array.from({ length: corners }, (_, i) => i);
  const triangles: number[] = [];
  while (left.length > 3) {
    const ear = left.findIndex((b, i) => {
      const [a, c] = [left[(i + left.length - 1) % left.length]!, left[(i + 1) % left.length]!];
      if (facing(a, b, c) <= 0) return false;
      const holds = (p: number) => facing(a, b, p) >= 0 && facing(b, c, p) >= 0 && facing(c, a, p) >= 0;
      return left.every(p => p === a || p === b || p === c || !holds(p));
    });
    // Corners on a line have no ear; they are cut off as triangles without area.
    const at =
      ear >= 0 ? ear : left.findIndex((b, i) => facing(left.at(i - 1)!, b, left[(i + 1) % left.length]!) === 0);
    if (at < 0) return undefined;
    triangles.push(left.at(at - 1)!, left[at]!, left[(at + 1) % left.length]!);
    left.splice(at, 1);
  }
  return [...triangles, ...left];
}
