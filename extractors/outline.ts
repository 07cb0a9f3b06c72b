import { crackLoops, STEP_X, STEP_Y } from './crack-loops.ts';
import type { PlacedMask } from './placed-mask.ts';

/** Closed polygon: x1, y1, x2, y2 …, the first point not repeated. x goes right, y down, pixel (0, 0) covers 0 to 1. */
export type Polygon = number[];

/** The outline of one part of a mask (8-connected). */
export interface PartOutline {
  /** Clockwise as one sees it: the shoelace sum of x₁y₂ − x₂y₁ is positive. */
  readonly outer: Polygon;
  /** Around 4-connected ground within, counter-clockwise. What lies in a hole is a part of its own. */
  readonly holes: Polygon[];
}

/**
 * The outlines of a mask along its pixel edges, a corner wherever the edge turns, so that they hold its pixels and no other.
 * Where a part's pixels meet only at corners, its outline passes the corner twice without crossing itself. Linear in pixels
 * and edges.
 * @returns coordinates of the picture that the mask is placed in; the parts in the order of their first pixels, row by row.
 */
export function outlinePolygons({ mask, box }: PlacedMask): PartOutline[] {
  const loops: Loop[] = [];
  // By pixel, of the edge at its left: number of the loop it belongs to, from 1.
  const leftEdges = new Int32Array(mask.width * mask.height);
  for (const { x, y, steps, area } of crackLoops(mask)) {
    const loop: Loop = { polygon: [], isHole: area < 0, rightEdge: -1, parent: loops.length };
    loops.push(loop);
    let [atX, atY, before, leftmost] = [x, y, steps.at(-1)!, mask.width];
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i]!;
      if (step !== before) {
        loop.polygon.push(box.left + (atX * box.width) / mask.width, box.top + (atY * box.height) / mask.height);
      }
      if (step === 1 && atX < leftmost) {
        leftmost = atX;
        loop.rightEdge = atY * mask.width + atX - 1;
      } else if (step === 3) leftEdges[(atY - 1) * mask.width + atX] = loops.length;
      atX += STEP_X[step]!;
      atY += STEP_Y[step]!;
      before = step;
    }
  }
  for (const loop of loops) {
    if (!loop.isHole) continue;
    let pixel = loop.rightEdge;
    while (leftEdges[pixel] === 0) pixel--;
    loop.parent = leftEdges[pixel]! - 1;
  }
  const parts = new Map<number, PartOutline>();
  for (const [i, { polygon, isHole }] of loops.entries()) if (!isHole) parts.set(i, { outer: polygon, holes: [] });
  for (const [i, { polygon, isHole }] of loops.entries()) if (isHole) parts.get(partOf(loops, i))!.holes.push(polygon);
  return [...parts.values()];
}

interface Loop {
  readonly polygon: Polygon;
  readonly isHole: boolean;
  /** The shape's pixel at the left of the loop's leftmost downward edge; of an outer outline unused. */
  rightEdge: number;
  /**
   * A hole's: the loop at the other end of the run of pixels that ends at `rightEdge`. It reaches farther left than the hole,
   * so that following parents ends, and only at an outer outline: that of the part. An outer outline is its own.
   */
  parent: number;
}

function partOf(loops: readonly Loop[], i: number): number {
  let part = i;
  while (loops[part]!.parent !== part) part = loops[part]!.parent;
  // All that were passed are shortened, so that no way is gone twice.
  for (let at = i; at !== part; ) {
    const { parent } = loops[at]!;
    loops[at]!.parent = part;
    at = parent;
  }
  return part;
}
