import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { composeScene, DRAW_QUANTITY, type Draw3d, type Quantities } from '../../scenes/object-scene.ts';
import {
  LAST_MATERIALS3D,
  LAST_SHAPES3D,
  materials3dRecipe,
  type Scene3dRecipe,
  shapes3dRecipe,
} from '../../scenes/recipe3d.ts';
import { scene3dSchema } from '../../scenes/scene3d.ts';
import { shareDeviation } from './statistics.ts';

const draw: Draw3d = { mesh: () => 'mesh', material: () => 'material', environment: () => 'environment' };
const DRAWS = 20_000;

function quantities(recipe: Scene3dRecipe, seed: number): Quantities {
  const random = rng(seed, 'test', 'scene');
  return {
    orientation: DRAW_QUANTITY.orientation(random, recipe, draw),
    object: DRAW_QUANTITY.object(random, recipe, draw),
    material: DRAW_QUANTITY.material(random, recipe, draw),
    environment: DRAW_QUANTITY.environment(random, recipe, draw),
  };
}

const expectShare = (count: number, probability: number) =>
  expect(shareDeviation(count, DRAWS, probability)).toBeLessThan(4);

describe('scenes of shapes3d', () => {
  const all = Array.from({ length: DRAWS }, (_, seed) => quantities(LAST_SHAPES3D, seed));

  it('match their schema', () => {
    for (const q of all.slice(0, 200)) expect(scene3dSchema.parse(composeScene(LAST_SHAPES3D, q))).toBeDefined();
  });

  it('are seen from 0.85 to 1.85, uniformly, through 32 mm', () => {
    const bins = new Array<number>(10).fill(0);
    for (const {
      orientation: { camera },
    } of all) {
      expect(camera).toMatchObject({ focalLength: 32, sensor: 36 });
      bins[Math.floor(10 * (camera.distance - 0.85))]!++;
    }
    for (const count of bins) expectShare(count, 0.1);
  });

  it('have offsets uniform in 0–30, and scales log-uniform in 0.01–10^0.6, one for each axis in 40 %', () => {
    let perAxis = 0;
    const offsets = new Array<number>(10).fill(0);
    const scales = new Array<number>(13).fill(0);
    for (const {
      material: { mapping },
    } of all) {
      if (new Set(mapping.scale).size > 1) perAxis++;
      offsets[Math.floor(mapping.offset[1] / 3)]!++;
      scales[Math.floor((Math.log10(mapping.scale[2]) + 2) / 0.2)]!++;
    }
    expectShare(perAxis, 0.4);
    for (const count of offsets) expectShare(count, 0.1);
    for (const count of scales) expectShare(count, 1 / 13);
  });

  it('have the published displacement and unit rotations', () => {
    for (const { material, environment } of all.slice(0, 100)) {
      expect(material.displacement).toBe(0.066);
      expect(Math.hypot(...material.mapping.rotation)).toBeCloseTo(1, 12);
      expect(Math.hypot(...environment.rotation)).toBeCloseTo(1, 12);
      expect(environment.strength).toBe(1);
    }
  });
});

describe('scenes of materials3d', () => {
  const all = Array.from({ length: DRAWS }, (_, seed) => quantities(LAST_MATERIALS3D, seed));

  it('show three repeats, without offset, turn or displacement', () => {
    for (const { material } of all.slice(0, 100)) {
      expect(material.mapping).toEqual({ scale: [3, 3, 3], rotation: [0, 0, 0, 1], offset: [0, 0, 0], blend: 0.02 });
      expect(material.displacement).toBe(0);
    }
  });

  it('have a strength of 1 in half of them, else uniform in 1–2.5', () => {
    const varied = all.map(({ environment }) => environment.strength).filter(strength => strength !== 1);
    expectShare(varied.length, 0.5);
    expect(Math.min(...varied)).toBeGreaterThan(1);
    expect(Math.max(...varied)).toBeLessThan(2.5);
    expect(Math.abs(varied.reduce((a, b) => a + b) / varied.length - 1.75)).toBeLessThan(0.02);
  });
});

describe('recipes of 3D scenes', () => {
  it('refuse to vary what an instance is', () => {
    expect(shapes3dRecipe.safeParse({ ...LAST_SHAPES3D, vary: ['object'] }).success).toBe(false);
    expect(materials3dRecipe.safeParse({ ...LAST_MATERIALS3D, vary: ['material'] }).success).toBe(false);
    expect(shapes3dRecipe.safeParse(LAST_SHAPES3D).success).toBe(true);
    expect(materials3dRecipe.safeParse(LAST_MATERIALS3D).success).toBe(true);
  });
});
