import {
  ClampToEdgeWrapping,
  DataTexture,
  LinearFilter,
  RepeatWrapping,
  RGBFormat,
  ShaderChunk,
  UnsignedInt5999Type,
} from 'three';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENVIRONMENT_SAMPLING, environmentTable } from '../../../renderers/page/environment-sampling.ts';
import { SOBOL } from '../../../renderers/page/sobol.ts';
import { rng } from '../../../sampling/rng.ts';
import { decodePanorama, encodePanorama, type Panorama, readPackedPanorama } from '../../../scenes/panorama-format.ts';
import { ShaderBench } from './shader-bench.ts';

/** What light and samples the shader draws, against plain arithmetic. */
let bench: ShaderBench;
beforeAll(async () => {
  bench = await ShaderBench.start();
});
afterAll(() => bench?.close());

type Colour = readonly [number, number, number];

interface Lit {
  /** As the shader gets it, rounded to RGB9E5. */
  readonly panorama: Panorama;
  readonly textures: Readonly<Record<string, DataTexture>>;
}

function lit(width: number, height: number, colour: (column: number, row: number) => Colour): Lit {
  const data = new Float32Array(3 * width * height);
  for (let k = 0; k < width * height; k++) data.set(colour(k % width, Math.floor(k / width)), 3 * k);
  const { bytes } = encodePanorama({ width, height, data });
  const packed = readPackedPanorama(bytes);
  const texture = new DataTexture(packed.words, width, height, RGBFormat, UnsignedInt5999Type);
  texture.wrapS = RepeatWrapping;
  texture.wrapT = ClampToEdgeWrapping;
  texture.magFilter = texture.minFilter = LinearFilter;
  return {
    panorama: decodePanorama(bytes),
    textures: { panorama: texture, environmentTable: environmentTable(packed) },
  };
}

/** Clouds with a sun of one pixel, which is most of the light. */
function sky(width: number, height: number): Lit {
  const random = rng(1, 'test', 'sky');
  return lit(width, height, (column, row) => {
    if (column === Math.floor(0.7 * width) && row === Math.floor(0.3 * height)) return [5000, 4000, 3000];
    const bright = random.next() < 0.3 ? 2 : 0;
    return [bright * random.next(), bright * random.next(), bright * random.next()];
  });
}

/** A panorama interpolated between pixels, u to the right and v downwards from 0 to 1: its luminance. */
function luminance({ width, height, data }: Panorama, u: number, v: number): number {
  const [x, y] = [u * width - 0.5, v * height - 0.5];
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const at = (column: number, row: number) => {
    const texel = 3 * (Math.min(height - 1, Math.max(0, row)) * width + ((column + width) % width));
    return 0.2126 * data[texel]! + 0.7152 * data[texel + 1]! + 0.0722 * data[texel + 2]!;
  };
  const along = (row: number) => at(left, row) * (left + 1 - x) + at(left + 1, row) * (x - left);
  return along(top) * (top + 1 - y) + along(top + 1) * (y - top);
}

const COLUMNS = 16;
const ROWS = 8;

/** Light from 16 × 8 parts of the sphere, equal steps of azimuth and height angle, row by row from the zenith; numerically. */
function lightByPart(panorama: Panorama, stepsAcross = 8): Float64Array {
  const light = new Float64Array(COLUMNS * ROWS);
  const [across, down] = [stepsAcross * panorama.width, 8 * panorama.height];
  for (let row = 0; row < down; row++) {
    const v = (row + 0.5) / down;
    const size = (2 * Math.PI ** 2 * Math.sin(v * Math.PI)) / (across * down);
    for (let column = 0; column < across; column++) {
      const part = Math.floor(v * ROWS) * COLUMNS + Math.floor((column * COLUMNS) / across);
      light[part]! += size * luminance(panorama, (column + 0.5) / across, v);
    }
  }
  return light;
}

