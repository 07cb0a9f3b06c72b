import {
  BufferAttribute,
  BufferGeometry,
  ClampToEdgeWrapping,
  DataTexture,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  LinearFilter,
  LinearMipmapLinearFilter,
  NoColorSpace,
  RepeatWrapping,
  RGBAFormat,
  RGBFormat,
  SRGBColorSpace,
  type Texture,
  UnsignedByteType,
  UnsignedInt5999Type,
  type WebGLCubeRenderTarget,
  type WebGLRenderer,
} from 'three';
import { readPackedMaterial } from '../../scenes/material-format.ts';
import { decodeMesh, type StoredMesh, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';
import { type PackedPanorama, readPackedPanorama } from '../../scenes/panorama-format.ts';
import { type AssetKind, type KeptKind, type SceneItems, UNUSABLE } from '../render-job.ts';
import { exportLight, importLight, prefilter } from './environment-light.ts';
import { environmentTable } from './environment-sampling.ts';
import { MeshTree } from './mesh-tree.ts';
import type { MaterialTextures } from './object-material.ts';

/** What a scene needs to be rasterised. */
export interface RasterItems {
  readonly mesh: LoadedMesh;
  readonly material: MaterialTextures;
  readonly panorama: LoadedPanorama;
  /** The panorama, prefiltered as light. */
  readonly light: WebGLCubeRenderTarget;
}

/** What a scene needs to be path traced. */
export interface TracedItems {
  readonly material: MaterialTextures;
  readonly tree: MeshTree;
  readonly panorama: LoadedPanorama;
  /** The panorama's light by direction. */
  readonly lightTable: Texture;
}

interface LoadedMesh {
  readonly stored: StoredMesh;
  readonly geometry: BufferGeometry;
}

interface LoadedPanorama {
  readonly packed: PackedPanorama;
  readonly texture: Texture;
}

/** How many of each kind stay on the GPU: the panoramas of a shard's window, and enough of the others for what comes next. */
const KEPT = 16;

/** Meshes, materials and panoramas: fetched from the host when first asked for, the least recently used given up. */
export class Assets {
  readonly #renderer: WebGLRenderer;
  readonly #base: string;
  readonly #meshes = new Shelf<LoadedMesh>(({ geometry }) => geometry.dispose());
  readonly #trees = new Shelf<MeshTree>(tree => tree.dispose());
  readonly #materials = new Shelf<MaterialTextures>(({ color, normalHeight, properties }) => {
    for (const texture of [color, normalHeight, properties]) texture.dispose();
  });
  readonly #panoramas = new Shelf<LoadedPanorama>(({ texture }) => texture.dispose());
  readonly #lights = new Shelf<WebGLCubeRenderTarget>(light => light.dispose());
  readonly #lightTables = new Shelf<Texture>(table => table.dispose());

  /** @param base URL below which the host serves assets. */
  constructor(renderer: WebGLRenderer, base: string) {
    this.#renderer = renderer;
    this.#base = base;
  }

  /**
   * What a scene needs to be rasterised, and what gives it free again.
   * @param job number of the image that needs it: the host asks who ordered it.
   */
  forRaster(items: SceneItems, job: number): Promise<Loaded<RasterItems>> {
    const mesh = this.#meshes.take(items.mesh, number => this.#mesh(number, job));
    const material = this.#materials.take(items.material, number => this.#material(number, job));
    const panorama = this.#panoramas.take(items.environment, number => this.#panorama(number, job));
    const light = this.#lights.take(items.environment, async number => this.#light(number, await panorama.value, job));
    return together({ mesh, material, panorama, light });
  }

  /** What a scene needs to be path traced; likewise. */
  forTracing(items: SceneItems, job: number): Promise<Loaded<TracedItems>> {
    const mesh = this.#meshes.take(items.mesh, number => this.#mesh(number, job));
    const tree = this.#trees.take(items.mesh, async number => this.#tree(number, await mesh.value, job));
    const material = this.#materials.take(items.material, number => this.#material(number, job));
    const panorama = this.#panoramas.take(items.environment, number => this.#panorama(number, job));
    const lightTable = this.#lightTables.take(items.environment, async () =>
      environmentTable((await panorama.value).packed),
    );
    return together({ mesh, tree, material, panorama, lightTable });
  }

  /** What the host has of a kind under a number; undefined for what is kept and nobody made yet. */
  async #fetch(kind: AssetKind, number: number, job: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const response = await fetch(`${this.#base}/${kind}/${number}?for=${job}`);
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${kind}/${number} ${UNUSABLE}: ${await response.text()}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #read<T>(
    kind: AssetKind,
    number: number,
    job: number,
    read: (bytes: Uint8Array<ArrayBuffer>) => T,
  ): Promise<T> {
    const bytes = await this.#fetch(kind, number, job);
    try {
      if (!bytes) throw new Error('the host has none');
      return read(bytes);
    } catch (error) {
      throw new Error(`${kind}/${number} ${UNUSABLE}: ${(error as Error).message}`);
    }
  }

  async #keep(kind: KeptKind, number: number, job: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await fetch(`${this.#base}/${kind}/${number}?for=${job}`, { method: 'POST', body: bytes });
  }

  async #mesh(number: number, job: number): Promise<LoadedMesh> {
    const stored = await this.#read('meshes', number, job, decodeMesh);
    const { positions, normals, indices } = stored;
    const geometry = new BufferGeometry();
    const placed = new InterleavedBuffer(positions, VERTEX_COMPONENTS);
    const facing = new InterleavedBuffer(normals, VERTEX_COMPONENTS);
    geometry.setAttribute('position', new InterleavedBufferAttribute(placed, 3, 0, true));
    geometry.setAttribute('normal', new InterleavedBufferAttribute(facing, 3, 0, true));
    geometry.setAttribute('directionU', new InterleavedBufferAttribute(placed, 1, 3, true));
    geometry.setAttribute('directionV', new InterleavedBufferAttribute(facing, 1, 3, true));
    geometry.setIndex(new BufferAttribute(indices, 1));
    return { stored, geometry };
  }

  async #tree(number: number, { stored }: LoadedMesh, job: number): Promise<MeshTree> {
    const kept = await this.#fetch('trees', number, job);
    const known = kept && MeshTree.fromKept(stored, kept);
    const tree = known ?? MeshTree.build(stored);
    const { maxTextureSize } = this.#renderer.capabilities;
    if (tree.rows > maxTextureSize) {
      throw new Error(
        `meshes/${number} ${UNUSABLE}: ${stored.triangles} triangles are more than this renderer can path trace (textures of ${maxTextureSize} rows; mesh-preparation.triangles makes them fewer)`,
      );
    }
    if (!known) await this.#keep('trees', number, job, tree.kept());
    return tree;
  }

  async #material(number: number, job: number): Promise<MaterialTextures> {
    const { side, color, normalHeight, properties, transmissive } = await this.#read(
      'materials',
      number,
      job,
      readPackedMaterial,
    );
    const texture = (data: Uint8Array<ArrayBuffer>, colorSpace: typeof SRGBColorSpace | typeof NoColorSpace) => {
      const made = new DataTexture(data, side, side, RGBAFormat, UnsignedByteType);
      made.wrapS = made.wrapT = RepeatWrapping;
      made.magFilter = LinearFilter;
      made.minFilter = LinearMipmapLinearFilter;
      made.generateMipmaps = true;
      made.colorSpace = colorSpace;
      made.needsUpdate = true;
      this.#renderer.initTexture(made);
      return made;
    };
    return {
      color: texture(color, SRGBColorSpace),
      normalHeight: texture(normalHeight, NoColorSpace),
      properties: texture(properties, NoColorSpace),
      transmissive,
    };
  }

  async #panorama(number: number, job: number): Promise<LoadedPanorama> {
    const packed = await this.#read('environments', number, job, readPackedPanorama);
    const texture = new DataTexture(packed.words, packed.width, packed.height, RGBFormat, UnsignedInt5999Type);
    texture.wrapS = RepeatWrapping;
    texture.wrapT = ClampToEdgeWrapping;
    texture.magFilter = texture.minFilter = LinearFilter;
    texture.needsUpdate = true;
    return { packed, texture };
  }

  async #light(number: number, { texture }: LoadedPanorama, job: number): Promise<WebGLCubeRenderTarget> {
    const kept = await this.#fetch('lights', number, job);
    const known = kept && importLight(this.#renderer, kept);
    if (known) return known;
    const light = prefilter(this.#renderer, texture);
    await this.#keep('lights', number, job, exportLight(this.#renderer, light));
    return light;
  }
}

