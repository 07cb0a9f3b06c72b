/**
 * PBR materials from a texture, by the sampling of VasTextures (arXiv 2406.17146) that LAS&T uses: what a pattern looks like
 * in one of its channels is taken for its height, roughness or metalness. Two steps: {@link drawMaterial} draws a plan,
 * which is plain JSON, and {@link makeMaps} follows it, always to the same bytes.
 */
import { chance, integer, pick, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import { channelAt, channelShift, hueTimesChroma, type Rgb, shiftHue } from './hue.ts';
import type { GreyImage, RgbImage } from './image.ts';
import { normalsFromHeight, occlusionFromHeight } from './relief.ts';

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

/** The maps that a material may have, all but the last three are in every one. */
export const MAP_NAMES = [
  'color',
  'height',
  'metallic',
  'normal',
  'roughness',
  'occlusion',
  'opacity',
  'transmission',
] as const;
export type MapName = (typeof MAP_NAMES)[number];

/**
 * The maps of a material, all of one size. Colour is sRGB; all others are linear data: 255 is a height, roughness,
 * metalness, opacity … of 1. Normals point +Y up (OpenGL, glTF).
 */
export interface MaterialMaps {
  readonly color: RgbImage;
  readonly height: GreyImage;
  readonly roughness: GreyImage;
  readonly metallic: GreyImage;
  readonly normal: RgbImage;
  readonly occlusion?: GreyImage;
  readonly opacity?: GreyImage;
  readonly transmission?: GreyImage;
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

/** Makes the maps of a material. A quarter turn swaps width and height. */
export function makeMaps(texture: RgbImage, plan: MaterialPlan): MaterialMaps {
  const base = augment(texture, plan.augmentation);
  const heights = makePlane(base, plan.height);
  const roughness = makeMap(base, plan.roughness);
  const metallic = makeMap(base, plan.metallic);
  treatMetal(metallic.data, roughness.data, plan.metal);
  return {
    color: plan.colorHueShift === 0 ? base : shiftHue(base, plan.colorHueShift),
    height: quantised(heights),
    roughness,
    metallic,
    normal: normalsFromHeight(heights, plan.normalStrength),
    ...(plan.occlusion && { occlusion: occlusionFromHeight(heights, plan.normalStrength) }),
    ...(plan.opacity && { opacity: makeMap(base, plan.opacity) }),
    ...(plan.transmission && { transmission: makeMap(base, plan.transmission) }),
  };
}

function augment(texture: RgbImage, augmentation: Augmentation): RgbImage {
  const shifted = augmentation.hueShift === 0 ? texture : shiftHue(texture, augmentation.hueShift);
  return turned(shifted, augmentation);
}

/** Columns that are turned together: what they are read from and written to stays in the cache. */
const TURNED_COLUMNS = 64;

/** The picture turned clockwise by a quarter, then flipped. */
function turned(image: RgbImage, { quarterTurn, flipHorizontal, flipVertical }: Augmentation): RgbImage {
  if (!quarterTurn && !flipHorizontal && !flipVertical) return image;
  const [width, height] = quarterTurn ? [image.height, image.width] : [image.width, image.height];
  const pixels = image.data;
  const data = new Uint8Array(pixels.length);
  // Where the first pixel comes from, and how far a step to the right and one down lead there.
  let [perColumn, perRow, start] = quarterTurn
    ? [-3 * image.width, 3, 3 * image.width * (image.height - 1)]
    : [3, 3 * image.width, 0];
  if (flipHorizontal) {
    start += perColumn * (width - 1);
    perColumn = -perColumn;
  }
  if (flipVertical) {
    start += perRow * (height - 1);
    perRow = -perRow;
  }
  for (let left = 0; left < width; left += TURNED_COLUMNS) {
    const columns = Math.min(TURNED_COLUMNS, width - left);
    for (let row = 0; row < height; row++) {
      let to = 3 * (row * width + left);
      let from = start + row * perRow + left * perColumn;
      for (const end = to + 3 * columns; to < end; to += 3, from += perColumn) {
        data[to] = pixels[from]!;
        data[to + 1] = pixels[from + 1]!;
        data[to + 2] = pixels[from + 2]!;
      }
    }
  }
  return { width, height, data };
}

/**
 * The level of white in a map on its way. Sixteen steps to an 8-bit level: a faint pattern that is stretched shows no steps,
 * and tables over all levels are still small.
 */
const WHITE = 16 * 255;

/** A map on its way: levels 0 … WHITE. */
interface Plane {
  readonly width: number;
  readonly height: number;
  readonly data: Uint16Array;
  readonly white: number;
}

/** The map with finer levels than it is kept with: for the height that normals are made from. */
function makePlane(texture: RgbImage, plan: MapPlan): Plane {
  if (plan.kind === 'constant') return fill(newPlane(texture), plan.level * (WHITE / 255));
  const plane = sourcePlane(texture, plan);
  const levels = levelTable(plane.data, plan, WHITE);
  for (let i = 0; i < plane.data.length; i++) plane.data[i] = levels[plane.data[i]!]!;
  return plane;
}

function makeMap(texture: RgbImage, plan: MapPlan): GreyImage {
  const { width, height } = texture;
  const data = new Uint8Array(width * height);
  if (plan.kind === 'constant') return { width, height, data: data.fill(plan.level) };
  const plane = sourcePlane(texture, plan).data;
  const levels = levelTable(plane, plan, 255);
  for (let i = 0; i < data.length; i++) data[i] = levels[plane[i]!]!;
  return { width, height, data };
}

function quantised({ width, height, data }: Plane): GreyImage {
  const levels = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i++) levels[i] = (data[i]! + WHITE / 510) >> 4;
  return { width, height, data: levels };
}

function newPlane({ width, height }: RgbImage): Plane {
  return { width, height, data: new Uint16Array(width * height), white: WHITE };
}

function fill(plane: Plane, level: number): Plane {
  plane.data.fill(level);
  return plane;
}

type Pattern = Extract<MapPlan, { kind: 'pattern' }>;

/** The source of a map, blurred. (Blurring and negating may change places; negating is done with the range.) */
function sourcePlane(texture: RgbImage, { source, blurKernel }: Pattern): Plane {
  const plane = newPlane(texture);
  fillSource(plane.data, texture.data, source);
  if (blurKernel !== null) blur(plane, blurKernel);
  return plane;
}

/** What each level of the source becomes: negated, cut below the floor, and laid into its range. */
function levelTable(plane: Uint16Array, { negated, range, floor }: Pattern, white: 255 | typeof WHITE): Uint16Array {
  let [min, max] = [0, WHITE];
  if (range !== null) {
    [min, max] = [WHITE, 0];
    for (let i = 0; i < plane.length; i++) {
      const level = plane[i]!;
      if (level < min) min = level;
      if (level > max) max = level;
    }
  }
  const [low, high] = range ?? [0, 255];
  const levels = new Uint16Array(WHITE + 1);
  for (let level = min; level <= max; level++) {
    // A pattern of one level has nothing to stretch: it lies at the lower end.
    const share = max === min ? 0 : (negated ? max - level : level - min) / (max - min);
    const floored = floor !== null && share < floor / 255;
    levels[level] = floored ? 0 : ((low + (high - low) * share) * white) / 255 + 0.5;
  }
  return levels;
}

function fillSource(plane: Uint16Array, pixels: Uint8Array, source: MapSource): void {
  if (source.kind === 'grey') fillGrey(plane, pixels);
  else if (source.kind === 'channel') fillChannel(plane, pixels, channelShift(source.channel, source.hueShift));
  else {
    const { candidate } = source;
    if (candidate === 'hue') fillHue(plane, pixels);
    else if (candidate === 'saturation') fillSaturation(plane, pixels);
    else if (candidate === 'value') fillValue(plane, pixels);
    else fillShare(plane, pixels, ['red-share', 'green-share', 'blue-share'].indexOf(candidate));
  }
}

function fillGrey(plane: Uint16Array, pixels: Uint8Array): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    plane[i] = (pixels[p]! + pixels[p + 1]! + pixels[p + 2]!) * (WHITE / 765) + 0.5;
  }
}

