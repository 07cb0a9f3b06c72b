import { type Panorama, panoramaDirection } from '../../scenes/panorama-format.ts';

/**
 * Shrinks a panorama to a width by averaging the area on the sphere that each new pixel covers, so that the light from all
 * directions together stays what it was. Never enlarges.
 */
export function shrinkPanorama(panorama: Panorama, width: number): Panorama {
  if (panorama.width <= width) return panorama;
  const height = Math.max(1, Math.round((panorama.height * width) / panorama.width));
  const columns = overlaps(panorama.width, width, (from, to) => to - from);
  const rows = overlaps(panorama.height, height, bandArea);
  const data = new Float32Array(3 * width * height);
  const sums = new Float64Array(3 * panorama.width);
  for (const [row, band] of rows.entries()) {
    sums.fill(0);
    for (const { index, weight } of band) {
      const start = index * sums.length;
      for (let i = 0; i < sums.length; i++) sums[i]! += weight * panorama.data[start + i]!;
    }
    let to = 3 * row * width;
    for (const column of columns) {
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0;
        for (const { index, weight } of column) sum += weight * sums[3 * index + channel]!;
        data[to++] = sum;
      }
    }
  }
  return { width, height, data };
}

/** A part of an old row or column, and how much of the new one it makes. */
interface Overlap {
  readonly index: number;
  readonly weight: number;
}

/**
 * For each of `to` equal intervals of 0…1 the ones of `from` that it overlaps, with weights that sum to 1.
 * @param area of what lies between two places in 0…1.
 */
function overlaps(from: number, to: number, area: (start: number, end: number) => number): Overlap[][] {
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [i / to, (i + 1) / to];
    const parts: Overlap[] = [];
    for (let index = Math.floor((i * from) / to); index < from && index * to < (i + 1) * from; index++) {
      const weight = area(Math.max(start, index / from), Math.min(end, (index + 1) / from)) / area(start, end);
      if (weight > 0) parts.push({ index, weight });
    }
    return parts;
  });
}

/** Area of the band between two latitudes, as a share of the sphere. @param top, bottom 0 at the zenith, 1 at the nadir. */
function bandArea(top: number, bottom: number): number {
  return (Math.cos(top * Math.PI) - Math.cos(bottom * Math.PI)) / 2;
}

/** The light of a panorama in short. */
export interface PanoramaLight {
  /** Red, green and blue, averaged over all directions. */
  readonly mean: [number, number, number];
  /** The pixel of the highest luminance (Rec. 709), the first of several. */
  readonly brightest: {
    readonly luminance: number;
    readonly color: [number, number, number];
    /** Unit vector, as {@link panoramaDirection}. */
    readonly direction: [number, number, number];
  };
}

/** Measures a panorama. */
export function panoramaLight({ width, height, data }: Panorama): PanoramaLight {
  const mean: [number, number, number] = [0, 0, 0];
  let luminance = -1;
  let brightest = 0;
  for (let row = 0, at = 0; row < height; row++) {
    const weight = bandArea(row / height, (row + 1) / height) / width;
    const sums: [number, number, number] = [0, 0, 0];
    for (let column = 0; column < width; column++, at += 3) {
      const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!];
      sums[0] += r;
      sums[1] += g;
      sums[2] += b;
      const here = 0.2126 * r + 0.7152 * g + 0.0722 * b;
      if (here > luminance) {
        luminance = here;
        brightest = at;
      }
    }
    for (const c of [0, 1, 2] as const) mean[c] += weight * sums[c];
  }
  const pixel = brightest / 3;
  const [column, row] = [pixel % width, Math.floor(pixel / width)];
  return {
    mean,
    brightest: {
      luminance,
      color: [data[brightest]!, data[brightest + 1]!, data[brightest + 2]!],
      direction: panoramaDirection((column + 0.5) / width, (row + 0.5) / height),
    },
  };
}
