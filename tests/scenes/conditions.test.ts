import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import {
  SHAPE_CONDITIONS,
  SHAPE_SOURCES,
  shapeConditionName,
  shapeConditionSchema,
  TEXTURE_CONDITIONS,
  textureConditionName,
  textureConditionSchema,
} from '../../scenes/conditions.ts';
import { LAST_SHAPES2D, LAST_TEXTURES2D, shapeConditionOf, textureConditionOf } from '../../scenes/recipe.ts';
import { type ItemSize, type Paint, scene2dSchema } from '../../scenes/scene2d.ts';
import { sampleShapeScene } from '../../scenes/shape-scene.ts';
import { sampleTextureScene } from '../../scenes/texture-scene.ts';

const SHAPE: ItemSize = { id: 'shape', width: 300, height: 200 };
const TEXTURE: ItemSize = { id: 'texture', width: 700, height: 600 };

/** Textures in turn, so that two draws differ; remembers what they were asked not to be. */
function bankOfTextures() {
  const asked: (string | undefined)[] = [];
  const draw = (not?: string): ItemSize => {
    asked.push(not);
    return { ...TEXTURE, id: `texture-${asked.length}` };
  };
  return { draw, asked };
}

function matches(paint: Paint, word: string): boolean {
  switch (word) {
    case 'textured':
      return paint.kind === 'texture';
    case 'coloured':
      return paint.kind === 'colour';
    case 'black':
      return paint.kind === 'colour' && paint.rgb.every(v => v === 0);
    case 'white':
      return paint.kind === 'colour' && paint.rgb.every(v => v === 255);
    default:
      throw new Error(word);
  }
}

describe('conditions of the shape test (Table 1)', () => {
  it('are the nine columns, and each of them for the other sources', () => {
    const columns = Object.keys(SHAPE_CONDITIONS).map(name => name.slice(name.indexOf('-') + 1));
    expect([columns.length, new Set(columns).size]).toEqual([21, 7]);
    expect(Object.keys(SHAPE_CONDITIONS)).toEqual(
      expect.arrayContaining([
        'natural-black-white-rotated',
        'natural-black-white-unrotated',
        'natural-coloured-coloured-rotated',
        'natural-coloured-coloured-unrotated',
        'natural-textured-black-unrotated',
        'natural-textured-textured-rotated',
        'natural-textured-textured-unrotated',
        'semantic-coloured-coloured-rotated',
        'semantic-textured-textured-rotated',
      ]),
    );
  });

  it.each(Object.entries(SHAPE_CONDITIONS))('%s gives scenes as its name says', (name, condition) => {
    const [source, background, shape, rotation] = name.split('-');
    expect(condition.source).toBe(source);
    expect(shapeConditionName(condition)).toBe(name);
    expect(shapeConditionSchema.parse(condition)).toEqual(condition);
    const rotations = new Set<number>();
    const colours = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const { draw, asked } = bankOfTextures();
      const scene = sampleShapeScene(rng(1, name, i), LAST_SHAPES2D, condition, SHAPE, draw);
      expect(scene2dSchema.parse(scene)).toEqual(scene);
      expect(scene).toMatchObject({ size: 512, shape: { id: SHAPE.id } });
      expect(matches(scene.fill, shape!) && matches(scene.background, background!)).toBe(true);
      rotations.add(scene.placement.rotation);
      colours.add(JSON.stringify([scene.fill, scene.background]));
      const textures = [shape, background].filter(word => word === 'textured').length;
      expect(asked).toHaveLength(textures);
      if (textures === 2) {
        // The second draw excludes what the first gave.
        expect(asked).toEqual([undefined, 'texture-1']);
        expect(scene).toMatchObject({ fill: { id: 'texture-1' }, background: { id: 'texture-2' } });
      }
    }
    if (rotation === 'rotated') expect(rotations.size).toBeGreaterThan(50);
    else expect([...rotations]).toEqual([0]);
    if (name.includes('black-white')) expect(colours.size).toBe(1);
    else expect(colours.size).toBeGreaterThan(90);
  });

  it('cannot be seen, and are refused, when shape and background are both black or both white', () => {
    const condition = { source: 'natural', background: 'black', shape: 'black', rotated: true };
    expect(shapeConditionSchema.safeParse(condition).success).toBe(false);
    expect(shapeConditionSchema.safeParse({ ...condition, background: 'white', shape: 'white' }).success).toBe(false);
    expect(shapeConditionSchema.safeParse({ ...condition, shape: 'white' }).success).toBe(true);
    expect(shapeConditionSchema.safeParse({ ...condition, shape: 'white', colour: 'red' }).success).toBe(false);
  });
});

describe('conditions of the texture test (Table 3)', () => {
  it('are background textured or black × shape different or same, with shapes of any source and of each', () => {
    const columns = ['black-different', 'black-same', 'textured-different', 'textured-same'];
    const ofSources = SHAPE_SOURCES.flatMap(source => columns.map(column => `${source}-${column}`));
    expect(Object.keys(TEXTURE_CONDITIONS).sort()).toEqual([...columns, ...ofSources].sort());
  });

  it.each(Object.entries(TEXTURE_CONDITIONS))('%s gives scenes as its name says', (name, condition) => {
    const [shape, background, source] = name.split('-').reverse();
    expect(condition).toMatchObject({ shape, ...(source && { source }) });
    expect(textureConditionName(condition)).toBe(name);
    expect(textureConditionSchema.parse(condition)).toEqual(condition);
    for (let i = 0; i < 100; i++) {
      const { draw, asked } = bankOfTextures();
      const scene = sampleTextureScene(rng(1, name, i), LAST_TEXTURES2D, condition, TEXTURE, SHAPE, draw);
      expect(scene2dSchema.parse(scene)).toEqual(scene);
      expect(scene).toMatchObject({ shape: { id: SHAPE.id }, fill: { kind: 'texture', id: TEXTURE.id } });
      expect(matches(scene.background, background!)).toBe(true);
      expect(asked).toEqual(background === 'textured' ? [TEXTURE.id] : []);
    }
  });
});

it('conditions are found by name or stand for themselves', () => {
  expect(shapeConditionOf('natural-textured-black-unrotated')).toEqual({
    source: 'natural',
    background: 'texture',
    shape: 'black',
    rotated: false,
  });
  const own = { source: 'projection', background: 'white', shape: 'black', rotated: true } as const;
  expect(shapeConditionOf(own)).toBe(own);
  expect(shapeConditionName(own)).toBe('projection-white-black-rotated');
  expect(textureConditionOf('black-same')).toEqual({ background: 'black', shape: 'same' });
  const ownTexture = { background: 'colour', shape: 'same' } as const;
  expect(textureConditionOf(ownTexture)).toBe(ownTexture);
});
