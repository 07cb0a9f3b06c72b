import { describe, expect, it } from 'vitest';
import { LAST_SHAPES2D, LAST_TEXTURES2D, shapes2dRecipe, textures2dRecipe } from '../../scenes/recipe.ts';

describe('the recipe "last"', () => {
  it('has the paper’s numbers', () => {
    expect(LAST_SHAPES2D).toEqual({
      variations: 5,
      size: 512,
      quality: 95,
      conditions: ['natural-textured-textured-rotated'],
      longSide: [0.32, 1],
    });
    expect(LAST_TEXTURES2D).toEqual({ variations: 5, size: 512, quality: 95, conditions: ['textured-different'] });
  });

  it('matches its schema', () => {
    expect(shapes2dRecipe.parse(LAST_SHAPES2D)).toEqual(LAST_SHAPES2D);
    expect(textures2dRecipe.parse(LAST_TEXTURES2D)).toEqual(LAST_TEXTURES2D);
  });
});

describe('a recipe', () => {
  const own = { source: 'natural', background: 'white', shape: 'colour', rotated: true };
  const shapes = (change: object) => shapes2dRecipe.safeParse({ ...LAST_SHAPES2D, ...change }).success;

  it.each([
    ['named conditions and own ones', { conditions: ['natural-black-white-rotated', own] }],
    ['conditions of several sources', { conditions: ['semantic-coloured-coloured-rotated', own] }],
    ['a column of Table 1 for another source', { conditions: ['projection-textured-textured-rotated'] }],
    ['a size and a quality', { size: 64, quality: 80, variations: 2 }],
    ['a fixed long side', { longSide: [0.5, 0.5] }],
  ])('takes %s', (_, change) => expect(shapes(change)).toBe(true));

  it.each([
    ['no condition', { conditions: [] }],
    ['an unknown condition', { conditions: ['natural-green-white-rotated'] }],
    ['a long side upside down', { longSide: [0.6, 0.5] }],
    ['a long side beyond the image', { longSide: [0.5, 1.1] }],
    ['half an image', { variations: 2.5 }],
    ['an unknown name', { side: 512 }],
  ])('refuses %s', (_, change) => expect(shapes(change)).toBe(false));

  it('takes a texture condition of one’s own', () => {
    const conditions = [
      'black-same',
      'semantic-black-same',
      { background: 'white', shape: 'different' },
      { source: 'projection', background: 'white', shape: 'different' },
    ];
    expect(textures2dRecipe.safeParse({ ...LAST_TEXTURES2D, conditions }).success).toBe(true);
    expect(textures2dRecipe.safeParse({ ...LAST_TEXTURES2D, conditions: [{ background: 'white' }] }).success).toBe(
      false,
    );
  });
});
