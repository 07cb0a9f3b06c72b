import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { POLARITIES } from '../extractors/silhouette.ts';
import { GL_BACK_ENDS } from '../renderers/gl-back-ends.ts';
import { DATASET_NAMES } from './datasets/dataset.ts';
import { choice, list, listOf, number, type OptionValues, text, toggle, wholeNumber } from './options.ts';
import { AOVS, ENGINES, SAMPLES } from './rendering.ts';
import { STAGE_NAMES } from './stage-names.ts';

export const SUBSETS = ['shapes2d', 'textures2d', 'shapes3d', 'materials3d', 'silhouettes'] as const;
export type Subset = (typeof SUBSETS)[number];
/** Subsets whose images show an object in a panorama, drawn by a browser. */
export const is3d = (subset: Subset) => subset === 'shapes3d' || subset === 'materials3d';

/** `a..b`, both ends included. */
const shardRange = z
  .string()
  .regex(/^\d+\.\.\d+$/)
  .transform(range => range.split('..').map(Number) as [number, number])
  .refine(([first, last]) => first <= last);

const what = 'What to make';
const from = 'From what';
const pictures3d = '3D pictures';
const silhouette = 'Silhouettes';
const how = 'How to run';
const MANY = 1_000_000_000;
/** Threads wait for disks as well as for cores; beyond a few a core more only cost memory. */
const MAX_WORKERS = 4 * availableParallelism();

