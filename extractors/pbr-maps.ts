/** PBR materials from a texture: {@link makeMaps} follows a plan that `material-plan.ts` drew, always to the same bytes. */
import { channelAt, channelShift, hueTimesChroma, shiftHue } from './hue.ts';
import type { GreyImage, RgbImage } from './image.ts';
import type { Augmentation, MapPlan, MapSource, MaterialPlan } from './material-plan.ts';
import { normalsFromHeight, occlusionFromHeight } from './relief.ts';

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
