import type { Box, Mask } from './image.ts';
import type { PlacedMask } from './placed-mask.ts';

/**
 * Intersection over union of two placed masks, 0–1, in the picture's units. The intersection is counted at the pixel
 * centres of `a`, so masks of different resolution may be compared.
 */
export function overlap(a: PlacedMask, b: PlacedMask): number {
  const pixelArea = (placed: PlacedMask) =>
    (placed.box.width / placed.mask.width) * (placed.box.height / placed.mask.height);
  const shared = sharedPixels(a, b) * pixelArea(a);
  const union = setPixels(a.mask) * pixelArea(a) + setPixels(b.mask) * pixelArea(b) - shared;
  return union === 0 ? 0 : shared / union;
}

function setPixels({ data }: Mask): number {
  let count = 0;
  for (const value of data) if (value !== 0) count++;
  return count;
}

/** Set pixels of `a` whose centres lie on set pixels of `b`. */
function sharedPixels(a: PlacedMask, b: PlacedMask): number {
  let count = 0;
  for (let row = 0; row < a.mask.height; row++) {
    const y = a.box.top + ((row + 0.5) * a.box.height) / a.mask.height;
    const otherRow = Math.floor(((y - b.box.top) * b.mask.height) / b.box.height);
    if (otherRow < 0 || otherRow >= b.mask.height) continue;
    for (let column = 0; column < a.mask.width; column++) {
      if (a.mask.data[row * a.mask.width + column] === 0) continue;
      const x = a.box.left + ((column + 0.5) * a.box.width) / a.mask.width;
      const otherColumn = Math.floor(((x - b.box.left) * b.mask.width) / b.box.width);
      if (otherColumn < 0 || otherColumn >= b.mask.width) continue;
      if (b.mask.data[otherRow * b.mask.width + otherColumn] !== 0) count++;
    }
  }
  return count;
}

/** Area that two boxes share, as a share of the smaller one, 0–1. */
export function boxOverlap(a: Box, b: Box): number {
  const width = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
  const height = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / Math.min(a.width * a.height, b.width * b.height);
}
