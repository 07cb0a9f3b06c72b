import { crackLoops, STEP_X, STEP_Y } from './crack-loops.ts';
import type { Mask } from './image.ts';
import { largestDistance } from './inscribed-disc.ts';

/** What is measured of a shape's form; all but `area` and `perimeter` do not depend on its size. */
export interface ShapeStatistics {
  /** Set pixels. */
  readonly area: number;
  /**
   * Length of the outline, holes included, pixels: the outline joins the middles of the pixel edges between shape and
   * ground by steps straight on (of 1) and aslant (of √½), weighted by Vossepoel and Smeulders (1982) so that straight lines
   * of all directions come out right on average: 0.980 · straight + 1.406 · pairs aslant − 0.091 · changes of direction.
   */
  readonly perimeter: number;
  /** Area over the pixels whose centres lie in the convex hull of the shape's pixel centres, 0–1; 1: digitally convex. */
  readonly solidity: number;
  /**
   * Perimeters of the parts' convex hulls over those of their outer outlines, 0–1. Both are lengths of 8-connected chains, that
   * is of |long side| − |short side| + √2 · |short side| for a vector, which is a norm: so no hull is longer than its outline.
   */
  readonly convexity: number;
  /** Areas of ground that the shape encloses. */
  readonly holes: number;
  /** Parts minus holes (8-connected shape, 4-connected ground). */
  readonly eulerNumber: number;
  /**
   * 1 − shorter over longer axis of the ellipse of the same second moments: 0 a disc, near 1 a needle. A pixel counts as a
   * square, not as a point.
   */
  readonly elongation: number;
  /** Perimeter² / (4π · area): 1 a disc. */
  readonly complexity: number;
  /** Diameter of the largest disc around a pixel's centre that fits into the shape over that of a disc of its area, 0–1. */
  readonly thickness: number;
}

/**
 * Measures a shape. Turned by 90° or mirrored it measures exactly the same.
 * @param mask its tight mask, with at least one set pixel.
 */
export function shapeStatistics(mask: Mask): ShapeStatistics {
  const { area, elongation } = moments(mask);
  if (area === 0) throw new RangeError('a shape has at least one set pixel');
  const { perimeter, convexity, parts, holes } = outline(mask);
  return {
    area,
    perimeter,
    solidity: area / convexArea(mask),
    convexity,
    holes,
    eulerNumber: parts - holes,
    elongation,
    complexity: perimeter ** 2 / (4 * Math.PI * area),
    // The outline passes half a pixel before the nearest clear pixel's centre.
    thickness: (2 * largestDistance(mask) - 1) / (2 * Math.sqrt(area / Math.PI)),
  };
}

/** Sums are of whole numbers, in half pixels from the middle of the mask, so that no order of summing shows. */
function moments({ data, width, height }: Mask): { area: number; elongation: number } {
  let [area, sumX, sumY, sumXX, sumYY, sumXY] = [0, 0, 0, 0, 0, 0];
  for (let row = 0, at = 0; row < height; row++) {
    let [count, x, xx] = [0, 0, 0];
    for (let place = 1 - width; place < width; place += 2) {
      if (data[at++] === 0) continue;
      count++;
      x += place;
      xx += place * place;
    }
    const y = 2 * row + 1 - height;
    area += count;
    sumX += x;
    sumY += y * count;
    sumXX += xx;
    sumYY += y * y * count;
    sumXY += y * x;
  }
  // A square of side 2 has a variance of 1/3 along each side.
  const xx = sumXX / area - (sumX / area) ** 2 + 1 / 3;
  const yy = sumYY / area - (sumY / area) ** 2 + 1 / 3;
  const xy = sumXY / area - (sumX / area) * (sumY / area);
  const mean = (xx + yy) / 2;
  const spread = Math.hypot((xx - yy) / 2, xy);
  return { area, elongation: 1 - Math.sqrt(Math.max(0, mean - spread) / (mean + spread)) };
}

