import {
  FloatType,
  Mesh,
  OrthographicCamera,
  RGBAFormat,
  ShaderMaterial,
  type Texture,
  UnsignedByteType,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { Scene3d } from '../../scenes/scene3d.ts';
import { BACKGROUND, type Background, backdropGeometry } from './background.ts';
import { readPixels } from './read-back.ts';

/** Linear light to be made a picture. */
export interface Exposure {
  /** Light and coverage, the lowest row first; as many texels a pixel as the samples say. */
  readonly light: Texture;
  /** What a texel is to be multiplied by. */
  readonly share: number;
  /** Whether what lies behind the object is in it already. */
  readonly backdropDrawn: boolean;
  /** Coverage of its own, where the light's samples do not tell it. */
  readonly covered?: Texture;
}

/** How many texels along each axis make a pixel. */
export interface DevelopedSamples {
  readonly light: number;
  /** Of the coverage of its own; without it, the light's alpha is it. */
  readonly covered?: number;
}

/** From linear light to bytes, for all engines: averaged as light and only then tone mapped, so that edges are as bright as what they are made of. */
export class Develop {
  readonly #renderer: WebGLRenderer;
  readonly #material: DevelopMaterial;
  readonly #screen: Mesh;
  readonly #camera = new OrthographicCamera();
  #picture: WebGLRenderTarget | undefined;

  /** @param background put behind the light, unless it is in it. */
  constructor(renderer: WebGLRenderer, background: Background, samples: DevelopedSamples) {
    this.#renderer = renderer;
    this.#material = new DevelopMaterial(background, samples);
    this.#screen = new Mesh(backdropGeometry(), this.#material);
    this.#screen.frustumCulled = false;
  }

  /** RGBA bytes, sRGB, rows from the top down. Waits for the GPU. @param size side of the picture, pixels. */
  picture(exposure: Exposure, size: number, toneMapping: Scene3d['toneMapping']): Uint8Array<ArrayBuffer> {
    if (this.#picture?.width !== size) {
      this.#picture?.dispose();
      this.#picture = new WebGLRenderTarget(size, size, {
        type: UnsignedByteType,
        format: RGBAFormat,
        depthBuffer: false,
      });
    }
    this.#material.uniforms.agx!.value = toneMapping === 'agx';
    const pixels = new Uint8Array(4 * size * size);
    this.#into(this.#picture, exposure, pixels);
    return pixels;
  }

  /** Linear light: RGBA 32-bit floats, rows from the top down. Waits for the GPU. */
  radiance(exposure: Exposure, size: number): Float32Array<ArrayBuffer> {
    const target = new WebGLRenderTarget(size, size, { type: FloatType, depthBuffer: false });
    const pixels = new Float32Array(4 * size * size);
    this.#material.uniforms.raw!.value = true;
    this.#into(target, exposure, pixels);
    this.#material.uniforms.raw!.value = false;
    target.dispose();
    return pixels;
  }

  #into(target: WebGLRenderTarget, exposure: Exposure, pixels: Uint8Array | Float32Array): void {
    const { uniforms } = this.#material;
    uniforms.drawn!.value = exposure.light;
    uniforms.share!.value = exposure.share;
    uniforms.covered!.value = exposure.covered ?? null;
    uniforms.backdropDrawn!.value = exposure.backdropDrawn;
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#screen, this.#camera);
    readPixels(this.#renderer, target, pixels);
  }
}

/**
 * Averages the samples of a pixel, puts the background behind them, and makes light a picture: three's tone mapping, then the
 * sRGB curve. Turns the rows the right way up.
 */
class DevelopMaterial extends ShaderMaterial {
  constructor(background: Background, samples: DevelopedSamples) {
    super({
      defines: { SAMPLES: samples.light, ...(samples.covered && { COVERED_SAMPLES: samples.covered }) },
      uniforms: {
        ...background.uniforms,
        drawn: { value: null },
        share: { value: 1 },
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
uniform float share;
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

#ifdef COVERED_SAMPLES
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
  vec4 light = share * meanOf(drawn, SAMPLES);
#ifdef COVERED_SAMPLES
  float coverage = meanOf(covered, COVERED_SAMPLES).a;
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
