import { describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { SHAPE_CONDITIONS } from '../../scenes/conditions.ts';
import { rgbToLab } from '../../scenes/paint.ts';
import { LAST_SHAPES2D, type Shapes2dRecipe } from '../../scenes/recipe.ts';
import { type ItemSize, type Placement, type Scene2d, scene2dSchema } from '../../scenes/scene2d.ts';
import { sampleShapeScene, turnedBox } from '../../scenes/shape-scene.ts';
import { correlation, worstBin, worstNumber } from './statistics.ts';

const N = 20_000;
const TEXTURES = { a: { id: 'a', width: 800, height: 700 }, b: { id: 'b', width: 300, height: 400 } };

/** Many images of one shape. */
function scenes(
  shape: Omit<ItemSize, 'id'>,
  condition: keyof typeof SHAPE_CONDITIONS,
  recipe: Partial<Shapes2dRecipe> = {},
): Scene2d[] {
  const random = rng(1, 'test', `${shape.width}×${shape.height}`);
  return Array.from({ length: N }, () =>
    sampleShapeScene(
      random,
      { ...LAST_SHAPES2D, ...recipe },
      SHAPE_CONDITIONS[condition],
      { id: 'shape', ...shape },
      not => (not === 'a' ? TEXTURES.b : TEXTURES.a),
    ),
  );
}

/** Width and height of the turned and scaled box, from its corners. */
function extent({ width, height }: Omit<ItemSize, 'id'>, { scale, rotation }: Placement): [number, number] {
  const angle = (rotation * Math.PI) / 180;
  const corners = [
    [width, height],
    [width, -height],
    [-width, height],
    [-width, -height],
  ].map(([x, y]) => [
    (scale / 2) * (x! * Math.cos(angle) - y! * Math.sin(angle)),
    (scale / 2) * (x! * Math.sin(angle) + y! * Math.cos(angle)),
  ]);
  return [2 * Math.max(...corners.map(([x]) => x!)), 2 * Math.max(...corners.map(([, y]) => y!))];
}

describe('a shape scene', () => {
  it('has a longer side uniform in its range', () => {
    const shape = { width: 150, height: 310 };
    const sides = scenes(shape, 'natural-black-white-unrotated').map(({ placement }) => placement.scale * 310);
    expect(worstBin(sides, 0.32 * 512, 512, 40)).toBeLessThan(4);
    const narrow = scenes(shape, 'natural-black-white-rotated', { longSide: [0.1, 0.6], size: 200 });
    expect(
      worstBin(
        narrow.map(({ placement }) => placement.scale * 310),
        20,
        120,
        40,
      ),
    ).toBeLessThan(4);
  });

  it('is turned by a whole number of degrees, each equally often', () => {
    const rotations = scenes({ width: 150, height: 310 }, 'natural-black-white-rotated').map(
      ({ placement }) => placement.rotation,
    );
    expect(worstNumber(rotations, 0, 359)).toBeLessThan(4);
  });

  it('is shrunk only where its turned box exceeds the image, and then just fits', () => {
    const square = { width: 256, height: 256 };
    let [shrunk, tooLarge] = [0, 0];
    for (const { placement } of scenes(square, 'natural-black-white-rotated')) {
      const side = Math.max(...extent(square, placement));
      if (side > 512 + 1e-9) tooLarge++;
      if (side > 512 - 1e-9) shrunk++;
    }
    expect(tooLarge).toBe(0);
    // At an angle with |cos| + |sin| = d, sides from 512/d on are too long: a share of (1 − 1/d) / (1 − 0.32).
    const angles = Array.from({ length: 360 }, (_, degrees) => (degrees * Math.PI) / 180);
    const share =
      angles.reduce((sum, a) => sum + (1 - 1 / (Math.abs(Math.cos(a)) + Math.abs(Math.sin(a)))) / 0.68, 0) / 360;
    expect(Math.abs(shrunk - N * share)).toBeLessThan(4 * Math.sqrt(N * share * (1 - share)));
  });

  it.each([
    [150, 310, 'natural-black-white-rotated'],
    [400, 90, 'natural-black-white-rotated'],
    [280, 280, 'natural-black-white-unrotated'],
  ] as const)('of %i×%i px lies inside the image, uniformly where it fits (%s)', (width, height, condition) => {
    const [xs, ys]: [number[], number[]] = [[], []];
    let outside = 0;
    for (const { placement } of scenes({ width, height }, condition)) {
      const free = extent({ width, height }, placement).map(side => 512 - side) as [number, number];
      const room = (axis: 0 | 1) => (placement.center[axis] - (512 - free[axis]) / 2) / free[axis];
      if (Math.max(...placement.center.map((at, axis) => Math.abs(at - 256) - free[axis]! / 2)) > 1e-9) outside++;
      // Where the box just fits there is nothing to choose.
      if (Math.min(...free) < 1e-6) continue;
      xs.push(room(0));
      ys.push(room(1));
    }
    expect(outside).toBe(0);
    expect(xs.length).toBeGreaterThan(0.8 * N);
    expect(worstBin(xs, -1e-6, 1 + 1e-6, 32)).toBeLessThan(4);
    expect(worstBin(ys, -1e-6, 1 + 1e-6, 32)).toBeLessThan(4);
    expect(correlation(xs, ys)).toBeLessThan(4);
  });

  it('has place, size and turn that say nothing about each other', () => {
    const shape = { width: 200, height: 200 };
    const placements = scenes(shape, 'natural-black-white-rotated', { longSide: [0.3, 0.7] }).map(s => s.placement);
    const scale = placements.map(p => p.scale);
    const rotation = placements.map(p => p.rotation);
    const place = placements.map(p => (p.center[0] - 256) / (512 - extent(shape, p)[0]));
    expect(correlation(scale, rotation)).toBeLessThan(4);
    expect(correlation(scale, place)).toBeLessThan(4);
    expect(correlation(rotation, place)).toBeLessThan(4);
  });

  it('has colours that can be told apart', () => {
    for (const { fill, background } of scenes({ width: 9, height: 9 }, 'natural-coloured-coloured-rotated')) {
      if (fill.kind !== 'colour' || background.kind !== 'colour') throw new Error('expected colours');
      const [a, b] = [rgbToLab(fill.rgb), rgbToLab(background.rgb)];
      if (Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 20) expect.unreachable(`${fill.rgb}, ${background.rgb}`);
    }
  });

  it('has a fill and a background of different textures, cropped independently', () => {
    const textured = scenes({ width: 100, height: 90 }, 'natural-textured-textured-rotated');
    const crops = textured.map(({ fill, background }) => {
      if (fill.kind !== 'texture' || background.kind !== 'texture') throw new Error('expected textures');
      if (fill.id !== 'a' || background.id !== 'b') throw new Error('expected a filled with b behind');
      return [fill.left, background.top, fill.quarterTurns, background.quarterTurns] as const;
    });
    const column = (i: number) => crops.map(crop => crop[i]!);
    expect(worstNumber(column(0), 0, 800 - 512)).toBeLessThan(4);
    expect(worstNumber(column(1), 0, Math.round((400 * 512) / 300) - 512)).toBeLessThan(4);
    expect(correlation(column(0), column(1))).toBeLessThan(4);
    expect(correlation(column(2), column(3))).toBeLessThan(4);
  });

  it('matches its schema, is the same again for the same seed and another for another', () => {
    const draw = (item: number) =>
      sampleShapeScene(
        rng(3, 'shapes2d', item),
        LAST_SHAPES2D,
        SHAPE_CONDITIONS['natural-textured-textured-rotated'],
        { id: 'shape', width: 99, height: 301 },
        not => (not === 'a' ? TEXTURES.b : TEXTURES.a),
      );
    expect(scene2dSchema.parse(draw(5))).toEqual(draw(5));
    expect(draw(6)).not.toEqual(draw(5));
  });
});

describe('turnedBox', () => {
  it('is the smallest upright box around a turned rectangle', () => {
    const box = { width: 30, height: 10 };
    expect(turnedBox(box, 0)).toEqual([30, 10]);
    expect(turnedBox(box, 90)[0]).toBeCloseTo(10, 12);
    expect(turnedBox(box, 90)[1]).toBeCloseTo(30, 12);
    expect(turnedBox(box, 45)[0]).toBeCloseTo(40 * Math.SQRT1_2, 12);
    for (let rotation = 0; rotation < 360; rotation += 7) {
      const [width, height] = extent(box, { scale: 1, rotation, center: [0, 0] });
      expect(turnedBox(box, rotation)[0]).toBeCloseTo(width, 10);
      expect(turnedBox(box, rotation)[1]).toBeCloseTo(height, 10);
    }
  });
});
