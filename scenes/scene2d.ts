import { z } from 'zod';

const byte = z.int().min(0).max(255);

/** What covers an area of the image. */
export const paintSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('colour'), rgb: z.tuple([byte, byte, byte]).describe('sRGB') }),
  z.strictObject({
    kind: z.literal('texture'),
    id: z.string().describe('texture bank item'),
    scale: z.number().min(1).describe('the texture is enlarged by this first'),
    left: z.int().min(0).describe('crop: pixels of the enlarged texture'),
    top: z.int().min(0).describe('crop: pixels of the enlarged texture'),
    quarterTurns: z.int().min(0).max(3).describe('the crop is turned clockwise so many times by 90°'),
  }),
]);
export type Paint = z.infer<typeof paintSchema>;
export type TexturePaint = Extract<Paint, { kind: 'texture' }>;

/** Places a shape: its box is scaled and turned about its centre, and the centre put at a point of the image. */
export const placementSchema = z.strictObject({
  scale: z.number().positive().describe('image pixels per shape pixel'),
  rotation: z.int().min(0).max(359).describe('degrees, clockwise as seen'),
  center: z
    .tuple([z.number(), z.number()])
    .describe("[x, y] of the shape box's centre, image pixels; pixel (0,0) covers x and y from 0 to 1"),
});
export type Placement = z.infer<typeof placementSchema>;

/** One 2D image, completely: the same scene with the same bank items gives the same pixels. */
export const scene2dSchema = z.strictObject({
  size: z.int().positive().describe('side of the square image, pixels'),
  shape: z.strictObject({ id: z.string().describe('shape bank item') }),
  placement: placementSchema,
  fill: paintSchema.describe('covers the shape'),
  background: paintSchema.describe('covers the rest'),
});
export type Scene2d = z.infer<typeof scene2dSchema>;

/** What a sampler has to know of a bank item. */
export interface ItemSize {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

/** Draws a texture of another photo than `not` (any texture when left out); all a sampler asks of a bank. */
export type TextureDraw = (not?: string) => ItemSize;
