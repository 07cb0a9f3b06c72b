import { pick } from '../../sampling/distributions.ts';
import { textureConditionName } from '../../scenes/conditions.ts';
import { textureConditionOf } from '../../scenes/recipe.ts';
import { sampleTextureScene } from '../../scenes/texture-scene.ts';
import { itemSize, itemsOf } from '../bank.ts';
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
    const conditions = recipe.conditions.map(textureConditionOf);
    yield* plan2d(context, {
      subset: 'textures2d',
      images: textures2dImages,
      variations: recipe.variations,
      instanceBank: 'textures',
      sources: new Set(conditions.map(({ source }) => source)),
      texturesShown: conditions.some(({ background }) => background === 'texture') ? 2 : 1,
    });
  },

  run(task, { configuration: { seed, textures2d: recipe }, banks }) {
    const shapes = banks.shapes!;
    const textures = banks.textures!;
    // A split may lack shapes of one source; the others take its images.
    const conditions = recipe.conditions
      .map(textureConditionOf)
      .filter(({ source }) => itemsOf(shapes, task.split, source).length > 0);
    const shared = conditions.filter(({ shape }) => shape === 'same').map(({ source }) => source);
    return renderInstance(
      task,
      {
        subset: 'textures2d',
        seed,
        quality: recipe.quality,
        instanceBank: 'textures',
        sharedShapes: [...new Set(shared)],
        sample(random, item, draw) {
          const condition = pick(random, conditions);
          const { source } = condition;
          const shape = condition.shape === 'same' ? draw.sharedShape(source) : draw.shape(random, source);
          const scene = sampleTextureScene(random, recipe, condition, itemSize(textures, item), shape, not =>
            draw.texture(random, not),
          );
          return { scene, condition: textureConditionName(condition) };
        },
      },
      { shapes, textures },
    );
  },
};
