import { chance, logUniform, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import { eulerRotation, uniformRotation } from '../sampling/rotation.ts';
import type { Quantity, Scene3dRecipe } from './recipe3d.ts';
import { type BoxMapping, type Camera, type Scene3d, SENSOR, type Vector } from './scene3d.ts';

/** How an object is seen. */
export type View = Pick<Scene3d, 'camera'> & Pick<Scene3d['object'], 'rotation'>;

/** The quantities of a scene that vary or stay the same on their own, as far as they are drawn. */
export interface Quantities {
  readonly orientation: View;
  readonly material: Scene3d['material'];
  readonly object: { readonly id: string };
  readonly environment: Scene3d['environment'];
}

/** Draws bank items; all a sampler asks of the banks. */
export interface Draw3d {
  mesh(random: Rng): string;
  material(random: Rng): string;
  environment(random: Rng): string;
}

/** How each quantity is drawn (LAS&T's script; rotations uniform over SO(3)). */
export const DRAW_QUANTITY: {
  readonly [Q in Quantity]: (random: Rng, recipe: Scene3dRecipe, draw: Draw3d) => Quantities[Q];
} = {
  orientation: (random, { distance, focalLength }) => ({
    rotation: uniformRotation(random),
    camera: { distance: uniform(random, ...distance), focalLength, sensor: SENSOR } satisfies Camera,
  }),
  object: (random, _, draw) => ({ id: draw.mesh(random) }),
  material: (random, { mapping, displacement }, draw) => ({
    id: draw.material(random),
    mapping: drawMapping(random, mapping),
    displacement,
  }),
  environment: (random, { environmentStrength, environmentStrengthVaries }, draw) => ({
    id: draw.environment(random),
    rotation: uniformRotation(random),
    strength: chance(random, environmentStrengthVaries) ? uniform(random, ...environmentStrength) : 1,
  }),
};

/** The mapping's ranges, each coordinate on its own; the scale is one for all axes, or with a probability one for each. */
function drawMapping(
  random: Rng,
  { offset, rotation, scale, scalePerAxis, blend }: Scene3dRecipe['mapping'],
): BoxMapping {
  const three = (draw: () => number): Vector => [draw(), draw(), draw()];
  const same = logUniform(random, ...scale);
  const perAxis = chance(random, scalePerAxis);
  return {
    scale: three(() => (perAxis ? logUniform(random, ...scale) : same)),
    rotation: eulerRotation(...three(() => uniform(random, ...rotation))),
    offset: three(() => uniform(random, ...offset)),
    blend,
  };
}

/** Puts a scene together. */
export function composeScene(
  { size, toneMapping }: Scene3dRecipe,
  { orientation, material, object, environment }: Quantities,
): Scene3d {
  const { camera, rotation } = orientation;
  return { size, camera, object: { id: object.id, rotation }, material, environment, toneMapping };
}
