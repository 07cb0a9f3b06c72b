import type { Mask } from './image.ts';

/**
 * Largest distance of a set pixel's centre from the nearest clear pixel's centre, in pixels; what is outside the mask is
 * clear. Exact: distances along the columns first, then the lower envelope of parabolas along the rows (Felzenszwalb and
 * Huttenlocher, Distance Transforms of Sampled Functions, 2012), in linear time. Since only the largest is asked for, a row
 * is left out when distances along rows and columns alone show that it has none.
 * @returns 0 where nothing is set.
 */
export function largestDistance({ data, width, height }: Mask): number {
  const stride = width + 2;
  const vertical = new Uint32Array(stride * (height + 2));
  for (let row = 0, from = 0, to = stride + 1; row < height; row++, to += 2) {
    for (let column = 0; column < width; column++, to++) {
      if (data[from++] !== 0) vertical[to] = vertical[to - stride]! + 1;
    }
  }
  for (let at = stride * (height + 1) - 1; at > stride; at--) {
    const below = vertical[at + stride]! + 1;
    if (vertical[at]! > below) vertical[at] = below;
  }
  const bounds = new Uint32Array(height);
  const rows = Array.from(bounds, (_, row) => row);
  for (const row of rows) bounds[row] = distanceBound(vertical, (row + 1) * stride, stride);
  rows.sort((a, b) => bounds[b]! - bounds[a]!);
  const envelope = new Envelope(stride);
  let largest = 0;
  for (const row of rows) {
    if (bounds[row]! ** 2 <= largest) break;
    largest = Math.max(largest, envelope.largestSquare(vertical, (row + 1) * stride, stride));
  }
  return Math.sqrt(largest);
}

/** The most that the distances of a row can be: the largest of the lesser of vertical and horizontal distances. */
function distanceBound(vertical: Uint32Array, from: number, length: number): number {
  let most = 0;
  for (let x = 1; x < length - 1; x++) {
    if (vertical[from + x] === 0) continue;
    let end = x + 1;
    while (vertical[from + end] !== 0) end++;
    for (let at = x; at < end; at++) {
      const bound = Math.min(vertical[from + at]!, at - x + 1, end - at);
      if (bound > most) most = bound;
    }
    x = end;
  }
  return most;
}

/** Lower envelope of the parabolas (x − p)² + vertical(p)² of a row. */
class Envelope {
  readonly #places: Int32Array;
  /** Where each parabola begins to be the lowest. */
  readonly #begins: Float64Array;

  constructor(length: number) {
    this.#places = new Int32Array(length);
    this.#begins = new Float64Array(length);
  }

  /** The largest value of the envelope of one row. */
  largestSquare(vertical: Uint32Array, from: number, length: number): number {
    const [places, begins] = [this.#places, this.#begins];
    let last = 0;
    places[0] = 0;
    begins[0] = Number.NEGATIVE_INFINITY;
    for (let p = 1; p < length; p++) {
      const value = vertical[from + p]! ** 2 + p ** 2;
      let begin = Number.NEGATIVE_INFINITY;
      for (; last >= 0; last--) {
        const q = places[last]!;
        begin = (value - vertical[from + q]! ** 2 - q ** 2) / (2 * (p - q));
        if (begin > begins[last]!) break;
      }
      places[++last] = p;
      begins[last] = begin;
    }
    let largest = 0;
    for (let x = 0, k = 0; x < length; x++) {
      while (k < last && begins[k + 1]! < x) k++;
      const p = places[k]!;
      largest = Math.max(largest, (x - p) ** 2 + vertical[from + p]! ** 2);
    }
    return largest;
  }
}
