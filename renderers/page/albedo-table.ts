import { ClampToEdgeWrapping, DataTexture, DataUtils, HalfFloatType, LinearFilter, RGBAFormat } from 'three';

/**
 * How much of the light a rough surface reflects in all, by angle and roughness: what the microfacet model in `bsdf.ts` loses
 * to light that strikes the surface twice is given back by these numbers. Integrated numerically over visible normals, where
 * the integrand is bounded and smooth.
 */

/** Nodes of the table: by the square root of the cosine, since what is lost changes fastest near the horizon; and by roughness. */
export const ALBEDO_COLUMNS = 32;
export const ALBEDO_ROWS = 32;

/** Of object-material.ts: glass. */
export const REFRACTIVE_INDEX = 1.45;

/** A perfect mirror is beyond 32-bit floats; this one blurs by 0.1 degrees, less than a pixel. */
export const MIN_ALPHA = 0.001;

const POINTS = 512;

/**
 * A lattice on the unit square by the golden ratio: height and azimuth of visible normals. It is denser where the height's
 * share nears 1, in the long tail of the distribution; the weights make up for it.
 */
const LATTICE = Array.from({ length: POINTS }, (_, i) => {
  const rest = 1 - (i + 0.5) / POINTS;
  const azimuth = ((i * (Math.sqrt(5) - 1)) / 2) * Math.PI;
  return { share: 1 - rest * rest, weight: (2 * rest) / POINTS, cosine: Math.cos(azimuth), sine: Math.sin(azimuth) };
});

/** The width of the distribution of normals, α, by a material's roughness. */
export function alphaOf(roughness: number): number {
  return Math.max(roughness * roughness, MIN_ALPHA);
}

/** Shares of light from an angle that come back at first reflection. */
export interface Albedos {
  /** From a surface that reflects everything. */
  readonly reflected: number;
  /** The same times Schlick's (1 − cos)^5: how much of it is owed to F90. */
  readonly grazing: number;
  /** What glass reflects and lets through, seen from outside and from within. */
  readonly glass: readonly [outside: number, inside: number];
}

/**
 * Directional albedos of a GGX surface with height-correlated Smith masking.
 * @param cosine of the angle between normal and direction, above 0 to 1. @param alpha above 0 to 1.
 */
export function directionalAlbedos(cosine: number, alpha: number): Albedos {
  const sine = Math.sqrt(1 - cosine * cosine);
  const stretched = Math.sqrt((alpha * sine) ** 2 + cosine * cosine);
  const stretchedX = (alpha * sine) / stretched;
  const stretchedZ = cosine / stretched;
  const lambda = smithLambda(cosine, alpha);
  let reflected = 0;
  let grazing = 0;
  let outside = 0;
  let inside = 0;
  for (const point of LATTICE) {
    // Visible normals: points of a cap of the unit sphere, plus the stretched direction (Dupuy and Benyoub 2023).
    const z = (1 - point.share) * (1 + stretchedZ) - stretchedZ;
    const radius = Math.sqrt(Math.max(0, 1 - z * z));
    const x = alpha * (radius * point.cosine + stretchedX);
    const y = alpha * radius * point.sine;
    const length = Math.sqrt(x * x + y * y + (z + stretchedZ) ** 2);
    const up = (z + stretchedZ) / length;
    const facing = Math.min(1, (x * sine) / length + up * cosine);
    const mirrored = 2 * facing * up - cosine;
    const kept = mirrored > 0 ? (1 + lambda) / (1 + lambda + smithLambda(mirrored, alpha)) : 0;
    reflected += point.weight * kept;
    grazing += point.weight * kept * (1 - facing) ** 5;
    outside += point.weight * keptByGlass(REFRACTIVE_INDEX, cosine, alpha, facing, up, kept);
    inside += point.weight * keptByGlass(1 / REFRACTIVE_INDEX, cosine, alpha, facing, up, kept);
  }
  return { reflected, grazing, glass: [outside, inside] };
}