const SIDE = 256;
const SAMPLES = SIDE * SIDE;

const RANDOM = /* glsl */ `
${SOBOL}
${ENVIRONMENT_SAMPLING}
vec2 random(ivec2 place) {
  uint key = hashed(uint(place.x + ${SIDE} * place.y));
  return vec2(unitFloat(key), unitFloat(hashed(key ^ 77u)));
}
// Even over the sphere.
vec3 anyDirection(ivec2 place) {
  vec2 u = random(place);
  float y = 2.0 * u.x - 1.0;
  return vec3(sqrt(1.0 - y * y) * cos(6.2831853 * u.y), y, sqrt(1.0 - y * y) * sin(6.2831853 * u.y));
}
`;

const draw = (textures: Lit['textures'], glsl: string) =>
  bench.run({ width: SIDE, height: SIDE, textures, uniforms: { strength: [1] }, glsl: `${RANDOM}\n${glsl}` });

describe('light of a panorama', () => {
  it('is found by its brightness', async () => {
    for (const [width, height] of [
      [64, 32],
      [100, 50],
      [256, 100],
    ] as const) {
      const { panorama, textures } = sky(width, height);
      const name = `${width}×${height}`;
      const values = await draw(
        textures,
        /* glsl */ `vec4 result(ivec2 place) {
  vec3 direction;
  float density;
  vec3 radiance = sampleEnvironment(random(place), direction, density);
  bool same = radiance == environmentRadiance(direction) && abs(environmentDensity(direction) / density - 1.0) < 1e-4;
  vec2 at = panoramaPlace(direction);
  float part = floor((1.0 - at.y) * ${ROWS}.0) * ${COLUMNS}.0 + min(floor(at.x * ${COLUMNS}.0), ${COLUMNS - 1}.0);
  return vec4(part, dot(radiance, vec3(0.2126, 0.7152, 0.0722)) / density, same ? 0.0 : 1.0, abs(length(direction) - 1.0));
}`,
      );
      const light = lightByPart(panorama);
      const total = light.reduce((sum, each) => sum + each, 0);
      const counts = new Float64Array(light.length);
      let [sum, squares, unlike, longest] = [0, 0, 0, 0];
      for (let at = 0; at < values.length; at += 4) {
        const [part = 0, estimate = 0, other = 0, stretched = 0] = values.subarray(at, at + 4);
        counts[part]!++;
        sum += estimate;
        squares += estimate * estimate;
        unlike += other;
        longest = Math.max(longest, stretched);
      }
      expect(longest, name).toBeLessThan(1e-5);
      // A direction on the edge of a cell may be rounded into the next.
      expect(unlike / SAMPLES, name).toBeLessThan(2e-4);
      const mean = sum / SAMPLES;
      const error = Math.sqrt((squares / SAMPLES - mean * mean) / SAMPLES);
      expect(Math.abs(mean - total), name).toBeLessThan(4 * error + 1e-3 * total);
      light.forEach((each, part) => {
        const share = each / total;
        const noise = Math.sqrt(share * (1 - share) * SAMPLES);
        expect(Math.abs(counts[part]! - share * SAMPLES), `${name}, part ${part}`).toBeLessThan(
          4 * noise + 0.01 * share * SAMPLES,
        );
      });
    }
  });

  it('has a density that integrates to 1, and that is positive wherever there is light', async () => {
    for (const { textures } of [
      sky(64, 32),
      sky(100, 50),
      lit(64, 32, () => [0, 0, 0]),
      lit(64, 32, (column, row) => (column === 63 && row === 16 ? [0, 0, 9] : [0, 0, 0])),
      lit(4, 2, column => [column, 0, 0]),
    ]) {
      // Even steps of azimuth and height angle, four a cell.
      const values = await draw(
        textures,
        /* glsl */ `vec4 result(ivec2 place) {
  vec2 at = (vec2(place) + 0.5) / ${SIDE}.0;
  float polar = at.y * ENVIRONMENT_PI;
  float azimuth = (at.x - 0.5) * 2.0 * ENVIRONMENT_PI;
  vec3 direction = vec3(sin(polar) * cos(azimuth), cos(polar), sin(polar) * sin(azimuth));
  float size = 4.0 * ENVIRONMENT_PI * sin(polar) * sin(0.5 * ENVIRONMENT_PI / ${SIDE}.0) / ${SIDE}.0;
  float density = environmentDensity(direction);
  vec3 radiance = environmentRadiance(direction);
  bool missed = density == 0.0 && radiance != vec3(0.0);
  return vec4(density * size, missed ? 1.0 : 0.0, 0.0, 0.0);
}`,
      );
      let [sum, missed] = [0, 0];
      for (let at = 0; at < values.length; at += 4) {
        sum += values[at]!;
        missed += values[at + 1]!;
      }
      expect(missed).toBe(0);
      expect(sum).toBeCloseTo(1, 4);
    }
  });

  it('is the picture that the raster engine looks up, interpolated', async () => {
    const { panorama, textures } = sky(64, 32);
    const radiances = await draw(
      textures,
      'vec4 result(ivec2 place) { return vec4(environmentRadiance(anyDirection(place)), 0.0); }',
    );
    const looked = await draw(
      textures,
      /* glsl */ `${ShaderChunk.common}
vec4 result(ivec2 place) {
  vec3 direction = anyDirection(place);
  return vec4(panoramaPlace(direction), equirectUv(direction));
}`,
    );
    let [apart, off] = [0, 0];
    for (let at = 0; at < looked.length; at += 4) {
      const [u = 0, v = 0, otherU = 0, otherV = 0] = looked.subarray(at, at + 4);
      // Azimuth counts for nothing at the poles.
      apart = Math.max(apart, Math.abs(u - otherU) * Math.sin(v * Math.PI), Math.abs(v - otherV));
      const [r = 0, g = 0, b = 0] = radiances.subarray(at, at + 3);
      const expected = luminance(panorama, u, 1 - v);
      // Graphics cards interpolate in steps of a 256th of a pixel, of which some are beside the sun.
      const steps = (expected > 2 ? 2 * 5000 : 2 * 2) / 256;
      off = Math.max(off, Math.abs(0.2126 * r + 0.7152 * g + 0.0722 * b - expected) / steps);
    }
    expect(apart).toBeLessThan(2e-4);
    expect(off).toBeLessThan(1);
  });

  it('comes evenly from a black panorama, and is none', async () => {
    const { textures } = lit(32, 16, () => [0, 0, 0]);
    const values = await draw(
      textures,
      /* glsl */ `vec4 result(ivec2 place) {
  vec3 direction;
  float density;
  vec3 radiance = sampleEnvironment(random(place), direction, density);
  return vec4(radiance, density * 4.0 * ENVIRONMENT_PI);
}`,
    );
    expect(values.every((value, k) => (k % 4 < 3 ? value === 0 : Math.abs(value - 1) < 0.01))).toBe(true);
  });

  it('is found in panoramas that are finer than the table, and at the poles', async () => {
    const [width, height] = [1200, 60];
    for (const row of [0, 20, height - 1]) {
      const { panorama, textures } = lit(width, height, (x, y) =>
        y === row && (x === 77 || row !== 20) ? [60000, 50000, 40000] : [0.01, 0.01, 0.01],
      );
      expect(textures.environmentTable!.image.width).toBe(512);
      const values = await draw(
        textures,
        /* glsl */ `vec4 result(ivec2 place) {
  vec3 direction;
  float density;
  vec3 radiance = sampleEnvironment(random(place), direction, density);
  return vec4(dot(radiance, vec3(0.2126, 0.7152, 0.0722)) / density, density, radiance.x, 1.0);
}`,
      );
      let [sum, squares, bright, least] = [0, 0, 0, Number.POSITIVE_INFINITY];
      for (let at = 0; at < values.length; at += 4) {
        sum += values[at]!;
        squares += values[at]! ** 2;
        least = Math.min(least, values[at + 1]!);
        if (values[at + 2]! > 1) bright++;
      }
      const mean = sum / SAMPLES;
      const total = lightByPart(panorama, 1).reduce((all, each) => all + each, 0);
      expect(Math.abs(mean - total)).toBeLessThan(
        4 * Math.sqrt((squares / SAMPLES - mean * mean) / SAMPLES) + 0.01 * total,
      );
      expect(least).toBeGreaterThan(0);
      expect(bright / SAMPLES).toBeGreaterThan(0.3);
    }
  });
});

