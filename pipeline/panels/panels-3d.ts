import { coverageFacts } from '../../renderers/coverage.ts';
import type { Rng } from '../../sampling/rng.ts';
import type { PanelCondition3d } from '../../scenes/panel-conditions.ts';
import { instancesOf, type Triple } from '../../scenes/panel-plan.ts';
import { type Choice, PANEL_SIZE, PANELS, toScene3d } from '../../scenes/panel-scene.ts';
import { samplePanels3d } from '../../scenes/panel-test.ts';
import type { Scene3dRecipe } from '../../scenes/recipe3d.ts';
import type { Configuration } from '../configuration.ts';
import type { PanelTest } from '../labels.ts';
import { rendererOf, sceneJob } from '../rendering.ts';
import { type Drawer, isAccepted, readMesh, sourcesOf, splitFrame } from '../scenes3d.ts';
import type { Banks } from '../stage.ts';
import { PANEL_SPLIT, type PanelPools, poolsOf } from './panel-pools.ts';
import { PanelSheet, PanelSources } from './panel-sheet.ts';
import type { DrawnPanels } from './panel-task.ts';

type Test3d = Extract<PanelTest, { subset: 'shapes3d' | 'materials3d' }>;
type Pools3d = Required<Omit<PanelPools, 'shapes' | 'textures'>>;

/** JPEG quality, as published. */
const QUALITY = 90;

/**
 * Samples, draws and joins the panels of a 3D test.
 * @returns undefined when its objects have no acceptable views, or the condition's pools are too small.
 */
export async function draw3dPanels(
  random: Rng,
  condition: PanelCondition3d,
  triple: Triple,
  answer: Choice,
  configuration: Configuration,
  banks: Banks,
  drawer: Drawer,
): Promise<DrawnPanels | undefined> {
  const pools = (await poolsOf(condition, banks)) as Pools3d;
  const recipe: Scene3dRecipe = { ...configuration[condition.subset], size: PANEL_SIZE };
  const drawn = await samplePanels3d(random, recipe, condition, pools, async (mesh, view) => {
    const meshes = mesh === null ? triple : [mesh];
    for (const place of meshes) {
      const stored = await readMesh(pools.meshes.bank, pools.meshes.number(place));
      if (!isAccepted(stored, view, recipe.displacement, recipe.minCoverage)) return false;
    }
    return true;
  });
  if (!drawn) return undefined;
  const shown = instancesOf(triple, answer);
  const sheet = new PanelSheet();
  const sources = new PanelSources();
  const rendered = await Promise.all(
    PANELS.map(async (panel, place) => {
      const free = drawn[place]!;
      const instance = pools.instances.item(shown[panel]).id;
      const scene = toScene3d(free, instance);
      const items = {
        mesh: pools.meshes.find(scene.object.id),
        material: pools.materials.find(scene.material.id),
        environment: pools.environments.find(scene.environment.id),
      };
      const { pixels } = await drawer.render(sceneJob(scene, items, configuration));
      const { picture, mask } = splitFrame(pixels, scene.size);
      const facts = coverageFacts(mask);
      return {
        panel,
        picture,
        mask,
        label: { instance, free, scene, facts },
        made: await sourcesOf(banks3d(pools), items),
      };
    }),
  );
  for (const { panel, picture, made } of rendered) {
    sheet.put(panel, picture);
    for (const source of made) sources.add(panel, source);
  }
  const letters = sheet.letter(rendered.map(({ mask }) => mask));
  return {
    jpg: await sheet.encode(QUALITY),
    label: {
      subset: condition.subset,
      split: PANEL_SPLIT,
      renderer: rendererOf(configuration),
      panels: Object.fromEntries(rendered.map(({ panel, label }) => [panel, label])) as Test3d['panels'],
      letters,
      sources: sources.list(),
    },
  };
}

const banks3d = ({ meshes, materials, environments }: Pools3d) => ({
  meshes: meshes.bank,
  materials: materials.bank,
  environments: environments.bank,
});
