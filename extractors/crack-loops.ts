/**
 * Following of cracks: the edges between set and clear pixels form closed loops, one around each part (8-connected) and
 * one around each hole (4-connected ground). Rosenfeld and Kak, Digital Picture Processing, 2nd ed. 1982, chapter 11.
 */
import type { Mask } from './image.ts';

/** What a step in each direction (0 right, 1 down, 2 left, 3 up) adds to x and to y. */
export const STEP_X = Int8Array.of(1, 0, -1, 0);
export const STEP_Y = Int8Array.of(0, 1, 0, -1);

/** A closed walk of one pixel edge a step, with the shape at its right hand. */
export interface CrackLoop {
  /** Where it begins: pixel (column, row) reaches from (column, row) to (column + 1, row + 1), y down. */
  readonly x: number;
  readonly y: number;
  /** Directions: 0 right, 1 down, 2 left, 3 up; the first is 0. Valid until the next loop is asked for. */
  readonly steps: Uint8Array;
  /** Enclosed pixels: above 0 around a part (clockwise as one sees it), below 0 around a hole. */
  readonly area: number;
}

/**
 * All loops of a mask, in the order in which the first upper edge of each is met, row by row. Linear in pixels and edges.
 * A loop around a part begins at the leftmost pixel of the part's uppermost row.
 */
export function* crackLoops(mask: Mask): Generator<CrackLoop, void, undefined> {
  const follower = new Follower(mask);
  for (let row = 0; row < mask.height; row++) {
    for (let column = 0; ; ) {
      column = follower.nextStart(column, row);
      if (column < 0) break;
      yield follower.follow(column, row);
    }
  }
}

/** A set pixel, before and after a loop passed its upper edge. */
const UNSEEN = 255;
const SEEN = 1;

class Follower {
  readonly #width: number;
  /** The mask in a frame of clear pixels, which saves asking for borders. */
  readonly #pixels: Uint8Array;
  readonly #stride: number;
  /** By direction, from the pixel at the right hand to the pixel ahead of it and to that ahead at the left hand. */
  readonly #ahead: Int32Array;
  readonly #aheadLeft: Int32Array;
  #steps = new Uint8Array(4096);

  constructor({ data, width, height }: Mask) {
    const stride = width + 2;
    const pixels = new Uint8Array(stride * (height + 2));
    for (let row = 0; row < height; row++) {
      pixels.set(data.subarray(row * width, (row + 1) * width), (row + 1) * stride + 1);
    }
    this.#width = width;
    this.#pixels = pixels;
    this.#stride = stride;
    this.#ahead = Int32Array.of(1, stride, -1, -stride);
    this.#aheadLeft = Int32Array.of(1 - stride, stride + 1, stride - 1, -stride - 1);
  }

  /** Column of the next pixel of a row whose upper edge belongs to a loop not followed yet; −1: none. */
  nextStart(column: number, row: number): number {
    const [pixels, stride] = [this.#pixels, this.#stride];
    const first = (row + 1) * stride + 1;
    for (let at = first + column; at < first + this.#width; at++) {
      if (pixels[at] === UNSEEN && pixels[at - stride] === 0) return at - first;
    }
    return -1;
  }

  follow(column: number, row: number): CrackLoop {
    const [pixels, ahead, aheadLeft] = [this.#pixels, this.#ahead, this.#aheadLeft];
    let steps = this.#steps;
    const start = (row + 1) * this.#stride + column + 1;
    let pixel = start;
    let direction = 0;
    let y = row;
    let area = 0;
    let count = 0;
    do {
      if (count === steps.length) steps = this.#lengthen();
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
    return { x: column, y: row, steps: steps.subarray(0, count), area };
  }

  #lengthen(): Uint8Array<ArrayBuffer> {
    const longer = new Uint8Array(2 * this.#steps.length);
    longer.set(this.#steps);
    this.#steps = longer;
    return longer;
  }
}