/** Every option of `generate`. The ones marked `inRecipe` may also stand in a recipe file, under the same name. */
export const GENERATE_OPTIONS = {
  shapes: wholeNumber(1, MANY, {
    group: what,
    inRecipe: true,
    default: '40',
    help: 'natural shapes in the shape bank; the other counts follow LAS&T’s proportions',
  }),
  textures: wholeNumber(1, MANY, {
    group: what,
    inRecipe: true,
    default: 'shapes / 10, at least 24',
    help: 'textures in the texture bank',
  }),
  'shapes2d-images': wholeNumber(0, MANY, {
    group: what,
    inRecipe: true,
    default: 'shapes × 61 / 350, at least 8 instances',
    help: 'images of the shapes2d subset, rounded up to whole instances',
  }),
  'textures2d-images': wholeNumber(0, MANY, {
    group: what,
    inRecipe: true,
    default: 'shapes × 53 / 350, at least 8 instances',
    help: 'images of the textures2d subset, rounded up to whole instances',
  }),
  materials: wholeNumber(1, MANY, {
    group: what,
    inRecipe: true,
    default: 'as many as textures',
    help: 'PBR materials in the material bank, made from the textures',
  }),
  'shapes3d-images': wholeNumber(0, MANY, {
    group: what,
    inRecipe: true,
    default: 'shapes × 76 / 350, at least 8 instances',
    help: 'images of the shapes3d subset, rounded up to whole instances',
  }),
  'materials3d-images': wholeNumber(0, MANY, {
    group: what,
    inRecipe: true,
    default: 'shapes × 80 / 350, at least 8 instances',
    help: 'images of the materials3d subset, rounded up to whole instances',
  }),
  'semantic-shapes': wholeNumber(1, MANY, {
    group: what,
    inRecipe: true,
    default: 'at most as many as shapes',
    help: 'shapes cut along the outlines of annotated objects (see semantic)',
  }),
  projections: wholeNumber(0, MANY, {
    group: what,
    inRecipe: true,
    default: '0',
    help: 'shapes that are the meshes’ outlines from random sides',
  }),
  'silhouettes-images': wholeNumber(1, MANY, {
    group: what,
    inRecipe: true,
    default: 'all there are',
    help: 'pictures of the segmentation data that are looked at; when given, fewer silhouettes than that are a shortage',
  }),
  subsets: listOf(SUBSETS, {
    group: what,
    inRecipe: true,
    default: 'all',
    help: 'image subsets to make',
  }),
  recipe: text('"last" or the path of a YAML or JSON file', {
    group: what,
    default: 'last',
    help: 'sampling ranges, conditions and counts: "last" (the paper’s numbers) or a YAML/JSON file',
  }),
  seed: wholeNumber(0, Number.MAX_SAFE_INTEGER, {
    group: what,
    inRecipe: true,
    default: '1',
    help: 'seed of every random choice',
  }),
  photos: list('pack ids, folders, globs, images or list files', {
    group: from,
    inRecipe: true,
    default: 'starter-photos',
    help: 'photographs: pack ids, folders, globs, or text files with a path a line',
  }),
  meshes: list('pack ids, folders, globs, meshes or list files', {
    group: from,
    inRecipe: true,
    default: 'starter-meshes',
    help: 'GLB, glTF and OBJ meshes: pack ids, folders, globs, or text files with a path a line',
  }),
  environments: list('pack ids, folders, globs, panoramas or list files', {
    group: from,
    inRecipe: true,
    default: 'starter-environments',
    help: 'HDR and EXR panoramas: pack ids, folders, globs, or text files with a path a line',
  }),
  segmentation: list('pack ids, or datasets as name:DIR', {
    group: from,
    inRecipe: true,
    default: 'starter-cutouts',
    help: `segmentation data for silhouettes: pack ids, or name:DIR with the names ${DATASET_NAMES.join(', ')} (sprites needs no DIR)`,
  }),
  semantic: list('pack ids, or datasets as name:DIR', {
    group: from,
    inRecipe: true,
    help: 'segmentation data whose outlines join the shape bank, likewise',
  }),
  'shape-bank': text('a folder of shape PNGs or another run', {
    group: from,
    inRecipe: true,
    help: 'use these shapes instead of extracting: another run, or a folder of PNGs (prefix semantic: or projection: when they are not natural)',
  }),
  'texture-bank': text('a folder of textures, a pack, or another run', {
    group: from,
    inRecipe: true,
    help: 'use these textures instead of extracting: another run, an asset pack, or a folder of images',
  }),
  'material-bank': text('a folder of PBR materials, a pack, or another run', {
    group: from,
    inRecipe: true,
    help: 'use these materials instead of making them: another run, an asset pack, or a folder of map sets (ambientCG, Poly Haven names)',
  }),
  licences: list('SPDX licence ids', {
    group: from,
    inRecipe: true,
    help: 'use only photographs, meshes, panoramas and segmentation data under these licences, such as CC0-1.0 CC-BY-4.0; what has none that is known is left out',
  }),
  'max-pixels': wholeNumber(1, 4_000_000_000, {
    group: from,
    inRecipe: true,
    default: '250000000',
    help: 'refuse photographs with more pixels (decompression bombs)',
  }),
  engine: choice(ENGINES, {
    group: pictures3d,
    inRecipe: true,
    default: ENGINES[0],
    help: 'raster: fast, light without shadows; pathtrace: paths of light are followed (shadows, refraction), for which a graphics card is wanted',
  }),
  samples: wholeNumber(1, 65_536, {
    group: pictures3d,
    inRecipe: true,
    default: `${SAMPLES}, as published`,
    help: 'with --engine pathtrace: paths a pixel; four times as many halve the noise',
  }),
  denoise: toggle({
    group: pictures3d,
    inRecipe: true,
    help: 'with --engine pathtrace: smooth what noise is left, but no edges of surface or colour',
  }),
  aov: listOf(AOVS, {
    group: pictures3d,
    inRecipe: true,
    help: 'also write depth.png (distance along the camera’s axis) and normal.png (camera’s axes), 16 bits a channel; scales are in the labels',
  }),
  polarity: choice(POLARITIES, {
    group: silhouette,
    inRecipe: true,
    default: POLARITIES[0],
    help: 'what the object is, and its ground',
  }),
  margin: number(0, 2, {
    group: silhouette,
    inRecipe: true,
    default: '0',
    help: 'ground around the object on each side, as a share of its longer side (0.1: a box 1.2 times as long)',
  }),
  'max-side': wholeNumber(8, 4096, {
    group: silhouette,
    inRecipe: true,
    default: '200',
    help: 'longer side of the silhouette, margin included, pixels',
  }),
  'whole-class': toggle({
    group: silhouette,
    inRecipe: true,
    help: 'all pixels of the object’s class in the picture instead of one object',
  }),
  'all-instances': toggle({
    group: silhouette,
    inRecipe: true,
    help: 'every object of a picture instead of the one with the largest contiguous area',
  }),
  polygons: toggle({
    group: silhouette,
    inRecipe: true,
    help: 'outlines as polygons in the labels, beside the run lengths',
  }),
  out: text('a folder', {
    group: how,
    default: 'out/<recipe>-<shapes>-s<seed>',
    help: 'run folder; the same command on it continues',
  }),
  workers: {
    type: 'number',
    schema: z.int().min(1).max(MAX_WORKERS),
    expects: `a whole number from 1 to ${MAX_WORKERS} (four a core: more never help, and each costs memory)`,
    group: how,
    default: 'one a core',
    help: 'worker threads, at most four a core',
  },
  browser: text('the path of a Chrome or Chromium', {
    group: how,
    default: 'one that is installed, else the one that npm brought',
    help: 'browser that draws 3D scenes',
  }),
  gl: choice(GL_BACK_ENDS, {
    group: how,
    default: 'auto',
    help: 'graphics back end: auto takes the first of vulkan, egl and swiftshader that works, a GPU before software',
  }),
  'require-gpu': toggle({ group: how, help: 'end with exit code 2 when 3D scenes would be drawn in software' }),
  pages: wholeNumber(1, 64, {
    group: how,
    default: '4, fewer in software',
    help: 'browser pages that draw at the same time',
  }),
  'shard-samples': wholeNumber(1, 1_000_000, {
    group: how,
    inRecipe: true,
    default: '1000',
    help: 'samples a shard, in whole instances',
  }),
  stage: listOf(STAGE_NAMES, { group: how, help: 'run only these stages (several machines can share a run folder)' }),
  'shard-range': {
    type: 'text',
    schema: shardRange,
    expects: 'a..b with whole numbers a <= b',
    group: how,
    help: 'run only shards a to b, both included, of each stage',
  },
  'dry-run': toggle({ group: how, help: 'print the plan (counts, shards, disk, time) and write nothing' }),
  fresh: toggle({ group: how, help: 'delete the run folder first, if it is a shapemill run' }),
} as const;
export type GenerateValues = OptionValues<typeof GENERATE_OPTIONS>;
