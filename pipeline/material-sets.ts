import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Rgb } from '../extractors/hue.ts';
import type { GreyImage, RgbImage } from '../extractors/image.ts';
import type { MapName, MaterialMaps } from '../extractors/pbr-maps.ts';
import { correlateNormals, normalsFromHeight } from '../extractors/relief.ts';
import { asInputFault, InputFault } from './faults.ts';
import type { MaterialLabel } from './labels.ts';
import { decodeFault, openPhoto } from './photo.ts';

/**
 * Sets of PBR maps from outside, known by their file names: ambientCG (`Wood049_1K-JPG_NormalGL.jpg`), Poly Haven
 * (`brown_mud_nor_gl_1k.png`) and those like them. Of each kind of map the words that stand for it in a name; `packed` has
 * ambient occlusion, roughness and metalness in red, green and blue.
 */
const MAP_WORDS = {
  color: 'base_?colou?r|colou?r|albedo|diff|diffuse|col',
  normalUp: 'normal_?gl|nor_gl',
  normalDown: 'normal_?dx|nor_dx',
  normal: 'normal|nor|nrm',
  height: 'displacement|disp|height',
  roughness: 'roughness|rough',
  metallic: 'metalness|metallic|metal',
  occlusion: 'ambient_?occlusion|occlusion|ao',
  opacity: 'opacity|alpha',
  transmission: 'transmission',
  packed: 'arm|orm',
} as const;
type SetMap = keyof typeof MAP_WORDS;
const SET_MAPS = Object.keys(MAP_WORDS) as SetMap[];

/** Name of the set, word of the map, and what follows it: `_1k`. The last word counts: a `metal_plate` is no metalness. */
const PATTERNS = Object.fromEntries(
  Object.entries(MAP_WORDS).map(([map, words]) => [
    map,
    new RegExp(`^(?:(.*)[_\\W])?(?:${words})([_\\W].*)?\\.(?:jpe?g|png|webp|avif|tiff?)$`, 'i'),
  ]),
) as Record<SetMap, RegExp>;

function parts(name: string, map: SetMap): { set: string; rest: string } | undefined {
  const match = PATTERNS[map].exec(name);
  return match ? { set: match[1] ?? '', rest: match[2] ?? '' } : undefined;
}

/** Files of a set, by what they are. */
export type SetFiles = Partial<Record<SetMap, string>>;

/**
 * The files that belong to a colour map, among the names in its folder: those whose names differ in the map's word alone.
 * @returns `asset`: the set's name without its resolution, empty where the folder is the name.
 */
export function setFiles(color: string, names: readonly string[]): { asset: string; files: SetFiles } {
  const own = parts(color, 'color');
  if (!own) throw new InputFault('expected a colour map by its name');
  const files: SetFiles = { color };
  for (const name of [...names].sort()) {
    for (const map of SET_MAPS) {
      const other = parts(name, map);
      if (other?.set === own.set && other.rest === own.rest) files[map] ??= name;
    }
  }
  return { asset: own.set.replace(/[_\W]?\d+k([_\W].*)?$/i, ''), files };
}

/** A set as maps of one size, and how they came about. */
export interface MaterialSet {
  /** Name of the set, the same for its resolutions. */
  readonly asset: string;
  readonly maps: MaterialMaps;
  readonly made: Extract<MaterialLabel['made'], { kind: 'imported' }>;
}

/** What stands for a map that a set lacks: flat, half rough (as Blender's own default), no metal. Levels, 0–255. */
const NEUTRAL = { height: 0, roughness: 128, metallic: 0, normal: 128 } as const;

/** Strength of normals that are made from a height map: the mean of the published draws, 16·u₁·u₂. */
const NORMAL_STRENGTH = 4;

/**
 * From this correlation on, of either sign, the height tells which way normals point. Six sets gave 0.26 to 0.99; two maps
 * that have nothing to do with each other give less than a tenth of that.
 */
const CLEAR_CORRELATION = 0.2;

type Size = Pick<RgbImage, 'width' | 'height'>;
type ImportedMaps = MaterialSet['made']['maps'];

/**
 * Reads the set that a colour map stands for.
 * @param longSide maps are shrunk to this longer side, pixels. @throws InputFault naming the map that cannot be used.
 */
