import { z } from 'zod';
import { HSV_CHANNELS, RGB_CHANNELS } from '../extractors/color-channels.ts';
import { MIXED_MAPS } from '../extractors/material-mix.ts';
import { CANDIDATES } from '../extractors/material-plan.ts';
import { MAP_NAMES } from '../extractors/pbr-maps.ts';
import type { ShapeStatistics } from '../extractors/shape-statistics.ts';
import { POLARITIES } from '../extractors/silhouette.ts';
import { CORNERS, LETTER_KINDS } from '../renderers/letters.ts';
import { SHAPE_SOURCES } from '../scenes/conditions.ts';
import { PANEL_CONDITION_NAMES, REAL_CONDITION } from '../scenes/panel-conditions.ts';
import { CHOICES, PANELS, panelScene2dSchema, panelScene3dSchema } from '../scenes/panel-scene.ts';
import { QUANTITIES } from '../scenes/recipe3d.ts';
import { scene2dSchema } from '../scenes/scene2d.ts';
import { cameraSchema, scene3dSchema } from '../scenes/scene3d.ts';
import { DATASET_NAMES } from './datasets/dataset.ts';
import { MESH_FORMATS } from './meshes/mesh-formats.ts';
import { provenanceSchema } from './photo-index.ts';
import { SPLITS } from './splits.ts';

const box = z
  .strictObject({ left: z.number(), top: z.number(), width: z.number().min(0), height: z.number().min(0) })
  .describe('pixels from the upper left corner');
const split = z.enum(SPLITS);
const size = { width: z.int().positive(), height: z.int().positive() };

const taxonomy = z
  .record(z.string(), z.union([z.string(), z.number(), z.null()]))
  .describe('what the dataset knows of the class beyond its name');
/** What an object of segmentation data is. */
const annotation = z.strictObject({
  dataset: z.enum(DATASET_NAMES),
  part: z.string().nullable().describe("the dataset's own part: val2017, DIS-TE1; null: it has none"),
  label: z.string().describe('the text that a model is scored on'),
  category: z.string().describe("the dataset's own name of the class"),
  instance: z.string().nullable().describe("the dataset's own name of the object in its picture"),
  taxonomy,
});

/** What is measured of a shape's form (`extractors/shape-statistics.ts` says how). */
const statisticsSchema = z.strictObject({
  area: z.int().positive().describe('set pixels'),
  perimeter: z.number().positive().describe('length of the outline, holes included, pixels'),
  solidity: z.number().min(0).max(1).describe('area over the pixels of the convex hull; 1: digitally convex'),
  convexity: z.number().min(0).max(1).describe("perimeters of the parts' hulls over those of their outer outlines"),
  holes: z.int().min(0).describe('areas of ground that the shape encloses'),
  eulerNumber: z.int().describe('parts (8-connected) minus holes'),
  elongation: z.number().min(0).max(1).describe('1 − shorter over longer axis of the ellipse of the same moments'),
  complexity: z.number().min(0).describe('perimeter² / (4π · area); 1: a disc'),
  thickness: z.number().min(0).max(1).describe('largest disc that fits in, over the disc of the same area; diameters'),
}) satisfies z.ZodType<ShapeStatistics>;

/** A mask as COCO writes it. */
const runLengths = z.strictObject({
  size: z.tuple([z.int().positive(), z.int().positive()]).describe('[height, width]'),
  counts: z.string().describe("column-major run lengths, compressed as pycocotools' strings"),
});

/** The label of a shape: `json` beside `png` in the shape banks. */
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
    .describe('how a natural shape was found; null for others and for an imported one'),
  annotated: annotation
    .extend({
      box: box.describe('of the shape in the picture'),
      scale: z.number().positive().describe('mask pixels per picture pixel'),
    })
    .nullable()
    .describe('what a semantic shape is; null for others and for an imported one'),
  projected: z
    .strictObject({
      mesh: z.string().describe('bank item'),
      rotation: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe('of the mesh: unit quaternion'),
      camera: cameraSchema,
      box: box.describe('of the shape in the picture'),
    })
    .nullable()
    .describe('how a projection was made; null for others'),
  statistics: statisticsSchema,
  photo: z
    .strictObject({ id: z.string(), ...size })
    .describe('the photo or imported file; of a projection the mesh file, with the size of the picture'),
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

