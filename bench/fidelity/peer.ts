import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'puppeteer-core';
import type { RenderHost } from '../../renderers/render-host.ts';
import { readPackedMaterial } from '../../scenes/material-format.ts';
import { decodePanorama } from '../../scenes/panorama-format.ts';
import { displacedMesh } from './displaced-mesh.ts';
import type { PeerScene } from './peer-scene.ts';
import { rgbaUpwards, type TimedPicture } from './pictures.ts';
import type { FidelityScene } from './scenes.ts';

/** Samples that are drawn in one call of the page. */
const CALL = 16;

/**
 * three-gpu-pathtracer in the same browser. It knows no box projection, so it draws the scenes whose material is the same everywhere, by
 * their levels alone. Its pixels are filtered by a tent two pixels wide; that cannot be set.
 */
export class Peer {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** Opens a page with a scene. @throws Error when the scene's material has maps. */
  static async open(host: RenderHost, described: FidelityScene, bounces: number): Promise<Peer> {
    const { scene, mesh, environment, constant } = described;
    if (!constant) throw new Error(`${described.name}: expected one material everywhere, got maps`);
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('./page/peer-page.ts', import.meta.url))],
      bundle: true,
      format: 'iife',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    });
    const page = await (await host.browser()).newPage();
    await page.evaluate(outputFiles[0]!.text);
    const { positions, normals, indices } = displacedMesh(mesh, scene.material, readPackedMaterial(described.material));
    const { width, height, ...panorama } = decodePanorama(environment);
    await page.evaluate(scene => peer.open(scene), {
      scene,
      material: constant,
      positions: base64(positions),
      normals: base64(normals),
      indices: base64(indices),
      panorama: { width, height, pixels: base64(rgbaUpwards({ width, height, ...panorama })) },
      bounces,
    } satisfies PeerScene);
    return new Peer(page);
  }

  /** Draws with so many samples a pixel, other ones every time. Alpha says nothing. */
  async draw(size: number, samples: number): Promise<TimedPicture> {
    await this.#page.evaluate(() => peer.begin());
    let seconds = 0;
    // A call that takes minutes counts as hanging.
    for (let drawn = 0; drawn < samples; drawn += CALL) {
      seconds += await this.#page.evaluate(more => peer.advance(more), Math.min(CALL, samples - drawn));
    }
    const drawn = await this.#page.evaluate(() => peer.picture());
    if (drawn.samples !== samples) throw new Error(`expected ${samples} samples, got ${drawn.samples}`);
    const bytes = new Uint8Array(Buffer.from(drawn.pixels, 'base64'));
    return { picture: { size, pixels: new Float32Array(bytes.buffer) }, samples, seconds };
  }

  async close(): Promise<void> {
    await this.#page.close();
  }
}

function base64(array: Float32Array | Uint32Array): string {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');
}
