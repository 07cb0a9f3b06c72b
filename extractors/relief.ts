/**
 * Surfaces told by a height map: their normals and how much light reaches them. The map is a height field over the plane of
 * the picture, white `strength` pixels above black. Normals follow glTF and OpenGL: +X right, +Y up, +Z out of the
 * picture; rows run downwards, so a normal's y grows with the height from row to row.
 */
import type { GreyImage, RgbImage } from './image.ts';

/** Heights, one a pixel, rows from the top. Finer levels than 256 make smoother normals. */
export interface HeightField {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint16Array | Float32Array;
  /** The level of a height of 1: 255 for an 8-bit map. */
  readonly white: number;
}

/**
 * Unit normals n ∝ (−r·dh/dcolumn, +r·dh/drow, 1) with h from 0 to 1, as 8-bit RGB: n = 2·value/255 − 1. Differences are
 * central, at the edges to the one neighbour there is.
 * @param strength r: height of white over black, in pixels.
 */
export function normalsFromHeight({ width, height, data, white }: HeightField, strength: number): RgbImage {
  const normals = new Uint8Array(3 * width * height);
  const slope = strength / white;
  const write = (i: number, dx: number, dy: number) => {
    // Divided once: n = (−dx, dy, 1) / √(dx² + dy² + 1), times 127.5; 128 and not 127.5 rounds to the nearest level.
    const scale = 127.5 / Math.sqrt(dx * dx + dy * dy + 1);
    normals[3 * i] = 128 - dx * scale;
    normals[3 * i + 1] = 128 + dy * scale;
    normals[3 * i + 2] = 128 + scale;
  };
  for (let row = 0, first = 0; row < height; row++, first += width) {
    const last = first + width - 1;
    const above = row > 0 ? -width : 0;
    const below = row < height - 1 ? width : 0;
    const perRow = below === above ? 0 : (slope * width) / (below - above);
    const rise = (i: number) => (data[i + below]! - data[i + above]!) * perRow;
    write(first, width > 1 ? (data[first + 1]! - data[first]!) * slope : 0, rise(first));
    for (let i = first + 1; i < last; i++) {
      write(i, (data[i + 1]! - data[i - 1]!) * (0.5 * slope), (data[i + below]! - data[i + above]!) * perRow);
    }
    if (last > first) write(last, (data[last]! - data[last - 1]!) * slope, rise(last));
  }
  return { width, height, data: normals };
}

/** Eight directions, and how far is looked along each: steps of pixels. */
const DIRECTIONS = [-1, 0, 1].flatMap(dy => [-1, 0, 1].map(dx => [dx, dy] as const)).filter(([dx, dy]) => dx || dy);
const STEPS = [1, 2, 4, 8, 16];

/**
 * Ambient occlusion: the share of an evenly bright sky that lights a point, 0–255. Along each of eight directions the
 * horizon of slope s hides s² / (1 + s²) of the (cosine-weighted) light; outside the picture there is nothing in the way.
 * @param strength as in {@link normalsFromHeight}.
 */
export function occlusionFromHeight({ width, height, data, white }: HeightField, strength: number): GreyImage {
  const light = new Float32Array(width * height);
  const horizon = new Float32Array(width * height);
  for (const [dx, dy] of DIRECTIONS) {
    horizon.fill(0);
    for (const step of STEPS) {
      const rise = strength / (white * step * Math.hypot(dx, dy));
      const offset = step * (dy * width + dx);
      const [top, bottom] = [Math.max(0, -dy * step), Math.min(height, height - dy * step)];
      const [left, right] = [Math.max(0, -dx * step), Math.min(width, width - dx * step)];
      for (let row = top; row < bottom; row++) {
        for (let i = row * width + left, end = row * width + right; i < end; i++) {
          horizon[i] = Math.max(horizon[i]!, (data[i + offset]! - data[i]!) * rise);
        }
      }
    }
    for (let i = 0; i < light.length; i++) light[i]! += 1 / (1 + horizon[i]! * horizon[i]!);
  }
  const levels = new Uint8Array(light.length);
  for (let i = 0; i < light.length; i++) levels[i] = light[i]! * (255 / DIRECTIONS.length) + 0.5;
  return { width, height, data: levels };
}

/** How normals go with the rise of a height map, −1 … 1. */
export interface NormalHeightCorrelation {
  /** Of −x with the rise from column to column: near 1 for all normal maps; below 0 where the height is a depth. */
  readonly x: number;
  /** Of y with the rise from row to row: of the same sign as `x` for +Y (OpenGL), of the other for −Y (DirectX). */
  readonly y: number;
}

/** Correlates a normal map with the height map of its set, both of one size. Near 0 where either says nothing. */
export function correlateNormals(normals: RgbImage, { width, height, data }: GreyImage): NormalHeightCorrelation {
  const x = new Correlation();
  const y = new Correlation();
  for (let row = 1; row < height - 1; row++) {
    for (let i = row * width + 1; i < (row + 1) * width - 1; i++) {
      x.add(255 - normals.data[3 * i]!, data[i + 1]! - data[i - 1]!);
      y.add(normals.data[3 * i + 1]!, data[i + width]! - data[i - width]!);
    }
  }
  return { x: x.value, y: y.value };
}

/** Pearson's, of pairs that are seen one after the other. */
class Correlation {
  #count = 0;
  #a = 0;
  #b = 0;
  #aa = 0;
  #bb = 0;
  #ab = 0;

  add(a: number, b: number): void {
    this.#count++;
    this.#a += a;
    this.#b += b;
    this.#aa += a * a;
    this.#bb += b * b;
    this.#ab += a * b;
  }

  /** 0 where one of the two is always the same. */
  get value(): number {
    const n = this.#count;
    const variances = (n * this.#aa - this.#a ** 2) * (n * this.#bb - this.#b ** 2);
    return variances > 0 ? (n * this.#ab - this.#a * this.#b) / Math.sqrt(variances) : 0;
  }
}
