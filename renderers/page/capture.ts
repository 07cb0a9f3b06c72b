import {
  type BufferGeometry,
  type Camera,
  FloatType,
  HalfFloatType,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  type Quaternion,
  RGBAFormat,
  ShaderMaterial,
  UnsignedByteType,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { Scene3d } from '../../scenes/scene3d.ts';
import { BACKGROUND, type Background, backdropGeometry } from './background.ts';
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

/** Sixteen pixels of this colour and coverage next to each other: no picture has them. */
const UNREAD = 93;
const MARKED = 64;

/**
 * From the scene to bytes: drawn as linear light with four samples a pixel, which are averaged as light, and only then tone
 * mapped, so that edges are as bright as what they are made of.
 */
export class Capture {
  readonly #renderer: WebGLRenderer;
  readonly #develop: DevelopMaterial;
  readonly #screen: Mesh;
  readonly #camera = new OrthographicCamera();
  readonly #samples: Samples;
  readonly #outline: Mesh;
  #drawn: WebGLRenderTarget | undefined;
  #covered: WebGLRenderTarget | undefined;
  #picture: WebGLRenderTarget | undefined;

  /** @param background put behind what is drawn, unless it was drawn with it. */
  constructor(renderer: WebGLRenderer, background: Background, laid: LaidMaterial, samples: Samples) {
    this.#renderer = renderer;
    this.#samples = samples;
    this.#develop = new DevelopMaterial(background, samples);
    this.#outline = new Mesh(undefined, new OutlineMaterial(laid));
    this.#outline.frustumCulled = false;
    this.#screen = new Mesh(backdropGeometry(), this.#develop);
    this.#screen.frustumCulled = false;
  }

  /** Where the scene is to be drawn, cleared to nothing with alpha 0. */
  target(size: number): WebGLRenderTarget {
    const side = this.#samples * size;
    if (this.#drawn?.width !== side) {
      this.#drawn?.dispose();
      this.#covered?.dispose();
      this.#picture?.dispose();
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
      this.#picture = new WebGLRenderTarget(size, size, {
        type: UnsignedByteType,
        format: RGBAFormat,
        depthBuffer: false,
      });
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
    const { width, height } = this.#picture!;
    this.#develop.uniforms.agx!.value = toneMapping === 'agx';
    const pixels = new Uint8Array(4 * width * height);
    this.#developInto(this.#picture!, backdropDrawn, pixels);
    return pixels;
  }

  /** What was drawn as linear light: RGBA 32-bit floats, rows from the top down. */
  radiance(backdropDrawn: boolean): Float32Array<ArrayBuffer> {
    const { width, height } = this.#picture!;
    const target = new WebGLRenderTarget(width, height, { type: FloatType, depthBuffer: false });
    const pixels = new Float32Array(4 * width * height);
    this.#develop.uniforms.raw!.value = true;
    this.#developInto(target, backdropDrawn, pixels);
    this.#develop.uniforms.raw!.value = false;
    target.dispose();
    return pixels;
  }

  #developInto(target: WebGLRenderTarget, backdropDrawn: boolean, pixels: Uint8Array | Float32Array): void {
    this.#develop.uniforms.drawn!.value = this.#drawn!.texture;
    this.#develop.uniforms.covered!.value = this.#covered?.texture ?? null;
    this.#develop.uniforms.backdropDrawn!.value = backdropDrawn;
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#screen, this.#camera);
    this.#read(target, pixels);
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

/**
 * Averages the samples of a pixel, puts the background behind them, and makes light a picture: three's tone mapping, then the
 * sRGB curve. Turns the rows the right way up.
 */
class DevelopMaterial extends ShaderMaterial {
  constructor(background: Background, samples: Samples) {
    super({
      defines: { SAMPLES: samples, OUTLINE_SAMPLES },
      uniforms: {
        ...background.uniforms,
        drawn: { value: null },
        covered: { value: null },
        backdropDrawn: { value: false },
        agx: { value: true },
        raw: { value: false },
        toneMappingExposure: { value: 1 },
      },
      vertexShader: /* glsl */ `
varying vec2 place;
void main() {
  place = vec2(position.x, -position.y);
  gl_Position = vec4(position.xy, 0.0, 1.0);
}
`,
      fragmentShader: /* glsl */ `
#include <common>
#include <tonemapping_pars_fragment>
${BACKGROUND}
uniform sampler2D drawn;
uniform sampler2D covered;
uniform bool backdropDrawn;
uniform bool agx;
uniform bool raw;
varying vec2 place;

// The mean of a pixel's samples; rows of the picture run downwards.
vec4 meanOf(sampler2D map, int samples) {
  ivec2 corner = samples * ivec2(gl_FragCoord.xy);
  int lastRow = textureSize(map, 0).y - 1;
  vec4 sum = vec4(0.0);
  for (int row = 0; row < samples; row++) {
    for (int column = 0; column < samples; column++) {
      sum += texelFetch(map, ivec2(corner.x + column, lastRow - corner.y - row), 0);
    }
  }
  return sum / float(samples * samples);
}

#if SAMPLES == 1
// The outline covers parts of pixels whose middle it misses: they look like their neighbours.
vec4 fromNeighbours() {
  ivec2 size = textureSize(drawn, 0);
  ivec2 here = ivec2(gl_FragCoord.x, float(size.y) - gl_FragCoord.y);
  vec4 sum = vec4(0.0);
  for (int row = -1; row <= 1; row++) {
    for (int column = -1; column <= 1; column++) {
      sum += texelFetch(drawn, clamp(here + ivec2(column, row), ivec2(0), size - 1), 0);
    }
  }
  return sum.a > 0.0 ? sum / sum.a : sum;
}
#endif

void main() {
  vec4 light = meanOf(drawn, SAMPLES);
#if SAMPLES == 1
  float coverage = meanOf(covered, OUTLINE_SAMPLES).a;
  if (coverage > 0.0 && light.a < 1.0 && !backdropDrawn) light = fromNeighbours();
  light = backdropDrawn ? vec4(light.rgb, coverage) : coverage * vec4(light.rgb, 1.0);
#endif
  if (light.a < 1.0 && !backdropDrawn) light.rgb += (1.0 - light.a) * background(place);
  if (raw) {
    gl_FragColor = light;
    return;
  }
  vec3 shown = agx ? AgXToneMapping(light.rgb) : clamp(light.rgb, 0.0, 1.0);
  gl_FragColor = vec4(sRGBTransferOETF(vec4(shown, 1.0)).rgb, light.a);
}
`,
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
    });
  }
}