/** c / (mean + 10), which is below 3, as a share of 3. */
function fillShare(plane: Uint16Array, pixels: Uint8Array, channel: number): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    plane[i] = (WHITE * pixels[p + channel]!) / (pixels[p]! + pixels[p + 1]! + pixels[p + 2]! + 30) + 0.5;
  }
}

function fillChannel(plane: Uint16Array, pixels: Uint8Array, shift: number): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    const r = pixels[p]!;
    const g = pixels[p + 1]!;
    const b = pixels[p + 2]!;
    const max = Math.max(r, g, b);
    const chroma = max - Math.min(r, g, b);
    plane[i] = channelAt(hueTimesChroma(r, g, b, max, chroma), shift, max, chroma) * (WHITE / 255) + 0.5;
  }
}

function fillHue(plane: Uint16Array, pixels: Uint8Array): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    const r = pixels[p]!;
    const g = pixels[p + 1]!;
    const b = pixels[p + 2]!;
    const max = Math.max(r, g, b);
    const chroma = max - Math.min(r, g, b);
    plane[i] = chroma === 0 ? 0 : (hueTimesChroma(r, g, b, max, chroma) * (WHITE / 6)) / chroma + 0.5;
  }
}

function fillSaturation(plane: Uint16Array, pixels: Uint8Array): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    const max = Math.max(pixels[p]!, pixels[p + 1]!, pixels[p + 2]!);
    const min = Math.min(pixels[p]!, pixels[p + 1]!, pixels[p + 2]!);
    plane[i] = max === 0 ? 0 : (WHITE * (max - min)) / max + 0.5;
  }
}

