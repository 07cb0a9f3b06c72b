import {
  ClampToEdgeWrapping,
  DataTexture,
  FloatType,
  NearestFilter,
  NearestMipmapNearestFilter,
  RGBAFormat,
} from 'three';
import type { PackedPanorama } from '../../scenes/panorama-format.ts';

/**
 * Directions chosen by a panorama's brightness. Its cells (at most 1,024 × 512) are halved again and again, rows and columns in
 * turn, with the odds of the light in both halves: a texel holds the light of four neighbouring cells, the levels of the
 * texture are those of the halving. That is half the look-ups of searching sums by row and column, and near samples stay near.
 */

/** Columns of cells at most: finer ones cost memory, and only a light much smaller than a cell gets noisier. */
const MAX_COLUMNS = 1024;
const MIN_COLUMNS = 4;

/**
 * The cells' shares of all light: mean luminance, as the panorama is interpolated, times solid angle. A black panorama is
 * sampled evenly.
 * @returns a texture with all its levels, for {@link ENVIRONMENT_SAMPLING}; bottom rows first, like the panorama's.
 */
export function environmentTable(panorama: PackedPanorama): DataTexture {
  const columns = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, 2 ** Math.ceil(Math.log2(panorama.width))));
  const rows = columns / 2;
  const cells = cellMeans(panorama, columns, rows);
  let sum = weighBySolidAngle(cells, columns, rows);
  if (sum === 0) sum = weighBySolidAngle(cells.fill(1), columns, rows);
  for (let i = 0; i < cells.length; i++) cells[i]! /= sum;

  const levels = [quartets(cells, columns, rows)];
  for (let last = levels[0]!; last.width > 1; last = levels.at(-1)!) {
    levels.push(quartets(sumsOfFour(last.data), last.width, last.height));
  }
  const { data, width, height } = levels[0]!;
  const texture = new DataTexture(data, width, height, RGBAFormat, FloatType);
  texture.mipmaps = levels;
  texture.wrapS = texture.wrapT = ClampToEdgeWrapping;
  texture.magFilter = NearestFilter;
  texture.minFilter = NearestMipmapNearestFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Means of luminance over cells of a picture that is interpolated bilinearly, its columns repeated and its border rows continued. */
function cellMeans({ width, height, words }: PackedPanorama, columns: number, rows: number): Float64Array {
  const units = Float64Array.from({ length: 32 }, (_, exponent) => 2 ** (exponent - 24));
  const across = intervalMeans(width, columns);
  const line = new Float64Array(width);
  const narrow = new Float64Array(columns * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const word = words[row * width + column]!;
      const light = 0.2126 * (word & 511) + 0.7152 * ((word >>> 9) & 511) + 0.0722 * ((word >>> 18) & 511);
      line[column] = light * units[word >>> 27]!;
    }
    for (let k = 0; k < across.weights.length; k++) {
      const column = (across.texels[k]! + width) % width;
      narrow[row * columns + across.cells[k]!]! += across.weights[k]! * line[column]!;
    }
  }
  const down = intervalMeans(height, rows);
  const means = new Float64Array(columns * rows);
  for (let k = 0; k < down.weights.length; k++) {
    const from = columns * Math.min(height - 1, Math.max(0, down.texels[k]!));
    const to = columns * down.cells[k]!;
    const weight = down.weights[k]!;
    for (let column = 0; column < columns; column++) means[to + column]! += weight * narrow[from + column]!;
  }
  return means;
}

/** Which texels of a line, interpolated linearly between their centres, make up its means over equal cells; −1 to `texels`. */
function intervalMeans(texels: number, cells: number) {
  const size = texels / cells;
  const found = { cells: [] as number[], texels: [] as number[], weights: [] as number[] };
  for (let cell = 0; cell < cells; cell++) {
    const [from, to] = [cell * size, (cell + 1) * size];
    for (let texel = Math.floor(from - 0.5); texel < to + 0.5; texel++) {
      const weight = (tentBefore(to - texel - 0.5) - tentBefore(from - texel - 0.5)) / size;
      if (weight === 0) continue;
      found.cells.push(cell);
      found.texels.push(texel);
      found.weights.push(weight);
    }
  }
  return {
    cells: Int32Array.from(found.cells),
    texels: Int32Array.from(found.texels),
    weights: Float64Array.from(found.weights),
  };
}

/** The integral of max(0, 1 − |x|) up to a place. */
function tentBefore(x: number): number {
  if (x <= 0) return 0.5 * Math.max(0, 1 + x) ** 2;
  return 1 - 0.5 * Math.max(0, 1 - x) ** 2;
}

/** Multiplies cells by the share of their row's solid angle. @returns their sum. */
function weighBySolidAngle(cells: Float64Array, columns: number, rows: number): number {
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    const weight = Math.sin(((row + 0.5) / rows) * Math.PI);
    for (let i = row * columns; i < (row + 1) * columns; i++) {
      cells[i]! *= weight;
      sum += cells[i]!;
    }
  }
  return sum;
}