/** Items to draw with; to be released when that is done. */
export type Loaded<Items> = Items & { release(): void };

/** Waits for all; when one cannot be had, none is kept. */
async function together<Items extends object>(
  taken: {
    readonly [Name in keyof Items]: Taken<Items[Name]>;
  },
): Promise<Loaded<Items>> {
  const entries = Object.entries(taken) as [string, Taken<unknown>][];
  const release = () => {
    for (const [, item] of entries) item.release();
  };
  try {
    const values = await Promise.all(entries.map(async ([name, { value }]) => [name, await value]));
    return { ...(Object.fromEntries(values) as Items), release };
  } catch (error) {
    release();
    throw error;
  }
}

interface Taken<T> {
  readonly value: Promise<T>;
  release(): void;
}

/** Things by number, loaded once, kept while somebody uses them, and beyond that as long as there is room. */
class Shelf<T> {
  readonly #dispose: (value: T) => void;
  /** Least recently used first. */
  readonly #places = new Map<number, { value: Promise<T>; users: number }>();

  constructor(dispose: (value: T) => void) {
    this.#dispose = dispose;
  }

  take(number: number, load: (number: number) => Promise<T>): Taken<T> {
    const place = this.#places.get(number) ?? { value: load(number), users: 0 };
    place.users++;
    this.#places.delete(number);
    this.#places.set(number, place);
    // What could not be loaded is tried anew by the next one.
    place.value.catch(() => this.#places.delete(number));
    this.#makeRoom();
    return { value: place.value, release: () => void place.users-- };
  }

  #makeRoom(): void {
    for (const [number, { value, users }] of this.#places) {
      if (this.#places.size <= KEPT) return;
      if (users > 0) continue;
      this.#places.delete(number);
      value.then(this.#dispose, () => {});
    }
  }
}
