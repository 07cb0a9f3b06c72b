import type { WebGLRenderer, WebGLRenderTarget } from 'three';

/** Sixteen pixels of this colour and coverage next to each other: no picture has them. */
const UNREAD = 93;
const MARKED = 64;

/**
 * Reads all of a target. Waits for the GPU. When its process died, nothing is read, and the page hears of it only later: the
 * mark is then still there.
 * @throws Error then.
 */
export function readPixels(
  renderer: WebGLRenderer,
  target: WebGLRenderTarget,
  pixels: Uint8Array | Float32Array,
): void {
  pixels.fill(UNREAD, 0, MARKED);
  renderer.readRenderTargetPixels(target, 0, 0, target.width, target.height, pixels);
  if (pixels.subarray(0, MARKED).every(value => value === UNREAD)) throw new Error('the GPU gave no pixels');
}

/**
 * Reads all of a target of floats, the upper row first: WebGL's rows run upwards. Waits for the GPU.
 * @returns RGBA, four floats a pixel.
 * @throws Error like {@link readPixels}.
 */
export function readFloats(renderer: WebGLRenderer, target: WebGLRenderTarget): Float32Array<ArrayBuffer> {
  const row = 4 * target.width;
  const pixels = new Float32Array(row * target.height);
  readPixels(renderer, target, pixels);
  const kept = new Float32Array(row);
  for (let upper = 0, lower = pixels.length - row; upper < lower; upper += row, lower -= row) {
    kept.set(pixels.subarray(upper, upper + row));
    pixels.copyWithin(upper, lower, lower + row);
    pixels.set(kept, lower);
  }
  return pixels;
}
