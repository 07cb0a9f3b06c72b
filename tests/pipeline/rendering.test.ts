import { describe, expect, it } from 'vitest';
import { RASTERISED, rendererOf, sceneJob, sceneSeed } from '../../pipeline/rendering.ts';
import { scene } from '../renderers/3d/still-life.ts';

/** What the page is asked to draw for a run's scenes. */
const items = { mesh: 1, material: 2, environment: 3 };
const TRACED = { engine: 'pathtrace', samples: 7, denoise: true, aov: [] } as const;

describe('a scene’s job', () => {
  it('names the run’s engine with all it needs', () => {
    expect(sceneJob(scene(), items, RASTERISED).engine).toEqual({ name: 'raster' });
    expect(sceneJob(scene(), items, TRACED)).toEqual({
      scene: scene(),
      items,
      output: 'picture',
      engine: { name: 'pathtrace', samples: 7, denoise: true, seed: sceneSeed(scene()), clamp: 16 },
    });
    expect(rendererOf(RASTERISED)).toEqual({ engine: 'raster' });
    expect(rendererOf(TRACED)).toEqual({ engine: 'pathtrace', samples: 7, denoise: true });
  });

  it('has a seed that the scene’s values decide, in whatever order they are written', () => {
    const { size, camera, ...rest } = scene();
    const { distance, focalLength, sensor } = camera;
    const seed = sceneSeed(scene());
    expect(sceneSeed({ ...rest, camera: { sensor, distance, focalLength }, size })).toBe(seed);
    expect(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32).toBe(true);
    expect(sceneSeed(scene({ object: { id: 'object', rotation: [0, 0, 1, 0] } }))).not.toBe(seed);
    expect(sceneSeed(scene({ object: { id: 'object', rotation: [0, 1, 0, 0] } }))).not.toBe(
      sceneSeed(scene({ object: { id: 'object', rotation: [0, 0, 1, 0] } })),
    );
  });
});