describe('samples', () => {
  const sampled = (width: number, height: number, result: string) =>
    bench.run({ width, height, glsl: `${SOBOL}\nvec4 result(ivec2 place) { ${result} }` });

  it('have one point in each box of every partition, in every prefix of a power of two', async () => {
    const count = 1024;
    const pixels = 8;
    const points = await sampled(
      count,
      pixels,
      'return vec4(samplePair(uvec2(place.y, 3), uint(place.x), 5u, 9u), samplePair(uvec2(7, place.y), uint(place.x), 0u, 1u));',
    );
    for (let pixel = 0; pixel < pixels; pixel++) {
      for (const part of [0, 2]) {
        const at = (k: number, axis: number) => points[4 * (pixel * count + k) + part + axis]!;
        for (let bits = 0; 2 ** bits <= count; bits++) {
          for (let across = 0; across <= bits; across++) {
            const [columns, rows] = [2 ** across, 2 ** (bits - across)];
            const seen = new Set<number>();
            for (let k = 0; k < 2 ** bits; k++) {
              seen.add(Math.floor(at(k, 0) * columns) * rows + Math.floor(at(k, 1) * rows));
            }
            expect(seen.size).toBe(2 ** bits);
          }
        }
      }
    }
  });

  it('have nothing to do with those of other pixels, dimensions and seeds, and are always the same', async () => {
    const side = 64;
    const pick = (pixel: string, number: string, pair: string, seed: string) =>
      sampled(
        side,
        side,
        `return vec4(samplePair(${pixel}, ${number}, ${pair}, ${seed}), samplePair(${pixel}, ${number}, ${pair} + 1u, ${seed}));`,
      );
    const own = await pick('uvec2(place)', '5u', '0u', '1u');
    expect(await pick('uvec2(place)', '5u', '0u', '1u')).toEqual(own);
    const others = [
      await pick('uvec2(place.yx)', '5u', '0u', '1u'),
      await pick('uvec2(place) + uvec2(1, 0)', '5u', '0u', '1u'),
      await pick('uvec2(place) + uvec2(0, 1)', '5u', '0u', '1u'),
      await pick('uvec2(place)', '5u', '2u', '1u'),
      await pick('uvec2(place)', '5u', '0u', '2u'),
    ];
    const count = side * side;
    const columns = [own, ...others].flatMap(values =>
      [0, 1, 2, 3].map(c => Float64Array.from({ length: count }, (_, k) => values[4 * k + c]! - 0.5)),
    );
    // Uniform in [0, 1): variance 1/12.
    const expectNone = (a: Float64Array, b: Float64Array) => {
      const correlation = (12 * a.reduce((sum, value, k) => sum + value * b[k]!, 0)) / count;
      expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(count));
    };
    for (const column of columns) {
      const mean = column.reduce((sum, value) => sum + value, 0) / count;
      expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(12 * count));
    }
    for (let a = 0; a < 4; a++) for (let b = a + 1; b < 4; b++) expectNone(columns[a]!, columns[b]!);
    for (const own of columns.slice(0, 4)) for (const other of columns.slice(4)) expectNone(own, other);
  });
});
