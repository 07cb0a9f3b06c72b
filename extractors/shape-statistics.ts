/**
 * Statistics of a shape's form. Solidity, convexity and the diameters that thickness compares are those of ISO 9276-6 (2008);
 * the Euler number is Gray's (1971), of 8-connected shapes; the ellipse of the same moments is Hu's (1962). A perimeter has to
 * be estimated: that of pixel edges is up to √2 too long. Hulls are laid on the same grid as what they are compared with, so
 * that no rounding is needed to keep a share at 1 or below, and what is convex as far as pixels go has 1.
 */
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
  for (let row = 0; row < height; row++) {
    const y = 2 * row + 1 - height;
    const start = row * width;
    for (let from = 0; from < width; from++) {
      if (data[start + from] === 0) continue;
      // A run of set pixels: the sum of squares is that of its middle and that of the distances from it.
      let to = from + 1;
      while (to < width && data[start + to] !== 0) to++;
      const count = to - from;
      const x = from + to - width;
      area += count;
      sumX += x * count;
      sumY += y * count;
      sumXX += x * x * count + (count ** 3 - count) / 3;
      sumYY += y * y * count;
      sumXY += x * y * count;
      from = to;
    }
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
  let [parts, holes, changes] = [0, 0, 0];
  const all = new Chain();
  const outer = new Chain();
  const hulls = new Chain();
  for (const { steps, area } of crackLoops(mask)) {
    let [turns, before] = [0, steps.at(-1)!];
    let link = LINKS[(steps.at(-2)! << 2) | before]!;
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!;
      const next = LINKS[(before << 2) | step]!;
      turns += next & 1;
      if (next !== link) changes++;
      link = next;
      before = step;
    }
    all.add(steps.length - turns, turns / 2);
    if (area < 0) holes++;
    else {
      parts++;
      outer.add(steps.length - turns, turns / 2);
      addHull(hulls, steps);
    }
  }
  const perimeter = 0.98 * all.straight + 1.406 * all.aslant - 0.091 * changes;
  return { perimeter, convexity: hulls.length / outer.length, parts, holes };
}

/**
 * Direction, in eighths of a turn, of the link between the middles of two cracks that follow each other, by 4 × direction of
 * the first + direction of the second. Odd: aslant, since the walk turns.
 */
const LINKS = Uint8Array.from({ length: 16 }, (_, i) => {
  const [before, step] = [i >> 2, i & 3];
  const turn = (step - before) & 3;
  return (2 * before + (turn === 3 ? -1 : turn)) & 7;
});

/** Steps of an 8-connected chain: straight ones, of length 1, and ones aslant, of length √2. */
class Chain {
  straight = 0;
  aslant = 0;

  add(straight: number, aslant: number): void {
    this.straight += straight;
    this.aslant += aslant;
  }

  get length(): number {
    return this.straight + Math.SQRT2 * this.aslant;
  }
}

/**
 * Adds the convex hull of a loop's links. The chain around something convex depends on its extents along rows, columns and
 * both diagonals alone: |(x, y)| = (√2 − 1) (|x| + |y|) + (1 − √½) (|x + y| + |x − y|), and going around once passes each
 * extent twice.
 */
function addHull(hulls: Chain, steps: Uint8Array): void {
  let [x, y, left, right, bottom] = [0, 0, 0, 0, 0];
  let [leastSum, mostSum, leastDifference, mostDifference] = [0, 0, 0, 0];
  for (let i = 0; i < steps.length; i++) {
    x += STEP_X[steps[i]!]!;
    y += STEP_Y[steps[i]!]!;
    if (x < left) left = x;
    else if (x > right) right = x;
    if (y > bottom) bottom = y;
    const sum = x + y;
    const difference = x - y;
    if (sum < leastSum) leastSum = sum;
    else if (sum > mostSum) mostSum = sum;
    if (difference < leastDifference) leastDifference = difference;
    else if (difference > mostDifference) mostDifference = difference;
  }
  // Links join the cracks' middles, which cuts half a pixel off each corner of the diagonals' extents. A loop begins at the top.
  const sides = right - left + bottom;
  const diagonals = mostSum - leastSum + mostDifference - leastDifference - 2;
  hulls.add(2 * (diagonals - sides), 2 * sides - diagonals);
}

/**
 * Pixels in the convex hull: by Pick's theorem twice the area of a polygon between pixel centres, plus the centres on its
 * border, halved, plus 1. The hull is that of the first and last set pixel of each row (Andrew's monotone chain).
 */
function convexArea({ data, width, height }: Mask): number {
  const left: [number, number][] = [];
  const right: [number, number][] = [];
  for (let row = 0; row < height; row++) {
    const start = row * width;
    let [first, last] = [0, width - 1];
    while (first < width && data[start + first] === 0) first++;
    if (first === width) continue;
    while (data[start + last] === 0) last--;
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
