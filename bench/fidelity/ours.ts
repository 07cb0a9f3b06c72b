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

/** Paths of one image: a call of the page that takes minutes counts as hanging. */
const CALL = 128;
const SEEDS = 1_000_000;

/** A path traced picture of any number of samples: the mean of images with seeds of their own. */
export async function tracedPicture(
  host: RenderHost,
  shelf: SceneShelf,
  items: SceneItems,
  scene: FidelityScene,
  samples: number,
  seed: number,
): Promise<TimedPicture> {
  const { size } = scene.scene;
  const pixels = new Float32Array(4 * size * size);
  let seconds = 0;
  for (let drawn = 0; drawn < samples; drawn += CALL) {
    const more = Math.min(CALL, samples - drawn);
    const engine: Engine = { name: 'pathtrace', samples: more, denoise: false, seed: SEEDS * seed + drawn / CALL };
    const part = await ourPicture(host, shelf, items, scene, engine);
    for (let i = 0; i < pixels.length; i++) pixels[i]! += (more / samples) * part.picture.pixels[i]!;
    seconds += part.seconds;
  }
  return { picture: { size, pixels }, samples, seconds };
}
