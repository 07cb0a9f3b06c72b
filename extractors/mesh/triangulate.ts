/** Polygons of more corners are cut as fans whatever their form: clipping ears takes time in proportion to the square. */
const MAX_CLIPPED = 1000;

/**
 * Cuts a polygon in space, as flat as it may be, into triangles of the same winding. A polygon whose fan from the first corner
 * lies within it becomes that fan; of others (concave ones) ears are clipped.
 * @param polygon x, y, z a corner.
 * @returns three corner numbers a triangle; corners − 2 triangles.
 */
export function triangulate(polygon: Float64Array): number[] {
  const corners = polygon.length / 3;
  const fan: number[] = [];
  for (let i = 1; i + 1 < corners; i++) fan.push(0, i, i + 1);
  if (corners <= 3 || corners > MAX_CLIPPED) return fan;
  const normal = polygonNormal(polygon);
  for (let i = 0; i < fan.length; i += 3) {
    if (areaAlong(normal, polygon, fan[i]!, fan[i + 1]!, fan[i + 2]!) < 0) return clipEars(polygon, normal) ?? fan;
  }
  return fan;
}

/** Newell's normal: right for concave and slightly bent polygons too. */
function polygonNormal(polygon: Float64Array): Float64Array {
  const normal = new Float64Array(3);
  for (let axis = 0; axis < 3; axis++) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    // From the first corner, so that a polygon far from the origin loses no digits.
    const [u0, v0] = [polygon[u]!, polygon[v]!];
    for (let i = 0; i < polygon.length; i += 3) {
      const next = (i + 3) % polygon.length;
      const rise = polygon[i + v]! - v0 + (polygon[next + v]! - v0);
      normal[axis]! += (polygon[i + u]! - u0 - (polygon[next + u]! - u0)) * rise;
    }
  }
  return normal;
}

/** Area of a triangle as seen against the normal, times a positive factor; negative when it is seen from behind. */
function areaAlong(normal: Float64Array, polygon: Float64Array, a: number, b: number, c: number): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const [ua, va] = [polygon[a * 3 + u]!, polygon[a * 3 + v]!];
    const cross =
      (polygon[b * 3 + u]! - ua) * (polygon[c * 3 + v]! - va) - (polygon[b * 3 + v]! - va) * (polygon[c * 3 + u]! - ua);
    sum += cross * normal[axis]!;
  }
  return sum;
}

/** Cuts off a corner whose triangle holds no other, until three are left; undefined when none is found, as of a knot. */
function clipEars(polygon: Float64Array, normal: Float64Array): number[] | undefined {
  const facing = (a: number, b: number, c: number) => areaAlong(normal, polygon, a, b, c);
  const left = Array.from({ length: polygon.length / 3 }, (_, i) => i);
  const triangles: number[] = [];
  while (left.length > 3) {
    const ear = left.findIndex((b, i) => {
      const [a, c] = [left.at(i - 1)!, left[(i + 1) % left.length]!];
      if (facing(a, b, c) <= 0) return false;
      return left.every(
        p => p === a || p === b || p === c || facing(a, b, p) < 0 || facing(b, c, p) < 0 || facing(c, a, p) < 0,
      );
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
