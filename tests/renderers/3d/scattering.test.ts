import { DataTexture, FloatType, NearestFilter, RGBAFormat } from 'three';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ALBEDO_COLUMNS,
  ALBEDO_ROWS,
  albedoTable,
  albedoTexture,
  alphaOf,
  dielectricFresnel,
  directionalAlbedos,
  REFRACTIVE_INDEX,
} from '../../../renderers/page/albedo-table.ts';
import { BSDF } from '../../../renderers/page/bsdf.ts';
import { SOBOL } from '../../../renderers/page/sobol.ts';
import { rng } from '../../../sampling/rng.ts';
import { ShaderBench } from './shader-bench.ts';

/** The shader's own scattering, integrated numerically and compared with its samples, with optics and with plain arithmetic. */
let bench: ShaderBench;
const textures = { albedoTable: albedoTexture() };

beforeAll(async () => {
  bench = await ShaderBench.start();
});
afterAll(() => bench?.close());

interface Config {
  readonly color: readonly [number, number, number];
  readonly roughness: number;
  readonly metalness: number;
  readonly transmission: number;
  readonly cosine: number;
  readonly inside: boolean;
}

const WHITE = [1, 1, 1] as const;
const COLOURED = [0.9, 0.5, 0.02] as const;

const CONFIGS: readonly Config[] = [
  ...[0, 0.1, 0.4, 1].flatMap(roughness =>
    [0.1, 0.7].flatMap(cosine => [
      { color: WHITE, roughness, metalness: 0, transmission: 0, cosine, inside: false },
      { color: WHITE, roughness, metalness: 1, transmission: 0, cosine, inside: false },
      { color: WHITE, roughness, metalness: 0, transmission: 1, cosine, inside: false },
      { color: WHITE, roughness, metalness: 0, transmission: 1, cosine, inside: true },
    ]),
  ),
  ...[0.05, 0.5, 0.9].flatMap(roughness => [
    { color: WHITE, roughness, metalness: 0.5, transmission: 0, cosine: 0.4, inside: false },
    { color: WHITE, roughness, metalness: 0.3, transmission: 0.6, cosine: 0.8, inside: true },
    { color: COLOURED, roughness, metalness: 0, transmission: 0, cosine: 0.7, inside: false },
    { color: COLOURED, roughness, metalness: 1, transmission: 0, cosine: 0.3, inside: false },
    { color: COLOURED, roughness, metalness: 0.2, transmission: 0.5, cosine: 0.5, inside: false },
  ]),
];

const nameOf = ({ color, roughness, metalness, transmission, cosine, inside }: Config) =>
  `${color === WHITE ? 'white' : 'coloured'} r ${roughness} m ${metalness} t ${transmission} cos ${cosine}${inside ? ' inside' : ''}`;

