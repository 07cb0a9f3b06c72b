/**
 * LDR-FLIP: how different two pictures look when one flips between them (Andersson et al. 2020, "FLIP: A Difference Evaluator for
 * Alternating Images"; section and equation numbers are the paper's). 0 means no difference, 1 the greatest.
 */

type Planes = [Float64Array, Float64Array, Float64Array];
type Triple = readonly [number, number, number];

/** Pixels in a degree of the field of view: a screen 0.7 m wide of 3,840 pixels, looked at from 0.7 m (section 3). */
export const PIXELS_PER_DEGREE = 3840 * (Math.PI / 180);

/** Exponents and places of the error's redistribution (sections 4.1.4 and 4.2). */
const Q_COLOR = 0.7;
const P_COLOR = 0.4;
const P_TOP = 0.95;
const Q_FEATURE = 0.5;
/** Width of the feature detector, degrees. */
const FEATURE_WIDTH = 0.082;

/** Contrast sensitivity as sums of Gaussians a √(π/b) exp(−π² x²/b), x in degrees (table 1): achromatic, red–green, blue–yellow. */
const SENSITIVITY: readonly (readonly (readonly [a: number, b: number])[])[] = [
  [[1, 0.0047]],
  [[1, 0.0053]],
  [
    [34.1, 0.04],
    [13.5, 0.025],
  ],
];
const WIDEST = 0.04;

/** Linear sRGB to XYZ (IEC 61966-2-1). */
const TO_XYZ: readonly Triple[] = [
  [0.4124, 0.3576, 0.1805],
  [0.2126, 0.7152, 0.0722],
  [0.0193, 0.1192, 0.9505],
];
const TO_RGB = inverse(TO_XYZ);
const WHITE = times(TO_XYZ, [1, 1, 1]);

/**
 * The error at every pixel.
 * @param reference sRGB in 0 to 1, three values a pixel, row by row. @param test the same.
 */
export function flip(
  reference: Float32Array,
  test: Float32Array,
  width: number,
  pixelsPerDegree = PIXELS_PER_DEGREE,
): Float32Array {
  const pixels = reference.length / 3;
  const height = pixels / width;
  if (reference.length !== test.length || !Number.isInteger(height)) {
    throw new Error(`expected two pictures ${width} pixels wide, got ${reference.length} and ${test.length} values`);
  }
  const [a, b] = [opponents(reference), opponents(test)];
  const [labA, labB] = [a, b].map(planes => huntLab(filtered(planes, width, pixelsPerDegree))) as [Planes, Planes];
  const [featuresA, featuresB] = [a, b].map(([y]) => features(y, width, pixelsPerDegree)) as [Features, Features];
  const most = hyab(huntOf([0, 1, 0]), huntOf([0, 0, 1])) ** Q_COLOR;
  const errors = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const color = redistributed(
      hyab([labA[0][i]!, labA[1][i]!, labA[2][i]!], [labB[0][i]!, labB[1][i]!, labB[2][i]!]) ** Q_COLOR,
      most,
    );
    const difference = Math.max(
      Math.abs(featuresA.edges[i]! - featuresB.edges[i]!),
      Math.abs(featuresA.points[i]! - featuresB.points[i]!),
    );
    const feature = (difference / Math.SQRT2) ** Q_FEATURE;
    errors[i] = color ** (1 - Math.min(1, feature));
  }
  return errors;
}

/** Small differences of colour get most of the range (equation 7). */
function redistributed(error: number, most: number): number {
  const knee = P_COLOR * most;
  return error < knee ? (P_TOP / knee) * error : P_TOP + ((error - knee) / (most - knee)) * (1 - P_TOP);
}

/** YCxCz (section 4.1): luminance, red–green, blue–yellow. */
function opponents(srgb: Float32Array): Planes {
  const planes = emptyPlanes(srgb.length / 3);
  for (let i = 0; i < planes[0].length; i++) {
    const [x, y, z] = toXyz([linear(srgb[3 * i]!), linear(srgb[3 * i + 1]!), linear(srgb[3 * i + 2]!)]);
    planes[0][i] = 116 * y - 16;
    planes[1][i] = 500 * (x - y);
    planes[2][i] = 200 * (y - z);
  }
  return planes;
}

/** What an eye at that distance resolves, as linear RGB within 0 to 1 (sections 4.1.1 and 4.1.2). */
function filtered(planes: Planes, width: number, pixelsPerDegree: number): Planes {
  const radius = Math.ceil(3 * Math.sqrt(WIDEST / (2 * Math.PI ** 2)) * pixelsPerDegree);
  const [y, cx, cz] = planes.map((plane, channel) => {
    const gaussians = SENSITIVITY[channel]!.map(([a, b]) => {
      const kernel = taps(radius, x => Math.exp((-(Math.PI ** 2) * (x / pixelsPerDegree) ** 2) / b));
      const sum = total(kernel);
      // In two dimensions: the product of the kernel with itself.
      return { kernel: kernel.map(tap => tap / sum), weight: a * Math.sqrt(Math.PI / b) * sum ** 2 };
    });
    const all = gaussians.reduce((sum, { weight }) => sum + weight, 0);
    const result = new Float64Array(plane.length);
    for (const { kernel, weight } of gaussians) {
      const blurred = convolved(plane, width, kernel, kernel);
      for (let i = 0; i < result.length; i++) result[i]! += (weight / all) * blurred[i]!;
    }
    return result;
  }) as Planes;
  const rgb = emptyPlanes(y.length);
  for (let i = 0; i < y.length; i++) {
    const luminance = (y[i]! + 16) / 116;
    const xyz: Triple = [
      WHITE[0] * (luminance + cx[i]! / 500),
      WHITE[1] * luminance,
      WHITE[2] * (luminance - cz[i]! / 200),
    ];
    const color = times(TO_RGB, xyz);
    for (const c of [0, 1, 2] as const) rgb[c][i] = Math.min(1, Math.max(0, color[c]));
  }
  return rgb;
}

