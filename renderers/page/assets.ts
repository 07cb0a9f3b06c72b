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
import { decodeMesh, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';
import { readPackedPanorama } from '../../scenes/panorama-format.ts';
import type { AssetKind, SceneItems } from '../render-job.ts';
import { exportLight, importLight, prefilter } from './environment-light.ts';
import type { MaterialTextures } from './object-material.ts';

/** A panorama on the GPU: as a picture, and prefiltered as light. */
interface Environment {
  readonly panorama: Texture;
  readonly light: WebGLCubeRenderTarget;
}

/** What a scene needs on the GPU; `release` when it is drawn. */
export interface LoadedItems {
  readonly geometry: BufferGeometry;
  readonly material: MaterialTextures;
  readonly environment: Environment;
  release(): void;
}

/** How many of each kind stay on the GPU: the panoramas of a shard's window, and enough of the others for what comes next. */
const KEPT = { meshes: 16, materials: 16, environments: 16 };

/** Meshes, materials and panoramas: fetched from the host when first asked for, the least recently used given up. */
export class Assets {
  readonly #renderer: WebGLRenderer;
  readonly #base: string;
  readonly #meshes = new Shelf<BufferGeometry>(KEPT.meshes, geometry => geometry.dispose());
  readonly #materials = new Shelf<MaterialTextures>(KEPT.materials, ({ color, normalHeight, properties }) => {
    for (const texture of [color, normalHeight, properties]) texture.dispose();
  });
  readonly #environments = new Shelf<Environment>(KEPT.environments, ({ panorama, light }) => {
    panorama.dispose();
    light.dispose();
  });

  /** @param base URL below which the host serves assets. */
  constructor(renderer: WebGLRenderer, base: string) {
    this.#renderer = renderer;
    this.#base = base;
  }

  /** @param job number of the image that needs them: the host asks who ordered it. */
  async load(items: SceneItems, job: number): Promise<LoadedItems> {
    const mesh = this.#meshes.take(items.mesh, number => this.#mesh(number, job));
    const material = this.#materials.take(items.material, number => this.#material(number, job));
    const environment = this.#environments.take(items.environment, number => this.#environment(number, job));
    const release = () => {
      for (const taken of [mesh, material, environment]) taken.release();
    };
    try {
      return {
        geometry: await mesh.value,
        material: await material.value,
        environment: await environment.value,
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #fetch(kind: AssetKind, number: number, job: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const response = await fetch(`${this.#base}/${kind}/${number}?for=${job}`);
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${kind}/${number}: ${await response.text()}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #needed(kind: AssetKind, number: number, job: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#fetch(kind, number, job);
    if (!bytes) throw new Error(`${kind}/${number}: the host has none`);
    return bytes;
  }

  async #mesh(number: number, job: number): Promise<BufferGeometry> {
    const { positions, normals, indices } = decodeMesh(await this.#needed('meshes', number, job));
    const geometry = new BufferGeometry();
    const placed = new InterleavedBuffer(positions, VERTEX_COMPONENTS);
    const facing = new InterleavedBuffer(normals, VERTEX_COMPONENTS);
    geometry.setAttribute('position', new InterleavedBufferAttribute(placed, 3, 0, true));
    geometry.setAttribute('normal', new InterleavedBufferAttribute(facing, 3, 0, true));
    geometry.setAttribute('directionU', new InterleavedBufferAttribute(placed, 1, 3, true));
    geometry.setAttribute('directionV', new InterleavedBufferAttribute(facing, 1, 3, true));
    geometry.setIndex(new BufferAttribute(indices, 1));
    return geometry;
  }

  async #material(number: number, job: number): Promise<MaterialTextures> {
    const { side, color, normalHeight, properties, transmissive } = readPackedMaterial(
      await this.#needed('materials', number, job),
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

  async #environment(number: number, job: number): Promise<Environment> {
    const [bytes, kept] = await Promise.all([
      this.#needed('environments', number, job),
      this.#fetch('lights', number, job),
    ]);
    const { width, height, words } = readPackedPanorama(bytes);
    const panorama = new DataTexture(words, width, height, RGBFormat, UnsignedInt5999Type);
    panorama.wrapS = RepeatWrapping;
    panorama.wrapT = ClampToEdgeWrapping;
    panorama.magFilter = panorama.minFilter = LinearFilter;
    panorama.needsUpdate = true;
    const light = (kept && importLight(this.#renderer, kept)) ?? prefilter(this.#renderer, panorama);
    if (!kept) {
      await fetch(`${this.#base}/lights/${number}?for=${job}`, {
        method: 'POST',
        body: exportLight(this.#renderer, light),
      });
    }
    return { panorama, light };
  }
}

interface Taken<T> {
  readonly value: Promise<T>;
  release(): void;
}

/** Things by number, loaded once, kept while somebody uses them, and beyond that as long as there is room. */
class Shelf<T> {
  readonly #room: number;
  readonly #dispose: (value: T) => void;
  /** Least recently used first. */
  readonly #places = new Map<number, { value: Promise<T>; users: number }>();

  constructor(room: number, dispose: (value: T) => void) {
    this.#room = room;
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
      if (this.#places.size <= this.#room) return;
      if (users > 0) continue;
      this.#places.delete(number);
      value.then(this.#dispose, () => {});
    }
  }
}
