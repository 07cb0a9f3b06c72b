import type { Mask } from './image.ts';

/** What is measured of a shape's form; all but `area` and `perimeter` do not depend on its size. */
export interface ShapeStatistics {
  /** Set pixels. */
  readonly area: number;
  /** Length of the outline, holes included, pixels. */
  readonly perimeter: number;
  /** Area over that of the convex hull, 0–1. */
  readonly solidity: number;
  /** Perimeter of the convex hull over that of the outer outline, 0–1. */
  readonly convexity: number;
  /** Areas of ground that the shape encloses. */
  readonly holes: number;
  /** Parts minus holes (8-connected shape, 4-connected ground). */
  readonly eulerNumber: number;
  /** 1 − shorter over longer axis of the ellipse of the same second moments: 0 a disc, near 1 a needle. */
  readonly elongation: number;
  /** Perimeter² / (4π · area): 1 a disc. */
  readonly complexity: number;
  /** Diameter of the largest disc that fits into the shape over that of a disc of the shape's area, 0–1. */
  readonly thickness: number;
}

/** Measures a shape. @param mask its tight mask, with at least one set pixel. */
export function shapeStatistics(_mask: Mask): ShapeStatistics {
  throw new Error('not written yet');
}
