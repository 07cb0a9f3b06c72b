import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { type MaterialMixOptions, MIX_DEFAULTS } from '../extractors/material-mix.ts';
import { DEFAULTS as MATERIAL_DEFAULTS, type MaterialMapsOptions } from '../extractors/material-plan.ts';
import { DEFAULTS as NATURAL_SHAPE_DEFAULTS, type NaturalShapeOptions } from '../extractors/natural-shape.ts';
import { POLARITIES, type Polarity } from '../extractors/silhouette.ts';
import { SMALLEST_CELL, DEFAULTS as TEXTURE_DEFAULTS, type TextureOptions } from '../extractors/texture-regions.ts';
import {
  SHAPE_CONDITIONS,
  type ShapeConditionName,
  type ShapeSource,
  shapeConditionName,
  TEXTURE_CONDITIONS,
} from '../scenes/conditions.ts';
import {
  LAST_SHAPES2D,
  LAST_TEXTURES2D,
  type Shapes2dRecipe,
  shapeConditionOf,
  shapes2dRecipe,
  type Textures2dRecipe,
  textures2dRecipe,
} from '../scenes/recipe.ts';
import {
  LAST_MATERIALS3D,
  LAST_SHAPES3D,
  materials3dRecipe,
  type Scene3dRecipe,
  shapes3dRecipe,
} from '../scenes/recipe3d.ts';
import { parseBankSource } from './bank-stage.ts';
import { GENERATE_OPTIONS, type GenerateValues, SUBSETS, type Subset } from './generate-options.ts';
import { checkValues } from './options.ts';
import { MAX_PIXELS } from './photo.ts';
import { AOVS, RASTERISED, type Rendering, SAMPLES } from './rendering.ts';
import { didYouMean, invalidValue, UsageError } from './usage-error.ts';

/** How natural shapes are looked for beyond one picture: the rule's numbers, and rounds of windows. */
export interface NaturalShapesRecipe extends NaturalShapeOptions {
  /** Round 0 looks at whole photos, each further round at one random window a photo; at most so many rounds in all. */
  readonly rounds: number;
  /** Windows have at least this shorter side, photo pixels; smaller photos give no windows. */
  readonly windowMinSide: number;
  /** Longer side of a window over its shorter side, at most. */
  readonly windowMaxAspect: number;
  /** A shape that overlaps an earlier one of the same photo by more (intersection over union) is dropped. */
  readonly maxOverlap: number;
}

/** How texture crops are looked for and kept. */
export interface TextureRegionsRecipe extends TextureOptions {
  /**
   * Factors of the cell size, one a round. The first round looks at all photos; the next ones, with smaller cells, only
   * when the rounds before gave too few textures.
   */
  readonly cellRounds: readonly number[];
  /** Photos are looked at no larger than this shorter side, pixels. */
  readonly workSide: number;
  /** JPEG quality of the stored crop (4:4:4). */
  readonly quality: number;
}

/** How PBR materials are made from textures, and in what form they (and imported ones) are kept. */
export interface MaterialMapsRecipe extends MaterialMapsOptions, MaterialMixOptions {
  /**
   * Longer side of the maps, at most, pixels: larger textures are shrunk. A power of two (512) gives whole mip-maps, and
   * textures of 75 px cells have 525 px at least.
   */
  readonly size: number;
  /** JPEG quality of the maps; colour and normals are kept at full resolution (4:4:4). */
  readonly quality: number;
}

/** How panoramas are taken into the environment bank. */
export interface EnvironmentPreparationRecipe {
  /** Wider panoramas are shrunk to this width, pixels. */
  readonly width: number;
  /** Larger files are refused. While it is decoded, a pixel takes up to 16 bytes of memory in every worker. */
  readonly maxPixels: number;
  /** Panoramas with a larger share of NaN and infinite pixels are refused; fewer are replaced. */
  readonly maxBrokenShare: number;
}

/** How meshes are made fit to be drawn. */
export interface MeshPreparationRecipe {
  /** Budget: a mesh of more triangles is simplified. */
  readonly triangles: number;
  /**
   * Degrees. Where a file gives no normals, triangles that meet at more keep an edge between them: 50 keeps that of a
   * hexagonal prism (60), and rounds a pillar of eight sides (45).
   */
  readonly creaseAngle: number;
}

