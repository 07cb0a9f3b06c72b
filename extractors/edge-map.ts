import type { GreyImage, Mask } from './image.ts';

/** Lengths of the Sobel gradient (a step of h along an axis has 4h): edges begin above `strong` and go on above `weak`. */
export interface EdgeThresholds {
  readonly weak: number;
  readonly strong: number;
}
export const EDGE_THRESHOLDS: EdgeThresholds = { weak: 80, strong: 160 };

/**
 * The edges of an object, white on black: its outline, one pixel wide, and the edges within it by Canny's rule — Sobel
 * gradients, thinned to their crests, weak ones kept where they hang together with strong ones. No gradient reaches outside of
 * the object, so that the ground draws no second outline. Nothing is smoothed first: resizing did that.
 */
export function edgeMap(luminance: GreyImage, inside: Mask, { weak, strong } = EDGE_THRESHOLDS): GreyImage {
  const { width, height } = inside;
  const edges = outline(inside);
  const { dx, dy, squared } = gradients(luminance, inside);
  const crest = new Uint8Array(width * height);
  const pending: number[] = [];
  for (let row = 1; row < height - 1; row++) {
    for (let i = row * width + 1; i < (row + 1) * width - 1; i++) {
      if (squared[i]! < weak * weak || !isCrest(squared, i, dx[i]!, dy[i]!, width)) continue;
      crest[i] = 1;
      if (squared[i]! >= strong * strong) pending.push(i);
    }
  }
  for (const i of pending) crest[i] = 2;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    edges[at] = 255;
    for (const beside of [
      at - width - 1,
      at - width,
      at - width + 1,
      at - 1,
      at + 1,
      at + width - 1,
      at + width,
      at + width + 1,
    ]) {
      if (crest[beside] !== 1) continue;
      crest[beside] = 2;
      pending.push(beside);
    }
  }
  return { data: edges, width, height };
}

/** Pixels of a mask beside one that is clear (or beside nothing), above, below, left or right. */
function outline({ data, width, height }: Mask): Uint8Array {
  const edge = new Uint8Array(width * height);
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      if (data[i] === 0) continue;
      const rim = row === 0 || column === 0 || row === height - 1 || column === width - 1;
      if (rim || data[i - width] === 0 || data[i + width] === 0 || data[i - 1] === 0 || data[i + 1] === 0)
        edge[i] = 255;
    }
  }
  return edge;
}

/** Sobel gradients and the squares of their lengths; 0 where one of the nine pixels is not inside. */
function gradients({ data }: GreyImage, { data: inside, width, height }: Mask) {
  const [dx, dy] = [new Int16Array(width * height), new Int16Array(width * height)];
  const squared = new Int32Array(width * height);
  for (let row = 1; row < height - 1; row++) {
    for (let column = 1; column < width - 1; column++) {
      const i = row * width + column;
      const [a, b] = [i - width, i + width];
      const within =
        inside[a - 1]! &
        inside[a]! &
        inside[a + 1]! &
        inside[i - 1]! &
        inside[i]! &
        inside[i + 1]! &
        inside[b - 1]! &
        inside[b]! &
        inside[b + 1]!;
      if (within === 0) continue;
      const x = data[a + 1]! - data[a - 1]! + 2 * (data[i + 1]! - data[i - 1]!) + data[b + 1]! - data[b - 1]!;
      const y = data[b - 1]! - data[a - 1]! + 2 * (data[b]! - data[a]!) + data[b + 1]! - data[a + 1]!;
      dx[i] = x;
      dy[i] = y;
      squared[i] = x * x + y * y;
    }
  }
  return { dx, dy, squared };
}

const TAN_22 = Math.SQRT2 - 1;

/** Whether the gradient is longest here along its own direction (to the nearest 45°); of two equal ones the first is. */
function isCrest(squared: Int32Array, i: number, dx: number, dy: number, width: number): boolean {
  const [across, down] = [Math.abs(dx), Math.abs(dy)];
  const along =
    down <= TAN_22 * across ? 1 : across <= TAN_22 * down ? width : dx > 0 === dy > 0 ? width + 1 : width - 1;
  return squared[i]! > squared[i - along]! && squared[i]! >= squared[i + along]!;
}
