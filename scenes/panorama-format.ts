/**
 * Panoramas as the environment bank keeps them: RGB9E5, three 9-bit mantissas that share a 5-bit exponent. WebGL 2 takes the
 * words as they are (`RGB9_E5`, `UNSIGNED_INT_5_9_9_9_REV`) and filters them, at a third of the size of floats.
 *
 * A file is `PAN1`, width and height as 32-bit numbers, then a 32-bit word a pixel, all little-endian. Rows go from the
 * nadir up, since a texture's first row is its lowest: WebGL would have to unpack and turn the words otherwise.
 *
 * No Node here: the render page reads these files too.
 */

/** Linear radiance over all directions (equirectangular): {@link panoramaDirection} says which pixel lies where. */
export interface Panorama {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row from the zenith down; Rec. 709 primaries, 1 = the white of a screen. */
  readonly data: Float32Array;
}

/** A panorama as its file holds it. */
export interface PackedPanorama {
  readonly width: number;
  readonly height: number;
  /** RGB9E5, the lowest row first: what `texImage2D` takes without flipping. */
  readonly words: Uint32Array<ArrayBuffer>;
}

/** The largest value that RGB9E5 holds, 511 × 2^7. */
export const RGB9E5_MAX = 65408;

const MAGIC = 0x314e4150; // "PAN1"
const HEADER_WORDS = 3;
const MANTISSA_BITS = 9;
const EXPONENT_BIAS = 15;

/** 2^(24 − e) by shared exponent e: mantissa = value × scale. */
const SCALE = Float64Array.from({ length: 32 }, (_, e) => 2 ** (EXPONENT_BIAS + MANTISSA_BITS - e));

/**
 * Packs a panorama. The largest channel of a pixel is off by at most a 2^-9 part of itself, or by 2^-25 where it is below
 * 2^-16; the others by at most as much as the largest.
 * @returns the file, and how many pixels were brighter than {@link RGB9E5_MAX} and are clamped to it. Negative values and
 *   NaN become 0.
 */
export function encodePanorama({ width, height, data }: Panorama): {
  bytes: Uint8Array<ArrayBuffer>;
  clamped: number;
} {
  const file = new Uint32Array(HEADER_WORDS + width * height);
  file.set([MAGIC, width, height]);
  let clamped = 0;
  for (let row = 0; row < height; row++) {
    let word = HEADER_WORDS + (height - 1 - row) * width;
    for (let at = 3 * row * width; at < 3 * (row + 1) * width; at += 3) {
      const r = data[at]!;
      const g = data[at + 1]!;
      const b = data[at + 2]!;
      if (r > RGB9E5_MAX || g > RGB9E5_MAX || b > RGB9E5_MAX) clamped++;
      file[word++] = packRgb9e5(r, g, b);
    }
  }
  return { bytes: new Uint8Array(file.buffer), clamped };
}

/**
 * The words of a panorama's file, without a copy where the file's bytes are aligned to 4.
 * @throws Error when the bytes are no such file, or not the whole of it.
 */
export function readPackedPanorama(bytes: Uint8Array<ArrayBuffer>): PackedPanorama {
  const { buffer, byteOffset, length } = aligned(bytes);
  if (length < 4 * HEADER_WORDS) throw new Error(`expected a packed panorama, got ${length} bytes`);
  const [magic, width = 0, height = 0] = new Uint32Array(buffer, byteOffset, HEADER_WORDS);
  const pixels = width * height;
  if (magic !== MAGIC) throw new Error('expected a packed panorama, got another file');
  if (length !== 4 * (HEADER_WORDS + pixels)) {
    throw new Error(`expected ${4 * (HEADER_WORDS + pixels)} bytes for ${width}×${height} pixels, got ${length}`);
  }
  return { width, height, words: new Uint32Array(buffer, byteOffset + 4 * HEADER_WORDS, pixels) };
}

/** Unpacks a panorama's file to floats, the zenith first. @throws Error like {@link readPackedPanorama}. */
export function decodePanorama(bytes: Uint8Array<ArrayBuffer>): Panorama {
  const { width, height, words } = readPackedPanorama(bytes);
  const data = new Float32Array(3 * words.length);
  for (let row = 0, at = 0; row < height; row++) {
    const start = (height - 1 - row) * width;
    for (let i = start; i < start + width; i++) {
      const word = words[i]!;
      const unit = 1 / SCALE[word >>> 27]!;
      data[at++] = (word & 511) * unit;
      data[at++] = ((word >>> 9) & 511) * unit;
      data[at++] = ((word >>> 18) & 511) * unit;
    }
  }
  return { width, height, data };
}

/**
 * The direction that a place in a panorama shows, as three.js looks it up: y up, the middle column at +x, the columns right
 * of it towards +z.
 * @param u 0 at the left edge to 1 at the right one. @param v 0 at the zenith to 1 at the nadir.
 * @returns a unit vector.
 */
export function panoramaDirection(u: number, v: number): [x: number, y: number, z: number] {
  const azimuth = (u - 0.5) * 2 * Math.PI;
  const sine = Math.sin(v * Math.PI);
  return [sine * Math.cos(azimuth), Math.cos(v * Math.PI), sine * Math.sin(azimuth)];
}

const float = new Float32Array(1);
const floatBits = new Uint32Array(float.buffer);

/** One pixel: blue, green and red mantissa below the exponent. Rounds to nearest, as OpenGL's specification does. */
export function packRgb9e5(r: number, g: number, b: number): number {
  const red = clamp(r);
  const green = clamp(g);
  const blue = clamp(b);
  const largest = Math.max(red, green, blue);
  float[0] = largest;
  // The exponent's bits of a float are its rounded-down logarithm; below 2^-16 the mantissas lose digits instead.
  let exponent = Math.max(0, (floatBits[0]! >>> 23) - 127 + 1 + EXPONENT_BIAS);
  if (Math.floor(largest * SCALE[exponent]! + 0.5) === 1 << MANTISSA_BITS) exponent++;
  const scale = SCALE[exponent]!;
  return (
    ((exponent << 27) |
      (Math.floor(blue * scale + 0.5) << 18) |
      (Math.floor(green * scale + 0.5) << 9) |
      Math.floor(red * scale + 0.5)) >>>
    0
  );
}

/** To 0…65408; NaN to 0. */
function clamp(value: number): number {
  return value > 0 ? Math.min(value, RGB9E5_MAX) : 0;
}

/** The bytes themselves, or a copy where a view of 32-bit words could not be laid over them. */
function aligned(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
}
