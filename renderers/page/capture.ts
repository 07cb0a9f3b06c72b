import {
  type BufferGeometry,
  type Camera,
  HalfFloatType,
  Mesh,
  NearestFilter,
  type Quaternion,
  RGBAFormat,
  UnsignedByteType,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { Scene3d } from '../../scenes/scene3d.ts';
import type { Background } from './background.ts';
import { Develop, type Exposure } from './develop.ts';
import { type LaidMaterial, OutlineMaterial } from './object-material.ts';

/**
 * Shaded samples of a pixel along each axis. Supersampling and not multisampling: where triangles are a few pixels large,
 * shading them at all samples costs software no more than shading their borders (docs/rendering.md), materials and highlights
 * are smooth too, and all graphics cards sample at the same points. SwiftShader, five times as slow as llvmpipe, shades one;
 * only the object's outline is smooth there.
 */
export type Samples = 1 | 2;

/** Samples of a pixel along each axis by which the outline is smooth, where only one is shaded. */
const OUTLINE_SAMPLES = 2;

/**
 * From the scene to bytes: drawn as linear light with four samples a pixel, which are averaged as light, and only then tone
 * mapped, so that edges are as bright as what they are made of.
 */
export class Capture {
  readonly #renderer: WebGLRenderer;
  readonly #develop: Develop;
  readonly #samples: Samples;
  readonly #outline: Mesh;
  #drawn: WebGLRenderTarget | undefined;
  #covered: WebGLRenderTarget | undefined;

  /** @param background put behind what is drawn, unless it was drawn with it. */
  constructor(renderer: WebGLRenderer, background: Background, laid: LaidMaterial, samples: Samples) {
    this.#renderer = renderer;
    this.#samples = samples;
    this.#develop = new Develop(renderer, background, {
      light: samples,
      ...(samples === 1 && { covered: OUTLINE_SAMPLES }),
    });
    this.#outline = new Mesh(undefined, new OutlineMaterial(laid));
    this.#outline.frustumCulled = false;
  }

  /** Where the scene is to be drawn, cleared to nothing with alpha 0. */
  target(size: number): WebGLRenderTarget {
    const side = this.#samples * size;
    if (this.#drawn?.width !== side) {
      this.#drawn?.dispose();
      this.#covered?.dispose();
      this.#drawn = new WebGLRenderTarget(side, side, {
        type: HalfFloatType,
        format: RGBAFormat,
        minFilter: NearestFilter,
        magFilter: NearestFilter,
      });
      if (this.#samples === 1) {
        this.#covered = new WebGLRenderTarget(OUTLINE_SAMPLES * size, OUTLINE_SAMPLES * size, {
          type: UnsignedByteType,
          format: RGBAFormat,
          minFilter: NearestFilter,
          magFilter: NearestFilter,
          depthBuffer: false,
        });
      }
    }
    return this.#drawn!;
  }

  /** Finds the object's outline, where the samples that are shaded do not tell it. */
  outline(geometry: BufferGeometry, rotation: Quaternion, camera: Camera): void {
    if (!this.#covered) return;
    this.#outline.geometry = geometry;
    this.#outline.quaternion.copy(rotation);
    this.#renderer.setRenderTarget(this.#covered);
    this.#renderer.render(this.#outline, camera);
  }

  /**
   * The picture of what was drawn: RGBA bytes, sRGB, rows from the top down. Waits for the GPU.
   * @param backdropDrawn whether the background is in it already.
   */
  picture(toneMapping: Scene3d['toneMapping'], backdropDrawn: boolean): Uint8Array<ArrayBuffer> {
    return this.#develop.picture(this.#exposure(backdropDrawn), this.#size, toneMapping);
  }

  /** What was drawn as linear light: RGBA 32-bit floats, rows from the top down. */
  radiance(backdropDrawn: boolean): Float32Array<ArrayBuffer> {
    return this.#develop.radiance(this.#exposure(backdropDrawn), this.#size);
  }

  get #size(): number {
    return this.#drawn!.width / this.#samples;
  }

  #exposure(backdropDrawn: boolean): Exposure {
    const covered = this.#covered && { covered: this.#covered.texture };
    return { light: this.#drawn!.texture, share: 1, backdropDrawn, ...covered };
  }
}