/** How silhouettes are cut out; the first six may also stand on the command line. */
export interface SilhouettesRecipe {
  readonly polarity: Polarity;
  /** Ground around the object on each side, as a share of its longer side. */
  readonly margin: number;
  /** Longer side of the picture, pixels. */
  readonly maxSide: number;
  /** All pixels of the object's class in the picture instead of one object. */
  readonly wholeClass: boolean;
  /** Every object of a picture instead of the one with the largest contiguous area. */
  readonly allInstances: boolean;
  /** Whether labels hold polygons beside the run lengths. */
  readonly polygons: boolean;
  /** Keeps the share of each pixel that the object covers; else it is white from one half up. */
  readonly soft: boolean;
  /** Objects of fewer pixels in their picture are left out. */
  readonly minArea: number;
  /** JPEG quality of `hq`, where the picture is none already that can be kept as it is. */
  readonly quality: number;
}

/** Everything that decides what a run contains. Two runs with equal configurations and assets are equal. */
export interface Configuration extends Rendering {
  readonly recipe: string;
  readonly seed: number;
  readonly subsets: readonly Subset[];
  readonly shapes: number;
  readonly textures: number;
  readonly shapes2dImages: number;
  readonly textures2dImages: number;
  readonly materials: number;
  readonly shapes3dImages: number;
  readonly materials3dImages: number;
  /** At most so many. */
  readonly semanticShapes: number;
  /** Whether fewer semantic shapes are a shortage: they were asked for by number. */
  readonly semanticShapesAsked: boolean;
  /** Of folders used as banks: whether so many were asked for. Where not, a folder with fewer is no shortage. */
  readonly importsAsked: Readonly<Record<'shapes' | 'textures' | 'materials', boolean>>;
  readonly projections: number;
  /** Pictures of the segmentation data that are looked at; null: all. */
  readonly silhouettesImages: number | null;
  readonly photos: readonly string[];
  readonly meshes: readonly string[];
  readonly environments: readonly string[];
  readonly segmentation: readonly string[];
  readonly semantic: readonly string[];
  readonly shapeBank: string | null;
  readonly textureBank: string | null;
  readonly materialBank: string | null;
  readonly licences: readonly string[] | null;
  readonly maxPixels: number;
  readonly shardSamples: number;
  readonly naturalShapes: NaturalShapesRecipe;
  readonly textureRegions: TextureRegionsRecipe;
  readonly materialMaps: MaterialMapsRecipe;
  readonly environmentPreparation: EnvironmentPreparationRecipe;
  readonly meshPreparation: MeshPreparationRecipe;
  readonly shapes2d: Shapes2dRecipe;
  readonly textures2d: Textures2dRecipe;
  readonly shapes3d: Scene3dRecipe;
  readonly materials3d: Scene3dRecipe;
  readonly silhouettes: SilhouettesRecipe;
}

export const STARTER_PHOTOS = 'starter-photos';
export const STARTER_MESHES = 'starter-meshes';
export const STARTER_ENVIRONMENTS = 'starter-environments';
export const STARTER_CUTOUTS = 'starter-cutouts';

/** How meshes are prepared, unless a recipe says otherwise. */
export const MESH_PREPARATION: MeshPreparationRecipe = { triangles: 200_000, creaseAngle: 50 };

