import type { Mask } from './image.ts';

/**
 * Largest distance of a set pixel's centre from the nearest clear pixel's centre, in pixels; what is outside the mask is
 * clear. Exact and in linear time: distances along the columns first, then the lower envelope of parabolas along the rows
 * (Felzenszwalb and Huttenlocher, Distance Transforms of Sampled Functions, 2012). Since only the largest is asked for, most
 * rows are left out: where distances along row and columns alone are no larger, and near a row where none is large, since
 * from a pixel to the next the distance changes by 1 at most.
 * @returns 0 where nothing is set.
 */
export function largestDistance(mask: Mask): number {
  const stride = mask.width + 2;
  const vertical = verticalDistances(mask);
  const envelope = new LowerEnvelope(stride);
  let largest = 0;
  // Every 16th row first: what they give is hard to surpass.
  for (const step of [16, 1]) {
    for (let row = 0; row < mask.height; ) {
      const start = (row + 1) * stride;
      const bound = rowBound(vertical, start, stride);
      const here = bound > largest ? Math.sqrt(envelope.highest(vertical, start, stride)) : bound;
      largest = Math.max(largest, here);
      row += Math.max(step, Math.floor(largest - here) + 1);
    }
  }
  return largest;
}

/** Distances to the nearest clear pixel of the same column, of the mask in a frame of clear pixels. */
function verticalDistances({ data, width, height }: Mask): Int32Array {
  const stride = width + 2;
  const vertical = new Int32Array(stride * (height + 2));
  for (let row = 0, from = 0, to = stride + 1; row < height; row++, to += 2) {
    for (const end = from + width; from < end; from++, to++) {
      if (data[from] !== 0) vertical[to] = vertical[to - stride]! + 1;
    }
  }
  for (let at = stride * (height + 1) - 1; at > stride; at--) {
    const below = vertical[at + stride]! + 1;
    if (vertical[at]! > below) vertical[at] = below;
  }
  return vertical;
}

/** The most that a distance in a row can be: the largest of the least of vertical and horizontal ones. */
function rowBound(vertical: Int32Array, from: number, stride: number): number {
  let most = 0;
  for (let clear = from, next = from + 1; next < from + stride; next++) {
    if (vertical[next] !== 0) continue;
    if (next - clear > 2 * most) {
      for (let at = clear + 1; at < next; at++) {
        const least = Math.min(vertical[at]!, at - clear, next - at);
        if (least > most) most = least;
      }
    }
    clear = next;
  }
  return most;
}

/** Lower envelope of the parabolas (x − p)² + vertical(p)² of a row. */
class LowerEnvelope {
  readonly #places: Int32Array;
  /** Where each parabola begins to be the lowest. */
  readonly #begins: Float64Array;

  constructor(length: number) {
    this.#places = new Int32Array(length);
    this.#begins = new Float64Array(length + 1);
  }

  /** The envelope's largest value: the largest squared distance in the row. */
  highest(vertical: Int32Array, from: number, length: number): number {
    const [places, begins] = [this.#places, this.#begins];
    places[0] = 0;
    begins[0] = Number.NEGATIVE_INFINITY;
    let last = 0;
    for (let p = 1; p < length; p++) {
      const height = vertical[from + p]!;
      for (;;) {
        const q = places[last]!;
        const lower = vertical[from + q]!;
        const begin = ((height - lower) * (height + lower) + (p - q) * (p + q)) / (2 * (p - q));
        if (begin > begins[last]!) {
          places[++last] = p;
          begins[last] = begin;
          break;
        }
        last--;
      }
    }
    begins[last + 1] = Number.POSITIVE_INFINITY;
    let highest = 0;
    for (let x = 0, k = 0; x < length; x++) {
      while (begins[k + 1]! < x) k++;
      const p = places[k]!;
      const square = (x - p) * (x - p) + vertical[from + p]! * vertical[from + p]!;
      if (square > highest) highest = square;
    }
    return highest;
  }
}
