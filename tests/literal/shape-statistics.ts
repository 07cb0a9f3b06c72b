/**
 * The statistics of a shape word for word: flood fill, every pixel against every other, neighbourhoods of 2 × 2 pixels. It
 * follows no outline and shares nothing with the version in extractors/ but types.
 */
import type { Mask } from '../../extractors/image.ts';
import type { ShapeStatistics } from '../../extractors/shape-statistics.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}
/** Set or not at any place; outside of the mask is clear. */
type IsSet = (x: number, y: number) => boolean;

export function literalShapeStatistics({ data, width, height }: Mask): ShapeStatistics {
  const isSet: IsSet = (x, y) => x >= 0 && y >= 0 && x < width && y < height && data[y * width + x] !== 0;
  const pixels = places(0, 0, width, height).filter(({ x, y }) => isSet(x, y));
  const grounds = places(-1, -1, width + 1, height + 1).filter(({ x, y }) => !isSet(x, y));
  const parts = connected(pixels, 8);
  const holes = connected(grounds, 4).length - 1;
  const area = pixels.length;
  const perimeter = weighted(links(isSet, width, height));
  const [outerLength, hullLength] = [0, 1].map(which =>
    parts.map(part => chainLengths(part, width, height)[which]!).reduce((a, b) => a + b),
  ) as [number, number];
  const hull = convexHull(pixels);
  return {
    area,
    perimeter,
    solidity: area / places(0, 0, width, height).filter(place => isInside(place, hull)).length,
    convexity: hullLength / outerLength,
    holes,
    eulerNumber: parts.length - holes,
    elongation: elongation(pixels),
    complexity: perimeter ** 2 / (4 * Math.PI * area),
    thickness: (2 * (largestDistance(pixels, grounds) - 0.5)) / (2 * Math.sqrt(area / Math.PI)),
  };
}

function places(left: number, top: number, right: number, bottom: number): Point[] {
  const list: Point[] = [];
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) list.push({ x, y });
  return list;
}

function connected(points: readonly Point[], neighbours: 4 | 8): Point[][] {
  const left = new Map(points.map(point => [`${point.x} ${point.y}`, point]));
  const parts: Point[][] = [];
  for (const first of points) {
    if (!left.delete(`${first.x} ${first.y}`)) continue;
    const part = [first];
    for (const { x, y } of part) {
      for (const dx of [-1, 0, 1]) {
        for (const dy of [-1, 0, 1]) {
          if (neighbours === 4 && dx !== 0 && dy !== 0) continue;
          const next = left.get(`${x + dx} ${y + dy}`);
          if (!next) continue;
          left.delete(`${x + dx} ${y + dy}`);
          part.push(next);
        }
      }
    }
    parts.push(part);
  }
  return parts;
}

/** A piece of the outline between the middles of two pixel edges, in half pixels. */
interface Link {
  readonly from: Point;
  readonly to: Point;
}

/** Four pixels around a corner: where the outline comes in and goes out, by which of them are set. */
function links(isSet: IsSet, width: number, height: number): Link[] {
  const list: Link[] = [];
  for (const { x, y } of places(0, 0, width + 1, height + 1)) {
    const [a, b, c, d] = [isSet(x - 1, y - 1), isSet(x, y - 1), isSet(x, y), isSet(x - 1, y)];
    const middle = {
      ab: { x: 2 * x, y: 2 * y - 1 },
      bc: { x: 2 * x + 1, y: 2 * y },
      cd: { x: 2 * x, y: 2 * y + 1 },
      da: { x: 2 * x - 1, y: 2 * y },
    };
    if (a === c && b === d) {
      // Two that meet at the corner alone are joined: the outline cuts off the two clear ones.
      if (a && !b) list.push({ from: middle.ab, to: middle.bc }, { from: middle.cd, to: middle.da });
      if (b && !a) list.push({ from: middle.da, to: middle.ab }, { from: middle.bc, to: middle.cd });
      continue;
    }
    const [from, to] = [a !== b && middle.ab, b !== c && middle.bc, c !== d && middle.cd, d !== a && middle.da].filter(
      place => place !== false,
    );
    list.push({ from: from!, to: to! });
  }
  return list;
}

const isAslant = ({ from, to }: Link) => from.x !== to.x && from.y !== to.y;

