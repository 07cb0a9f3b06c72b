import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { LAST_TEXTURES2D, type Textures2dRecipe } from '../../scenes/recipe.ts';
import type { Scene2d } from '../../scenes/scene2d.ts';
import { sampleTextureScene } from '../../scenes/texture-scene.ts';
import { worstNumber } from './statistics.ts';

const TEXTURE = { id: 'own', width: 640, height: 560 };

function scene(i: number, shape = { width: 310, height: 150 }, recipe: Partial<Textures2dRecipe> = {}): Scene2d {
  return sampleTextureScene(
    rng(1, 'test', i),
    { ...LAST_TEXTURES2D, ...recipe },
    { background: 'texture', shape: 'different' },
    TEXTURE,
    { id: 'shape', ...shape },
    not => ({ id: `not ${not}`, width: 512, height: 900 }),
  );
}

describe('a texture scene', () => {
  it.each([
    [310, 150],
    [150, 310],
    [9, 9],
    [1500, 1499],
  ])('has a shape of %i×%i px that fills the frame, upright in the middle', (width, height) => {
    for (const size of [512, 99]) {
      const { placement } = scene(0, { width, height }, { size });
      expect(placement.scale * Math.max(width, height)).toBeCloseTo(size, 9);
      expect(placement).toMatchObject({ rotation: 0, center: [size / 2, size / 2] });
    }
  });

  it('crops and turns its texture anew in every image', () => {
    const fills = Array.from({ length: 20_000 }, (_, i) => scene(i).fill);
    const numbers = (name: 'left' | 'top' | 'quarterTurns') =>
      fills.map(fill => (fill.kind === 'texture' ? fill[name] : Number.NaN));
    expect(worstNumber(numbers('left'), 0, 640 - 512)).toBeLessThan(4);
    expect(worstNumber(numbers('top'), 0, 560 - 512)).toBeLessThan(4);
    expect(worstNumber(numbers('quarterTurns'), 0, 3)).toBeLessThan(4);
  });

  it('has a background of another texture', () => {
    expect(scene(0)).toMatchObject({ fill: { id: 'own' }, background: { id: 'not own' } });
  });

  it('may have a coloured or white background too', () => {
    const of = (background: 'colour' | 'white', i: number) =>
      sampleTextureScene(
        rng(1, 'test', i),
        LAST_TEXTURES2D,
        { background, shape: 'same' },
        TEXTURE,
        { id: 'shape', width: 5, height: 5 },
        () => expect.unreachable('no texture is asked for'),
      ).background;
    expect(of('white', 0)).toEqual({ kind: 'colour', rgb: [255, 255, 255] });
    expect(of('colour', 0)).not.toEqual(of('colour', 1));
  });
});