/** Two by two cells in one texel: lower left, lower right, upper left, upper right; 0 where there is none. */
function quartets(cells: ArrayLike<number>, columns: number, rows: number) {
  const width = columns / 2;
  const height = Math.ceil(rows / 2);
  const data = new Float32Array(4 * width * height);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const texel = (row >> 1) * width + (column >> 1);
      data[4 * texel + 2 * (row & 1) + (column & 1)] = cells[row * columns + column]!;
    }
  }
  return { data, width, height };
}

/** The light of each texel's cells. */
function sumsOfFour(data: Float32Array): Float64Array {
  const sums = new Float64Array(data.length / 4);
  for (let i = 0, at = 0; i < sums.length; i++, at += 4) {
    sums[i] = data[at]! + data[at + 1]! + data[at + 2]! + data[at + 3]!;
  }
  return sums;
}

/**
 * The panorama as light, in GLSL. Directions are the panorama's own: y up, its middle column at +x. Densities are per solid
 * angle, and even within a cell.
 */
export const ENVIRONMENT_SAMPLING = /* glsl */ `
uniform sampler2D panorama;
uniform sampler2D environmentTable;
uniform float strength;

const float ENVIRONMENT_PI = 3.14159265358979;

// As background.ts looks it up, but not by asin, which Mesa knows to 4e-4 only: a direction has to be found in the cell that it was
// chosen from. No azimuth is asked for at the very poles.
vec2 panoramaPlace(vec3 direction) {
  float across = length(direction.xz);
  vec2 angles = vec2(atan(direction.z, across > 0.0 ? direction.x : 1.0), atan(direction.y, across));
  return angles / vec2(2.0 * ENVIRONMENT_PI, ENVIRONMENT_PI) + 0.5;
}

vec3 environmentRadiance(vec3 panoramaDirection) {
  return strength * textureLod(panorama, panoramaPlace(panoramaDirection), 0.0).rgb;
}

// Of a cell: heights of its lower edge and from there to the upper one. The difference is not taken of two rounded numbers.
vec2 cellHeights(int row, int rows) {
  float angle = ENVIRONMENT_PI / float(rows);
  float middle = (float(row) + 0.5) * angle;
  return vec2(-cos(float(row) * angle), 2.0 * sin(middle) * sin(0.5 * angle));
}

float cellDensity(float share, float height, ivec2 cells) {
  return share * float(cells.x) / (2.0 * ENVIRONMENT_PI * height);
}

float environmentDensity(vec3 panoramaDirection) {
  ivec2 cells = 2 * textureSize(environmentTable, 0);
  ivec2 cell = min(ivec2(panoramaPlace(panoramaDirection) * vec2(cells)), cells - 1);
  vec4 shares = texelFetch(environmentTable, cell >> 1, 0);
  vec2 pair = (cell.y & 1) == 0 ? shares.xy : shares.zw;
  return cellDensity((cell.x & 1) == 0 ? pair.x : pair.y, cellHeights(cell.y, cells.y).y, cells);
}

// Radiance and density of a direction chosen by brightness; u is used up from the top bits down.
vec3 sampleEnvironment(vec2 u, out vec3 panoramaDirection, out float density) {
  ivec2 cells = 2 * textureSize(environmentTable, 0);
  ivec2 cell = ivec2(0);
  float share = 1.0;
  // One texel holds the coarsest level.
  int level = 0;
  while ((cells.x >> (level + 1)) > 1) level++;
  for (; level >= 0; level--) {
    vec4 shares = texelFetch(environmentTable, cell, level);
    float lower = shares.x + shares.y;
    float odds = lower / (lower + shares.z + shares.w);
    bool upper = u.y >= odds;
    u.y = upper ? (u.y - odds) / (1.0 - odds) : u.y / odds;
    vec2 pair = upper ? shares.zw : shares.xy;
    odds = pair.x / (pair.x + pair.y);
    bool right = u.x >= odds;
    u.x = right ? (u.x - odds) / (1.0 - odds) : u.x / odds;
    u = min(u, 0.99999994);
    share = right ? pair.y : pair.x;
    cell = 2 * cell + ivec2(right, upper);
  }
  vec2 heights = cellHeights(cell.y, cells.y);
  density = cellDensity(share, heights.y, cells);
  float y = clamp(heights.x + u.y * heights.y, -1.0, 1.0);
  float azimuth = 2.0 * ENVIRONMENT_PI * ((float(cell.x) + u.x) / float(cells.x) - 0.5);
  panoramaDirection = vec3(sqrt(1.0 - y * y) * vec2(cos(azimuth), sin(azimuth)), y).xzy;
  return environmentRadiance(panoramaDirection);
}
`;
