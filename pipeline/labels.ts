import { z } from 'zod';
import { HSV_CHANNELS, RGB_CHANNELS } from '../extractors/color-channels.ts';
import { SHAPE_SOURCES } from '../scenes/conditions.ts';
import { scene2dSchema } from '../scenes/scene2d.ts';
import { MESH_FORMATS } from './meshes/mesh-formats.ts';
import { provenanceSchema } from './photo-index.ts';
import { SPLITS } from './splits.ts';

const box = z
  .strictObject({ left: z.number(), top: z.number(), width: z.number().min(0), height: z.number().min(0) })
  .describe('pixels from the upper left corner');
const split = z.enum(SPLITS);
const size = { width: z.int().positive(), height: z.int().positive() };

/** The label of a natural (or imported) shape: `json` beside `png` in the shape bank. */
export const shapeLabelSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(SHAPE_SOURCES),
  split,
  ...size,
  area: z.int().positive().describe('pixels of the mask'),
  found: z
    .strictObject({
      round: z.int().min(0).describe('0: the whole photo was looked at; above: a random window of it'),
      window: box.nullable().describe('window in photo pixels; null: the whole photo'),
      scale: z.number().positive().describe('mask pixels per photo pixel'),
      channel: z.enum([...RGB_CHANNELS, ...HSV_CHANNELS]),
      inverted: z.boolean(),
      threshold: z.number().min(0).max(1),
      box: box.describe("the shape's box in photo pixels"),
    })
    .nullable()
    .describe('how the shape was found; null for an imported shape'),
  photo: z.strictObject({ id: z.string(), ...size }).describe('the photo, or the imported file'),
  provenance: provenanceSchema,
});
export type ShapeLabel = z.infer<typeof shapeLabelSchema>;

/** The label of a texture: `json` beside `jpg` in the texture bank. */
export const textureLabelSchema = z.strictObject({
  id: z.string(),
  split,
  ...size,
  found: z
    .strictObject({
      round: z.int().min(0).describe('0: cells of the usual size; above: smaller ones, since the photos gave too few'),
      rank: z.int().min(0).describe('0: the most uniform texture of its photo and round'),
      score: z.number().min(0).max(1).describe('lowest similarity of two cells in it'),
      cells: z.int().positive().describe('cells a side'),
      cellSize: z.number().positive().describe('photo pixels a cell'),
      box: box.describe('the crop in photo pixels'),
    })
    .nullable()
    .describe('how the texture was found; null for an imported texture'),
  photo: z.strictObject({ id: z.string(), ...size }),
  provenance: provenanceSchema,
});
export type TextureLabel = z.infer<typeof textureLabelSchema>;

const xyz = z.tuple([z.number(), z.number(), z.number()]);
/** The label of a mesh: `json` beside `mesh` in the mesh bank. */
export const meshLabelSchema = z.strictObject({
  id: z.string(),
  split,
  triangles: z.int().positive(),
  vertices: z.int().positive().describe('a place with two normals counts twice'),
  sides: xyz.describe('of the bounding box along x, y, z; the centre is the origin, the longest side 1'),
  file: z
    .strictObject({
      format: z.enum(MESH_FORMATS),
      triangles: z.int().positive(),
      vertices: z.int().positive(),
      dropped: z.array(z.string()).describe('what the file holds beside: materials, animations, skins …'),
    })
    .describe('as read, joined into one mesh'),
  removed: z
    .strictObject({
      nonFinite: z.int().min(0).describe('a coordinate is NaN or infinite'),
      degenerate: z.int().min(0).describe('without area'),
    })
    .describe('triangles left out'),
  simplified: z.boolean().describe('reduced to the budget of triangles'),
  madeNormals: z.number().min(0).max(1).describe('share of the corners whose normal is not the file’s'),
  transform: z
    .strictObject({ center: xyz, scale: z.number().positive() })
    .describe('place here = (place in the file − center) × scale'),
  provenance: provenanceSchema,
});
export type MeshLabel = z.infer<typeof meshLabelSchema>;

const sampleSource = z.strictObject({
  role: z.enum(['shape', 'fill', 'background']),
  id: z.string().describe('bank item'),
  photo: z.string().describe('id of the photo (or imported file) it was cut from'),
  ...provenanceSchema.shape,
});

/** What all image samples have in common. */
const sampleSchema = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z0-9]+-\d{6,}-\d+$/)
    .describe('<subset>-<instance>-<variation>'),
  subset: z.string(),
  split,
  instance: z.strictObject({
    number: z.int().min(0).describe('unique in the subset, over all splits'),
    id: z.string().describe('the bank item that stays the same'),
  }),
  variation: z.int().min(0),
  seed: z.int().min(0),
  attempt: z.int().min(0).describe('draws before this one met broken items'),
});

/** The label of a sample of shapes2d or textures2d. */
export const sample2dLabelSchema = sampleSchema.extend({
  subset: z.enum(['shapes2d', 'textures2d']),
  condition: z.string().describe('name of the condition, or its values joined by hyphens'),
  scene: scene2dSchema,
  facts: z
    .strictObject({
      box: z.strictObject({
        left: z.int().min(0),
        top: z.int().min(0),
        width: z.int().min(0),
        height: z.int().min(0),
      }),
      area: z.int().min(0).describe('pixels of at least half coverage'),
      coverage: z.number().min(0).max(1).describe('area as a share of the image'),
    })
    .describe('measured on mask.png'),
  files: z.strictObject({ jpg: z.string(), 'mask.png': z.string(), json: z.string() }),
  sources: z.array(sampleSource).min(1),
});
export type Sample2dLabel = z.infer<typeof sample2dLabelSchema>;

/** Every published schema by file name: what `docs/schema/` holds. */
export const LABEL_SCHEMAS = {
  'shape-bank-item': shapeLabelSchema,
  'texture-bank-item': textureLabelSchema,
  'mesh-bank-item': meshLabelSchema,
  'shapes2d-sample': sample2dLabelSchema,
  'textures2d-sample': sample2dLabelSchema,
} as const;

/**
 * The bytes of a label, checked against its schema first: a label that does not match is a fault of the program, and
 * nothing is written.
 */
export function encodeLabel<S extends z.ZodType>(schema: S, label: z.input<S>): Uint8Array {
  return Buffer.from(JSON.stringify(schema.parse(label)));
}
