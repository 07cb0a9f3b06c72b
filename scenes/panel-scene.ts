import { z } from 'zod';
import { type ItemSize, paintSchema, type Scene2d, type TexturePaint } from './scene2d.ts';
import { type Scene3d, scene3dSchema } from './scene3d.ts';

/** The panels of a test, in the order they are read: A upper left, B upper right, C lower left, D lower right. */
export const PANELS = ['A', 'B', 'C', 'D'] as const;
export type PanelName = (typeof PANELS)[number];
/** The panels that may show what A shows. */
export const CHOICES = ['B', 'C', 'D'] as const;
export type Choice = (typeof CHOICES)[number];

/** Side of a test's picture, pixels. */
export const SHEET_SIZE = 1024;
/** Width of the cross between the panels, pixels: on one black ground four panels would be one. */
export const GUTTER = 8;
/** Side of a panel, pixels: drawn so that it fits beside the cross, which hides nothing of it. */
export const PANEL_SIZE = (SHEET_SIZE - GUTTER) / 2;

/** The square of a test's picture that a panel fills, pixels. */
export function panelBox(panel: PanelName): { left: number; top: number; width: number; height: number } {
  const number = PANELS.indexOf(panel);
  const step = PANEL_SIZE + GUTTER;
  return { left: step * (number % 2), top: step * Math.floor(number / 2), width: PANEL_SIZE, height: PANEL_SIZE };
}

const share = z.number().min(0).max(1);

/** A window of a texture that is not known yet. */
const textureWindowSchema = z.strictObject({
  kind: z.literal('instance'),
  window: z.int().positive().describe('side of the window, texture pixels: the same in all panels of a test'),
  place: z
    .tuple([share, share])
    .describe('of the window, from the left and upper edge (0) to the right and lower one (1)'),
  quarterTurns: z.int().min(0).max(3).describe('clockwise'),
});
export type TextureWindow = z.infer<typeof textureWindowSchema>;

/**
 * A 2D panel without the instance it shows: all that is drawn for it. Nothing in it may depend on which instance that is,
 * else it would tell the answer; so sizes are those of the picture, and not factors on the item's.
 */
export const panelScene2dSchema = z.strictObject({
  size: z.int().positive().describe('side of the square panel, pixels'),
  shape: z.strictObject({ id: z.string() }).nullable().describe('shape bank item; null: the instance'),
  placement: z.strictObject({
    longSide: z.number().positive().describe("longer side of the shape's box before it is turned, pixels"),
    rotation: z.int().min(0).max(359).describe('degrees, clockwise as seen'),
    center: z.tuple([z.number(), z.number()]).describe("[x, y] of the shape box's centre, pixels"),
  }),
  fill: z.discriminatedUnion('kind', [...paintSchema.options, textureWindowSchema]).describe('covers the shape'),
  background: paintSchema.describe('covers the rest'),
});
export type PanelScene2d = z.infer<typeof panelScene2dSchema>;

const unknown = z.string().nullable().describe('bank item; null: the instance');

/** A 3D panel without the instance it shows, likewise. */
export const panelScene3dSchema = scene3dSchema.extend({
  object: scene3dSchema.shape.object.extend({ id: unknown }),
  material: scene3dSchema.shape.material.extend({ id: unknown }),
});
export type PanelScene3d = z.infer<typeof panelScene3dSchema>;

/**
 * The panel with its instance: what the compositor draws.
 * @param instance the shape or the texture that was left open.
 * @param shape the shape that is shown: the instance, or the one that the panel names.
 */
export function toScene2d(panel: PanelScene2d, instance: ItemSize, shape: ItemSize): Scene2d {
  const { size, placement, fill, background } = panel;
  const { longSide, rotation, center } = placement;
  return {
    size,
    shape: { id: shape.id },
    placement: { scale: longSide / Math.max(shape.width, shape.height), rotation, center },
    fill: fill.kind === 'instance' ? toTexturePaint(fill, instance, size) : fill,
    background,
  };
}

/** The crop of a texture that a window of it is; the texture's sides are at least the window's. */
function toTexturePaint({ window, place, quarterTurns }: TextureWindow, texture: ItemSize, size: number): TexturePaint {
  const scale = size / window;
  const start = (share: number, extent: number) => Math.round(share * Math.max(0, Math.round(extent * scale) - size));
  return {
    kind: 'texture',
    id: texture.id,
    scale,
    left: start(place[0], texture.width),
    top: start(place[1], texture.height),
    quarterTurns,
  };
}

/** The panel with its instance: what the renderer draws. @param instance id of the mesh or material that was left open. */
export function toScene3d({ object, material, ...rest }: PanelScene3d, instance: string): Scene3d {
  return {
    ...rest,
    object: { ...object, id: object.id ?? instance },
    material: { ...material, id: material.id ?? instance },
  };
}
