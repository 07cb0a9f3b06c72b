import {
  FloatType,
  GLSL3,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  RGBAFormat,
  ShaderMaterial,
  type Texture,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { backdropGeometry } from './background.ts';

/**
 * Smooths what noise is left in path traced light: an à-trous wavelet filter (Dammertz et al. 2010), 5 × 5 points four times, each
 * time twice as far apart. A neighbour counts as far as its normal is alike and its light differs by no more than noise does. How much
 * that is, two halves of the samples tell by their difference (Rousselle et al. 2012): so reflections and shadows stay, of
 * which normals know nothing. Light is divided by the surface's reflectance before and multiplied after, so that patterns are not
 * blurred. Pixels that the object does not cover whole are left as they are, and count for no others.
 *
 * Each pass is GLSL with `vec4 result(ivec2 place)`; places are pixels, the lowest row first.
 */

const INPUTS = /* glsl */ `
uniform sampler2D sums; // light and coverage of all samples
uniform sampler2D firstSums; // of the first ones
uniform float samples;
uniform float firstSamples;
uniform sampler2D surfaceNormals; // of points within the pixels, 0 beside the object
uniform sampler2D baseColors; // likewise; alpha: whether they are the object's

vec4 meanWithin(sampler2D map, ivec2 place) {
  int side = textureSize(map, 0).x / textureSize(sums, 0).x;
  vec4 sum = vec4(0.0);
  for (int row = 0; row < side; row++) {
    for (int column = 0; column < side; column++) sum += texelFetch(map, side * place + ivec2(column, row), 0);
  }
  return sum / float(side * side);
}

// About what a surface reflects of light from everywhere.
vec3 reflectance(ivec2 place) {
  vec4 base = meanWithin(baseColors, place);
  return base.a > 0.0 ? mix(vec3(0.04), vec3(1.0), base.rgb / base.a) : vec3(1.0);
}
`;

/** Light over reflectance, and in alpha the variance of its mean, summed over the channels, as one pixel tells it. */
export const LIGHT_AND_NOISE = /* glsl */ `
${INPUTS}
vec4 result(ivec2 place) {
  vec3 all = texelFetch(sums, place, 0).rgb;
  vec3 first = texelFetch(firstSums, place, 0).rgb;
  vec3 reflected = reflectance(place);
  vec3 difference = (first / firstSamples - (all - first) / (samples - firstSamples)) / reflected;
  float ofMean = firstSamples * (samples - firstSamples) / (samples * samples);
  return vec4(all / samples / reflected, ofMean * dot(difference, difference));
}
`;

/** Unit normal; alpha 1 where the object covers the pixel whole, else 0. */
export const WHOLE_SURFACES = /* glsl */ `
${INPUTS}
vec4 result(ivec2 place) {
  vec3 normal = meanWithin(surfaceNormals, place).xyz;
  float size = length(normal);
  bool whole = size > 0.0 && texelFetch(sums, place, 0).a > 0.9999 * samples;
  return whole ? vec4(normal / size, 1.0) : vec4(0.0);
}
`;

const NEIGHBOURS = /* glsl */ `
uniform sampler2D light; // and its variance
uniform sampler2D surfaces;

// How much alike two surfaces are, 0 where one is none.
float alike(vec4 surface, vec4 other) {
  return surface.a * other.a * pow(max(0.0, dot(surface.xyz, other.xyz)), 64.0);
}

vec4 surfaceAt(ivec2 place) {
  ivec2 size = textureSize(surfaces, 0);
  bool within = all(greaterThanEqual(place, ivec2(0))) && all(lessThan(place, size));
  return within ? texelFetch(surfaces, place, 0) : vec4(0.0);
}
`;

/**
 * What single pixels say of the noise is noise itself. So it is the mean of 7 × 7 alike, of magnitudes, since a mean of squares would
 * be that of the worst pixel: around it everything would blur.
 */
export const SMOOTHED_NOISE = /* glsl */ `
${NEIGHBOURS}
// From the square of a mean magnitude to a variance: between that of one and of three normally distributed channels.
const float OF_MAGNITUDE = 1.4;
// How far above that a pixel's own noise is believed: what is noisier, and alone, is the edge of something mirrored.
const float WORST = 4.0;
// Noise below this share of the light is left. Halves of low-discrepancy samples differ by more than their mean is off, most so where
// there is little noise: a mirrored picture would be blurred by it.
const float VISIBLE = 0.03;

vec4 result(ivec2 place) {
  vec4 here = texelFetch(light, place, 0);
  vec4 surface = surfaceAt(place);
  if (surface.a == 0.0) return here;
  vec2 sum = vec2(0.0);
  for (int row = -3; row <= 3; row++) {
    for (int column = -3; column <= 3; column++) {
      ivec2 there = place + ivec2(column, row);
      float weight = alike(surface, surfaceAt(there));
      if (weight > 0.0) sum += weight * vec2(sqrt(texelFetch(light, there, 0).a), 1.0);
    }
  }
  float magnitude = sum.x / sum.y;
  float usual = OF_MAGNITUDE * magnitude * magnitude;
  float noise = clamp(here.a, usual, WORST * usual);
  return vec4(here.rgb, max(0.0, noise - VISIBLE * VISIBLE * dot(here.rgb, here.rgb)));
}
`;

/** One pass of the filter: neighbours `reach` pixels apart. */
export const FILTERED_LIGHT = /* glsl */ `
${NEIGHBOURS}
uniform float reach;

// How many times its variance the square of a difference may be for two pixels still to count as the same.
const float TOLERANCE = 4.0;

vec4 result(ivec2 place) {
  vec4 here = texelFetch(light, place, 0);
  vec4 surface = surfaceAt(place);
  if (surface.a == 0.0) return here;
  vec4 sum = vec4(0.0);
  float weights = 0.0;
  // Of the difference of two pixels that are as noisy as this one; not the other's own, or what is bright and noisy would leak.
  float noise = 2.0 * here.a;
  for (int row = -2; row <= 2; row++) {
    for (int column = -2; column <= 2; column++) {
      ivec2 there = place + int(reach) * ivec2(column, row);
      float weight = alike(surface, surfaceAt(there));
      if (weight == 0.0) continue;
      // The cubic B-spline: 1, 4, 6, 4, 1 sixteenths.
      vec2 distance = abs(vec2(column, row));
      vec2 spline = 6.0 - distance * (1.5 + 0.5 * distance);
      weight *= spline.x * spline.y;
      vec4 other = texelFetch(light, there, 0);
      vec3 difference = here.rgb - other.rgb;
      weight *= exp(-max(0.0, dot(difference, difference) - noise) / (TOLERANCE * noise + 1e-12));
      sum += vec4(weight * other.rgb, weight * weight * other.a);
      weights += weight;
    }
  }
  return vec4(sum.rgb / weights, sum.a / (weights * weights));
}
`;

/** Light as it is seen; alpha is coverage. */
export const SEEN_LIGHT = /* glsl */ `
${INPUTS}
uniform sampler2D light;
vec4 result(ivec2 place) {
  return vec4(texelFetch(light, place, 0).rgb * reflectance(place), texelFetch(sums, place, 0).a / samples);
}
`;

const COPIED_SUMS = /* glsl */ `
uniform sampler2D sums;
vec4 result(ivec2 place) { return texelFetch(sums, place, 0); }
`;

/** Distances of the filter's points in its passes, pixels. */
export const REACHES = [1, 2, 4, 8];

/** What path tracing leaves to be smoothed; the lowest row first. */
export interface NoisyLight {
  /** Sums of light and coverage of all samples, and how many these are: more than were kept. */
  readonly sums: Texture;
  readonly samples: number;
  /** Unit normals, and base colours with alpha 1 on the object: one or more points a pixel along each axis. */
  readonly surfaceNormals: Texture;
  readonly baseColors: Texture;
}

/** Once an image: {@link keepFirst} after about half of the samples, {@link denoise} after all. */
export class Denoiser {
  readonly #renderer: WebGLRenderer;
  readonly #uniforms = {
    sums: { value: null as Texture | null },
    firstSums: { value: null as Texture | null },
    samples: { value: 0 },
    firstSamples: { value: 0 },
    surfaceNormals: { value: null as Texture | null },
    baseColors: { value: null as Texture | null },
    light: { value: null as Texture | null },
    surfaces: { value: null as Texture | null },
    reach: { value: 1 },
  };
  readonly #copiedSums = this.#pass(COPIED_SUMS);
  readonly #lightAndNoise = this.#pass(LIGHT_AND_NOISE);
  readonly #wholeSurfaces = this.#pass(WHOLE_SURFACES);
  readonly #smoothedNoise = this.#pass(SMOOTHED_NOISE);
  readonly #filteredLight = this.#pass(FILTERED_LIGHT);
  readonly #seenLight = this.#pass(SEEN_LIGHT);
  readonly #screen = new Mesh(backdropGeometry(), this.#lightAndNoise);
  readonly #camera = new OrthographicCamera();
  #targets: { first: WebGLRenderTarget; surfaces: WebGLRenderTarget; light: WebGLRenderTarget[] } | undefined;

  constructor(renderer: WebGLRenderer) {
    this.#renderer = renderer;
    this.#screen.frustumCulled = false;
  }

  /** Keeps a copy of the sums of the first samples. @param size side of the image, pixels. */
  keepFirst(sums: Texture, samples: number, size: number): void {
    const { first } = this.#sized(size);
    this.#uniforms.sums.value = sums;
    this.#uniforms.firstSamples.value = samples;
    this.#draw(this.#copiedSums, first);
    this.#uniforms.firstSums.value = first.texture;
  }

  /**
   * Of the image whose first samples were kept last.
   * @param onPass waited for after each pass.
   * @returns mean light, alpha is coverage; valid until the next image.
   */
  async denoise(noisy: NoisyLight, size: number, onPass: () => Promise<void>): Promise<Texture> {
    const { surfaces, light } = this.#sized(size);
    const u = this.#uniforms;
    u.sums.value = noisy.sums;
    u.samples.value = noisy.samples;
    u.surfaceNormals.value = noisy.surfaceNormals;
    u.baseColors.value = noisy.baseColors;
    const next = async (pass: ShaderMaterial) => {
      this.#draw(pass, light[1]!);
      await onPass();
      light.reverse();
      u.light.value = light[0]!.texture;
    };
    this.#draw(this.#wholeSurfaces, surfaces);
    await onPass();
    u.surfaces.value = surfaces.texture;
    await next(this.#lightAndNoise);
    await next(this.#smoothedNoise);
    for (const reach of REACHES) {
      u.reach.value = reach;
      await next(this.#filteredLight);
    }
    await next(this.#seenLight);
    return light[0]!.texture;
  }

  #sized(size: number) {
    if (this.#targets?.first.width !== size) {
      if (this.#targets) {
        const { first, surfaces, light } = this.#targets;
        for (const target of [first, surfaces, ...light]) target.dispose();
      }
      const made = () =>
        new WebGLRenderTarget(size, size, {
          type: FloatType,
          format: RGBAFormat,
          minFilter: NearestFilter,
          magFilter: NearestFilter,
          depthBuffer: false,
        });
      this.#targets = { first: made(), surfaces: made(), light: [made(), made()] };
    }
    return this.#targets;
  }

  #pass(glsl: string): ShaderMaterial {
    return new ShaderMaterial({
      glslVersion: GLSL3,
      uniforms: this.#uniforms,
      vertexShader: 'void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }',
      fragmentShader: `${glsl}
layout(location = 0) out vec4 made;
void main() { made = result(ivec2(gl_FragCoord.xy)); }
`,
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
    });
  }

  #draw(pass: ShaderMaterial, target: WebGLRenderTarget): void {
    this.#screen.material = pass;
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#screen, this.#camera);
  }
}
