import {
  FloatType,
  HalfFloatType,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  RGBAFormat,
  ShaderMaterial,
  type Texture,
  UnsignedByteType,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { Scene3d } from '../../scenes/scene3d.ts';
import { backdropGeometry } from './background.ts';

/** Samples of a pixel; WebGL implementations offer no more than 4 for half floats. */
const SAMPLES = 4;

/** Sixteen pixels of this colour and coverage next to each other: no picture has them. */
const UNREAD = 93;
const MARKED = 64;

/**
 * From the scene to bytes: drawn as linear light with four samples a pixel, which are averaged as light, and only then tone
 * mapped, so that edges are as bright as what they are made of.
 */
export class Capture {
  readonly #renderer: WebGLRenderer;
  readonly #develop = new DevelopMaterial();
  readonly #screen = new Mesh(backdropGeometry(), this.#develop);
  readonly #camera = new OrthographicCamera();
  #light: WebGLRenderTarget | undefined;
  #picture: WebGLRenderTarget | undefined;

  constructor(renderer: WebGLRenderer) {
    this.#renderer = renderer;
    this.#screen.frustumCulled = false;
  }

  /** Where the scene is to be drawn. */
  target(size: number): WebGLRenderTarget {
    if (this.#light?.width !== size) {
      this.#light?.dispose();
      this.#picture?.dispose();
      this.#light = new WebGLRenderTarget(size, size, {
        type: HalfFloatType,
        format: RGBAFormat,
        samples: SAMPLES,
        minFilter: NearestFilter,
        magFilter: NearestFilter,
      });
      this.#picture = new WebGLRenderTarget(size, size, {
        type: UnsignedByteType,
        format: RGBAFormat,
        depthBuffer: false,
      });
    }
    return this.#light!;
  }

  /** The picture of what was drawn: RGBA bytes, sRGB, rows from the top down. Waits for the GPU. */
  picture(toneMapping: Scene3d['toneMapping']): Uint8Array<ArrayBuffer> {
    const { width, height } = this.#picture!;
    this.#develop.uniforms.light!.value = this.#light!.texture as Texture;
    this.#develop.uniforms.agx!.value = toneMapping === 'agx';
    this.#renderer.setRenderTarget(this.#picture!);
    this.#renderer.render(this.#screen, this.#camera);
    const pixels = new Uint8Array(4 * width * height);
    this.#read(this.#picture!, pixels);
    return pixels;
  }

  /** What was drawn as linear light: RGBA 32-bit floats, rows from the top down. */
  radiance(): Float32Array<ArrayBuffer> {
    const { width, height } = this.#light!;
    const target = new WebGLRenderTarget(width, height, { type: FloatType, depthBuffer: false });
    this.#develop.uniforms.light!.value = this.#light!.texture as Texture;
    this.#develop.uniforms.raw!.value = true;
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#screen, this.#camera);
    this.#develop.uniforms.raw!.value = false;
    const pixels = new Float32Array(4 * width * height);
    this.#read(target, pixels);
    target.dispose();
    return pixels;
  }

  /**
   * Waits for the GPU. When its process died, nothing is read, and the page hears of it only later: the mark is then still
   * there.
   */
  #read(target: WebGLRenderTarget, pixels: Uint8Array | Float32Array): void {
    pixels.fill(UNREAD, 0, MARKED);
    this.#renderer.readRenderTargetPixels(target, 0, 0, target.width, target.height, pixels);
    if (pixels.subarray(0, MARKED).every(value => value === UNREAD)) throw new Error('the GPU gave no pixels');
  }
}

/** Linear light to a picture: three's tone mapping, then the sRGB curve. Turns the rows the right way up. */
class DevelopMaterial extends ShaderMaterial {
  constructor() {
    super({
      uniforms: {
        light: { value: null },
        agx: { value: true },
        raw: { value: false },
        toneMappingExposure: { value: 1 },
      },
      vertexShader: 'void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }',
      fragmentShader: /* glsl */ `
#include <common>
#include <tonemapping_pars_fragment>
uniform sampler2D light;
uniform bool agx;
uniform bool raw;
void main() {
  ivec2 size = textureSize(light, 0);
  vec4 drawn = texelFetch(light, ivec2(int(gl_FragCoord.x), size.y - 1 - int(gl_FragCoord.y)), 0);
  if (raw) {
    gl_FragColor = drawn;
    return;
  }
  vec3 shown = agx ? AgXToneMapping(drawn.rgb) : clamp(drawn.rgb, 0.0, 1.0);
  gl_FragColor = vec4(sRGBTransferOETF(vec4(shown, 1.0)).rgb, drawn.a);
}
`,
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
    });
  }
}
