import { renderInstance3d, type Task3d } from '../scenes3d.ts';
import type { Stage } from '../stage.ts';
import { estimate3d, plan3d } from '../subset3d-plan.ts';

/** Meshes, materials and panoramas → images in which an object stays the same and its view, material and light change. */
export const shapes3d: Stage<Task3d> = {
  name: 'shapes3d',
  title: 'shapes3d images',
  unit: 'images',
  reads: ['meshes', 'materials', 'environments'],
  draws: true,

  async estimate({ configuration }) {
    return estimate3d(configuration.shapes3dImages, configuration.shapes3d, configuration);
  },

  async *plan(context) {
    const { shapes3dImages: images, shapes3d: recipe } = context.configuration;
    yield* plan3d(context, { subset: 'shapes3d', images, variations: recipe.variations, instanceBank: 'meshes' });
  },

  run(task, { configuration, banks, port }) {
    const { seed, shapes3d: recipe } = configuration;
    const kind = { subset: 'shapes3d', seed, recipe, rendering: configuration, instanceBank: 'meshes' } as const;
    return renderInstance3d(task, kind, banks as Required<typeof banks>, port!);
  },
};
