import { z } from 'zod';

const vector = z.tuple([z.number(), z.number(), z.number()]);
const quaternion = z
  .tuple([z.number(), z.number(), z.number(), z.number()])
  .describe('unit quaternion x, y, z, w; turns a point p to q p q*');
export type Vector = z.infer<typeof vector>;
export type Quaternion = z.infer<typeof quaternion>;

/**
 * How a material is laid around an object: a point p of the object (its longest side is 1) is at
 * p' = turn(scale × p) + offset in units of material repeats, and each side of the box around it sees the material upright.
 */
export const boxMappingSchema = z.strictObject({
  scale: vector.describe('material repeats per unit of length along the axes of the object'),
  rotation: quaternion.describe('turn of the material around the object, after the scale'),
  offset: vector.describe('material repeats, after the turn'),
  blend: z.number().min(0).max(1).describe('width of the blend between two sides, in components of the unit normal'),
});
export type BoxMapping = z.infer<typeof boxMappingSchema>;

/** A pinhole camera at (0, 0, distance) that looks at the origin, y up. */
export const cameraSchema = z.strictObject({
  distance: z.number().positive().describe("from the object's centre; its longest side is 1"),
  focalLength: z.number().positive().describe('millimetres'),
  sensor: z.number().positive().describe('side of the square sensor, millimetres'),
});
export type Camera = z.infer<typeof cameraSchema>;

/** One image of an object, completely: the same scene with the same bank items gives the same picture. */
export const scene3dSchema = z.strictObject({
  size: z.int().positive().describe('side of the square image, pixels'),
  camera: cameraSchema,
  object: z.strictObject({ id: z.string().describe('mesh bank item'), rotation: quaternion }),
  material: z.strictObject({
    id: z.string().describe('material bank item'),
    mapping: boxMappingSchema,
    displacement: z.number().min(0).describe('how far white in the height map lifts the surface'),
  }),
  environment: z.strictObject({
    id: z.string().describe('environment bank item'),
    rotation: quaternion.describe('turns a direction of the panorama to one of the scene'),
    strength: z.number().min(0).describe('factor on its radiance'),
  }),
  toneMapping: z.enum(['agx', 'none']).describe('from linear light to the picture; none clips at 1'),
});
export type Scene3d = z.infer<typeof scene3dSchema>;

/** Side of the sensor that the published focal length belongs to, millimetres. */
export const SENSOR = 36;

/** The half diagonal of a cube of side 1: no part of an object is further from its centre, but for its displacement. */
export const OBJECT_RADIUS = Math.sqrt(3) / 2;

/** Half the camera's field of view, as a tangent: what a square image shows at distance 1. */
export function halfField({ focalLength, sensor }: Camera): number {
  return sensor / 2 / focalLength;
}
