import {
  type BufferGeometry,
  type Camera,
  FloatType,
  Mesh,
  NearestFilter,
  type Quaternion,
  RGBAFormat,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { GeometryMaterial, type LaidMaterial } from './object-material.ts';
import { readFloats } from './read-back.ts';

/** Where the rasterised surface lies and which way it faces, by the middle of each pixel (`RenderJob.geometry` says in what form). */
export class GeometryPass {
  readonly #renderer: WebGLRenderer;
  readonly #object: Mesh;
  #target: WebGLRenderTarget | undefined;

  constructor(renderer: WebGLRenderer, laid: LaidMaterial) {
    this.#renderer = renderer;
    this.#object = new Mesh(undefined, new GeometryMaterial(laid));
    this.#object.frustumCulled = false;
  }

  /**
   * Draws an object with the material that is laid around it. Waits for the GPU.
   * @param size side of the square image, pixels.
   * @returns four floats a pixel, rows from the top down.
   */
  draw(geometry: BufferGeometry, rotation: Quaternion, camera: Camera, size: number): Float32Array<ArrayBuffer> {
    const target = this.#targetOf(size);
    this.#object.geometry = geometry;
    this.#object.quaternion.copy(rotation);
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#object, camera);
    return readFloats(this.#renderer, target);
  }

  #targetOf(size: number): WebGLRenderTarget {
    if (this.#target?.width !== size) {
      this.#target?.dispose();
      this.#target = new WebGLRenderTarget(size, size, {
        type: FloatType,
        format: RGBAFormat,
        minFilter: NearestFilter,
        magFilter: NearestFilter,
      });
    }
    return this.#target;
  }
}