const LAST = {
  naturalShapes: {
    ...NATURAL_SHAPE_DEFAULTS,
    rounds: 24,
    windowMinSide: 512,
    windowMaxAspect: 1.5,
    maxOverlap: 0.5,
  } satisfies NaturalShapesRecipe,
  textureRegions: {
    ...TEXTURE_DEFAULTS,
    cellRounds: [1, 0.7, 0.5],
    workSide: 2200,
    quality: 95,
  } satisfies TextureRegionsRecipe,
  materialMaps: { ...MATERIAL_DEFAULTS, ...MIX_DEFAULTS, size: 512, quality: 95 } satisfies MaterialMapsRecipe,
  environmentPreparation: {
    width: 2048,
    maxPixels: 16_384 * 8192,
    maxBrokenShare: 0.001,
  } satisfies EnvironmentPreparationRecipe,
  meshPreparation: MESH_PREPARATION,
  shapes2d: LAST_SHAPES2D,
  textures2d: LAST_TEXTURES2D,
  shapes3d: LAST_SHAPES3D,
  materials3d: LAST_MATERIALS3D,
  silhouettes: {
    polarity: 'white-on-black',
    margin: 0,
    maxSide: 200,
    wholeClass: false,
    allInstances: false,
    polygons: false,
    soft: false,
    minArea: 64,
    quality: 95,
  } satisfies SilhouettesRecipe,
};

const CELLS = `expected auto or a whole number from ${SMALLEST_CELL} (smaller cells hold too few pixels to be compared) to 255`;

const share = z.number().min(0).max(1);
const count = z.int().min(1);
const naturalShapesRecipe = z.strictObject({
  channelDraws: count,
  thresholds: count,
  workSide: z.int().min(32),
  minArea: count,
  maxAreaShare: share,
  border: count,
  erosionSide: z.int().min(1),
  minErodedArea: z.int().min(0),
  hsvProbability: share,
  invertProbability: share,
  rounds: count,
  windowMinSide: z.int().min(32),
  windowMaxAspect: z.number().min(1),
  maxOverlap: share,
}) satisfies z.ZodType<NaturalShapesRecipe>;
const textureRegionsRecipe = z.strictObject({
  cellSize: z.union([z.literal('auto'), z.int(CELLS).min(SMALLEST_CELL, CELLS).max(255, CELLS)], CELLS),
  minCells: z.int().min(2),
  minSimilarity: share,
  maxRegions: count,
  maxComparisons: count,
  smoothDeviation: z.number().min(0),
  brightSmoothDeviation: z.number().min(0),
  brightMean: z.number().min(0),
  maxOverlap: share,
  cellRounds: z.array(z.number().positive().max(1)).min(1).max(9),
  workSide: z.int().min(32),
  quality: z.int().min(1).max(100),
}) satisfies z.ZodType<TextureRegionsRecipe>;
const materialMapsRecipe = z.strictObject({
  hueShiftProbability: share,
  quarterTurnProbability: share,
  flipProbability: share,
  colorHueShiftProbability: share,
  constantProbability: share,
  greyProbability: share,
  heightGreyProbability: share,
  shiftedChannelProbability: share,
  negateProbability: share,
  roughnessNegateProbability: share,
  blurProbability: share,
  blurKernel: z
    .tuple([z.int().min(1).max(99), z.int().min(1).max(99)])
    .refine(([low, high]) => low <= high, { message: 'expected a range of two sides, the smaller first' }),
  asIsProbability: share,
  randomLowProbability: share,
  randomHighProbability: share,
  floorProbability: share,
  heightFloorProbability: share,
  metalLevel: z.int().min(0).max(255),
  fullMetalProbability: share,
  noMetalProbability: share,
  metalRoughnessProbability: share,
  reliefProbability: share,
  relief: z.number().min(0).max(1000),
  strongReliefProbability: share,
  strongRelief: z.number().min(0).max(1000),
  opacityShare: share,
  transmissionShare: share,
  occlusion: z.boolean(),
  mixShare: share,
  mixStopProbability: share,
  mixSharedWeightsProbability: share,
  mixMaximumProbability: share,
  size: z.int().min(16).max(8192),
  quality: z.int().min(1).max(100),
}) satisfies z.ZodType<MaterialMapsRecipe>;
const environmentPreparationRecipe = z.strictObject({
  width: z.int().min(16).max(16_384),
  maxPixels: z.int().min(1).max(1_000_000_000),
  maxBrokenShare: share,
}) satisfies z.ZodType<EnvironmentPreparationRecipe>;

const meshPreparationRecipe = z.strictObject({
  triangles: z.int().min(100).max(5_000_000),
  creaseAngle: z.number().min(0).max(180),
}) satisfies z.ZodType<MeshPreparationRecipe>;

