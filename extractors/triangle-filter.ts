import type { GreyImage } from './image.ts';
import { bytesAt, type KernelMemory, reserve, sharedKernel } from './kernel/instance.ts';

/** What an axis is resized from: `from` and `to` are places on it, in pixels of the source; what lies outside counts as 0. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Weights have 22 bits behind the point, so that 255 times their sum stays within 31. */
const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);

/** What of kernel/assembly/index.ts rows are added up with. Addresses come as signed numbers. */
interface Kernel extends KernelMemory {
  arrangeRows(width: number, sourceRows: number, targetRows: number, weights: number): number;
  sourceRowsAddress(): number;
  targetRowsAddress(): number;
  weightsAddress(): number;
  addRows(to: number, first: number, count: number, weight: number): void;
}

const kernel = sharedKernel<Kernel>();

/**
 * Resizes a part of an image with a triangle filter, two source pixels wide and wider by the factor of shrinking, so that each
 * pixel counts. It is the rule of Pillow's `BILINEAR`, with its fixed-point weights: columns first, rounded to 8 bits, then rows.
 * @param columns, rows what is shown; by default the whole image.
 */
export function resizeTriangle(
  { data, width: sourceWidth, height: sourceHeight }: GreyImage,
  width: number,
  height: number,
  columns: Interval = { from: 0, to: sourceWidth },
  rows: Interval = { from: 0, to: sourceHeight },
): GreyImage {
  const across = axisWeights(sourceWidth, columns, width);
  const { first, end, taps, weights } = axisWeights(sourceHeight, rows, height);
  reserve(kernel, kernel.arrangeRows(width, sourceHeight, height, weights.length));
  resizeRows(
    data,
    sourceWidth,
    sourceHeight,
    across,
    bytesAt(kernel, kernel.sourceRowsAddress(), width * sourceHeight),
  );
  new Int32Array(kernel.memory.buffer, kernel.weightsAddress() >>> 0, weights.length).set(weights);
  for (let y = 0; y < height; y++) kernel.addRows(y, first[y]!, end[y]! - first[y]!, y * taps);
  return { data: bytesAt(kernel, kernel.targetRowsAddress(), width * height).slice(), width, height };
}

function resizeRows(
  data: Uint8Array,
  sourceWidth: number,
  height: number,
  { first, end, whole, taps, weights }: AxisWeights,
  resized: Uint8Array,
): void {
  const width = first.length;
  for (let row = 0, at = 0; row < height; row++) {
    const source = row * sourceWidth;
    const rowEnd = source + sourceWidth;
    // Where the source's value next changes.
    let change = source;
    for (let x = 0; x < width; x++, at++) {
      const begin = source + first[x]!;
      const last = source + end[x]!;
      if (change <= begin) {
        for (change = begin + 1; change < rowEnd && data[change] === data[begin]; ) change++;
      }
      // Masks are runs: most pixels lie within one, and their weights need not be summed up.
      if (last <= change && whole[x] === 1) {
        resized[at] = data[begin]!;
        continue;
      }
      let sum = HALF;
      let weight = x * taps;
      for (let i = begin; i < last; i++, weight++) sum = (sum + Math.imul(data[i]!, weights[weight]!)) | 0;
      resized[at] = sum >> PRECISION;
    }
  }
}

/** For each target pixel: source pixels `first` up to `end`, and the weights of those, `taps` places a target pixel. */
interface AxisWeights {
  readonly first: Int32Array;
  readonly end: Int32Array;
  /** 1: all that is weighed lies in the source, and the weights add up to 1. */
  readonly whole: Uint8Array;
  readonly taps: number;
  readonly weights: Int32Array;
}

function axisWeights(size: number, { from, to }: Interval, target: number): AxisWeights {
  const step = (to - from) / target;
  const support = Math.max(1, step);
  const taps = 2 * Math.ceil(support) + 1;
  const [first, end] = [new Int32Array(target), new Int32Array(target)];
  const whole = new Uint8Array(target);
  const weights = new Int32Array(target * taps);
  // Beyond the shown part there is nothing to be weighed, as beyond the edge of an image that is shown whole.
  const [lowest, highest] = [Math.floor(from), Math.ceil(to)];
  const triangle = new Float64Array(taps);
  for (let t = 0; t < target; t++) {
    const center = from + (t + 0.5) * step;
    // Pixels whose centres lie within the triangle.
    const low = Math.max(lowest, Math.floor(center - support - 0.5) + 1);
    const high = Math.min(highest, Math.ceil(center + support - 0.5));
    let sum = 0;
    for (let i = low; i < high; i++) {
      const weight = Math.max(0, 1 - Math.abs(i + 0.5 - center) / support);
      triangle[i - low] = weight;
      sum += weight;
    }
    first[t] = Math.min(Math.max(low, 0), size);
    end[t] = Math.max(Math.min(high, size), first[t]!);
    whole[t] = low >= 0 && high <= size ? 1 : 0;
    for (let i = first[t]!; i < end[t]!; i++) {
      weights[t * taps + i - first[t]!] = Math.round((triangle[i - low]! / sum) * (1 << PRECISION));
    }
  }
  return { first, end, whole, taps, weights };
}