/** What the loops of cracks tell: each is a part's outer outline or a hole's. */
function outline(mask: Mask): { perimeter: number; convexity: number; parts: number; holes: number } {
  let [parts, holes, straight, aslant, changes] = [0, 0, 0, 0, 0];
  /** Straight links and pairs of links aslant of outer outlines, and of the hulls of these. */
  const [outer, hulls] = [chain(), chain()];
  for (const { x, y, steps, area } of crackLoops(mask)) {
    let links = 0;
    let turned = 0;
    let before = steps.at(-1)!;
    let link = linkOf(steps.at(-2)!, before);
    for (const step of steps) {
      const next = linkOf(before, step);
      if (next & 1) turned++;
      if (next !== link) changes++;
      link = next;
      before = step;
      links++;
    }
    straight += links - turned;
    aslant += turned / 2;
    if (area < 0) {
      holes++;
      continue;
    }
    parts++;
    outer.straight += links - turned;
    outer.aslant += turned / 2;
    const hull = hullChain(x, y, steps);
    hulls.straight += hull.straight;
    hulls.aslant += hull.aslant;
  }
  return {
    perimeter: 0.98 * straight + 1.406 * aslant - 0.091 * changes,
    convexity: chainLength(hulls) / chainLength(outer),
    parts,
    holes,
  };
}

interface Chain {
  straight: number;
  aslant: number;
}
const chain = (): Chain => ({ straight: 0, aslant: 0 });
const chainLength = ({ straight, aslant }: Chain) => straight + Math.SQRT2 * aslant;

/** Direction of the link between the middles of two cracks that follow each other, in eighths of a turn; odd: aslant. */
function linkOf(before: number, step: number): number {
  const turn = (step - before) & 3;
  return (2 * before + (turn === 3 ? 7 : turn)) & 7;
}

/**
 * The hull of a loop's middles as a chain. Of a convex curve, such a chain's length depends on its widths along rows,
 * columns and both diagonals alone (Cauchy), since |(x, y)| = (√2 − 1) (|x| + |y|) + (1 − √½) (|x + y| + |x − y|).
 */
function hullChain(x: number, y: number, steps: Uint8Array): Chain {
  const most = [0, 0, 0, 0].fill(Number.NEGATIVE_INFINITY);
  const least = [0, 0, 0, 0].fill(Number.POSITIVE_INFINITY);
  let [atX, atY] = [2 * x, 2 * y];
  for (const step of steps) {
    const [dx, dy] = [STEP_X[step]!, STEP_Y[step]!];
    const middleX = atX + dx;
    const middleY = atY + dy;
    const places = [middleX, middleY, middleX + middleY, middleX - middleY];
    for (let i = 0; i < 4; i++) {
      most[i] = Math.max(most[i]!, places[i]!);
      least[i] = Math.min(least[i]!, places[i]!);
    }
    atX += 2 * dx;
    atY += 2 * dy;
  }
  const [width, height, falling, rising] = most.map((value, i) => (value - least[i]!) / 2) as [
    number,
    number,
    number,
    number,
  ];
  return {
    straight: 2 * (falling + rising - width - height),
    aslant: 2 * (width + height) - falling - rising,
  };
}

/**
 * Pixels in the convex hull: by Pick's theorem twice the area of a polygon between pixel centres, plus the centres on its
 * border, halved, plus 1. The hull is that of the first and last set pixel of each row (Andrew's monotone chain).
 */
function convexArea({ data, width, height }: Mask): number {
  const left: [number, number][] = [];
  const right: [number, number][] = [];
  for (let row = 0; row < height; row++) {
    const line = data.subarray(row * width, (row + 1) * width);
    const first = line.findIndex(value => value !== 0);
    if (first < 0) continue;
    let last = width - 1;
    while (line[last] === 0) last--;
    extend(left, [-first, row]);
    extend(right, [last, row]);
  }
  // Counter-clockwise or not does not matter: up one side, down the other.
  const corners = [...right, ...left.map(([x, y]): [number, number] => [-x, y]).reverse()];
  let [twiceArea, border] = [0, 0];
  for (const [i, [x, y]] of corners.entries()) {
    const [nextX, nextY] = corners[(i + 1) % corners.length]!;
    twiceArea += x * nextY - nextX * y;
    border += greatestCommonDivisor(Math.abs(nextX - x), Math.abs(nextY - y));
  }
  return (Math.abs(twiceArea) + border) / 2 + 1;
}

/** Adds a point, of a later row, to the hull's side towards greater x. */
function extend(side: [number, number][], [x, y]: [number, number]): void {
  while (side.length >= 2) {
    const [[x0, y0], [x1, y1]] = [side.at(-2)!, side.at(-1)!];
    if ((x1 - x0) * (y - y0) > (x - x0) * (y1 - y0)) break;
    side.pop();
  }
  side.push([x, y]);
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
