/** The few functions of OpenCV that tests compare with, from opencv-wasm, on shapemill's own image types. */
import { createRequire } from 'node:module';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';

/** A matrix in WebAssembly memory, which only `delete` frees. */
interface Mat {
  readonly data: Uint8Array;
  readonly data32S: Int32Array;
  readonly data32F: Float32Array;
  delete(): void;
}

/** A list of matrices, likewise. */
interface MatVector {
  size(): number;
  get(i: number): Mat;
  delete(): void;
}

/** The package's own types leave out most of what it has. */
interface Cv {
  readonly Mat: new () => Mat;
  readonly MatVector: new () => MatVector;
  readonly CV_8UC1: number;
  readonly CV_8UC3: number;
  readonly CV_32S: number;
  readonly CV_32SC2: number;
  readonly COLOR_RGB2HSV: number;
  readonly MORPH_RECT: number;
  readonly RETR_CCOMP: number;
  readonly CHAIN_APPROX_NONE: number;
  readonly DIST_L2: number;
  readonly DIST_MASK_PRECISE: number;
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
  findContours(mask: Mat, contours: MatVector, hierarchy: Mat, mode: number, method: number): void;
  contourArea(contour: Mat): number;
  arcLength(contour: Mat, closed: boolean): number;
  convexHull(points: Mat, hull: Mat): void;
  distanceTransform(mask: Mat, distances: Mat, type: number, maskSize: number): void;
  moments(mask: Mat, binary: boolean): { m00: number; mu20: number; mu02: number; mu11: number };
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

/** A border between shape and ground, as the polygon through the centres of the shape's pixels along it. */
export interface Contour {
  readonly isHole: boolean;
  /** x, y of each point. */
  readonly points: Int32Array;
  readonly area: number;
  readonly length: number;
}

/** The borders of a mask's parts (8-connected) and of their holes. The mask's own outermost pixels have to be clear. */
export function contours({ width, height, data }: GreyImage): Contour[] {
  const source = cv.matFromArray(height, width, cv.CV_8UC1, data);
  const [list, hierarchy] = [new cv.MatVector(), new cv.Mat()];
  cv.findContours(source, list, hierarchy, cv.RETR_CCOMP, cv.CHAIN_APPROX_NONE);
  const result = Array.from({ length: list.size() }, (_, i) => {
    const contour = list.get(i);
    const found = {
      isHole: hierarchy.data32S[4 * i + 3]! >= 0,
      points: contour.data32S.slice(),
      area: cv.contourArea(contour),
      length: cv.arcLength(contour, true),
    };
    contour.delete();
    return found;
  });
  for (const wasm of [source, list, hierarchy]) wasm.delete();
  return result;
}

/** The convex hull of points (x, y of each), as a polygon. */
export function convexHull(points: ArrayLike<number>): Int32Array {
  const source = cv.matFromArray(points.length / 2, 1, cv.CV_32SC2, points);
  const target = new cv.Mat();
  cv.convexHull(source, target);
  const hull = target.data32S.slice();
  for (const mat of [source, target]) mat.delete();
  return hull;
}

/** Distance of each pixel's centre from that of the nearest pixel that is 0. */
export function distances({ width, height, data }: GreyImage): Float32Array {
  const source = cv.matFromArray(height, width, cv.CV_8UC1, data);
  const target = new cv.Mat();
  cv.distanceTransform(source, target, cv.DIST_L2, cv.DIST_MASK_PRECISE);
  const result = target.data32F.slice();
  for (const mat of [source, target]) mat.delete();
  return result;
}

/** Area and second central moments of the set pixels' centres. */
export function moments({ width, height, data }: GreyImage): { m00: number; mu20: number; mu02: number; mu11: number } {
  const source = cv.matFromArray(height, width, cv.CV_8UC1, data);
  const { m00, mu20, mu02, mu11 } = cv.moments(source, true);
  source.delete();
  return { m00, mu20, mu02, mu11 };
}
