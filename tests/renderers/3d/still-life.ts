import type { TriangleMesh } from '../../../extractors/mesh/triangle-mesh.ts';
import type { AssetSource } from '../../../renderers/asset-server.ts';
import { type AssetKind, KEPT_KINDS, type KeptKind, type SceneItems } from '../../../renderers/render-job.ts';
import { allocateMaterial } from '../../../scenes/material-format.ts';
import { encodeMesh } from '../../../scenes/mesh-format.ts';
import { encodePanorama, type Panorama, panoramaDirection } from '../../../scenes/panorama-format.ts';
import type { Scene3d } from '../../../scenes/scene3d.ts';

/** Simple things to draw whose pictures can be worked out by hand. */

/** A sphere of diameter 1. */
export function sphere(rows = 64): TriangleMesh {
  const columns = 2 * rows;
  const normals: number[] = [];
  const indices: number[] = [];
  for (let row = 0; row <= rows; row++) {
    const polar = (row / rows) * Math.PI;
    for (let column = 0; column <= columns; column++) {
      const azimuth = (column / columns) * 2 * Math.PI;
      normals.push(Math.sin(polar) * Math.sin(azimuth), Math.cos(polar), Math.sin(polar) * Math.cos(azimuth));
      if (row === rows || column === columns) continue;
      const a = row * (columns + 1) + column;
      const b = a + columns + 1;
      indices.push(a, b, a + 1, a + 1, b, b + 1);
    }
  }
  return {
    positions: Float32Array.from(normals, n => n / 2),
    normals: Float32Array.from(normals),
    indices: Uint32Array.from(indices),
  };
}

/** A cube of side 1 with sharp edges. */
export function cube(): TriangleMesh {
  const positions: number[] = [];
  const normals: number[] = [];
  const indices: number[] = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const sign of [-1, 1]) {
      const first = positions.length / 3;
      for (const [u, v] of [
        [-1, -1],
        [1, -1],
        [1, 1],
        [-1, 1],
      ] as const) {
        const point = [0, 0, 0];
        point[axis] = sign / 2;
        point[(axis + 1) % 3] = (u * sign) / 2;
        point[(axis + 2) % 3] = v / 2;
        positions.push(...point);
        normals.push(...[0, 1, 2].map(i => (i === axis ? sign : 0)));
      }
      indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  }
  return {
    positions: Float32Array.from(positions),
    normals: Float32Array.from(normals),
    indices: Uint32Array.from(indices),
  };
}

/** What a material is at a place: u to the right, v downwards, 0–1. All 0–255. */
export interface Texel {
  readonly color?: readonly [number, number, number];
  readonly normal?: readonly [number, number, number];
  readonly height?: number;
  readonly occlusion?: number;
  readonly roughness?: number;
  readonly metalness?: number;
  readonly transmission?: number;
}

export function material(texel: Texel | ((u: number, v: number) => Texel), side = 64): Uint8Array<ArrayBuffer> {
  const texels = Array.from({ length: side * side }, (_, i) =>
    typeof texel === 'function' ? texel(((i % side) + 0.5) / side, (Math.floor(i / side) + 0.5) / side) : texel,
  );
  const { bytes, material } = allocateMaterial(
    side,
    texels.some(({ transmission = 0 }) => transmission > 0),
  );
  for (const [i, t] of texels.entries()) {
    material.color.set([...(t.color ?? [255, 255, 255]), 255], 4 * i);
    material.normalHeight.set([...(t.normal ?? [128, 128, 255]), t.height ?? 0], 4 * i);
    material.properties.set([t.occlusion ?? 255, t.roughness ?? 255, t.metalness ?? 0, t.transmission ?? 0], 4 * i);
  }
  return bytes;
}

/** A panorama by direction: y up, linear radiance. */
export function panorama(
  radiance: (direction: readonly [number, number, number]) => readonly [number, number, number],
  width = 256,
  height = width / 2,
): Uint8Array<ArrayBuffer> {
  const data = new Float32Array(3 * width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      data.set(radiance(panoramaDirection((column + 0.5) / width, (row + 0.5) / height)), 3 * (row * width + column));
    }
  }
  return encodePanorama({ width, height, data } satisfies Panorama).bytes;
}

export const NO_TURN = [0, 0, 0, 1] as const;

/** A scene seen from 1.5 away, everything upright; parts can be replaced. */
export function scene(changes: Partial<Scene3d> = {}): Scene3d {
  return {
    size: 128,
    camera: { distance: 1.5, focalLength: 32, sensor: 36 },
    object: { id: 'object', rotation: [...NO_TURN] },
    material: {
      id: 'material',
      mapping: { scale: [1, 1, 1], rotation: [...NO_TURN], offset: [0, 0, 0], blend: 0.02 },
      displacement: 0,
    },
    environment: { id: 'environment', rotation: [...NO_TURN], strength: 1 },
    toneMapping: 'none',
    ...changes,
  };
}

/** What was put on the shelf by number, the same thing under the same number; gives it to a page. */
export class Shelf implements AssetSource {
  readonly #things: Uint8Array[] = [];
  readonly #numbers = new Map<object, number>();
  readonly #kept = new Map<string, Uint8Array>();

  put(mesh: TriangleMesh, material: Uint8Array<ArrayBuffer>, environment: Uint8Array<ArrayBuffer>): SceneItems {
    return {
      mesh: this.#numberOf(mesh, () => encodeMesh(mesh)),
      material: this.#numberOf(material, () => material),
      environment: this.#numberOf(environment, () => environment),
    };
  }

  async get(kind: AssetKind, number: number): Promise<Uint8Array | undefined> {
    return (KEPT_KINDS as readonly string[]).includes(kind)
      ? this.#kept.get(`${kind} ${number}`)
      : this.#things[number];
  }

  async keep(kind: KeptKind, number: number, bytes: Uint8Array): Promise<void> {
    this.#kept.set(`${kind} ${number}`, bytes);
  }

  #numberOf(thing: object, bytes: () => Uint8Array): number {
    const number = this.#numbers.get(thing) ?? this.#things.push(bytes()) - 1;
    this.#numbers.set(thing, number);
    return number;
  }
}