function configTexture(configs: readonly Config[]): DataTexture {
  const data = Float32Array.from(
    configs.flatMap(c => [...c.color, c.cosine, c.roughness, c.metalness, c.transmission, Number(c.inside)]),
  );
  const texture = new DataTexture(data, 2, configs.length, RGBAFormat, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;
  return texture;
}

/** Rings around where a mirror or a smooth pane would send the light, narrow near it; each in eight parts. */
const RINGS = 256;
const PARTS = 8;

/**
 * Reads a material and direction; and places directions on two balls of rings: of those above the surface around the mirrored direction,
 * of those below around the refracted one.
 */
const SETUP = /* glsl */ `
${BSDF}
${SOBOL}
uniform sampler2D configs;
const float RINGS = ${RINGS}.0;
const float PARTS = ${PARTS}.0;
Scattering material;
vec3 o;
bool inside;
void setUp(int row) {
  vec4 a = texelFetch(configs, ivec2(0, row), 0);
  vec4 b = texelFetch(configs, ivec2(1, row), 0);
  material = Scattering(a.rgb, b.x, b.y, b.z);
  o = vec3(sqrt(1.0 - a.w * a.w), 0.0, a.w);
  inside = b.w > 0.5;
}
mat3 frameOf(bool below) {
  vec3 axis = vec3(-o.x, 0.0, o.z);
  if (below) {
    float sine = min(1.0, o.x * (inside ? REFRACTIVE_INDEX : 1.0 / REFRACTIVE_INDEX));
    axis = vec3(-sine, 0.0, -sqrt(1.0 - sine * sine));
  }
  return mat3(vec3(axis.z, 0.0, -axis.x), vec3(0.0, 1.0, 0.0), axis);
}
`;

interface Integrals {
  /** By side, ring and part. */
  readonly density: Float64Array;
  readonly total: number;
  readonly energy: readonly [number, number, number];
}

/** Integrals of density and f·|cos| over all directions, by quadrature in the rings. */
async function integrals(configs: readonly Config[]): Promise<Integrals[]> {
  const width = 2 * RINGS * PARTS;
  const values = await bench.run({
    width,
    height: configs.length,
    textures: { ...textures, configs: configTexture(configs) },
    glsl: /* glsl */ `${SETUP}
const int ANGLES = 16;
vec4 result(ivec2 place) {
  setUp(place.y);
  bool below = place.x >= ${RINGS * PARTS};
  int ring = (place.x / ${PARTS}) % ${RINGS};
  mat3 frame = frameOf(below);
  vec4 sum = vec4(0.0);
  for (int depth = 0; depth < 2; depth++) {
    float share = (float(ring) + 0.25 + 0.5 * float(depth)) / RINGS;
    float polar = 0.5 * FULL_CIRCLE * pow(share, 4.0);
    float size = sin(polar) * 0.5 * FULL_CIRCLE * 4.0 * pow(share, 3.0) * 0.5 / RINGS * FULL_CIRCLE / (PARTS * float(ANGLES));
    for (int k = 0; k < ANGLES; k++) {
      float azimuth = (float(place.x % ${PARTS}) + (float(k) + 0.5) / float(ANGLES)) / PARTS * FULL_CIRCLE;
      vec3 i = frame * vec3(sin(polar) * vec2(cos(azimuth), sin(azimuth)), cos(polar));
      if ((i.z < 0.0) != below) continue;
      float density;
      vec3 value = scatter(material, o, i, inside, density);
      sum += size * vec4(value, density);
    }
  }
  return sum;
}`,
  });
  return configs.map((_, row) => {
    const density = new Float64Array(width);
    const energy: [number, number, number] = [0, 0, 0];
    let total = 0;
    for (let x = 0; x < width; x++) {
      const at = 4 * (row * width + x);
      for (const c of [0, 1, 2]) energy[c]! += values[at + c]!;
      density[x] = values[at + 3]!;
      total += density[x]!;
    }
    return { density, total, energy };
  });
}

interface Samples {
  /** How many fell on each side, ring and part. */
  readonly counts: Float64Array;
  readonly lost: number;
  /** Mean weight, and its standard error. */
  readonly mean: number;
  readonly error: number;
  /** The largest relative difference between what sampleScatter says of a sample and what scatter does. */
  readonly disagreement: number;
}

const SAMPLES = 16384;
/** A row of samples is not wider than textures are everywhere. */
const SAMPLE_ROWS = 4;

async function samples(configs: readonly Config[]): Promise<Samples[]> {
  const values = await bench.run({
    width: SAMPLES / SAMPLE_ROWS,
    height: SAMPLE_ROWS * configs.length,
    textures: { ...textures, configs: configTexture(configs) },
    glsl: /* glsl */ `${SETUP}
float random(uvec3 key) { return unitFloat(hashed(key.x ^ hashed(key.y ^ hashed(key.z)))); }
vec4 result(ivec2 place) {
  setUp(place.y / ${SAMPLE_ROWS});
  uvec2 key = uvec2(place);
  vec3 i;
  float density;
  vec3 u = vec3(random(uvec3(key, 1u)), random(uvec3(key, 2u)), random(uvec3(key, 3u)));
  vec3 weight = sampleScatter(material, o, inside, u, i, density);
  if (density == 0.0) return vec4(weight.x, -1.0, 0.0, 0.0);
  float again;
  vec3 value = scatter(material, o, i, inside, again);
  float disagreement = max(abs(again / density - 1.0), abs(value.x / density - weight.x) / max(weight.x, 1e-3));
  vec3 local = transpose(frameOf(i.z < 0.0)) * i;
  float polar = 2.0 * asin(min(1.0, 0.5 * length(local - vec3(0.0, 0.0, 1.0))));
  float ring = min(floor(pow(polar / (0.5 * FULL_CIRCLE), 0.25) * RINGS), RINGS - 1.0);
  float azimuth = atan(local.y, local.x) / FULL_CIRCLE;
  float part = min(floor((azimuth < 0.0 ? azimuth + 1.0 : azimuth) * PARTS), PARTS - 1.0);
  return vec4(weight.x, ((i.z < 0.0 ? RINGS : 0.0) + ring) * PARTS + part, disagreement, 0.0);
}`,
  });
  return configs.map((_, row) => {
    const counts = new Float64Array(2 * RINGS * PARTS);
    let [lost, sum, squares, disagreement] = [0, 0, 0, 0];
    for (let at = 4 * row * SAMPLES; at < 4 * (row + 1) * SAMPLES; at += 4) {
      const [weight = 0, place = 0, difference = 0] = values.subarray(at, at + 3);
      sum += weight;
      squares += weight * weight;
      disagreement = Math.max(disagreement, difference);
      if (place < 0) lost++;
      else counts[place]!++;
    }
    const mean = sum / SAMPLES;
    const error = Math.sqrt(Math.max(0, squares / SAMPLES - mean * mean) / SAMPLES);
    return { counts, lost: lost / SAMPLES, mean, error, disagreement };
  });
}

/**
 * Pearson's χ² over groups of neighbouring places with at least 20 expected, in standard deviations above its mean. The quadrature may be
 * off by 2 %.
 */
function surprise(counts: Float64Array, density: Float64Array): number {
  let [statistic, groups, expected, count] = [0, 0, 0, 0];
  for (const side of [0, 1]) {
    for (let part = 0; part < PARTS; part++) {
      for (let ring = 0; ring < RINGS; ring++) {
        const place = (side * RINGS + ring) * PARTS + part;
        expected += SAMPLES * density[place]!;
        count += counts[place]!;
        if (expected < 20) continue;
        statistic += (count - expected) ** 2 / (expected + (0.02 * expected) ** 2);
        groups++;
        [expected, count] = [0, 0];
      }
    }
  }
  return (statistic - groups) / Math.sqrt(2 * groups);
}

/** What a metal reflects in all, once and more often (Kulla and Conty 2017). */
function metalAlbedo({ cosine, roughness }: Config, f0: number): number {
  const alpha = alphaOf(roughness);
  const { reflected, grazing } = directionalAlbedos(cosine, alpha);
  let mean = 0;
  for (let k = 0.5; k < 100; k++) mean += 2 * (k / 100) * (directionalAlbedos(k / 100, alpha).reflected / 100);
  const fresnel = f0 + (1 - f0) / 21;
  const later = (fresnel ** 2 * mean) / (1 - fresnel * (1 - mean));
  return f0 * (reflected - grazing) + grazing + (1 - reflected) * later;
}

describe('scattering', () => {
  let integrated: Integrals[];
  let sampled: Samples[];
  beforeAll(async () => {
    integrated = await integrals(CONFIGS);
    sampled = await samples(CONFIGS);
  });

  it('has a density that integrates to the share of samples that go somewhere, and that the samples follow', () => {
    CONFIGS.forEach((config, k) => {
      const { total, density } = integrated[k]!;
      const { counts, lost, disagreement } = sampled[k]!;
      const noise = Math.sqrt((lost * (1 - lost)) / SAMPLES);
      expect(Math.abs(total + lost - 1), nameOf(config)).toBeLessThan(0.01 + 4 * noise);
      expect(surprise(counts, density), nameOf(config)).toBeLessThan(4);
      expect(disagreement, nameOf(config)).toBeLessThan(1e-3);
    });
  });

  it('loses and gains nothing where the material is white, and gains nothing where it is coloured', () => {
    CONFIGS.forEach((config, k) => {
      const { energy } = integrated[k]!;
      const { mean, error } = sampled[k]!;
      if (config.color === WHITE) for (const channel of energy) expect(channel, nameOf(config)).toBeCloseTo(1, 2);
      else for (const channel of energy) expect(channel, nameOf(config)).toBeLessThan(1);
      if (config.metalness === 1) {
        config.color.forEach((c, channel) => {
          expect(energy[channel], nameOf(config)).toBeCloseTo(metalAlbedo(config, c), 2);
        });
      }
      expect(Math.abs(mean - energy[0]), nameOf(config)).toBeLessThan(0.005 + 4 * error);
    });
  });

  it('is reciprocal: opaque materials exactly, glass in radiance over the square of the index, but for its albedos', async () => {
    const random = rng(1, 'test', 'reciprocity');
    const count = 512;
    const glass = (k: number) => k % 2 === 1;
    const data = Float32Array.from({ length: count * 12 }, (_, at) => {
      const k = Math.floor(at / 12);
      // A material, then two directions of which glass is crossed by both or neither.
      if (at % 12 === 4) return 0.05 + 0.95 * random.next();
      if (at % 12 === 6) return glass(k) ? 1 : 0;
      if (at % 12 === 5) return glass(k) ? 0 : random.next();
      if (at % 12 === 7 || at % 12 === 8) return 0.05 + 0.95 * random.next();
      return random.next();
    });
    const pairs = new DataTexture(data, 3, count, RGBAFormat, FloatType);
    pairs.minFilter = pairs.magFilter = NearestFilter;
    const values = await bench.run({
      width: 3,
      height: count,
      textures: { ...textures, configs: pairs },
      glsl: /* glsl */ `${SETUP}
vec3 direction(float cosine, float turn) {
  return vec3(sqrt(1.0 - cosine * cosine) * vec2(cos(turn * FULL_CIRCLE), sin(turn * FULL_CIRCLE)), cosine);
}
vec4 result(ivec2 place) {
  vec4 a = texelFetch(configs, ivec2(0, place.y), 0);
  vec4 b = texelFetch(configs, ivec2(1, place.y), 0);
  vec4 c = texelFetch(configs, ivec2(2, place.y), 0);
  material = Scattering(b.z > 0.5 ? vec3(a.x) : a.xyz, b.x, b.y, b.z);
  vec3 first = direction(b.w, a.w);
  vec3 second = direction(c.x, c.y);
  float density;
  if (place.x == 0) return vec4(scatter(material, first, second, false, density) / second.z, 0.0);
  if (place.x == 1) return vec4(scatter(material, second, first, false, density) / first.z, 0.0);
  // Through the surface: there and, seen from below, back.
  vec3 flip = vec3(1.0, 1.0, -1.0);
  float there = scatter(material, first, flip * second, false, density).x / second.z;
  float back = scatter(material, second, flip * first, true, density).x / first.z;
  return vec4(there / (REFRACTIVE_INDEX * REFRACTIVE_INDEX), back, 0.0, 0.0);
}`,
    });
    for (let k = 0; k < count; k++) {
      const at = 12 * k;
      const [roughness, cosine, other] = [data[at + 4]!, data[at + 7]!, data[at + 8]!];
      const albedo = (c: number, side: 0 | 1) => (glass(k) ? directionalAlbedos(c, alphaOf(roughness)).glass[side] : 1);
      for (const c of [0, 1, 2]) {
        const forth = values[at + c]! * albedo(cosine, 0);
        const back = values[at + 4 + c]! * albedo(other, 0);
        expect(Math.abs(forth - back), `${k}`).toBeLessThan((glass(k) ? 0.02 : 1e-3) * Math.max(forth, 1e-6));
      }
      const [there = 0, again = 0] = [values[at + 8]! * albedo(cosine, 0), values[at + 9]! * albedo(other, 1)];
      if (glass(k)) expect(Math.abs(there - again), `${k}`).toBeLessThan(0.02 * Math.max(there, 1e-6));
    }
  });

  it('mirrors where it is smooth', async () => {
    const configs = [0.05, 0.3, 1].flatMap(cosine =>
      [false, true].map(inside => ({
        color: COLOURED,
        roughness: 0,
        metalness: inside ? 0 : 1,
        transmission: inside ? 1 : 0,
        cosine,
        inside,
      })),
    );
    const values = await bench.run({
      width: 1024,
      height: configs.length,
      textures: { ...textures, configs: configTexture(configs) },
      glsl: /* glsl */ `${SETUP}
vec4 result(ivec2 place) {
  setUp(place.y);
  vec3 i;
  float density;
  vec2 u = samplePair(uvec2(0), uint(place.x), 0u, 7u);
  vec3 weight = sampleScatter(material, o, inside, vec3(u, (float(place.x) + 0.5) / 1024.0), i, density);
  vec3 straight = frameOf(i.z < 0.0)[2];
  return vec4(weight.x, weight.z, length(i - straight), i.z);
}`,
    });
    configs.forEach((config, row) => {
      const drawn = Array.from({ length: 1024 }, (_, k) =>
        values.subarray(4 * (row * 1024 + k), 4 * (row * 1024 + k) + 4),
      );
      // At 1.5 degrees above the horizon the blur of a smooth surface is not small any more beside the angle.
      expect(drawn.filter(([, , away = 0]) => away < 0.02).length, nameOf(config)).toBeGreaterThan(1000);
      if (config.inside) {
        const passed = drawn.filter(([, , , z = 0]) => z < 0).length / 1024;
        expect(passed, nameOf(config)).toBeCloseTo(1 - dielectricFresnel(config.cosine, 1 / REFRACTIVE_INDEX), 2);
      } else {
        for (const [part, c] of [
          [0, COLOURED[0]],
          [1, COLOURED[2]],
        ] as const) {
          const mean = drawn.reduce((sum, each) => sum + each[part]!, 0) / 1024;
          expect(mean, nameOf(config)).toBeCloseTo(c + (1 - c) * (1 - config.cosine) ** 5, 2);
        }
      }
    });
  });

  it('gives finite numbers, and no negative ones, for extreme directions and materials', async () => {
    const values = await bench.run({
      width: 256,
      height: 256,
      textures,
      glsl: /* glsl */ `${BSDF}
${SOBOL}
float pick(uint which) {
  uint n = which % 7u;
  return n == 0u ? 0.0 : n == 1u ? 1.0 : n == 2u ? 1e-6 : n == 3u ? 1e-3 : n == 4u ? 0.03 : n == 5u ? 0.5 : 0.99999994;
}
vec4 result(ivec2 place) {
  uint h = hashed(uint(place.x + 256 * place.y));
  Scattering s = Scattering(vec3(pick(h)), pick(h >> 3), pick(h >> 6), pick(h >> 9));
  float cosine = pick(h >> 12), other = pick(h >> 15);
  vec3 o = vec3(sqrt(1.0 - cosine * cosine), 0.0, cosine);
  bool inside = (h >> 31) == 1u;
  vec3 i;
  float density, again;
  vec3 weight = sampleScatter(s, o, inside, vec3(pick(h >> 18), pick(h >> 21), pick(h >> 24)) * 0.99999994, i, density);
  float side = (h >> 30) % 2u == 1u ? 1.0 : -1.0;
  vec3 value = scatter(s, o, vec3(side * sqrt(1.0 - other * other), 0.0, side * other), inside, again);
  return vec4(weight.x, density, value.x, again);
}`,
    });
    expect(values.every(value => Number.isFinite(value) && value >= 0)).toBe(true);
  });
});

/** Of the microfacet model, integrated over all directions and not over normals: E, its grazing part, and of glass on each side. */
function bruteForce(cosine: number, alpha: number): [number, number, number, number] {
  const sine = Math.sqrt(1 - cosine * cosine);
  const g1 = (c: number) => 2 / (1 + Math.sqrt(1 + (alpha * alpha * (1 - c * c)) / (c * c)));
  const lambda = (c: number) => 1 / g1(c) - 1;
  const facets = (c: number) => alpha ** 2 / (Math.PI * (c * c * (alpha * alpha - 1) + 1) ** 2);
  const sums: [number, number, number, number] = [0, 0, 0, 0];
  const steps = 300;
  // Rings around the straight direction again.
  const over = (axis: readonly [number, number], take: (x: number, z: number, y: number, size: number) => void) => {
    for (let ring = 0; ring < steps; ring++) {
      const share = (ring + 0.5) / steps;
      const polar = Math.PI * share ** 3;
      const size = (((Math.sin(polar) * 3 * Math.PI * share ** 2) / steps) * Math.PI * 2) / steps;
      for (let k = 0; k < steps; k++) {
        const azimuth = ((k + 0.5) / steps) * Math.PI;
        const [a, b, c] = [Math.sin(polar) * Math.cos(azimuth), Math.sin(polar) * Math.sin(azimuth), Math.cos(polar)];
        take(a * axis[1] + c * axis[0], c * axis[1] - a * axis[0], b, size);
      }
    }
  };
  over([-sine, cosine], (x, z, y, size) => {
    if (z <= 0) return;
    const length = Math.hypot(x + sine, y, z + cosine);
    const facing = ((x + sine) * sine + (z + cosine) * cosine) / length;
    const kept = facets((z + cosine) / length) / (4 * cosine * (1 + lambda(cosine) + lambda(z)));
    sums[0] += kept * size;
    sums[1] += kept * (1 - facing) ** 5 * size;
    sums[2] += kept * dielectricFresnel(facing, REFRACTIVE_INDEX) * size;
    sums[3] += kept * dielectricFresnel(facing, 1 / REFRACTIVE_INDEX) * size;
  });
  for (const [side, from, to] of [
    [2, 1, REFRACTIVE_INDEX],
    [3, REFRACTIVE_INDEX, 1],
  ] as const) {
    const bent = Math.min(1, (sine * from) / to);
    over([-bent, -Math.sqrt(1 - bent * bent)], (x, z, y, size) => {
      if (z >= 0) return;
      const sign = to > from ? -1 : 1;
      const half = [from * sine + to * x, to * y, from * cosine + to * z].map(v => sign * v);
      const length = Math.hypot(...half);
      const [hx, hy, hz] = half.map(v => v / length) as [number, number, number];
      const [oh, ih] = [sine * hx + cosine * hz, x * hx + y * hy + z * hz];
      if (hz <= 0 || oh <= 0 || ih >= 0) return;
      const masked = g1(cosine) * g1(-z) * facets(hz) * (1 - dielectricFresnel(oh, to / from));
      sums[side] += (masked * oh * -ih * to * to * size) / (cosine * (from * oh + to * ih) ** 2);
    });
  }
  return sums;
}

describe('albedo table', () => {
  it('agrees with integrals over all directions', () => {
    for (const [cosine, roughness] of [
      [1, 0.5],
      [0.7, 0.3],
      [0.5, 1],
      [0.2, 0.6],
      [0.1, 0.9],
    ] as const) {
      const { reflected, grazing, glass } = directionalAlbedos(cosine, alphaOf(roughness));
      const expected = bruteForce(cosine, alphaOf(roughness));
      [reflected, grazing, ...glass].forEach((value, k) => {
        expect(Math.abs(value - expected[k]!), `${k} of cos ${cosine} r ${roughness}`).toBeLessThan(0.004);
      });
    }
  });

  it('is fine enough to be interpolated', () => {
    const table = albedoTable();
    const random = rng(1, 'test', 'table');
    for (let k = 0; k < 1000; k++) {
      const [cosine, roughness] = [0.03 + 0.97 * random.next(), random.next()];
      const { reflected, grazing, glass } = directionalAlbedos(cosine, alphaOf(roughness));
      const [x, y] = [Math.sqrt(cosine) * (ALBEDO_COLUMNS - 1), roughness * (ALBEDO_ROWS - 1)];
      const [left, low] = [Math.min(ALBEDO_COLUMNS - 2, Math.floor(x)), Math.min(ALBEDO_ROWS - 2, Math.floor(y))];
      const at = (part: number, block: number) => {
        const texel = (dx: number, dy: number) =>
          table[4 * ((block * ALBEDO_ROWS + low + dy) * ALBEDO_COLUMNS + left + dx) + part]!;
        const row = (dy: number) => texel(0, dy) * (left + 1 - x) + texel(1, dy) * (x - left);
        return row(0) * (low + 1 - y) + row(1) * (y - low);
      };
      const differences = [
        at(0, 0) - 1 + reflected,
        at(1, 0) - grazing,
        at(0, 1) - 1 + glass[0],
        at(1, 1) - 1 + glass[1],
      ];
      for (const difference of differences) expect(Math.abs(difference), `${cosine} ${roughness}`).toBeLessThan(0.01);
    }
  });
});