const level = z.int().min(0).max(255);
const degrees = z.number().min(0).max(360);
const mapPlan = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('constant'), level }),
    z.strictObject({
      kind: z.literal('pattern'),
      source: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('grey') }),
        z.strictObject({ kind: z.literal('candidate'), candidate: z.enum(CANDIDATES) }),
        z.strictObject({
          kind: z.literal('channel'),
          channel: z.enum(RGB_CHANNELS),
          hueShift: degrees.describe('of all hues, before the channel is taken'),
        }),
      ]),
      negated: z.boolean(),
      blurKernel: z.int().positive().nullable().describe('side of the square that the mean is taken of, pixels'),
      range: z
        .tuple([level, level])
        .readonly()
        .nullable()
        .describe('what darkest and brightest become; null: as they are'),
      floor: level.nullable().describe('what is darker, at full range, becomes 0'),
    }),
  ])
  .describe('how a map of one value a pixel is made from the texture');
const materialPlan = z.strictObject({
  augmentation: z
    .strictObject({
      hueShift: degrees,
      quarterTurn: z.boolean().describe('clockwise'),
      flipHorizontal: z.boolean(),
      flipVertical: z.boolean(),
    })
    .describe('how the texture is changed first, in this order'),
  colorHueShift: degrees.describe('of the colour map alone'),
  height: mapPlan,
  roughness: mapPlan,
  metallic: mapPlan,
  opacity: mapPlan.nullable(),
  transmission: mapPlan.nullable(),
  metal: z
    .strictObject({
      level: level.describe('above: metal'),
      full: z.boolean().describe('metal becomes 255'),
      fullIsSmooth: z.boolean().describe('… and its roughness 0'),
      restIsNone: z.boolean().describe('what is below becomes 0'),
      metalIsRough: z.boolean().describe("… and the metal's roughness 255"),
    })
    .describe('what is done to metallic and roughness at last'),
  normalStrength: z.number().min(0).describe('r: pixels that white is above black in the height map'),
  occlusion: z.boolean(),
});
const mixWeights = z
  .array(z.number().min(0).max(1))
  .readonly()
  .nullable()
  .describe('of each source; null: the largest value');
const importedMap = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('file'),
    file: z.string().describe('name beside the colour map'),
    channel: z
      .enum([...RGB_CHANNELS, 'alpha'])
      .nullable()
      .describe('the one that was taken; null: all'),
  }),
  z.strictObject({ kind: z.literal('neutral'), level }).describe('the set has no such map'),
  z.strictObject({ kind: z.literal('from-height'), strength: z.number() }).describe('normals of the height map'),
]);
const materialMap = z.strictObject({
  file: z.string(),
  colorSpace: z.enum(['srgb', 'linear']),
});

