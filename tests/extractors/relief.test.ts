import { describe, expect, it } from 'vitest';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { correlateNormals, type HeightField, normalsFromHeight, occlusionFromHeight } from '../../extractors/relief.ts';
import { rng } from '../../sampling/rng.ts';

const SIDE = 64;

function field(heightAt: (column: number, row: number) => number, side = SIDE): HeightField {
  const data = new Float32Array(side * side);
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) data[row * side + column] = heightAt(column, row);
  return { width: side, height: side, data, white: 1 };
}

/** A half ball on flat ground, its middle at the middle: height 1 stands for its radius. */
const RADIUS = 24;
const hemisphere = field((column, row) => {
  const square = RADIUS ** 2 - (column - SIDE / 2) ** 2 - (row - SIDE / 2) ** 2;
  return square > 0 ? Math.sqrt(square) / RADIUS : 0;
});

function normalAt({ data, width }: RgbImage, column: number, row: number): [number, number, number] {
  const i = 3 * (row * width + column);
  return [data[i]! / 127.5 - 1, data[i + 1]! / 127.5 - 1, data[i + 2]! / 127.5 - 1];
}

function expectNormal(found: readonly number[], x: number, y: number, z: number): void {
  const length = Math.hypot(x, y, z);
  const off = [x, y, z].map((value, i) => Math.abs(value / length - found[i]!));
  expect(Math.max(...off)).toBeLessThanOrEqual(0.5 / 127.5 + 1e-6);
}

describe('normalsFromHeight', () => {
  it('is flat, out of the picture, for level ground', () => {
    const { data } = normalsFromHeight(
      field(() => 0.4),
      8,
    );
    expect([...data.subarray(0, 3)]).toEqual([128, 128, 255]);
    expect(new Set(data).size).toBe(2);
  });

  it('leans against the rise of a ramp, everywhere: n ∝ (−r·dh/dcolumn, r·dh/drow, 1)', () => {
    for (const [perColumn, perRow] of [
      [0.01, 0],
      [0, 0.01],
      [-0.008, 0.005],
    ] as const) {
      const normals = normalsFromHeight(
        field((column, row) => 0.5 + column * perColumn + row * perRow),
        40,
      );
      for (const [column, row] of [
        [0, 0],
        [30, 30],
        [SIDE - 1, 5],
        [17, SIDE - 1],
      ] as const) {
        expectNormal(normalAt(normals, column, row), -40 * perColumn, 40 * perRow, 1);
      }
    }
  });

  it('is the direction from the middle on a half ball, with up being +Y', () => {
    const normals = normalsFromHeight(hemisphere, RADIUS);
    for (let row = 12; row <= 52; row += 4) {
      for (let column = 12; column <= 52; column += 4) {
        const [x, y] = [column - SIDE / 2, row - SIDE / 2];
        const z2 = RADIUS ** 2 - x * x - y * y;
        // Near the rim central differences are no longer the slope.
        if (z2 < 12 ** 2) continue;
        const [nx, ny, nz] = normalAt(normals, column, row);
        const cosine = (nx * x - ny * y + nz * Math.sqrt(z2)) / RADIUS;
        expect(cosine).toBeGreaterThan(0.9999 ** 2 * Math.hypot(nx, ny, nz) * 0.999);
      }
    }
  });

  it('makes a bump that is bright on its upper side when lit from above', () => {
    const normals = normalsFromHeight(hemisphere, RADIUS);
    // Lambert: light from above (+Y) and in front (+Z).
    const light = (column: number, row: number) => {
      const [, y, z] = normalAt(normals, column, row);
      return Math.max(0, (y + z) / Math.SQRT2);
    };
    const ground = light(2, 2);
    for (const off of [6, 10, 14, 18]) {
      expect(light(SIDE / 2, SIDE / 2 - off)).toBeGreaterThan(ground + 0.1);
      expect(light(SIDE / 2, SIDE / 2 + off)).toBeLessThan(ground - 0.1);
      // Left and right are alike.
      expect(light(SIDE / 2 - off, SIDE / 2)).toBeCloseTo(light(SIDE / 2 + off, SIDE / 2), 2);
    }
  });

  it('takes any size', () => {
    for (const [width, height] of [
      [1, 1],
      [1, 3],
      [2, 1],
    ] as const) {
      const heights = { width, height, data: new Uint8Array(width * height).fill(9), white: 255 };
      expect([...normalsFromHeight(heights, 5).data.subarray(0, 3)]).toEqual([128, 128, 255]);
    }
  });
});

describe('occlusionFromHeight', () => {
  it('leaves level ground and tops in full light and darkens pits', () => {
    const flat = occlusionFromHeight(
      field(() => 0.5),
      8,
    );
    expect(Math.min(...flat.data)).toBe(255);
    const at = (image: GreyImage, column: number, row: number) => image.data[row * SIDE + column]!;
    const bump = occlusionFromHeight(hemisphere, RADIUS);
    expect(at(bump, SIDE / 2, SIDE / 2)).toBe(255);
    // Beside the half ball a part of the sky is hidden.
    expect(at(bump, SIDE / 2, SIDE / 2 + RADIUS + 1)).toBeLessThan(230);
    const pit = occlusionFromHeight({ ...hemisphere, data: Float32Array.from(hemisphere.data, h => 1 - h) }, RADIUS);
    expect(at(pit, SIDE / 2, SIDE / 2)).toBeLessThan(215);
  });

  it('hides s² / (1 + s²) of the light on the side of an endless slope', () => {
    // A ramp of slope 1: along one axis half of the light, along the diagonals slope 1/√2 (a third), along the level none.
    const ramp = occlusionFromHeight(
      field(column => column / SIDE),
      SIDE,
    );
    const expected = (1 - (0.5 + 1 / 3 + 1 / 3) / 8) * 255;
    expect(ramp.data[32 * SIDE + 20]!).toBeCloseTo(expected, -0.3);
  });
});

describe('correlateNormals', () => {
  const random = rng(1, 'test', 'relief');
  const noise = field(() => random.next());
  const heights = { width: SIDE, height: SIDE, data: Uint8Array.from(noise.data, h => h * 255) };
  const up = normalsFromHeight({ ...heights, white: 255 }, 4);
  const down = { ...up, data: up.data.map((value, i) => (i % 3 === 1 ? 255 - value : value)) };

  it('is near 1 along both axes for +Y, near −1 along y for −Y', () => {
    const plus = correlateNormals(up, heights);
    expect(Math.min(plus.x, plus.y)).toBeGreaterThan(0.9);
    const minus = correlateNormals(down, heights);
    expect(minus.x).toBeGreaterThan(0.9);
    expect(minus.y).toBeLessThan(-0.9);
  });

  it('says nothing for flat maps and for heights of something else', () => {
    const flat = { ...heights, data: new Uint8Array(SIDE * SIDE) };
    expect(correlateNormals(up, flat)).toEqual({ x: 0, y: 0 });
    const other = { ...heights, data: Uint8Array.from(heights.data, () => 255 * random.next()) };
    const { x, y } = correlateNormals(up, other);
    expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThan(0.1);
  });
});