function fillValue(plane: Uint16Array, pixels: Uint8Array): void {
  for (let i = 0, p = 0; i < plane.length; i++, p += 3) {
    plane[i] = Math.max(pixels[p]!, pixels[p + 1]!, pixels[p + 2]!) * (WHITE / 255);
  }
}

/** Mean over a square of an odd side; outside the picture its edge goes on. */
function blur({ width, height, data }: Plane, side: number): void {
  const rows = new Uint16Array(data.length);
  for (let row = 0; row < height; row++) meanAlong(data, rows, row * width, 1, width, side);
  for (let column = 0; column < width; column++) meanAlong(rows, data, column, width, height, side);
}

/** Running mean of `side` values along a row or column of `count` values, `step` apart. */
function meanAlong(from: Uint16Array, to: Uint16Array, start: number, step: number, count: number, side: number): void {
  const reach = (side - 1) / 2;
  const last = start + (count - 1) * step;
  let sum = from[start]! * (reach + 1);
  for (let i = 1; i <= reach; i++) sum += from[Math.min(last, start + i * step)]!;
  for (let i = 0, at = start; i < count; i++, at += step) {
    to[at] = sum / side + 0.5;
    sum += from[Math.min(last, at + (reach + 1) * step)]! - from[Math.max(start, at - reach * step)]!;
  }
}

/** Makes metal fuller and the rest emptier, as drawn. */
function treatMetal(metallic: Uint8Array, roughness: Uint8Array, plan: MaterialPlan['metal']): void {
  if (!plan.full && !plan.restIsNone) return;
  for (let i = 0; i < metallic.length; i++) {
    if (metallic[i]! > plan.level) {
      if (plan.full) metallic[i] = 255;
      if (plan.fullIsSmooth) roughness[i] = 0;
      if (plan.metalIsRough) roughness[i] = 255;
    } else if (plan.restIsNone && metallic[i]! < plan.level) metallic[i] = 0;
  }
}
