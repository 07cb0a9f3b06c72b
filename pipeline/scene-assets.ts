import sharp from 'sharp';
import type { AssetSource } from '../renderers/asset-server.ts';
import type { AssetKind, KeptKind } from '../renderers/render-job.ts';
import { allocateMaterial } from '../scenes/material-format.ts';
import { type Bank, readItem } from './bank.ts';
import { CacheFolder, cacheKey } from './cache-folder.ts';
import { type MapField, readMaps } from './material-files.ts';
import type { Banks3d } from './scenes3d.ts';

/** Raised when the form of what is kept changes, so that older files are not taken for it. */
const VERSIONS: Readonly<Record<KeptKind, number>> = { lights: 1, trees: 1 };

/** What the render page asks for, read from a run's banks; what it makes of them is kept in the user's cache folder. */
export class SceneAssets implements AssetSource {
  readonly #banks: Banks3d;
  readonly #cache = new CacheFolder();
  readonly #webglRenderer: string;

  /** @param webglRenderer lights are kept for each apart: they may differ in their last bits. */
  constructor(banks: Banks3d, webglRenderer: string) {
    this.#banks = banks;
    this.#webglRenderer = webglRenderer;
  }

  async get(kind: AssetKind, number: number): Promise<Uint8Array | undefined> {
    if (kind === 'meshes') return (await readItem(this.#banks.meshes, number)).image;
    if (kind === 'environments') return (await readItem(this.#banks.environments, number)).image;
    if (kind === 'materials') return packMaterial(this.#banks.materials, number);
    return this.#cache.get(await this.#key(kind, number));
  }

  async keep(kind: KeptKind, number: number, bytes: Uint8Array): Promise<void> {
    await this.#cache.put(await this.#key(kind, number), bytes);
  }

  async #key(kind: KeptKind, number: number): Promise<string> {
    const version = VERSIONS[kind];
    if (kind === 'trees') return cacheKey(kind, (await readItem(this.#banks.meshes, number)).image, { version });
    const { image } = await readItem(this.#banks.environments, number);
    return cacheKey(kind, image, { version, webglRenderer: this.#webglRenderer });
  }
}

/**
 * A material's maps as the page takes them: square, since one repeat of a material fills a square of the mapping, whatever
 * its picture's sides. Decoded here and not in the browser, whose decoder takes three times as long
 * (docs/rendering.md).
 */
async function packMaterial(bank: Bank, number: number): Promise<Uint8Array<ArrayBuffer>> {
  const { files, label } = await readMaps(bank, number);
  const side = Math.max(label.width, label.height);
  const decode = async (field: MapField, channels: 1 | 3) => {
    const file = files[field];
    if (!file) return undefined;
    const image = sharp(file).resize({ width: side, height: side, fit: 'fill' });
    return image
      .toColourspace(channels === 1 ? 'b-w' : 'srgb')
      .raw()
      .toBuffer();
  };
  const [color, normal, height, metallic, roughness, occlusion, opacity, transmission] = await Promise.all([
    decode('color.jpg', 3),
    decode('normal.jpg', 3),
    decode('height.jpg', 1),
    decode('metallic.jpg', 1),
    decode('roughness.jpg', 1),
    decode('occlusion.jpg', 1),
    decode('opacity.jpg', 1),
    decode('transmission.jpg', 1),
  ]);
  const { bytes, material } = allocateMaterial(side, Boolean(opacity ?? transmission));
  for (let i = 0; i < side * side; i++) {
    material.color[4 * i] = color![3 * i]!;
    material.color[4 * i + 1] = color![3 * i + 1]!;
    material.color[4 * i + 2] = color![3 * i + 2]!;
    material.normalHeight[4 * i] = normal![3 * i]!;
    material.normalHeight[4 * i + 1] = normal![3 * i + 1]!;
    material.normalHeight[4 * i + 2] = normal![3 * i + 2]!;
    material.normalHeight[4 * i + 3] = height![i]!;
    material.properties[4 * i] = occlusion?.[i] ?? 255;
    material.properties[4 * i + 1] = roughness![i]!;
    material.properties[4 * i + 2] = metallic![i]!;
    // Where a surface is not there, one sees through it.
    material.properties[4 * i + 3] = Math.max(transmission?.[i] ?? 0, 255 - (opacity?.[i] ?? 255));
  }
  return bytes;
}