const silhouettesRecipe = z.strictObject({
  polarity: z.enum(POLARITIES),
  margin: z.number().min(0).max(2),
  maxSide: z.int().min(8).max(4096),
  wholeClass: z.boolean(),
  allInstances: z.boolean(),
  polygons: z.boolean(),
  soft: z.boolean(),
  minArea: count,
  quality: z.int().min(1).max(100),
}) satisfies z.ZodType<SilhouettesRecipe>;

/** The groups of a recipe: the names they have in a file, where they land, and how they are checked. */
const GROUPS = {
  'natural-shapes': ['naturalShapes', naturalShapesRecipe],
  'texture-regions': ['textureRegions', textureRegionsRecipe],
  'material-maps': ['materialMaps', materialMapsRecipe],
  'environment-preparation': ['environmentPreparation', environmentPreparationRecipe],
  'mesh-preparation': ['meshPreparation', meshPreparationRecipe],
  shapes2d: ['shapes2d', shapes2dRecipe],
  textures2d: ['textures2d', textures2dRecipe],
  shapes3d: ['shapes3d', shapes3dRecipe],
  materials3d: ['materials3d', materials3dRecipe],
  silhouettes: ['silhouettes', silhouettesRecipe],
} as const;
type GroupName = keyof typeof GROUPS;

const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  shapes2d: Object.keys(SHAPE_CONDITIONS),
  textures2d: Object.keys(TEXTURE_CONDITIONS),
};

const RECIPE_OPTIONS = Object.fromEntries(
  Object.entries(GENERATE_OPTIONS).filter(([, option]) => 'inRecipe' in option),
);

/** LAS&T's released archives: images of each subset beside 350,000 shapes, and the smallest subset that shows its kind. */
const RELEASED = {
  shapes: 350_000,
  shapes2d: 61_000,
  textures2d: 53_000,
  shapes3d: 76_000,
  materials3d: 80_000,
  minInstances: 8,
};
const MIN_TEXTURES = 24;

/**
 * The configuration of a run: flags win over the recipe file, the recipe file over the recipe `last`.
 * @throws UsageError for a recipe that cannot be read or does not match its schema.
 */
export async function configure(flags: GenerateValues): Promise<Configuration> {
  const { name, values, groups, namesConditions } = await readRecipe(flags.recipe ?? 'last');
  const given: GenerateValues = { ...values, ...flags };
  // Where shapes are taken from another run, its recipe may be taken along.
  if (given['semantic-shapes'] !== undefined && given.semantic === undefined && given['shape-bank'] === undefined) {
    throw new UsageError('semantic-shapes: give --semantic name:DIR too, whose objects they are the outlines of');
  }
  const shapes = given.shapes ?? 40;
  const textures = given.textures ?? Math.max(MIN_TEXTURES, Math.ceil(shapes / 10));
  const instances = (released: number, variations: number) =>
    Math.max(RELEASED.minInstances, Math.ceil((shapes * released) / RELEASED.shapes / variations)) * variations;
  return {
    recipe: name,
    seed: given.seed ?? 1,
    subsets: SUBSETS.filter(subset => given.subsets?.includes(subset) ?? true),
    shapes,
    textures,
    shapes2dImages: given['shapes2d-images'] ?? instances(RELEASED.shapes2d, groups.shapes2d.variations),
    textures2dImages: given['textures2d-images'] ?? instances(RELEASED.textures2d, groups.textures2d.variations),
    materials: given.materials ?? textures,
    shapes3dImages: given['shapes3d-images'] ?? instances(RELEASED.shapes3d, groups.shapes3d.variations),
    materials3dImages: given['materials3d-images'] ?? instances(RELEASED.materials3d, groups.materials3d.variations),
    semanticShapes: given.semantic === undefined ? 0 : (given['semantic-shapes'] ?? shapes),
    semanticShapesAsked: given['semantic-shapes'] !== undefined,
    importsAsked: {
      shapes: given['shape-bank'] === undefined || given.shapes !== undefined,
      textures: given['texture-bank'] === undefined || given.textures !== undefined,
      materials: given['material-bank'] === undefined || given.materials !== undefined,
    },
    projections: given.projections ?? 0,
    silhouettesImages: given['silhouettes-images'] ?? null,
    photos: given.photos ?? [STARTER_PHOTOS],
    meshes: given.meshes ?? [STARTER_MESHES],
    environments: given.environments ?? [STARTER_ENVIRONMENTS],
    segmentation: given.segmentation ?? [STARTER_CUTOUTS],
    semantic: given.semantic ?? [],
    shapeBank: given['shape-bank'] ?? null,
    textureBank: given['texture-bank'] ?? null,
    materialBank: given['material-bank'] ?? null,
    licences: given.licences ?? null,
    maxPixels: given['max-pixels'] ?? MAX_PIXELS,
    shardSamples: given['shard-samples'] ?? 1000,
    ...rendering(values, flags),
    ...groups,
    shapes2d: namesConditions ? groups.shapes2d : ofSources(groups.shapes2d, shapeSources(given)),
    silhouettes: {
      ...groups.silhouettes,
      ...Object.fromEntries(
        SILHOUETTE_FLAGS.filter(flag => given[flag] !== undefined).map(flag => [camel(flag), given[flag]]),
      ),
    },
  };
}

