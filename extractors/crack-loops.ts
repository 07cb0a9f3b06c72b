/**
 * Following of cracks: the edges between set and clear pixels form closed loops, one around each part (8-connected) and
 * one around each hole (4-connected ground). Rosenfeld and Kak, Digital Picture Processing, 2nd ed. 1982, chapter 11.
 */
import type { Mask } from './image.ts';

/** Steps of x and y for the directions right, down, left, up. */
export const STEP_X = [1, 0, -1, 0] as const;
export const STEP_Y = [0, 1, 0, -1] as const;

/** A closed walk of one pixel edge a step, with the shape at its right hand. */
export interface CrackLoop {
  /** Where it begins: pixel (column, row) reaches from (column, row) to (column + 1, row + 1), y down. */
  readonly x: number;
  readonly y: number;
  /** Directions: 0 right, 1 down, 2 left, 3 up. Valid until the next loop is asked for. */
  readonly steps: Uint8Array;
  /** Enclosed pixels: above 0 around a part (clockwise as one sees it), below 0 around a hole. */
  readonly area: number;
}

const UNSEEN = 1;
const SEEN = 2;

/** All loops of a mask in the order in which their first upper edges are met, row by row. Time grows with pixels and edges. */
export function* crackLoops({ data, width, height }: Mask): Generator<CrackLoop, void, undefined> {
  // A frame of clear pixels saves asking for borders. A set pixel is SEEN once a loop has passed its upper edge.
  const stride = width + 2;
  const pixels = new Uint8Array(stride * (height + 2));
  for (let row = 0, from = 0, to = stride + 1; row < height; row++, to += 2) {
    for (let column = 0; column < width; column++) pixels[to++] = data[from++] === 0 ? 0 : UNSEEN;
  }
  // For each direction, from the pixel at the right hand: to the pixels ahead at the right and at the left, and below the walk.
  const ahead = [1, stride, -1, -stride];
  const aheadLeft = [1 - stride, stride + 1, stride - 1, -stride - 1];
  let steps = new Uint8Array(4096);
  for (let row = 0; row < height; row++) {
    const end = (row + 1) * stride + 1 + width;
    for (let start = (row + 1) * stride + 1; start < end; start++) {
      if (pixels[start] !== UNSEEN || pixels[start - stride] !== 0) continue;
      let [pixel, direction, y, area, count] = [start, 0, row, 0, 0];
      do {
        if (count === steps.length) {
          const longer = new Uint8Array(2 * count);
          longer.set(steps);
          steps = longer;
        }
        steps[count++] = direction;
        if (direction === 0) {
          pixels[pixel] = SEEN;
          area -= y;
        } else if (direction === 1) y++;
        else if (direction === 2) area += y;
        else y--;
        // A pixel ahead at the left is entered even when the one beside it is clear: parts are 8-connected.
        const left = pixel + aheadLeft[direction]!;
        if (pixels[left] !== 0) {
          pixel = left;
          direction = (direction + 3) & 3;
        } else {
          const straight = pixel + ahead[direction]!;
          if (pixels[straight] !== 0) pixel = straight;
          else direction = (direction + 1) & 3;
        }
      } while (pixel !== start || direction !== 0);
      yield { x: (start % stride) - 1, y: row, steps: steps.subarray(0, count), area };
    }
  }
}
