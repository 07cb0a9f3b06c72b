import { DataTexture, FloatType, NearestFilter, RGBAFormat } from 'three';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FILTERED_LIGHT,
  LIGHT_AND_NOISE,
  REACHES,
  SEEN_LIGHT,
  SMOOTHED_NOISE,
  WHOLE_SURFACES,
} from '../../../renderers/page/denoiser.ts';
import { rng } from '../../../sampling/rng.ts';
import { ShaderBench } from './shader-bench.ts';

let bench: ShaderBench;
beforeAll(async () => {
  bench = await ShaderBench.start();
});
afterAll(() => bench?.close());

const SIDE = 96;
const SAMPLES = 16;

type Colour = readonly [number, number, number];

/** What a pixel shows without noise, and of what surface. */
interface Shown {
  readonly light: Colour;
  readonly normal: Colour;
  readonly base: Colour;
  readonly covered: number;
}

/** A disc: two sides that meet in an edge, in stripes of two colours, one with a shadow; before a bright background. */
function shown(x: number, y: number): Shown {
  const covered = Math.min(1, Math.max(0, 40.5 - Math.hypot(x - 48, y - 48)));
  if (covered === 0) return { light: [3, 3, 3], normal: [0, 0, 0], base: [0, 0, 0], covered };
  const left = x < 48;
  const base: Colour = y % 24 < 12 ? [0.8, 0.2, 0.1] : [0.1, 0.3, 0.6];
  const strength = left ? 0.5 + 0.004 * y : x < 70 ? 1.5 : 0.4;
  const light = base.map(c => covered * strength * (0.04 + 0.96 * c) + (1 - covered) * 3) as never as Colour;
  return { light, normal: left ? [-0.6, 0, 0.8] : [0.6, 0, 0.8], base, covered };
}

function texture(pixel: (x: number, y: number) => readonly number[]): DataTexture {
  const data = new Float32Array(4 * SIDE * SIDE);
  for (let k = 0; k < SIDE * SIDE; k++) data.set(pixel(k % SIDE, Math.floor(k / SIDE)), 4 * k);
  const made = new DataTexture(data, SIDE, SIDE, RGBAFormat, FloatType);
  made.minFilter = made.magFilter = NearestFilter;
  return made;
}

/** Denoises as the page does: the same passes one after another. */
async function denoised(noise: number): Promise<{ before: Float32Array; after: Float32Array }> {
  const random = rng(1, 'test', 'noise');
  // Light of single samples has a long tail.
  const portion = (x: number, y: number) => {
    const { light, covered } = shown(x, y);
    let sum = 0;
    for (let k = 0; k < SAMPLES / 2; k++) sum += covered > 0 ? 1 + noise * (-Math.log(1 - random.next()) - 1) : 1;
    return [...light.map(c => c * sum), (covered * SAMPLES) / 2];
  };
  const firstSums = texture(portion);
  const second = texture(portion);
  const [a, b] = [firstSums.image.data as Float32Array, second.image.data as Float32Array];
  const sums = texture((x, y) => [0, 1, 2, 3].map(c => a[4 * (y * SIDE + x) + c]! + b[4 * (y * SIDE + x) + c]!));
  const inputs = {
    sums,
    firstSums,
    surfaceNormals: texture((x, y) => [...shown(x, y).normal, 1]),
    baseColors: texture((x, y) => [...shown(x, y).base, Math.ceil(shown(x, y).covered)]),
  };
  const uniforms = { samples: [SAMPLES], firstSamples: [SAMPLES / 2] };
  const pass = async (glsl: string, textures: Record<string, DataTexture>, more: Record<string, number[]> = {}) => {
    const values = await bench.run({ glsl, width: SIDE, height: SIDE, textures, uniforms: { ...uniforms, ...more } });
    return texture((x, y) => [...values.subarray(4 * (y * SIDE + x), 4 * (y * SIDE + x) + 4)]);
  };
  const surfaces = await pass(WHOLE_SURFACES, inputs);
  let light = await pass(SMOOTHED_NOISE, { surfaces, light: await pass(LIGHT_AND_NOISE, inputs) });
  for (const reach of REACHES) light = await pass(FILTERED_LIGHT, { surfaces, light }, { reach: [reach] });
  const seen = await pass(SEEN_LIGHT, { ...inputs, light });
  return { before: (sums.image.data as Float32Array).map(v => v / SAMPLES), after: seen.image.data as Float32Array };
}

/** Root of the mean squared difference from the picture without noise, over pixels that the object covers whole. */
function error(values: Float32Array, part: (x: number, y: number) => boolean = () => true): number {
  let [sum, count] = [0, 0];
  for (let k = 0; k < SIDE * SIDE; k++) {
    const [x, y] = [k % SIDE, Math.floor(k / SIDE)];
    const { light, covered } = shown(x, y);
    if (covered < 1 || !part(x, y)) continue;
    light.forEach((c, channel) => {
      sum += (values[4 * k + channel]! - c) ** 2;
    });
    count += 3;
  }
  return Math.sqrt(sum / count);
}

describe('denoiser', () => {
  let before: Float32Array;
  let after: Float32Array;
  beforeAll(async () => {
    ({ before, after } = await denoised(1));
  });

  it('takes noise away and leaves edges of surfaces and of light', () => {
    expect(error(before) / error(after)).toBeGreaterThan(4);
    // Within a pixel of the edge of normals, of stripes, and of the shadow.
    for (const near of [
      (x: number) => x === 47 || x === 48,
      (_x: number, y: number) => y % 12 === 0 || y % 12 === 11,
      (x: number) => x === 69 || x === 70,
    ]) {
      expect(error(after, near)).toBeLessThan(0.67 * error(before, near));
    }
  });

  it('leaves what is not covered whole, and what has no noise, as it is', async () => {
    let apart = 0;
    for (let k = 0; k < SIDE * SIDE; k++) {
      if (shown(k % SIDE, Math.floor(k / SIDE)).covered === 1) continue;
      for (const c of [0, 1, 2, 3]) apart = Math.max(apart, Math.abs(after[4 * k + c]! - before[4 * k + c]!));
    }
    expect(apart).toBeLessThan(1e-5);
    const clean = await denoised(0);
    expect(error(clean.after)).toBeLessThan(1e-3);
  });
});
