import { z } from 'zod';

/** What covers an area of a 2D scene. Uniform colours are drawn per image; black is (0,0,0), white (255,255,255). */
export const PAINTS = ['texture', 'colour', 'black', 'white'] as const;
export type PaintKind = (typeof PAINTS)[number];
/** Where a shape comes from: cut out of a photo, annotated by people (segmentation data), or projected from a mesh. */
export const SHAPE_SOURCES = ['natural', 'semantic', 'projection'] as const;
export type ShapeSource = (typeof SHAPE_SOURCES)[number];

export const shapeConditionSchema = z
  .strictObject({
    source: z.enum(SHAPE_SOURCES),
    background: z.enum(PAINTS),
    shape: z.enum(PAINTS),
    rotated: z.boolean(),
  })
  .refine(({ background, shape }) => background !== shape || background === 'texture' || background === 'colour', {
    message: 'expected a shape that differs from its background',
  });
/** One column of LAS&T's Table 1: what the images of a shape instance have in common. */
export type ShapeCondition = z.infer<typeof shapeConditionSchema>;

export const textureConditionSchema = z.strictObject({
  background: z.enum(PAINTS),
  shape: z.enum(['different', 'same']),
});
/** One column of LAS&T's Table 3: `shape` says whether the images of a texture instance share one shape. */
export type TextureCondition = z.infer<typeof textureConditionSchema>;

function shapeCondition(
  source: ShapeSource,
  background: ShapeCondition['background'],
  shape: ShapeCondition['shape'],
  rotated: boolean,
): ShapeCondition {
  return { source, background, shape, rotated };
}

/** LAS&T, Table 1. Names read source, background, shape, rotation. */
export const SHAPE_CONDITIONS = {
  'natural-coloured-coloured-rotated': shapeCondition('natural', 'colour', 'colour', true),
  'semantic-coloured-coloured-rotated': shapeCondition('semantic', 'colour', 'colour', true),
  'natural-textured-textured-rotated': shapeCondition('natural', 'texture', 'texture', true),
  'semantic-textured-textured-rotated': shapeCondition('semantic', 'texture', 'texture', true),
  'natural-coloured-coloured-unrotated': shapeCondition('natural', 'colour', 'colour', false),
  'natural-black-white-rotated': shapeCondition('natural', 'black', 'white', true),
  'natural-black-white-unrotated': shapeCondition('natural', 'black', 'white', false),
  'natural-textured-black-unrotated': shapeCondition('natural', 'texture', 'black', false),
  'natural-textured-textured-unrotated': shapeCondition('natural', 'texture', 'texture', false),
} as const satisfies Record<string, ShapeCondition>;
export type ShapeConditionName = keyof typeof SHAPE_CONDITIONS;

/** LAS&T, Table 3. Names read background, then whether the shape differs between the images of an instance. */
export const TEXTURE_CONDITIONS = {
  'textured-different': { background: 'texture', shape: 'different' },
  'textured-same': { background: 'texture', shape: 'same' },
  'black-different': { background: 'black', shape: 'different' },
  'black-same': { background: 'black', shape: 'same' },
} as const satisfies Record<string, TextureCondition>;
export type TextureConditionName = keyof typeof TEXTURE_CONDITIONS;
