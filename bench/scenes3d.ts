import { openBank } from '../pipeline/bank.ts';
import { configure } from '../pipeline/configuration.ts';
import { generate, type Outcome, type RunSettings } from '../pipeline/generate.ts';
import type { Progress } from '../pipeline/progress.ts';
import { RASTERISED } from '../pipeline/rendering.ts';
import { RunFolder } from '../pipeline/run-folder.ts';
import { SceneAssets } from '../pipeline/scene-assets.ts';
import { type Banks3d, renderInstance3d, type Subset3d, type Task3d } from '../pipeline/scenes3d.ts';
import { type RenderedFrame, RenderHost } from '../renderers/render-host.ts';
import type { RenderJob } from '../renderers/render-job.ts';
import type { Scene3dRecipe } from '../scenes/recipe3d.ts';
import { runSettings } from './measure.ts';

/** A run of 3D images without a word; its banks can be used by others. */
export async function runScenes3d(
  out: string,
  what: Parameters<typeof configure>[0],
  drawing: RunSettings['drawing'],
): Promise<Outcome> {
  const configuration = await configure({ shapes: 2, subsets: ['shapes3d'], ...what });
  return generate(configuration, runSettings(out, drawing), SILENT, new AbortController().signal);
}

const SILENT: Progress = {
  begin() {},
  found() {},
  advance() {},
  end() {},
  count() {},
  info() {},
  warn() {},
};

/** Draws images from a run's banks in this thread, one after the other, each with another mesh, material and panorama. */
export class Scenes3d {
  readonly host: RenderHost;
  readonly #banks: Banks3d;
  readonly #assets: SceneAssets;
  readonly #kind: Subset3d;
  #number = 0;

  private constructor(host: RenderHost, banks: Banks3d, recipe: Scene3dRecipe) {
    this.host = host;
    this.#banks = banks;
    this.#assets = new SceneAssets(banks, host.facts.webglRenderer);
    this.#kind = { subset: 'shapes3d', seed: 1, recipe, rendering: RASTERISED, instanceBank: 'meshes' };
  }

  /** @param base a finished run. */
  static async start(base: string, size: number, drawing: RunSettings['drawing']): Promise<Scenes3d> {
    const folder = new RunFolder(base);
    const bank = async (kind: keyof Banks3d) => (await openBank(folder.bank(kind)))!;
    const [meshes, materials, environments] = [
      await bank('meshes'),
      await bank('materials'),
      await bank('environments'),
    ];
    const host = await RenderHost.start({ ...drawing, pages: 1 });
    const { shapes3d: recipe } = await configure({});
    return new Scenes3d(host, { meshes, materials, environments }, { ...recipe, size });
  }

  /** Draws, encodes and labels the next image. */
  async next(rendered: (frame: RenderedFrame, milliseconds: number) => void = () => {}): Promise<void> {
    const number = this.#number++;
    const { meshes, materials, environments } = this.#banks;
    const items = meshes.bySplit.train;
    const task: Task3d = {
      number,
      items: [items[number % items.length]!],
      variations: 1,
      split: 'train',
      windows: {
        meshes: [0, items.length],
        materials: [0, materials.bySplit.train.length],
        environments: [0, Math.min(12, environments.bySplit.train.length)],
      },
    };
    const render = async (job: RenderJob) => {
      const began = performance.now();
      const frame = await this.host.render(job, this.#assets);
      rendered(frame, performance.now() - began);
      return frame;
    };
    await renderInstance3d(task, this.#kind, this.#banks, { render });
  }
}