/** Vossepoel and Smeulders. */
function weighted(list: readonly Link[]): number {
  const aslant = list.filter(isAslant).length / 2;
  const straight = list.length - 2 * aslant;
  const atMiddle = new Map<string, Link[]>();
  for (const link of list) {
    for (const { x, y } of [link.from, link.to])
      atMiddle.set(`${x} ${y}`, [...(atMiddle.get(`${x} ${y}`) ?? []), link]);
  }
  let changes = 0;
  for (const [one, other] of atMiddle.values()) {
    const [u, v] = [one!, other!].map(({ from, to }) => ({ x: to.x - from.x, y: to.y - from.y })) as [Point, Point];
    if (u.x * v.y !== u.y * v.x) changes++;
  }
  return 0.98 * straight + 1.406 * aslant - 0.091 * changes;
}

const chainLength = (x: number, y: number) => Math.max(x, y) - Math.min(x, y) + Math.SQRT2 * Math.min(x, y);
const distance = (a: Point, b: Point) => chainLength(Math.abs(b.x - a.x), Math.abs(b.y - a.y)) / 2;

/** Of a part with its holes filled: length of the outline, length of its convex hull. */
function chainLengths(part: readonly Point[], width: number, height: number): [number, number] {
  const own = new Set(part.map(({ x, y }) => `${x} ${y}`));
  const outside = connected(
    places(-1, -1, width + 1, height + 1).filter(({ x, y }) => !own.has(`${x} ${y}`)),
    4,
  ).find(ground => ground.some(({ x }) => x === -1))!;
  const ground = new Set(outside.map(({ x, y }) => `${x} ${y}`));
  const inside: IsSet = (x, y) => x >= 0 && y >= 0 && x < width && y < height && !ground.has(`${x} ${y}`);
  const list = links(inside, width, height);
  const hull = convexHull(list.flatMap(({ from, to }) => [from, to]));
  return [
    list.reduce((sum, { from, to }) => sum + distance(from, to), 0),
    hull.reduce((sum, point, i) => sum + distance(point, hull[(i + 1) % hull.length]!), 0),
  ];
}

const turn = (a: Point, b: Point, c: Point) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

/** Gift wrapping: from the leftmost of the uppermost points, always to the one that no other lies to the left of. */
function convexHull(points: readonly Point[]): Point[] {
  const first = points.reduce((best, point) =>
    point.y < best.y || (point.y === best.y && point.x < best.x) ? point : best,
  );
  const hull: Point[] = [];
  let at = first;
  do {
    hull.push(at);
    const from = at;
    const others = points.filter(({ x, y }) => x !== from.x || y !== from.y);
    if (others.length === 0) return hull;
    at = others.reduce((best, point) => {
      const side = turn(from, best, point);
      const farther = Math.hypot(point.x - from.x, point.y - from.y) > Math.hypot(best.x - from.x, best.y - from.y);
      return side < 0 || (side === 0 && farther) ? point : best;
    });
  } while (at.x !== first.x || at.y !== first.y);
  return hull;
}

function isInside(place: Point, hull: readonly Point[]): boolean {
  if (hull.length === 1) return place.x === hull[0]!.x && place.y === hull[0]!.y;
  const [xs, ys] = [hull.map(({ x }) => x), hull.map(({ y }) => y)];
  if (place.x < Math.min(...xs) || place.x > Math.max(...xs) || place.y < Math.min(...ys) || place.y > Math.max(...ys))
    return false;
  return hull.every((corner, i) => turn(corner, hull[(i + 1) % hull.length]!, place) >= 0);
}

/** Each pixel as a square of 1 × 1, whose own variance is 1/12 along both sides. */
function elongation(pixels: readonly Point[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [cx, cy] = [mean(pixels.map(({ x }) => x)), mean(pixels.map(({ y }) => y))];
  const xx = mean(pixels.map(({ x }) => (x - cx) ** 2)) + 1 / 12;
  const yy = mean(pixels.map(({ y }) => (y - cy) ** 2)) + 1 / 12;
  const xy = mean(pixels.map(({ x, y }) => (x - cx) * (y - cy)));
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const along = (angle: number) =>
    xx * Math.cos(angle) ** 2 + yy * Math.sin(angle) ** 2 + 2 * xy * Math.sin(angle) * Math.cos(angle);
  return 1 - Math.sqrt(along(angle + Math.PI / 2) / along(angle));
}

function largestDistance(pixels: readonly Point[], grounds: readonly Point[]): number {
  let largest = 0;
  for (const pixel of pixels) {
    let nearest = Number.POSITIVE_INFINITY;
    for (const ground of grounds) nearest = Math.min(nearest, Math.hypot(ground.x - pixel.x, ground.y - pixel.y));
    largest = Math.max(largest, nearest);
  }
  return largest;
}
