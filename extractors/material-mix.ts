/** Mixed materials: two or more laid into one, map by map (VasTextures, arXiv 2406.17146). */
import { chance } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { GreyImage } from './image.ts';
import type { MaterialMaps } from './pbr-maps.ts';
import { normalsFromHeight, occlusionFromHeight } from './relief.ts';

export interface MaterialMixOptions {
  /**
   * Share of the materials that are mixed of several. 0 (ours): VasTextures offers mixing beside its materials and gives no
   * share for it, and LAS&T names single ones; mixed materials also tie two photos to one item.
   */
  readonly mixShare: number;
  /** Probability that no further one is added: after the second, and after each that follows. */
  readonly mixStopProbability: number;
  /** Probability of one vector of weights for all maps … */
  readonly mixSharedWeightsProbability: number;
  /** … and that of every pixel the largest value counts, in each map. What is left: weights of its own for each map. */
  readonly mixMaximumProbability: number;
}

/** Off; how it is done when it is on is as published. */
export const MIX_DEFAULTS: MaterialMixOptions = {
  mixShare: 0,
  mixStopProbability: 0.5,
  mixSharedWeightsProbability: 0.28,
  mixMaximumProbability: 0.27,
};

/** The maps that are mixed; normals and occlusion follow from the mixed height. */
export const MIXED_MAPS = ['color', 'height', 'roughness', 'metallic', 'opacity', 'transmission'] as const;
type MixedMap = (typeof MIXED_MAPS)[number];

/** What a map that a material lacks counts as. */
const NEUTRAL: Partial<Record<MixedMap, number>> = { opacity: 255, transmission: 0 };

/** How materials are mixed; of each map the weights of the materials, which sum up to 1, or null: the largest value. */
export type MixPlan = { readonly [M in MixedMap]: readonly number[] | null };

/** Draws of how many materials one is made: 1, or two and more. */
export function drawMixCount(rng: Rng, { mixShare, mixStopProbability }: MaterialMixOptions): number {
  if (!chance(rng, mixShare)) return 1;
  let count = 2;
  while (count < MAX_MIXED && !chance(rng, mixStopProbability)) count++;
  return count;
}

/** Materials in one, at most: every further one is another texture to decode, and hardly seen. */
const MAX_MIXED = 8;

/** Draws how `count` materials are mixed. */
export function drawMix(rng: Rng, count: number, options: MaterialMixOptions): MixPlan {
  const u = rng.next();
  const shared = drawWeights(rng, count);
  const weights = (): readonly number[] | null => {
    if (u < options.mixSharedWeightsProbability) return shared;
    if (u < options.mixSharedWeightsProbability + options.mixMaximumProbability) return null;
    return drawWeights(rng, count);
  };
  return Object.fromEntries(MIXED_MAPS.map(map => [map, weights()])) as MixPlan;
}

function drawWeights(rng: Rng, count: number): number[] {
  // In (0, 1]: their sum is never 0.
  const weights = Array.from({ length: count }, () => 1 - rng.next());
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map(weight => weight / sum);
}

/**
 * Mixes materials of one size; their own normals and occlusion are not looked at. The strength of the normals is mixed as
 * the height is.
 * @param strengths r of each material's normals, in pixels.
 */
export function mixMaps(
  materials: readonly MaterialMaps[],
  strengths: readonly number[],
  plan: MixPlan,
  occlusion: boolean,
): MaterialMaps {
  const { width, height } = materials[0]!.color;
  const mix = (map: MixedMap): Float32Array =>
    mixValues(
      materials.map(maps => maps[map]?.data ?? NEUTRAL[map]!),
      plan[map],
      width * height * (map === 'color' ? 3 : 1),
    );
  const grey = (values: Float32Array): GreyImage => ({ width, height, data: rounded(values) });
  const has = (map: MixedMap) => materials.some(maps => maps[map] !== undefined);
  const heights = { width, height, data: mix('height'), white: 255 };
  const strength = mixNumbers(strengths, plan.height);
  return {
    color: { width, height, data: rounded(mix('color')) },
    height: grey(heights.data),
    roughness: grey(mix('roughness')),
    metallic: grey(mix('metallic')),
    normal: normalsFromHeight(heights, strength),
    ...(occlusion && { occlusion: occlusionFromHeight(heights, strength) }),
    ...(has('opacity') && { opacity: grey(mix('opacity')) }),
    ...(has('transmission') && { transmission: grey(mix('transmission')) }),
  };
}

function mixNumbers(values: readonly number[], weights: readonly number[] | null): number {
  return weights === null ? Math.max(...values) : values.reduce((sum, value, i) => sum + weights[i]! * value, 0);
}

/** @param maps the values of each material, or one number for all of them. */
function mixValues(
  maps: readonly (Uint8Array | number)[],
  weights: readonly number[] | null,
  count: number,
): Float32Array {
  const mixed = new Float32Array(count);
  for (const [m, map] of maps.entries()) {
    const values = typeof map === 'number' ? new Uint8Array(count).fill(map) : map;
    if (weights === null) for (let i = 0; i < count; i++) mixed[i] = Math.max(mixed[i]!, values[i]!);
    else for (let i = 0, weight = weights[m]!; i < count; i++) mixed[i]! += weight * values[i]!;
  }
  return mixed;
}

function rounded(values: Float32Array): Uint8Array {
  const levels = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) levels[i] = values[i]! + 0.5;
  return levels;
}
