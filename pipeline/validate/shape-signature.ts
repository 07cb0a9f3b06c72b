import type { Mask } from '../../extractors/image.ts';

/**
 * A shape on a polar grid: about its centroid, in units of the square root of its area, so that neither place nor size nor
 * (but for a turn of the grid) rotation matter. A cell is set when its middle lies on the shape.
 */

/** Rings of equal width from the centroid to REACH; what lies farther out is left out. A disc's radius is 0.56. */
const RINGS = 16;
const REACH = 1.75;
/** Steps of a full turn: 2.8°. Four words a ring. */
const ANGLES = 128;
const WORDS = ANGLES / 32;
/** 32-bit words of a signature: 256 bytes. */
export const SIGNATURE_WORDS = RINGS * WORDS;

/** Area of a ring's cell. */
const CELL_AREA = Float64Array.from(
  { length: RINGS },
  (_, ring) => ((2 * Math.PI) / ANGLES) * (ring + 0.5) * (REACH / RINGS) ** 2,
);

/** Cosine and sine of every angle. */
const COSINES = Float64Array.from({ length: ANGLES }, (_, i) => Math.cos((2 * Math.PI * i) / ANGLES));
const SINES = Float64Array.from({ length: ANGLES }, (_, i) => Math.sin((2 * Math.PI * i) / ANGLES));

/**
 * The signature of a mask that has set pixels.
 * @param into takes it, SIGNATURE_WORDS long.
 */
export function writeSignature({ data, width, height }: Mask, into: Uint32Array): void {
  let [area, sumX, sumY] = [0, 0, 0];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (data[i++]! < 128) continue;
      area++;
      sumX += x;
      sumY += y;
    }
  }
  const [centreX, centreY] = [sumX / area + 0.5, sumY / area + 0.5];
  const step = (REACH / RINGS) * Math.sqrt(area);
  into.fill(0);
  for (let ring = 0; ring < RINGS; ring++) {
    const radius = (ring + 0.5) * step;
    for (let angle = 0; angle < ANGLES; angle++) {
      const x = Math.floor(centreX + radius * COSINES[angle]!);
      const y = Math.floor(centreY + radius * SINES[angle]!);
      if (x < 0 || y < 0 || x >= width || y >= height || data[y * width + x]! < 128) continue;
      into[ring * WORDS + (angle >>> 5)]! |= 1 << (angle & 31);
    }
  }
}

/** Numbers of a description: parts of ORDERS each, one for every two rings. */
export const ORDERS = 4;
export const DESCRIPTION_LENGTH = (RINGS / 2) * ORDERS;

/**
 * What of a signature neither a turn nor a mirror changes: of every two rings, the area and how strongly it lies to one
 * side, to two, to three (the magnitudes of the angle's first Fourier coefficients, each at most the area).
 * @param into takes it, DESCRIPTION_LENGTH long.
 */
export function describe(signature: Uint32Array, into: Float32Array): void {
  const [real, imaginary] = [new Float64Array(ORDERS), new Float64Array(ORDERS)];
  for (let ring = 0; ring < RINGS; ring++) {
    if (ring % 2 === 0) {
      real.fill(0);
      imaginary.fill(0);
    }
    for (let angle = 0; angle < ANGLES; angle++) {
      if (((signature[ring * WORDS + (angle >>> 5)]! >>> (angle & 31)) & 1) === 0) continue;
      for (let order = 0; order < ORDERS; order++) {
        const turn = (order * angle) % ANGLES;
        real[order]! += CELL_AREA[ring]! * COSINES[turn]!;
        imaginary[order]! += CELL_AREA[ring]! * SINES[turn]!;
      }
    }
    if (ring % 2 === 0) continue;
    for (let order = 0; order < ORDERS; order++)
      into[(ring >> 1) * ORDERS + order] = Math.hypot(real[order]!, imaginary[order]!);
  }
}

/** The signature of the shape in a mirror. */
export function mirrored(signature: Uint32Array): Uint32Array {
  const result = new Uint32Array(SIGNATURE_WORDS);
  for (let ring = 0; ring < RINGS; ring++) {
    for (let angle = 0; angle < ANGLES; angle++) {
      if (((signature[ring * WORDS + (angle >>> 5)]! >>> (angle & 31)) & 1) === 0) continue;
      const other = (ANGLES - angle) % ANGLES;
      result[ring * WORDS + (other >>> 5)]! |= 1 << (other & 31);
    }
  }
  return result;
}

/** Intersection over union of two signatures, 0–1, at the turn where it is highest. */
export function likeness(a: Uint32Array, b: Uint32Array): number {
  let best = 0;
  for (let turn = 0; turn < ANGLES; turn++) best = Math.max(best, turnedLikeness(a, b, turn));
  return best;
}

function turnedLikeness(a: Uint32Array, b: Uint32Array, turn: number): number {
  const [skip, shift] = [turn >>> 5, turn & 31];
  let [shared, covered] = [0, 0];
  for (let ring = 0; ring < RINGS; ring++) {
    const row = ring * WORDS;
    let [both, either] = [0, 0];
    for (let word = 0; word < WORDS; word++) {
      const low = b[row + ((word + skip) & (WORDS - 1))]!;
      const high = b[row + ((word + skip + 1) & (WORDS - 1))]!;
      // A shift by 32 is none in JavaScript.
      const turned = shift === 0 ? low : (low >>> shift) | (high << (32 - shift));
      both += bits(a[row + word]! & turned);
      either += bits(a[row + word]! | turned);
    }
    shared += both * CELL_AREA[ring]!;
    covered += either * CELL_AREA[ring]!;
  }
  return covered === 0 ? 0 : shared / covered;
}

/** Set bits of a 32-bit word, counted in pairs, in fours, in bytes, then all bytes at once. */
function bits(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  count = (count + (count >>> 4)) & 0x0f0f0f0f;
  return Math.imul(count, 0x01010101) >>> 24;
}