/**
 * How 3D scenes are drawn. What a recipe says of path tracing is left out where a flag asks for the other engine.
 * @throws UsageError where it is asked for without path tracing.
 */
function rendering(recipe: GenerateValues, flags: GenerateValues): Rendering {
  const { engine = RASTERISED.engine, samples, denoise, aov } = { ...recipe, ...flags };
  const asked = AOVS.filter(name => aov?.includes(name));
  if (engine === 'pathtrace') {
    const traced = { engine, samples: samples ?? SAMPLES, denoise: denoise ?? false, aov: asked };
    if (traced.denoise && traced.samples < 2)
      throw new UsageError('denoise: expected --samples of 2 or more, whose differences tell what is noise; got 1');
    return traced;
  }
  const given = { ...(recipe.engine === 'pathtrace' ? {} : recipe), ...flags };
  const odd = given.samples !== undefined ? 'samples' : given.denoise ? 'denoise' : undefined;
  if (odd)
    throw new UsageError(`${odd}: only path traced pictures have it: give --engine pathtrace too, or leave it out`);
  return { ...RASTERISED, aov: asked };
}

/** Values of the group `silhouettes` that may also stand on the command line, or at the top of a recipe. */
const SILHOUETTE_FLAGS = ['polarity', 'margin', 'max-side', 'whole-class', 'all-instances', 'polygons'] as const;

/** Where the shapes come from that are asked for. */
function shapeSources(given: GenerateValues): ShapeSource[] {
  const bank = given['shape-bank'];
  const sources: ShapeSource[] = [bank === undefined ? 'natural' : parseBankSource(bank).kind];
  if (given.semantic !== undefined) sources.push('semantic');
  if (given.projections) sources.push('projection');
  return [...new Set(sources)];
}

/** The recipe with each of its conditions for shapes of every source. */
function ofSources(recipe: Shapes2dRecipe, sources: readonly ShapeSource[]): Shapes2dRecipe {
  const conditions = sources.flatMap(source =>
    recipe.conditions.map(condition => shapeConditionName({ ...shapeConditionOf(condition), source })),
  );
  return { ...recipe, conditions: conditions as ShapeConditionName[] };
}

interface Recipe {
  readonly name: string;
  readonly values: GenerateValues;
  readonly groups: typeof LAST;
  /** Whether it says under which conditions shapes2d images are drawn; else they follow from where shapes come from. */
  readonly namesConditions: boolean;
}

