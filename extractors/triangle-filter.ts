import type { GreyImage } from './image.ts';
import { bytesAt, type KernelMemory, reserve, sharedKernel } from './kernel/instance.ts';

/** What an axis is resized from: `from` and `to` are places on it, in pixels of the source; what lies outside counts as 0. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Weights have 22 bits behind the point, so that 255 times their sum stays within 31. */
const PRECISION = 22;

/** What of kernel/assembly/index.ts images are resized with. Addresses come as signed numbers. */
interface Kernel extends KernelMemory {
  arrangeResize(
    sourceWidth: number,
    sourceHeight: number,
    width: number,
    height: number,
    tapsOfColumns: number,
    weightsOfRows: number,
  ): number;
  sourceAddress(): number;
  targetAddress(): number;
  firstsAddress(): number;
  columnWeightsAddress(): number;
  rowWeightsAddress(): number;
  addColumns(): void;
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
  reserve(kernel, kernel.arrangeResize(sourceWidth, sourceHeight, width, height, across.taps, weights.length));
  bytesAt(kernel, kernel.sourceAddress(), sourceWidth * sourceHeight).set(data);
  put(kernel.firstsAddress(), across.first);
  put(kernel.columnWeightsAddress(), across.weights);
  put(kernel.rowWeightsAddress(), weights);
  kernel.addColumns();
  for (let y = 0; y < height; y++) kernel.addRows(y, first[y]!, end[y]! - first[y]!, y * taps);
  return { data: bytesAt(kernel, kernel.targetAddress(), width * height).slice(), width, height };
}

function put(address: number, numbers: Int32Array): void {
  new Int32Array(kernel.memory.buffer, address >>> 0, numbers.length).set(numbers);
}

/**
 * For each target pixel: source pixels `first` up to `end`, and the weights of those, `taps` places a target pixel. Target pixels
 * and taps are filled up to multiples of four, as the kernel takes them, with weights of 0.
 */
interface AxisWeights {
  readonly first: Int32Array;
  readonly end: Int32Array;
  readonly taps: number;
  readonly weights: Int32Array;
}

function axisWeights(size: number, { from, to }: Interval, target: number): AxisWeights {
  const step = (to - from) / target;
  const support = Math.max(1, step);
  // One more than there are within two supports: rounding may take in one of weight 0.
  const taps = inFours(Math.ceil(2 * support) + 1);
  const places = inFours(target);
  const [first, end] = [new Int32Array(places), new Int32Array(places)];
  const weights = new Int32Array(places * taps);
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
    for (let i = first[t]!; i < end[t]!; i++) {
      weights[t * taps + i - first[t]!] = Math.round((triangle[i - low]! / sum) * (1 << PRECISION));
    }
  }
  return { first, end, taps, weights };
}

const inFours = (count: number) => 4 * Math.ceil(count / 4);