/** The label of a material: `json` beside its maps in the material bank. */
export const materialLabelSchema = z.strictObject({
  id: z.string(),
  split,
  ...size,
  maps: z
    .partialRecord(z.enum(MAP_NAMES), materialMap)
    .describe('linear: 255 is a height, roughness, metalness … of 1'),
  normalConvention: z.literal('+Y').describe('OpenGL, glTF: green is up; normal = 2 · value / 255 − 1'),
  sources: z
    .array(
      z.strictObject({
        texture: z.string().nullable().describe('bank item; null for an imported material'),
        photo: z.string().describe('id of the photo, or of the imported set'),
        provenance: provenanceSchema,
      }),
    )
    .min(1),
  made: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('from-textures'),
      plans: z.array(materialPlan).min(1).describe('one for each source'),
      mix: z
        .record(z.enum(MIXED_MAPS), mixWeights)
        .nullable()
        .describe('how the materials of several sources are laid into one'),
    }),
    z.strictObject({
      kind: z.literal('imported'),
      maps: z.partialRecord(z.enum(MAP_NAMES), importedMap),
      normals: z
        .strictObject({
          from: z.enum(['+Y', '-Y']).describe('what they were; −Y (DirectX) was converted'),
          by: z.enum(['name', 'height', 'default']).describe('what told so; default: nothing did'),
          correlation: z
            .strictObject({ x: z.number(), y: z.number() })
            .nullable()
            .describe('of −x and y with the rise of the height along rows and columns; null: no height map'),
        })
        .nullable()
        .describe("null: made from the height map, not the set's own"),
    }),
  ]),
});
export type MaterialLabel = z.infer<typeof materialLabelSchema>;

const pixelCount = z.int().min(0);
const radiance = z.tuple([z.number().min(0), z.number().min(0), z.number().min(0)]);

/** The label of a panorama: `json` beside `rgb9e5` in the environment bank. */
export const environmentLabelSchema = z.strictObject({
  id: z.string(),
  split,
  panorama: z.string().describe('id of the file'),
  ...size,
  file: z
    .strictObject({ format: z.enum(['hdr', 'exr']), compression: z.string(), ...size })
    .describe('the file it was made from'),
  cleaned: z
    .strictObject({
      nan: pixelCount.describe('became 0'),
      infinite: pixelCount.describe('became 65408, or 0 where negative'),
      negative: pixelCount.describe('became 0'),
    })
    .describe('pixels of the file that were no light, by the first that is true'),
  clamped: pixelCount.describe('pixels that were brighter than 65408, the most that RGB9E5 holds'),
  light: z
    .strictObject({
      mean: radiance.describe('red, green, blue, linear; averaged over all directions by solid angle'),
      brightest: z
        .strictObject({
          luminance: z.number().min(0).describe('Rec. 709'),
          color: radiance,
          direction: z
            .tuple([z.number(), z.number(), z.number()])
            .describe('unit vector, y up; the middle column is +x, the columns right of it go towards +z'),
        })
        .describe('the pixel of the highest luminance'),
    })
    .describe('measured on the stored panorama'),
  provenance: provenanceSchema,
});
export type EnvironmentLabel = z.infer<typeof environmentLabelSchema>;

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
      duplicate: z.int().min(0).describe('with the corners of another, as the back of a two-sided surface'),
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

const maskFacts = z
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
  .describe('measured on mask.png');
const imageFiles = z.strictObject({ jpg: z.string(), 'mask.png': z.string(), json: z.string() });

/** The label of a sample of shapes2d or textures2d. */
export const sample2dLabelSchema = sampleSchema.extend({
  subset: z.enum(['shapes2d', 'textures2d']),
  condition: z.string().describe('name of the condition, or its values joined by hyphens'),
  scene: scene2dSchema,
  facts: maskFacts,
  files: imageFiles,
  sources: z.array(sampleSource).min(1),
});
export type Sample2dLabel = z.infer<typeof sample2dLabelSchema>;

const renderer = z
  .discriminatedUnion('engine', [
    z.strictObject({ engine: z.literal('raster') }),
    z.strictObject({
      engine: z.literal('pathtrace'),
      samples: z.int().positive().describe('paths a pixel'),
      denoise: z.boolean(),
    }),
  ])
  .describe('what drew the scene; left out in labels that are older than path tracing: raster');
/** A file's values are stored × scale + offset; stored values are all 0 where nothing of the object is. */
const stored = { scale: z.number().positive() };
const aovForms = z
  .strictObject({
    'depth.png': z
      .strictObject({
        ...stored,
        offset: z.literal(0),
        unit: z.literal('longest side of the object'),
        along: z.literal('axis of the camera'),
      })
      .optional()
      .describe('16-bit grey: how far the surface is from the camera'),
    'normal.png': z
      .strictObject({
        ...stored,
        offset: z.literal(-1),
        axes: z.literal('of the camera: x right, y up, z towards the camera'),
      })
      .optional()
      .describe('16-bit red, green, blue: x, y, z of the unit normal on the side that is seen'),
  })
  .describe(
    'files on request, of what the middle of each pixel shows: value = stored × scale + offset; stored 0 in all channels: nothing',
  );