export async function readMaterialSet(path: string, longSide: number, maxPixels: number): Promise<MaterialSet> {
  const names = await readdir(dirname(path)).catch(error => {
    throw asInputFault(error, 'cannot read its folder');
  });
  const { asset, files } = setFiles(basename(path), names);
  const color = await decodeMap(path, longSide, maxPixels, false);
  const set = new SetReader(dirname(path), files, color, maxPixels);
  set.from.color = { kind: 'file', file: basename(path), channel: null };
  const ownHeight = await set.map('height');
  const height = ownHeight ?? set.neutral('height');
  const roughness = (await set.map('roughness', 'g')) ?? set.neutral('roughness');
  const metallic = (await set.map('metallic', 'b')) ?? set.neutral('metallic');
  const occlusion = await set.map('occlusion', 'r');
  const opacity = (await set.map('opacity')) ?? (await set.alpha(path));
  const transmission = await set.map('transmission');
  const { normal, normals } = await set.normals(ownHeight);
  return {
    asset,
    maps: {
      color,
      height,
      roughness,
      metallic,
      normal,
      ...(occlusion && { occlusion }),
      ...(opacity && { opacity }),
      ...(transmission && { transmission }),
    },
    made: { kind: 'imported', maps: set.from, normals },
  };
}

/** Reads the maps of a set one by one and keeps account of where each came from. */
class SetReader {
  readonly from: ImportedMaps = {};
  readonly #folder: string;
  readonly #files: SetFiles;
  readonly #size: Size;
  readonly #maxPixels: number;
  #packed: Promise<RgbImage> | undefined;

  /** @param size of the colour map, which all others are brought to. */
  constructor(folder: string, files: SetFiles, size: Size, maxPixels: number) {
    this.#folder = folder;
    this.#files = files;
    this.#size = size;
    this.#maxPixels = maxPixels;
  }