/** L*a*b* with the Hunt effect: colours are stronger where it is brighter (section 4.1.3). */
function huntLab(rgb: Planes): Planes {
  const lab = emptyPlanes(rgb[0].length);
  for (let i = 0; i < rgb[0].length; i++) {
    const color = huntOf([rgb[0][i]!, rgb[1][i]!, rgb[2][i]!]);
    for (const c of [0, 1, 2] as const) lab[c][i] = color[c];
  }
  return lab;
}

function huntOf(rgb: Triple): Triple {
  const [x, y, z] = toXyz(rgb).map(labCurve) as [number, number, number];
  const lightness = 116 * y - 16;
  const strength = 0.01 * lightness;
  return [lightness, strength * 500 * (x - y), strength * 200 * (y - z)];
}

function labCurve(t: number): number {
  const delta = 6 / 29;
  return t > delta ** 3 ? Math.cbrt(t) : t / (3 * delta ** 2) + 4 / 29;
}

/** Distance of colours that are far apart (equation 5). */
function hyab(a: Triple, b: Triple): number {
  return Math.abs(a[0] - b[0]) + Math.hypot(a[1] - b[1], a[2] - b[2]);
}

interface Features {
  readonly edges: Float64Array;
  readonly points: Float64Array;
}

/** How much of an edge, and of a point, there is at each pixel of the luminance (section 4.2). */
function features(y: Float64Array, width: number, pixelsPerDegree: number): Features {
  const deviation = 0.5 * FEATURE_WIDTH * pixelsPerDegree;
  const radius = Math.ceil(3 * deviation);
  const gaussian = taps(radius, x => Math.exp(-(x ** 2) / (2 * deviation ** 2)));
  const across = gaussian.map(tap => tap / total(gaussian));
  const slope = balanced(gaussian.map((tap, i) => -(i - radius) * tap));
  const bend = balanced(gaussian.map((tap, i) => (((i - radius) / deviation) ** 2 - 1) * tap));
  const luminance = y.map(value => (value + 16) / 116);
  const strength = (kernel: Float64Array) => {
    const [x, down] = [convolved(luminance, width, kernel, across), convolved(luminance, width, across, kernel)];
    return x.map((value, i) => Math.hypot(value, down[i]!));
  };
  return { edges: strength(slope), points: strength(bend) };
}

/** Positive taps sum to 1, negative ones to −1. */
function balanced(kernel: Float64Array): Float64Array {
  const positive = total(kernel.filter(tap => tap > 0));
  const negative = -total(kernel.filter(tap => tap < 0));
  return kernel.map(tap => tap / (tap > 0 ? positive : negative));
}

function taps(radius: number, value: (x: number) => number): Float64Array {
  return Float64Array.from({ length: 2 * radius + 1 }, (_, i) => value(i - radius));
}

/** Filters rows and columns; beyond the border the picture goes on as it ends. */
function convolved(plane: Float64Array, width: number, alongRows: Float64Array, alongColumns: Float64Array) {
  const height = plane.length / width;
  const pass = (
    from: Float64Array,
    kernel: Float64Array,
    length: number,
    step: number,
    lines: number,
    next: number,
  ) => {
    const radius = (kernel.length - 1) / 2;
    const to = new Float64Array(from.length);
    for (let line = 0; line < lines; line++) {
      for (let i = 0; i < length; i++) {
        let sum = 0;
        for (let k = 0; k < kernel.length; k++) {
          const at = Math.min(length - 1, Math.max(0, i + k - radius));
          sum += kernel[k]! * from[line * next + at * step]!;
        }
        to[line * next + i * step] = sum;
      }
    }
    return to;
  };
  return pass(pass(plane, alongRows, width, 1, height, width), alongColumns, height, width, width, 1);
}

function linear(srgb: number): number {
  return srgb <= 0.04045 ? srgb / 12.92 : ((srgb + 0.055) / 1.055) ** 2.4;
}

/** Relative to white. */
function toXyz(rgb: Triple): Triple {
  const [x, y, z] = times(TO_XYZ, rgb);
  return [x / WHITE[0], y / WHITE[1], z / WHITE[2]];
}

function times(rows: readonly Triple[], [x, y, z]: Triple): Triple {
  return rows.map(row => row[0] * x + row[1] * y + row[2] * z) as unknown as Triple;
}

function inverse([a, b, c]: readonly Triple[]): Triple[] {
  const cross = (u: Triple, v: Triple): Triple => [
    u[1] * v[2] - u[2] * v[1],
    u[2] * v[0] - u[0] * v[2],
    u[0] * v[1] - u[1] * v[0],
  ];
  const columns = [cross(b!, c!), cross(c!, a!), cross(a!, b!)];
  const determinant = a![0] * columns[0]![0] + a![1] * columns[0]![1] + a![2] * columns[0]![2];
  return [0, 1, 2].map(row => columns.map(column => column[row]! / determinant) as unknown as Triple);
}

function emptyPlanes(length: number): Planes {
  return [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
}

function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