/** The label of a sample of shapes3d or materials3d. */
export const sample3dLabelSchema = sampleSchema.extend({
  subset: z.enum(['shapes3d', 'materials3d']),
  attempt: z.int().min(0).describe('views drawn before this one showed too little of the object'),
  varies: z.array(z.enum(QUANTITIES)).min(1).describe('what changes between the images of an instance'),
  scene: scene3dSchema,
  renderer: renderer.optional(),
  facts: maskFacts,
  files: imageFiles.extend({ 'depth.png': z.string().optional(), 'normal.png': z.string().optional() }),
  aov: aovForms.optional(),
  sources: z
    .array(
      z.strictObject({
        role: z.enum(['object', 'material', 'environment']),
        id: z.string().describe('bank item'),
        photo: z.string().optional().describe('of a material: id of the photo its texture was cut from'),
        ...provenanceSchema.shape,
      }),
    )
    .min(3),
});
export type Sample3dLabel = z.infer<typeof sample3dLabelSchema>;

const upright = z.strictObject({
  left: z.int().min(0),
  top: z.int().min(0),
  width: z.int().positive(),
  height: z.int().positive(),
});

/** The label of a sample of silhouettes. */
export const silhouetteLabelSchema = sampleSchema.omit({ attempt: true }).extend({
  subset: z.literal('silhouettes'),
  key: z
    .string()
    .regex(/^silhouettes-\d{6,}-\d+$/)
    .describe('silhouettes-<picture>-<object>'),
  instance: z.strictObject({
    number: z.int().min(0).describe('of the picture in the run’s list'),
    id: z.string().describe('id of the picture and number of the object in it'),
  }),
  variation: z.int().min(0).describe('of the object among those of its picture that are shown, the largest first'),
  annotated: annotation,
  picture: z.strictObject(size).describe('the picture that boxes and run lengths count in'),
  object: z.strictObject({
    box: upright,
    area: z.int().positive().describe('pixels'),
    parts: z.int().positive().describe('contiguous areas (8-connected)'),
    mask: runLengths,
    polygons: z
      .array(
        z.strictObject({
          outer: z.array(z.number()).describe('x1, y1, x2, y2 …'),
          holes: z.array(z.array(z.number())),
        }),
      )
      .optional()
      .describe('outlines along pixel edges, on request; one for each part'),
  }),
  hq: upright.describe('what of the picture hq.jpg shows'),
  silhouette: z.strictObject({
    ...size,
    scale: z.number().positive().describe('silhouette pixels per picture pixel'),
    polarity: z.enum(POLARITIES),
    margin: z.number().min(0),
    soft: z.boolean(),
  }),
  statistics: statisticsSchema,
  files: z.strictObject({
    'hq.jpg': z.string(),
    'silhouette.png': z.string(),
    'edge.png': z.string(),
    'grey.png': z.string(),
    json: z.string(),
  }),
  sources: z.array(z.strictObject({ role: z.literal('picture'), id: z.string(), ...provenanceSchema.shape })).length(1),
});
export type SilhouetteLabel = z.infer<typeof silhouetteLabelSchema>;

