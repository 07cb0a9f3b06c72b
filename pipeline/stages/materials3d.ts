import { renderInstance3d, type Task3d } from '../scenes3d.ts';
import type { Stage } from '../stage.ts';
import { estimate3d, plan3d } from '../subset3d-plan.ts';

/** Meshes, materials and panoramas → images in which a material stays the same and the object, its view and the light change. */
export const materials3d: Stage<Task3d> = {
  name: 'materials3d',
  title: 'materials3d images',
  unit: 'images',
  reads: ['meshes', 'materials', 'environments'],
  draws: true,

  async estimate({ configuration }) {
    return estimate3d(configuration.materials3dImages, configuration.materials3d, configuration);
  },

  async *plan(context) {
    const { materials3dImages: images, materials3d: recipe } = context.configuration;
    yield* plan3d(context, { subset: 'materials3d', images, variations: recipe.variations, instanceBank: 'materials' });
  },

  run(task, { configuration, banks, port }) {
    const { seed, materials3d: recipe } = configuration;
    const kind = { subset: 'materials3d', seed, recipe, rendering: configuration, instanceBank: 'materials' } as const;
    return renderInstance3d(task, kind, banks as Required<typeof banks>, port!);
  },
};
