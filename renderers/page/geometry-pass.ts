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

/** Components of a pixel: the unit normal, then the depth. */
const COMPONENTS = 4;

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
    const pixels = new Float32Array(COMPONENTS * size * size);
    // When the GPU's process died, nothing is read, and the page hears of it only later.
    pixels[0] = Number.NaN;
    this.#renderer.readRenderTargetPixels(target, 0, 0, size, size, pixels);
    if (Number.isNaN(pixels[0])) throw new Error('the GPU gave no depth');
    turnOver(pixels, COMPONENTS * size);
    return pixels;
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

/** Turns the order of rows round: WebGL's run upwards. @param length of a row. */
function turnOver(pixels: Float32Array<ArrayBuffer>, length: number): void {
  const kept = new Float32Array(length);
  for (let upper = 0, lower = pixels.length - length; upper < lower; upper += length, lower -= length) {
    kept.set(pixels.subarray(upper, upper + length));
    pixels.copyWithin(upper, lower, lower + length);
    pixels.set(kept, lower);
  }
}