/** What a visible normal at height `up` reflects (of it, `kept` is not masked) and lets through. */
function keptByGlass(index: number, cosine: number, alpha: number, facing: number, up: number, kept: number): number {
  const fresnel = dielectricFresnel(facing, index);
  if (fresnel === 1) return kept;
  const beyond = Math.sqrt(1 - (1 - facing * facing) / index ** 2);
  const refracted = (facing / index - beyond) * up - cosine / index;
  return fresnel * kept + (refracted < 0 ? (1 - fresnel) / (1 + smithLambda(-refracted, alpha)) : 0);
}

/** Masked over visible microfacet area (Smith, for GGX). */
function smithLambda(cosine: number, alpha: number): number {
  return (Math.sqrt(1 + (alpha * alpha * (1 - cosine * cosine)) / (cosine * cosine)) - 1) / 2;
}

/** Share of light that is reflected where two transparent media meet. @param index of the far side over that of this one. */
export function dielectricFresnel(cosine: number, index: number): number {
  const squared = index * index - 1 + cosine * cosine;
  if (squared <= 0) return 1;
  const g = Math.sqrt(squared);
  const polarised = (g - cosine) / (g + cosine);
  const other = (cosine * (g + cosine) - 1) / (cosine * (g - cosine) + 1);
  return 0.5 * polarised * polarised * (1 + other * other);
}

/**
 * The table: columns by the root of the cosine, rows by roughness, both from 0 to 1 at the texels' centres; the second half of
 * the rows is for glass. What is lost is kept and not what is reflected, so that half floats hold it to three digits.
 * @returns four numbers a texel: 1 − reflected, grazing, and the cosine-weighted means of these two; for glass what is lost
 *   outside, what inside, 0, 0.
 */
export function albedoTable(): Float32Array {
  const table = new Float32Array(2 * 4 * ALBEDO_ROWS * ALBEDO_COLUMNS);
  const steps = ALBEDO_COLUMNS - 1;
  for (let row = 0; row < ALBEDO_ROWS; row++) {
    const start = 4 * row * ALBEDO_COLUMNS;
    const glassStart = start + 4 * ALBEDO_ROWS * ALBEDO_COLUMNS;
    const alpha = alphaOf(row / (ALBEDO_ROWS - 1));
    for (let column = 0; column < ALBEDO_COLUMNS; column++) {
      const { reflected, grazing, glass } = directionalAlbedos(Math.max((column / steps) ** 2, 1e-4), alpha);
      table.set([1 - reflected, grazing], start + 4 * column);
      table.set([1 - glass[0], 1 - glass[1]], glassStart + 4 * column);
    }
    for (const part of [0, 1]) {
      const mean = interpolatedMean(
        Float64Array.from({ length: ALBEDO_COLUMNS }, (_, column) => table[start + 4 * column + part]!),
      );
      for (let column = 0; column < ALBEDO_COLUMNS; column++) table[start + 4 * column + 2 + part] = mean;
    }
  }
  return table;
}

/**
 * The cosine-weighted mean over the hemisphere of what the shader interpolates between nodes at the squares of equal steps:
 * of that exactly, so that what a second reflection gives back is what the first one lost.
 */
function interpolatedMean(values: Float64Array): number {
  const steps = values.length - 1;
  let sum = 0;
  for (let i = 0; i < steps; i++) {
    // With x the root of the cosine: ∫ value · 4x³ dx from node to node.
    const whole = ((i + 1) ** 4 - i ** 4) / steps ** 4;
    const rising = (0.8 * ((i + 1) ** 5 - i ** 5) - i * ((i + 1) ** 4 - i ** 4)) / steps ** 4;
    sum += values[i]! * (whole - rising) + values[i + 1]! * rising;
  }
  return sum;
}

/** {@link albedoTable} for the shaders that {@link BSDF} is in. */
export function albedoTexture(): DataTexture {
  const data = Uint16Array.from(albedoTable(), DataUtils.toHalfFloat);
  const texture = new DataTexture(data, ALBEDO_COLUMNS, 2 * ALBEDO_ROWS, RGBAFormat, HalfFloatType);
  texture.wrapS = texture.wrapT = ClampToEdgeWrapping;
  texture.magFilter = texture.minFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