async function readRecipe(recipe: string): Promise<Recipe> {
  if (recipe === 'last') return { name: 'last', values: {}, groups: LAST, namesConditions: false };
  const text = await readFile(recipe, 'utf8').catch(() => {
    throw new UsageError(`--recipe: expected "last" or a readable YAML or JSON file, got "${recipe}"`);
  });
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    throw new UsageError(`${recipe}: expected YAML or JSON: ${(error as Error).message.split('\n')[0]}`);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`${recipe}: expected a mapping of names to values`);
  }
  try {
    return { name: basename(recipe, extname(recipe)), ...checkRecipe(content as Record<string, unknown>) };
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${recipe}: ${error.message}`);
    throw error;
  }
}

function checkRecipe(content: Record<string, unknown>): Omit<Recipe, 'name'> {
  const top: Record<string, unknown> = {};
  const groups: Record<string, unknown> = { ...LAST };
  for (const [name, value] of Object.entries(content)) {
    if (Object.hasOwn(GROUPS, name)) {
      const [key, schema] = GROUPS[name as GroupName];
      groups[key] = checkGroup(name, schema, LAST[key], value);
    } else if (Object.hasOwn(RECIPE_OPTIONS, name)) {
      top[name] = value;
    } else if (Object.hasOwn(GENERATE_OPTIONS, name)) {
      throw new UsageError(`"${name}" concerns the machine and not the data: give --${name} on the command line`);
    } else {
      const names = [...Object.keys(GROUPS), ...Object.keys(RECIPE_OPTIONS)];
      throw new UsageError(`unknown name "${name}"${didYouMean(name, names)}`);
    }
  }
  const { shapes2d } = content;
  return {
    values: checkValues(RECIPE_OPTIONS, top, ''),
    groups: groups as typeof LAST,
    namesConditions: isMapping(shapes2d) && 'conditions' in shapes2d,
  };
}

/** Lays the values of one group over the defaults and checks the whole. Names are written with hyphens. */
function checkGroup(group: string, schema: z.ZodObject, defaults: object, value: unknown): unknown {
  const whole = laidOver(group, defaults, value);
  const parsed = schema.safeParse(whole);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const got = path.reduce<unknown>((within, key) => (within as Record<PropertyKey, unknown>)[key], whole);
  // zod's "Too big: expected number to be <=100", "Invalid input: expected number, received string", and our own.
  const expected =
    numberRange(schema, path) ?? /expected (.*?)(?:, received .*)?$/.exec(message)?.[1] ?? 'another value';
  const error = invalidValue([group, ...path.map(String).map(kebab)].join('.'), expected, got);
  const choices = path[0] === 'conditions' ? CONDITIONS[group] : undefined;
  throw new UsageError(error.message + (choices && typeof got === 'string' ? didYouMean(got, choices) : ''));
}

/** "a number from 0 to 1", where a group's schema has a number with bounds; undefined elsewhere. */
function numberRange(schema: z.ZodObject, path: readonly PropertyKey[]): string | undefined {
  type Place = z.core.JSONSchema.BaseSchema | undefined;
  const inside = (place: Place, key: PropertyKey) =>
    (place?.properties?.[key as string] ?? place?.prefixItems?.[key as number] ?? place?.items) as Place;
  const place = path.reduce<Place>(inside, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const { type, minimum, maximum } = place ?? {};
  if ((type !== 'number' && type !== 'integer') || minimum === undefined || maximum === undefined) return undefined;
  if (type === 'number') return `a number from ${minimum} to ${maximum}`;
  return maximum === Number.MAX_SAFE_INTEGER
    ? `a whole number of at least ${minimum}`
    : `a whole number of at least ${minimum} and at most ${maximum}`;
}

/** Defaults with some values changed, also in mappings within them. @throws UsageError for a name that is not there. */
function laidOver(group: string, defaults: object, value: unknown): object {
  if (!isMapping(value)) throw new UsageError(`${group}: expected a mapping of names to values`);
  const names = Object.keys(defaults).map(kebab);
  const unknown = Object.keys(value).find(name => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`unknown name "${group}.${unknown}"${didYouMean(unknown, names)}`);
  const changes = Object.entries(value).map(([name, changed]) => {
    const before = (defaults as Record<string, unknown>)[camel(name)];
    return [camel(name), isMapping(before) ? laidOver(`${group}.${name}`, before, changed) : changed];
  });
  return { ...defaults, ...Object.fromEntries(changes) };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const kebab = (name: string) => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
