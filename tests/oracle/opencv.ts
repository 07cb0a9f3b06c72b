/** The few functions of OpenCV that tests compare with, from opencv-wasm, on shapemill's own image types. */
import { createRequire } from 'node:module';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';

/** A matrix in WebAssembly memory, which only `delete` frees. */
interface Mat {
  readonly data: Uint8Array;
  readonly data32S: Int32Array;
  delete(): void;
}

/** The package's own types leave out most of what it has. */
interface Cv {
  readonly Mat: new () => Mat;
  readonly CV_8UC1: number;
  readonly CV_8UC3: number;
  readonly CV_32S: number;
  readonly COLOR_RGB2HSV: number;
  readonly MORPH_RECT: number;
  readonly Size: new (width: number, height: number) => object;
  matFromArray(rows: number, columns: number, type: number, data: ArrayLike<number>): Mat;
  cvtColor(source: Mat, target: Mat, code: number): void;
  connectedComponentsWithStats(
    mask: Mat,
    labels: Mat,
    stats: Mat,
    centroids: Mat,
    connectivity: number,
    type: number,
  ): number;
  getStructuringElement(shape: number, size: object): Mat;
  erode(source: Mat, target: Mat, kernel: Mat): void;
}

const { cv } = createRequire(import.meta.url)('opencv-wasm') as { cv: Cv };

/** Hue (0–179), saturation and value, interleaved. */
export function rgbToHsv({ width, height, data }: RgbImage): Uint8Array {
  const source = cv.matFromArray(height, width, cv.CV_8UC3, data);
  const target = new cv.Mat();
  cv.cvtColor(source, target, cv.COLOR_RGB2HSV);
  const hsv = target.data.slice();
  for (const mat of [source, target]) mat.delete();
  return hsv;
}

export interface Component {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly area: number;
}

/** 8-connected components of the pixels that are not 0; `labels` numbers them from 1, and 0 is the background. */
export function connectedComponents({ width, height, data }: GreyImage): {
  labels: Int32Array;
  components: Component[];
} {
  const source = cv.matFromArray(height, width, cv.CV_8UC1, data);
  const [labels, stats, centroids] = [new cv.Mat(), new cv.Mat(), new cv.Mat()] as [Mat, Mat, Mat];
  const count = cv.connectedComponentsWithStats(source, labels, stats, centroids, 8, cv.CV_32S);
  const result = {
    labels: labels.data32S.slice(),
    components: Array.from({ length: count - 1 }, (_, i) => {
      const [left, top, width, height, area] = stats.data32S.slice(5 * (i + 1)) as unknown as number[];
      return { left: left!, top: top!, width: width!, height: height!, area: area! };
    }),
  };
  for (const mat of [source, labels, stats, centroids]) mat.delete();
  return result;
}

/** Pixels left after one erosion with a square, with OpenCV's default border. */
export function erodedArea({ width, height, data }: GreyImage, side: number): number {
  const source = cv.matFromArray(height, width, cv.CV_8UC1, data);
  const kernel = cv.getStructuringElement(cv.MORPH_RECT, new cv.Size(side, side));
  const target = new cv.Mat();
  cv.erode(source, target, kernel);
  const survivors = target.data.reduce((sum, value) => sum + (value ? 1 : 0), 0);
  for (const mat of [source, kernel, target]) mat.delete();
  return survivors;
}