  /** A map of its own file, or else from a channel of the packed one; undefined when the set has neither. */
  async map(map: GreyMap, packedChannel?: Rgb): Promise<GreyImage | undefined> {
    const { [map]: file, packed } = this.#files;
    if (file !== undefined) {
      this.from[map] = { kind: 'file', file, channel: null };
      return channelOf(await this.#read(file), 'r');
    }
    if (packed === undefined || packedChannel === undefined) return undefined;
    this.from[map] = { kind: 'file', file: packed, channel: packedChannel };
    this.#packed ??= this.#read(packed);
    return channelOf(await this.#packed, packedChannel);
  }

  /** What stands for a map that is missing. */
  neutral(map: 'height' | 'roughness' | 'metallic'): GreyImage {
    const level = NEUTRAL[map];
    this.from[map] = { kind: 'neutral', level };
    const { width, height } = this.#size;
    return { width, height, data: new Uint8Array(width * height).fill(level) };
  }

  /** Opacity from the alpha of the colour map, where it has one that says anything. */
  async alpha(colorPath: string): Promise<GreyImage | undefined> {
    const alpha = await decodeAlpha(colorPath, this.#size, this.#maxPixels);
    if (alpha) this.from.opacity = { kind: 'file', file: basename(colorPath), channel: 'alpha' };
    return alpha;
  }

  /** The set's normals, pointing +Y; else those of its height; else flat ones. */
  async normals(height: GreyImage | undefined): Promise<{ normal: RgbImage; normals: MaterialSet['made']['normals'] }> {
    const file = this.#files.normalUp ?? this.#files.normalDown ?? this.#files.normal;
    if (file !== undefined) {
      this.from.normal = { kind: 'file', file, channel: null };
      const found = await this.#read(file);
      const normals = tellNormals(this.#files, found, height);
      return { normal: unitNormals(found, normals.from === '-Y'), normals };
    }
    this.from.normal = height
      ? { kind: 'from-height', strength: NORMAL_STRENGTH }
      : { kind: 'neutral', level: NEUTRAL.normal };
    const { width, height: rows } = this.#size;
    const data = height?.data ?? new Uint8Array(width * rows);
    return { normal: normalsFromHeight({ width, height: rows, data, white: 255 }, NORMAL_STRENGTH), normals: null };
  }

  async #read(file: string): Promise<RgbImage> {
    try {
      return await decodeMap(join(this.#folder, file), this.#size, this.#maxPixels, true);
    } catch (error) {
      throw error instanceof InputFault ? new InputFault(`${file}: ${error.message}`) : error;
    }
  }
}
type GreyMap = Exclude<MapName, 'color' | 'normal'>;

/**
 * Which way the normals of a set point: as its name says, else as its height map tells, else up, as most do.
 */
function tellNormals(files: SetFiles, normals: RgbImage, height: GreyImage | undefined) {
  const correlation = height ? correlateNormals(normals, height) : null;
  if (files.normalUp !== undefined) return { from: '+Y', by: 'name', correlation } as const;
  if (files.normalDown !== undefined) return { from: '-Y', by: 'name', correlation } as const;
  if (correlation === null || Math.abs(correlation.y) < CLEAR_CORRELATION) {
    return { from: '+Y', by: 'default', correlation } as const;
  }
  // Along x all normal maps agree: where they do not agree with the height, that is a depth.
  const rise = correlation.x < -CLEAR_CORRELATION ? -correlation.y : correlation.y;
  return { from: rise > 0 ? '+Y' : '-Y', by: 'height', correlation } as const;
}

/** Normals of length 1 again, after shrinking and 8-bit files; what has no direction is flat. */
function unitNormals({ width, height, data }: RgbImage, negateY: boolean): RgbImage {
  const unit = new Uint8Array(data.length);
  const sign = negateY ? -1 : 1;
  for (let i = 0; i < data.length; i += 3) {
    const x = data[i]! / 127.5 - 1;
    const y = sign * (data[i + 1]! / 127.5 - 1);
    // A normal that points into the surface is none.
    const z = Math.max(0, data[i + 2]! / 127.5 - 1);
    const length = Math.sqrt(x * x + y * y + z * z);
    const scale = length < 0.1 ? 0 : 127.5 / length;
    unit[i] = 128 + x * scale;
    unit[i + 1] = 128 + y * scale;
    unit[i + 2] = scale === 0 ? 255 : 128 + z * scale;
  }
  return { width, height, data: unit };
}

/**
 * A map as 8-bit RGB; 16-bit and grey ones converted without any curve, alpha left out and not laid over anything.
 * @param size longer side at most, or exactly this size. @param linear data, whose values no colour profile may change.
 */
async function decodeMap(path: string, size: number | Size, maxPixels: number, linear: boolean): Promise<RgbImage> {
  const { bytes } = await openPhoto(path, maxPixels);
  const decoded = sharp(bytes, { failOn: 'error', limitInputPixels: false, ignoreIcc: linear })
    .toColourspace('srgb')
    .removeAlpha();
  const whole = await rawPixels(decoded);
  // Shrunk in a second step: in one, libvips would weigh colours with the alpha that is left out.
  const channels = whole.info.channels === 1 ? 1 : 3;
  const { width, height } = whole.info;
  const target = typeof size === 'number' ? within(whole.info, size) : size;
  if (channels === 3 && width === target.width && height === target.height) return { width, height, data: whole.data };
  const raw = { width, height, channels } as const;
  const { data, info } = await rawPixels(
    sharp(whole.data, { raw, limitInputPixels: false })
      .resize({ width: target.width, height: target.height, fit: 'fill' })
      .toColourspace('srgb'),
  );
  return { width: info.width, height: info.height, data };
}

function within({ width, height }: Size, longSide: number): Size {
  const scale = Math.min(1, longSide / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** The alpha of a colour map, where it has one that says anything. */
async function decodeAlpha(path: string, { width, height }: Size, maxPixels: number): Promise<GreyImage | undefined> {
  const { bytes } = await openPhoto(path, maxPixels);
  const image = sharp(bytes, { failOn: 'error', limitInputPixels: false });
  if (!(await image.metadata()).hasAlpha) return undefined;
  const alpha = image.extractChannel('alpha').resize({ width, height, fit: 'fill' }).toColourspace('b-w');
  const { data } = await rawPixels(alpha);
  return data.every(value => value === 255) ? undefined : { width, height, data };
}

function rawPixels(image: Sharp) {
  return image
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch((error: unknown) => {
      throw decodeFault(error);
    });
}

function channelOf({ width, height, data }: RgbImage, channel: Rgb): GreyImage {
  const values = new Uint8Array(width * height);
  for (let i = 0, p = 'rgb'.indexOf(channel); i < values.length; i++, p += 3) values[i] = data[p]!;
  return { width, height, data: values };
}