/** What all panel tests have in common. */
const panelTest = z.strictObject({
  id: z.string().describe('<condition>-<number>'),
  condition: z.enum([...PANEL_CONDITION_NAMES, REAL_CONDITION]),
  image: z.string().describe('name beside this list'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('of the image file'),
  size: z.int().positive().describe('side of the square image, pixels: two panels'),
  split: split.nullable().describe('that all items are from; null: photographs that were given'),
  question: z.string(),
  alternatives: z.array(z.string()).min(1).describe('prompts that ask the same in other words'),
  choices: z.tuple(
    CHOICES.map(letter => z.literal(letter)) as [z.ZodLiteral<'B'>, z.ZodLiteral<'C'>, z.ZodLiteral<'D'>],
  ),
  answer: z.enum(CHOICES).describe('the panel that shows the instance of panel A'),
  chance: z.number().min(0).max(1).describe('share of right answers that guessing gives'),
  letters: z.strictObject({
    corner: z.enum(CORNERS).describe('of every panel'),
    kind: z.enum(LETTER_KINDS).describe('badge: on a dark ground, since no corner of all four panels was free'),
  }),
  sources: z
    .array(
      z.strictObject({
        role: z.enum(['shape', 'fill', 'background', 'object', 'material', 'environment', 'photograph']),
        id: z.string().describe('bank item, or photograph'),
        photo: z.string().optional().describe('id of the photo it was cut from; of a material, that its texture was'),
        panels: z.array(z.enum(PANELS)).min(1).describe('that show it'),
        ...provenanceSchema.shape,
      }),
    )
    .min(1),
  seed: z.int().min(0),
  attempt: z.int().min(0).describe('draws before this one met broken items, or objects without an acceptable view'),
});
const panelInstance = z.string().describe('bank item that is looked for; the same in A and the answer');
const panelsOf = <P extends z.ZodType>(panel: P) =>
  z.record(z.enum(PANELS), panel).describe('A upper left, B upper right, C and D below');

/** A line of `panels.jsonl`: a test of four panels. */
export const panelTestSchema = z.discriminatedUnion('subset', [
  panelTest.extend({
    subset: z.enum(['shapes2d', 'textures2d']),
    panels: panelsOf(
      z.strictObject({
        instance: panelInstance,
        free: panelScene2dSchema.describe('what was drawn without knowing the instance'),
        scene: scene2dSchema.describe('the same with its instance: what is seen'),
        facts: maskFacts,
      }),
    ),
  }),
  panelTest.extend({
    subset: z.enum(['shapes3d', 'materials3d']),
    renderer: renderer.optional(),
    panels: panelsOf(
      z.strictObject({
        instance: panelInstance,
        free: panelScene3dSchema.describe('what was drawn without knowing the instance'),
        scene: scene3dSchema.describe('the same with its instance: what is seen'),
        facts: maskFacts,
      }),
    ),
  }),
  panelTest.extend({
    subset: z.literal(REAL_CONDITION),
    panels: panelsOf(
      z.strictObject({
        instance: z.string().describe('folder of photographs; the same in A and the answer'),
        photograph: z.strictObject({ file: z.string().describe('path within the folder of instances'), ...size }),
        crop: box.describe('the middle square that is shown, in photo pixels'),
      }),
    ),
  }),
]);
export type PanelTest = z.infer<typeof panelTestSchema>;

/** Every published schema by file name: what `docs/schema/` holds. */
export const LABEL_SCHEMAS = {
  'shape-bank-item': shapeLabelSchema,
  'texture-bank-item': textureLabelSchema,
  'material-bank-item': materialLabelSchema,
  'environment-bank-item': environmentLabelSchema,
  'mesh-bank-item': meshLabelSchema,
  'shapes2d-sample': sample2dLabelSchema,
  'textures2d-sample': sample2dLabelSchema,
  'shapes3d-sample': sample3dLabelSchema,
  'materials3d-sample': sample3dLabelSchema,
  'silhouettes-sample': silhouetteLabelSchema,
  'panel-test': panelTestSchema,
} as const;

/**
 * The bytes of a label, checked against its schema first: a label that does not match is a fault of the program, and
 * nothing is written.
 */
export function encodeLabel<S extends z.ZodType>(schema: S, label: z.input<S>): Uint8Array {
  return Buffer.from(JSON.stringify(schema.parse(label)));
}
