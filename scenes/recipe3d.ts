import { z } from 'zod';
import { imageRecipe, range } from './recipe.ts';

/** What may change between the images of one instance. */
export const QUANTITIES = ['orientation', 'material', 'object', 'environment'] as const;
export type Quantity = (typeof QUANTITIES)[number];

const share = z.number().min(0).max(1);

/** How a material is laid around a mesh: box projection in object coordinates, whose longest side is 1. */
const mappingRecipe = z.strictObject({
  offset: range(-1e4, 1e4).describe('range of each coordinate of the offset, material repeats'),
  rotation: range(0, 360).describe('range of the turn about each axis, degrees'),
  scale: range(1e-4, 1e4).describe('log-uniform range of the material repeats per unit of length'),
  scalePerAxis: share.describe('probability that each axis draws its own scale'),
  blend: z.number().min(0).max(1).describe('width of the blend between the sides of the box'),
});

/** What both 3D subsets have in common. */
const scene3dRecipe = z.strictObject({
  ...imageRecipe,
  vary: z
    .array(z.enum(QUANTITIES))
    .min(1)
    .refine(list => new Set(list).size === list.length, { message: 'expected each name once' })
    .describe('what changes between the images of an instance'),
  distance: range(0.3, 100).describe("range of the camera's distance from the object's centre; its longest side is 1"),
  focalLength: z.number().min(5).max(1000).describe('millimetres, on a sensor of 36 mm'),
  environmentStrength: range(0, 100).describe('range of the factor on the panorama'),
  environmentStrengthVaries: share.describe('probability that the factor is drawn from its range; else it is 1'),
  minCoverage: share.describe('share of the image that the largest visible part has to cover'),
  mapping: mappingRecipe,
  displacement: z.number().min(0).max(1).describe('how far white in the height map lifts the surface; longest side 1'),
  toneMapping: z.enum(['agx', 'none']).describe('from linear light to the picture; none clips at 1'),
});
export type Scene3dRecipe = z.infer<typeof scene3dRecipe>;

/** How `shapes3d` scenes are drawn: an instance is a mesh. */
export const shapes3dRecipe = scene3dRecipe.refine(recipe => !recipe.vary.includes('object'), {
  path: ['vary'],
  message: 'expected orientation, material or environment: the object is what stays the same',
});
/** How `materials3d` scenes are drawn: an instance is a material. */
export const materials3dRecipe = scene3dRecipe.refine(recipe => !recipe.vary.includes('material'), {
  path: ['vary'],
  message: 'expected orientation, object or environment: the material is what stays the same',
});

/** The recipe `last`: the hardest columns of LAS&T's Tables 2 and 4 with its script's ranges. */
export const LAST_SHAPES3D: Scene3dRecipe = {
  variations: 3,
  size: 512,
  quality: 90,
  vary: ['orientation', 'material', 'environment'],
  distance: [0.85, 1.85],
  focalLength: 32,
  environmentStrength: [1, 1],
  environmentStrengthVaries: 0,
  minCoverage: 0.025,
  mapping: { offset: [0, 30], rotation: [0, 360], scale: [0.01, 10 ** 0.6], scalePerAxis: 0.4, blend: 0.02 },
  displacement: 0.066,
  toneMapping: 'agx',
};
export const LAST_MATERIALS3D: Scene3dRecipe = {
  variations: 4,
  size: 512,
  quality: 90,
  vary: ['orientation', 'object', 'environment'],
  distance: [0.65, 1.5],
  focalLength: 32,
  environmentStrength: [1, 2.5],
  environmentStrengthVaries: 0.5,
  minCoverage: 0.04,
  mapping: { offset: [0, 0], rotation: [0, 0], scale: [3, 3], scalePerAxis: 0, blend: 0.02 },
  displacement: 0,
  toneMapping: 'agx',
};
