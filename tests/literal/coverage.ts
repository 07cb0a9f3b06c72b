/**
 * What coverage means, word for word: the share of a pixel's sub-samples where the mask, interpolated between its pixel
 * centres, is at least one half. Shares no code with renderers/, only types.
 */
import type { Mask } from '../../extractors/image.ts';
import type { Placement } from '../../scenes/scene2d.ts';

/** Coverage of every pixel of an image of size × size, 0–1, by `perSide` × `perSide` sub-samples a pixel. */
export function literalCoverage(mask: Mask, placement: Placement, size: number, perSide: number): Float64Array {
  const coverage = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let inside = 0;
      for (let i = 0; i < perSide * perSide; i++) {
        const x = column + ((i % perSide) + 0.5) / perSide;
        const y = row + (Math.floor(i / perSide) + 0.5) / perSide;
        const [u, v] = imageToMask(x, y, mask, placement);
        if (interpolated(mask, u, v) >= 0.5) inside++;
      }
      coverage[row * size + column] = inside / perSide ** 2;
    }
  }
  return coverage;
}

/** Undoes "scale, turn clockwise about the box's centre, put the centre at `center`"; y runs downwards. */
export function imageToMask(
  x: number,
  y: number,
  box: { width: number; height: number },
  { scale, rotation, center }: Placement,
): [number, number] {
  const angle = (rotation * Math.PI) / 180;
  const dx = (x - center[0]) / scale;
  const dy = (y - center[1]) / scale;
  // Clockwise as seen takes (1, 0) to (cos, sin) and (0, 1) to (−sin, cos); the way back is the transpose.
  return [
    box.width / 2 + dx * Math.cos(angle) + dy * Math.sin(angle),
    box.height / 2 - dx * Math.sin(angle) + dy * Math.cos(angle),
  ];
}

/** The mask between the centres of its pixels, 0–1; nothing lies outside of it. */
function interpolated(mask: Mask, x: number, y: number): number {
  const column = Math.floor(x - 0.5);
  const row = Math.floor(y - 0.5);
  const toRight = x - 0.5 - column;
  const down = y - 0.5 - row;
  return (
    valueAt(mask, column, row) * (1 - toRight) * (1 - down) +
    valueAt(mask, column + 1, row) * toRight * (1 - down) +
    valueAt(mask, column, row + 1) * (1 - toRight) * down +
    valueAt(mask, column + 1, row + 1) * toRight * down
  );
}

function valueAt({ width, height, data }: Mask, column: number, row: number): number {
  const outside = column < 0 || row < 0 || column >= width || row >= height;
  return outside ? 0 : data[row * width + column]! / 255;
}
