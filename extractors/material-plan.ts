import { chance, integer, pick, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { Rgb } from './hue.ts';

/**
 * How PBR materials are made from a texture, drawn by the sampling of VasTextures (arXiv 2406.17146) that LAS&T uses: what a
 * pattern looks like in one of its channels is taken for its height, roughness or metalness. {@link drawMaterial} draws a
 * plan, which is plain JSON; `pbr-maps.ts` follows it, always to the same bytes.
 */

/** How materials are drawn. Levels are 0–255; all but counts and levels are probabilities. */
export interface MaterialMapsOptions {
  /** That all hues of the texture are moved by a random angle. */
  readonly hueShiftProbability: number;
  /** That the texture is turned by a quarter. */
  readonly quarterTurnProbability: number;
  /** That it is flipped: for each of the two ways. */
  readonly flipProbability: number;
  /** That the hues of the colour map alone are moved once more. */
  readonly colorHueShiftProbability: number;
  /** That a map is one level all over: a height of 0; others full or 0 with probability 1/4 each, else any level. */
  readonly constantProbability: number;
  /** That a map that is not constant is made from the mean of red, green and blue … */
  readonly greyProbability: number;
  /** … the same for height … */
  readonly heightGreyProbability: number;
  /** … or from a colour channel after a further move of all hues. What is left: one of the {@link CANDIDATES}. */
  readonly shiftedChannelProbability: number;
  /** That a map's source is negated; for roughness the next. */
  readonly negateProbability: number;
  readonly roughnessNegateProbability: number;
  readonly blurProbability: number;
  /** Smallest and largest side of the square that a blur takes the mean of, pixels; odd sides are drawn. */
  readonly blurKernel: readonly [number, number];
  /** That a map is used as it is, and not stretched to a range; height never is. */
  readonly asIsProbability: number;
  /** That the lower end of the range is random and not 0, and the upper end random and not 255. */
  readonly randomLowProbability: number;
  readonly randomHighProbability: number;
  /** That what is below the lower end becomes 0, and the same for height, where it leaves islands on flat ground. */
  readonly floorProbability: number;
  readonly heightFloorProbability: number;
  /** Above this level a surface counts as metal. */
  readonly metalLevel: number;
  /** That metal becomes full metal … */
  readonly fullMetalProbability: number;
  /** … that what is no metal becomes 0 … */
  readonly noMetalProbability: number;
  /** … and that the metal's roughness then becomes 0, or 255 in the second case. */
  readonly metalRoughnessProbability: number;
  /** Strength of normals: `relief`·u₁·u₂, else `strongRelief`·u₁·u₂ (u uniform in 0–1), else 1. In pixels. */
  readonly reliefProbability: number;
  readonly relief: number;
  readonly strongReliefProbability: number;
  readonly strongRelief: number;
  /**
   * Shares of the materials that have an opacity or a transmission map, drawn as roughness is. 0 as in the published
   * materials: the script draws both and writes neither.
   */
  readonly opacityShare: number;
  readonly transmissionShare: number;
  /** Whether ambient occlusion is computed from the height. Off as published. */
  readonly occlusion: boolean;
}

/** The published values. */
export const DEFAULTS: MaterialMapsOptions = {
  hueShiftProbability: 0.22,
  quarterTurnProbability: 0.5,
  flipProbability: 0.5,
  colorHueShiftProbability: 0.2,
  constantProbability: 0.14,
  greyProbability: 0.2,
  heightGreyProbability: 0.4,
  shiftedChannelProbability: 0.36,
  negateProbability: 0.3,
  roughnessNegateProbability: 0.6,
  blurProbability: 0.11,
  blurKernel: [3, 9],
  asIsProbability: 0.2,
  randomLowProbability: 0.75,
  randomHighProbability: 0.75,
  floorProbability: 0.11,
  heightFloorProbability: 1,
  metalLevel: 160,
  fullMetalProbability: 0.14,
  noMetalProbability: 0.1,
  metalRoughnessProbability: 0.66,
  reliefProbability: 0.76,
  relief: 16,
  strongReliefProbability: 0.77,
  strongRelief: 24,
  opacityShare: 0,
  transmissionShare: 0,
  occlusion: false,
};

/**
 * Pictures of one value a pixel that maps are made from: the share of red, green or blue in a colour, and hue, saturation,
 * value. The script divides a channel by (mean of the three + 10), which runs from 0 to 3 and is scaled to 0–255 here; hue
 * is scaled to its own full range (ours: as OpenCV's 8-bit hue it would end at 179).
 */
export const CANDIDATES = ['red-share', 'green-share', 'blue-share', 'hue', 'saturation', 'value'] as const;
export type Candidate = (typeof CANDIDATES)[number];

export const COLORS: readonly Rgb[] = ['r', 'g', 'b'];

/** What a map is made from. `hueShift` in degrees. */
export type MapSource =
  | { readonly kind: 'grey' }
  | { readonly kind: 'candidate'; readonly candidate: Candidate }
  | { readonly kind: 'channel'; readonly channel: Rgb; readonly hueShift: number };

/** How a map of one value a pixel is made. Levels are 0–255; the steps follow each other in this order. */
export type MapPlan =
  | { readonly kind: 'constant'; readonly level: number }
  | {
      readonly kind: 'pattern';
      readonly source: MapSource;
      readonly negated: boolean;
      /** Side of the square that the mean is taken of, odd; null: not blurred. */
      readonly blurKernel: number | null;
      /** Levels that the darkest and the brightest pixel get; null: as they are. */
      readonly range: readonly [number, number] | null;
      /** What is darker (before it gets its range: when stretched to 0–255) becomes 0; null: nothing. */
      readonly floor: number | null;
    };

/** How the texture is changed first, in this order. */
export interface Augmentation {
  /** Degrees; 0: not at all. */
  readonly hueShift: number;
  /** Clockwise. */
  readonly quarterTurn: boolean;
  readonly flipHorizontal: boolean;
  readonly flipVertical: boolean;
}

/** How all maps of a material are made from a texture. */
export interface MaterialPlan {
  readonly augmentation: Augmentation;
  /** Of the colour map alone, degrees; 0: not at all. */
  readonly colorHueShift: number;
  readonly height: MapPlan;
  readonly roughness: MapPlan;
  readonly metallic: MapPlan;
  /** Null: no such map; opaque all over, nothing shines through. */
  readonly opacity: MapPlan | null;
  readonly transmission: MapPlan | null;
  readonly metal: {
    /** Above this level a surface counts as metal. */
    readonly level: number;
    /** Whether metal becomes 255, and whether its roughness then becomes 0. */
    readonly full: boolean;
    readonly fullIsSmooth: boolean;
    /** Whether the rest becomes 0, and whether the metal's roughness then becomes 255. */
    readonly restIsNone: boolean;
    readonly metalIsRough: boolean;
  };
  /** r of the normals: how many pixels white is above black in the height map. */
  readonly normalStrength: number;
  readonly occlusion: boolean;
}

/** Draws how a material is made. */
export function drawMaterial(rng: Rng, options: MaterialMapsOptions = DEFAULTS): MaterialPlan {
  const augmentation = {
    hueShift: chance(rng, options.hueShiftProbability) ? drawAngle(rng) : 0,
    quarterTurn: chance(rng, options.quarterTurnProbability),
    flipHorizontal: chance(rng, options.flipProbability),
    flipVertical: chance(rng, options.flipProbability),
  };
  const colorHueShift = chance(rng, options.colorHueShiftProbability) ? drawAngle(rng) : 0;
  const height = drawMap(rng, options, 'height');
  const roughness = drawMap(rng, options, 'roughness');
  const metallic = drawMap(rng, options, 'other');
  const full = chance(rng, options.fullMetalProbability);
  const fullIsSmooth = full && chance(rng, options.metalRoughnessProbability);
  const restIsNone = chance(rng, options.noMetalProbability);
  const metalIsRough = restIsNone && chance(rng, options.metalRoughnessProbability);
  const normalStrength = drawStrength(rng, options);
  return {
    augmentation,
    colorHueShift,
    height,
    roughness,
    metallic,
    opacity: chance(rng, options.opacityShare) ? drawMap(rng, options, 'other') : null,
    transmission: chance(rng, options.transmissionShare) ? drawMap(rng, options, 'other') : null,
    metal: { level: options.metalLevel, full, fullIsSmooth, restIsNone, metalIsRough },
    normalStrength,
    occlusion: options.occlusion,
  };
}

/** In whole degrees, so that labels stay short. */
function drawAngle(rng: Rng): number {
  return integer(rng, 1, 359);
}

function drawLevel(rng: Rng): number {
  return integer(rng, 0, 255);
}

function drawMap(rng: Rng, options: MaterialMapsOptions, map: 'height' | 'roughness' | 'other'): MapPlan {
  const isHeight = map === 'height';
  if (chance(rng, options.constantProbability)) return { kind: 'constant', level: isHeight ? 0 : drawConstant(rng) };
  const source = drawSource(rng, options, isHeight ? options.heightGreyProbability : options.greyProbability);
  const negated = chance(rng, map === 'roughness' ? options.roughnessNegateProbability : options.negateProbability);
  const blurKernel = chance(rng, options.blurProbability) ? drawKernel(rng, options.blurKernel) : null;
  const stretched = isHeight || !chance(rng, options.asIsProbability);
  const low = chance(rng, options.randomLowProbability) ? drawLevel(rng) : 0;
  const high = chance(rng, options.randomHighProbability) ? drawLevel(rng) : 255;
  // The two are drawn independently; the smaller is the lower end.
  const ends = [Math.min(low, high), Math.max(low, high)] as const;
  const floored = chance(rng, isHeight ? options.heightFloorProbability : options.floorProbability);
  return {
    kind: 'pattern',
    source,
    negated,
    blurKernel,
    range: isHeight ? [0, 255] : stretched ? ends : null,
    floor: floored && ends[0] > 0 ? ends[0] : null,
  };
}

/** Half of the constants are any level, a quarter each full and none. */
function drawConstant(rng: Rng): number {
  const u = rng.next();
  return u < 0.5 ? drawLevel(rng) : u < 0.75 ? 255 : 0;
}

function drawSource(rng: Rng, { shiftedChannelProbability }: MaterialMapsOptions, greyProbability: number): MapSource {
  const u = rng.next();
  if (u < greyProbability) return { kind: 'grey' };
  if (u < 1 - shiftedChannelProbability) return { kind: 'candidate', candidate: pick(rng, CANDIDATES) };
  return { kind: 'channel', channel: pick(rng, COLORS), hueShift: drawAngle(rng) };
}

/** An odd side: the square of an even one has no pixel in its middle, and would move the map by half a pixel. */
function drawKernel(rng: Rng, [smallest, largest]: readonly [number, number]): number {
  const first = Math.floor(smallest / 2);
  return 2 * integer(rng, first, Math.max(first, Math.floor((largest - 1) / 2))) + 1;
}

function drawStrength(rng: Rng, options: MaterialMapsOptions): number {
  const u = () => uniform(rng, 0, 1);
  if (chance(rng, options.reliefProbability)) return options.relief * u() * u();
  return chance(rng, options.strongReliefProbability) ? options.strongRelief * u() * u() : 1;
}
