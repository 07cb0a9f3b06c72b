import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { aovForms, depthScale, encodeGeometry } from '../../pipeline/geometry-pngs.ts';
import { uniform } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { LAST_MATERIALS3D, LAST_SHAPES3D } from '../../scenes/recipe3d.ts';

/** Depth and normals as they are stored, read by a decoder of its own. */
const SIZE = 37;
const SCALE = depthScale(LAST_SHAPES3D);

/** Unit normals and depths of every size, and nothing in every fifth pixel. */
function surface(): Float32Array {
  const random = rng(1, 'tests', 'surface');
  const pixels = new Float32Array(4 * SIZE * SIZE);
  for (let i = 0; i < SIZE * SIZE; i++) {
    if (i % 5 === 0) continue;
    const normal = [0, 1, 2].map(() => uniform(random, -1, 1));
    const length = Math.hypot(...normal);
    pixels.set([...normal.map(value => value / length), uniform(random, 0.01, 2.7)], 4 * i);
  }
  // The ends of what is possible: along the axes, on the lens, and as far away as can be.
  pixels.set([-1, 0, 0, 1e-6], 4);
  pixels.set([0, 0, 1, 1.85 + Math.sqrt(3) / 2 + 0.066], 8);
  return pixels;
}

describe('depth and normals in 16-bit PNGs', () => {
  const given = surface();
  const { 'depth.png': depthForm, 'normal.png': normalForm } = aovForms(['depth', 'normal'], SCALE);

  it('are read back with the scales that labels say', async () => {
    const files = await encodeGeometry(given, SIZE, ['depth', 'normal'], SCALE);
    expect(Object.keys(files)).toEqual(['depth.png', 'normal.png']);
    const [depth, normal] = [decode(files['depth.png']!), decode(files['normal.png']!)];
    expect(depth).toMatchObject({ width: SIZE, height: SIZE, depth: 16, channels: 1 });
    expect(normal).toMatchObject({ width: SIZE, height: SIZE, depth: 16, channels: 3 });
    for (let i = 0; i < SIZE * SIZE; i++) {
      const [x, y, z, d] = given.subarray(4 * i, 4 * i + 4) as unknown as [number, number, number, number];
      const stored = normal.data.subarray(3 * i, 3 * i + 3);
      if (d === 0) {
        expect([depth.data[i], ...stored]).toEqual([0, 0, 0, 0]);
        continue;
      }
      expect(depth.data[i]).toBeGreaterThan(0);
      expect(Math.abs(depth.data[i]! * depthForm!.scale + depthForm!.offset - d)).toBeLessThanOrEqual(depthForm!.scale);
      for (const [c, value] of [x, y, z].entries()) {
        const read = stored[c]! * normalForm!.scale + normalForm!.offset;
        expect(Math.abs(read - value)).toBeLessThanOrEqual(normalForm!.scale / 2 + 1e-7);
      }
    }
  });

  it('are only those that are asked for', async () => {
    expect(Object.keys(await encodeGeometry(given, SIZE, ['normal'], SCALE))).toEqual(['normal.png']);
    expect(aovForms([], SCALE)).toEqual({});
  });

  it('the scale of depths is a power of two that leaves no place of a recipe out, and wastes less than a bit', () => {
    for (const recipe of [
      LAST_SHAPES3D,
      LAST_MATERIALS3D,
      { distance: [0.3, 100] as [number, number], displacement: 1 },
    ]) {
      const scale = depthScale(recipe);
      const farthest = recipe.distance[1] + Math.sqrt(3) / 2 + recipe.displacement;
      expect(Number.isInteger(Math.log2(scale))).toBe(true);
      expect(65_535 * scale).toBeGreaterThanOrEqual(farthest);
      expect(65_535 * scale).toBeLessThan(2 * farthest);
    }
    expect(SCALE).toBe(2 ** -14);
  });
});
