import type { Mask } from './image.ts';

/**
 * How many pixels survive one binary erosion with a `side` × `side` square: those whose whole square is set. What lies
 * outside the mask counts as set, so that the mask's own edge does not erode (OpenCV's default border for `erode`).
 * @param side odd, in pixels.
 */
export function erodedArea({ width, height, data }: Mask, side: number): number {
  const radius = side >> 1;
  // The square is a horizontal bar moved along a vertical one. `down[x]` counts the bars that fit around column x in the
  // rows up to this one; the rows above the mask are all set.
  const down = new Int32Array(width).fill(radius);
  let survivors = 0;
  for (let y = 0; y < height + radius; y++) {
    let along = radius; // set pixels in a row up to column x
    for (let x = 0; x < width + radius; x++) {
      const set = x >= width || y >= height || data[y * width + x] !== 0;
      along = set ? along + 1 : 0;
      if (x < radius) continue;
      const bars = along >= side ? down[x - radius]! + 1 : 0;
      down[x - radius] = bars;
      if (y >= radius && bars >= side) survivors++;
    }
  }
  return survivors;
}
