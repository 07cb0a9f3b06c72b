import { pick } from '../../sampling/distributions.ts';
import { shapeConditionName } from '../../scenes/conditions.ts';
import { shapeConditionOf } from '../../scenes/recipe.ts';
import { sampleShapeScene } from '../../scenes/shape-scene.ts';
import { itemSize, shapeSourceOf } from '../bank.ts';
import { estimateImages } from '../instances.ts';
import { renderInstance, type Task2d } from '../scenes2d.ts';
import type { Stage } from '../stage.ts';
import { EACH_2D, plan2d } from '../subset2d-plan.ts';

/** Shapes and textures → images in which a shape stays the same and its place, fill and background change. */
export const shapes2d: Stage<Task2d> = {
  name: 'shapes2d',
  title: 'shapes2d images',
  unit: 'images',
  reads: ['shapes', 'textures'],

  async estimate({ configuration: { shapes2dImages, shapes2d: recipe, shardSamples } }) {
    return estimateImages(shapes2dImages, recipe.variations, shardSamples, EACH_2D);
  },

  async *plan(context) {
    const { shapes2dImages, shapes2d: recipe } = context.configuration;
    const conditions = recipe.conditions.map(shapeConditionOf);
    yield* plan2d(context, {
      subset: 'shapes2d',
      images: shapes2dImages,
      variations: recipe.variations,
      instanceBank: 'shapes',
      sources: new Set(conditions.map(({ source }) => source)),
      texturesShown: Math.max(
        ...conditions.map(({ background, shape }) => Number(background === 'texture') + Number(shape === 'texture')),
      ) as 0 | 1 | 2,
    });
  },

  run(task, { configuration: { seed, shapes2d: recipe }, banks }) {
    const shapes = banks.shapes!;
    const conditions = recipe.conditions.map(shapeConditionOf);
    return renderInstance(
      task,
      {
        subset: 'shapes2d',
        seed,
        quality: recipe.quality,
        instanceBank: 'shapes',
        sharedShapes: [],
        sample(random, item, draw) {
          const source = shapeSourceOf(shapes, item);
          const condition = pick(
            random,
            conditions.filter(of => of.source === source),
          );
          const scene = sampleShapeScene(random, recipe, condition, itemSize(shapes, item), not =>
            draw.texture(random, not),
          );
          return { scene, condition: shapeConditionName(condition) };
        },
      },
      { shapes, textures: banks.textures! },
    );
  },
};
