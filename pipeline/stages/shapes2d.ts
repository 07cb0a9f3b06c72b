import { pick } from '../../sampling/distributions.ts';
import { shapeConditionOf } from '../../scenes/recipe.ts';
import { sampleShapeScene } from '../../scenes/shape-scene.ts';
import { shapeSourceOf } from '../bank.ts';
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
    const { source } = conditions[0]!;
    yield* plan2d(context, {
      subset: 'shapes2d',
      images: shapes2dImages,
      variations: recipe.variations,
      instanceBank: 'shapes',
      isInstance: item => shapeSourceOf(context.banks.shapes!, item) === source,
      texturesShown: Math.max(
        ...conditions.map(({ background, shape }) => Number(background === 'texture') + Number(shape === 'texture')),
      ) as 0 | 1 | 2,
    });
  },

  run(task, { configuration: { seed, shapes2d: recipe }, banks }) {
    return renderInstance(
      task,
      {
        subset: 'shapes2d',
        seed,
        quality: recipe.quality,
        instanceBank: 'shapes',
        sharesShape: false,
        sample(random, shape, draw) {
          const condition = pick(random, recipe.conditions);
          const values = shapeConditionOf(condition);
          const scene = sampleShapeScene(random, recipe, values, shape, not => draw.texture(random, not));
          return { scene, condition: typeof condition === 'string' ? condition : describe(values) };
        },
      },
      { shapes: banks.shapes!, textures: banks.textures! },
    );
  },
};

const describe = ({ source, background, shape, rotated }: ReturnType<typeof shapeConditionOf>) =>
  `${source}-${background}-${shape}-${rotated ? 'rotated' : 'unrotated'}`;
