import type { AssetSource } from '../../renderers/asset-server.ts';
import type { RenderHost } from '../../renderers/render-host.ts';
import type { AssetKind, Engine, KeptKind, SceneItems } from '../../renderers/render-job.ts';
import type { TimedPicture } from './pictures.ts';
import type { FidelityScene } from './scenes.ts';

/** A scene's parts under the same numbers in all its pictures: the page loads them once. */
export class SceneShelf implements AssetSource {
  readonly #parts = new Map<string, Uint8Array>();
  readonly #made = new Map<string, Uint8Array>();
  #numbers = 0;

  put({ mesh, material, environment }: FidelityScene): SceneItems {
    const number = this.#numbers++;
    for (const [kind, bytes] of Object.entries({ meshes: mesh, materials: material, environments: environment })) {
      this.#parts.set(`${kind}/${number}`, bytes);
    }
    return { mesh: number, material: number, environment: number };
  }

  async get(kind: AssetKind, number: number): Promise<Uint8Array | undefined> {
    const key = `${kind}/${number}`;
    return this.#parts.get(key) ?? this.#made.get(key);
  }

  async keep(kind: KeptKind, number: number, bytes: Uint8Array): Promise<void> {
    this.#made.set(`${kind}/${number}`, bytes);
  }
}

/** A picture by one of the product's engines; the seconds are those of drawing. */
export async function ourPicture(
  host: RenderHost,
  shelf: SceneShelf,
  items: SceneItems,
  { scene }: FidelityScene,
  engine: Engine,
): Promise<TimedPicture> {
  const { pixels, times } = await host.render({ scene, items, engine, output: 'radiance' }, shelf);
  return {
    picture: { size: scene.size, pixels: new Float32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4) },
    samples: engine.name === 'pathtrace' ? engine.samples : 1,
    seconds: times.draw / 1000,
  };
}
