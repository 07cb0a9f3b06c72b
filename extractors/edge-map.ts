import type { GreyImage, Mask } from './image.ts';
import { bytesAt, type KernelMemory, reserve, sharedKernel } from './kernel/instance.ts';

/** Lengths of the Sobel gradient (a step of h along an axis has 4h): edges begin above `strong` and go on above `weak`. */
export interface EdgeThresholds {
  readonly weak: number;
  readonly strong: number;
}
export const EDGE_THRESHOLDS: EdgeThresholds = { weak: 80, strong: 160 };

/** What of kernel/assembly/index.ts edges are found with. Addresses come as signed numbers. */
interface Kernel extends KernelMemory {
  arrangeEdges(width: number, height: number): number;
  luminanceAddress(): number;
  insideAddress(): number;
  drawEdges(weak: number, strong: number): number;
}

/** Edges take about 7 bytes of its memory a pixel. */
const kernel = sharedKernel<Kernel>();

/**
 * The edges of an object, white on black: its outline, one pixel wide (pixels of it beside one that is not, or beside nothing,
 * above, below, left or right), and the edges within it by Canny's rule — Sobel gradients, thinned to their crests, weak ones
 * kept where they hang together with strong ones. No gradient reaches outside of the object, so that the ground draws no second
 * outline. Nothing is smoothed first: resizing did that.
 */
export function edgeMap(luminance: GreyImage, inside: Mask, { weak, strong } = EDGE_THRESHOLDS): GreyImage {
  const { width, height } = inside;
  reserve(kernel, kernel.arrangeEdges(width, height));
  bytesAt(kernel, kernel.luminanceAddress(), width * height).set(luminance.data);
  bytesAt(kernel, kernel.insideAddress(), width * height).set(inside.data);
  // Squares of gradients are whole numbers.
  const edges = kernel.drawEdges(Math.ceil(weak * weak), Math.ceil(strong * strong));
  return { data: bytesAt(kernel, edges, width * height).slice(), width, height };
}
