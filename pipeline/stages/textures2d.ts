import { pick } from '../../sampling/distributions.ts';
import { textureConditionOf } from '../../scenes/recipe.ts';
import { sampleTextureScene } from '../../scenes/texture-scene.ts';
import { estimateImages } from '../instances.ts';
import { renderInstance, type Task2d } from '../scenes2d.ts';
import type { Stage } from '../stage.ts';
import { EACH_2D, plan2d } from '../subset2d-plan.ts';

/** Shapes and textures → images in which a texture stays the same and the shape that it fills and its background change. */
export const textures2d: Stage<Task2d> = {
  name: 'textures2d',
  title: 'textures2d images',
  unit: 'images',
  reads: ['shapes', 'textures'],

  async estimate({ configuration: { textures2dImages, textures2d: recipe, shardSamples } }) {
    return estimateImages(textures2dImages, recipe.variations, shardSamples, EACH_2D);
  },

  async *plan(context) {
    const { textures2dImages, textures2d: recipe } = context.configuration;
    yield* plan2d(context, {
      subset: 'textures2d',
      images: textures2dImages,
      variations: recipe.variations,
      instanceBank: 'textures',
      texturesShown: recipe.conditions.map(textureConditionOf).some(({ background }) => background === 'texture')
        ? 2
        : 1,
    });
  },

  run(task, { configuration: { seed, textures2d: recipe }, banks }) {
    return renderInstance(
      task,
      {
        subset: 'textures2d',
        seed,
        quality: recipe.quality,
        instanceBank: 'textures',
        sharesShape: recipe.conditions.map(textureConditionOf).some(({ shape }) => shape === 'same'),
        sample(random, texture, draw) {
          const condition = pick(random, recipe.conditions);
          const values = textureConditionOf(condition);
          const shape = values.shape === 'same' ? draw.sharedShape() : draw.shape(random);
          const scene = sampleTextureScene(random, recipe, values, texture, shape, not => draw.texture(random, not));
          return {
            scene,
            condition: typeof condition === 'string' ? condition : `${values.background}-${values.shape}`,
          };
        },
      },
      { shapes: banks.shapes!, textures: banks.textures! },
    );
  },
};
