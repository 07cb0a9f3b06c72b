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
  source: z.enum(SHAPE_SOURCES).optional(),
  background: z.enum(PAINTS),
  shape: z.enum(['different', 'same']),
});
/**
 * One column of LAS&T's Table 3: `shape` says whether the images of a texture instance share one shape, `source` (ours)
 * where the shapes come from; any when left out.
 */
export type TextureCondition = z.infer<typeof textureConditionSchema>;

/** What paints are called in names of conditions. */
const WORDS = { texture: 'textured', colour: 'coloured', black: 'black', white: 'white' } as const;

/** The columns of LAS&T's Table 1 but for the source of the shapes. Names read background, shape, rotation. */
const SHAPE_COLUMNS = {
  'coloured-coloured-rotated': { background: 'colour', shape: 'colour', rotated: true },
  'textured-textured-rotated': { background: 'texture', shape: 'texture', rotated: true },
  'coloured-coloured-unrotated': { background: 'colour', shape: 'colour', rotated: false },
  'black-white-rotated': { background: 'black', shape: 'white', rotated: true },
  'black-white-unrotated': { background: 'black', shape: 'white', rotated: false },
  'textured-black-unrotated': { background: 'texture', shape: 'black', rotated: false },
  'textured-textured-unrotated': { background: 'texture', shape: 'texture', rotated: false },
} as const satisfies Record<string, Omit<ShapeCondition, 'source'>>;
export type ShapeConditionName = `${ShapeSource}-${keyof typeof SHAPE_COLUMNS}`;

/** LAS&T's Table 1, each column for shapes of every source (the paper has nine of these). Names begin with the source. */
export const SHAPE_CONDITIONS = ofEverySource(SHAPE_COLUMNS) as Record<ShapeConditionName, ShapeCondition>;

/** LAS&T's Table 3. Names read background, then whether the shape differs between the images of an instance. */
const TEXTURE_COLUMNS = {
  'textured-different': { background: 'texture', shape: 'different' },
  'textured-same': { background: 'texture', shape: 'same' },
  'black-different': { background: 'black', shape: 'different' },
  'black-same': { background: 'black', shape: 'same' },
} as const satisfies Record<string, TextureCondition>;
type TextureColumnName = keyof typeof TEXTURE_COLUMNS;
export type TextureConditionName = TextureColumnName | `${ShapeSource}-${TextureColumnName}`;

/** LAS&T's Table 3, with shapes of any source, and of each; those names begin with it. */
export const TEXTURE_CONDITIONS = { ...TEXTURE_COLUMNS, ...ofEverySource(TEXTURE_COLUMNS) } as Record<
  TextureConditionName,
  TextureCondition
>;

function ofEverySource<Column extends object>(columns: Readonly<Record<string, Column>>) {
  return Object.fromEntries(
    SHAPE_SOURCES.flatMap(source =>
      Object.entries(columns).map(([name, column]) => [`${source}-${name}`, { source, ...column }]),
    ),
  );
}

/** What a condition is called, also one that no table has. */
export function shapeConditionName({ source, background, shape, rotated }: ShapeCondition): string {
  return [source, WORDS[background], WORDS[shape], rotated ? 'rotated' : 'unrotated'].join('-');
}

/** What a condition is called, likewise. */
export function textureConditionName({ source, background, shape }: TextureCondition): string {
  return [...(source ? [source] : []), WORDS[background], shape].join('-');
}
