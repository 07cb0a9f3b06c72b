import { z } from 'zod';
import {
  SHAPE_CONDITIONS,
  type ShapeCondition,
  type ShapeConditionName,
  shapeConditionSchema,
  TEXTURE_CONDITIONS,
  type TextureCondition,
  type TextureConditionName,
  textureConditionSchema,
} from './conditions.ts';

const keys = <K extends string>(table: Record<K, unknown>) => Object.keys(table) as [K, ...K[]];
export const range = (low: number, high: number) =>
  z.tuple([z.number().min(low).max(high), z.number().min(low).max(high)]).refine(([a, b]) => a <= b, {
    message: 'expected [low, high] with low <= high',
  });

/** What recipes of all subsets have in common. */
export const imageRecipe = {
  variations: z.int().min(1).max(100).describe('images of one instance'),
  size: z.int().min(32).max(4096).describe('side of the square image, pixels'),
  quality: z.int().min(1).max(100).describe('JPEG quality'),
};

/** How `shapes2d` scenes are drawn; the defaults are LAS&T's numbers. */
export const shapes2dRecipe = z.strictObject({
  ...imageRecipe,
  conditions: z
    .array(
      z.union([z.enum(keys(SHAPE_CONDITIONS)), shapeConditionSchema], {
        error: 'expected a name of Table 1 or {source, background, shape, rotated}',
      }),
    )
    .min(1)
    .describe(
      'for each image one of its shape’s source is drawn: a name of Table 1, or {source, background, shape, rotated}',
    ),
  longSide: range(0.01, 1).describe("range of the shape's longer side before rotation, share of the image's side"),
});
export type Shapes2dRecipe = z.infer<typeof shapes2dRecipe>;

/** How `textures2d` scenes are drawn. */
export const textures2dRecipe = z.strictObject({
  ...imageRecipe,
  conditions: z
    .array(
      z.union([z.enum(keys(TEXTURE_CONDITIONS)), textureConditionSchema], {
        error: 'expected a name of Table 3 or {source, background, shape}',
      }),
    )
    .min(1)
    .describe(
      'one is drawn for each image: a name of Table 3, or {source, background, shape}, where source may be left out',
    ),
});
export type Textures2dRecipe = z.infer<typeof textures2dRecipe>;

/** The recipe `last`: everything but the instance varies (shape, texture and place; Tables 1 and 3, hardest columns). */
export const LAST_SHAPES2D: Shapes2dRecipe = {
  variations: 5,
  size: 512,
  quality: 95,
  conditions: ['natural-textured-textured-rotated'],
  longSide: [0.32, 1],
};
export const LAST_TEXTURES2D: Textures2dRecipe = {
  variations: 5,
  size: 512,
  quality: 95,
  conditions: ['textured-different'],
};

/** A condition by its name, or itself. */
export function shapeConditionOf(condition: ShapeConditionName | ShapeCondition): ShapeCondition {
  return typeof condition === 'string' ? SHAPE_CONDITIONS[condition] : condition;
}

/** A condition by its name, or itself. */
export function textureConditionOf(condition: TextureConditionName | TextureCondition): TextureCondition {
  return typeof condition === 'string' ? TEXTURE_CONDITIONS[condition] : condition;
}
