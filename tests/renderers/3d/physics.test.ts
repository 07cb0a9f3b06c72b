import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RenderHost } from '../../../renderers/render-host.ts';
import type { Engine, SceneItems } from '../../../renderers/render-job.ts';
import { product, rotationMatrix } from '../../../sampling/rotation.ts';
import type { Quaternion, Scene3d, Vector } from '../../../scenes/scene3d.ts';
import { cube, material, NO_TURN, panorama, Shelf, scene, sphere, type Texel } from './still-life.ts';

/** What a picture must show, worked out from optics and geometry alone. */
let host: RenderHost;
const shelf = new Shelf();

beforeAll(async () => {
  host = await RenderHost.start({ pages: 1 });
});
afterAll(() => host?.close());

interface Drawn {
  readonly size: number;
  /** Linear red, green, blue and coverage of a pixel. */
  at(x: number, y: number): [number, number, number, number];
}

/** What draws, where a test is for both engines. */
let engine: Engine;

async function draw(items: SceneItems, description: Scene3d): Promise<Drawn> {
  const { pixels } = await host.render({ scene: description, items, output: 'radiance', engine }, shelf);
  const values = new Float32Array(pixels.buffer);
  const { size } = description;
  return { size, at: (x, y) => [0, 1, 2, 3].map(c => values[4 * (y * size + x) + c]!) as never };
}

/** Pixels that the object covers whole. */
function inside(drawn: Drawn): [x: number, y: number][] {
  const found: [number, number][] = [];
  for (let y = 0; y < drawn.size; y++) {
    for (let x = 0; x < drawn.size; x++) if (drawn.at(x, y)[3] === 1) found.push([x, y]);
  }
  return found;
}

/** The scene of a material without mapping tricks, with other parts. */
function withMapping(changes: Partial<Scene3d['material']['mapping']>, rest: Partial<Scene3d> = {}): Scene3d {
  const plain = scene(rest);
  return { ...plain, material: { ...plain.material, mapping: { ...plain.material.mapping, ...changes } } };
}

const WHITE = panorama(() => [1, 1, 1], 64);
const dot = (a: readonly number[], b: readonly number[]) => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const unit = (v: readonly number[]): Vector => {
  const length = Math.hypot(...v);
  return [v[0]! / length, v[1]! / length, v[2]! / length];
};
/** Direction from the camera through a pixel's centre. */
function viewRay(x: number, y: number, { size, camera }: Scene3d): Vector {
  const half = camera.sensor / 2 / camera.focalLength;
  return unit([half * ((2 * (x + 0.5)) / size - 1), -half * ((2 * (y + 0.5)) / size - 1), -1]);
}

/** Where a ray from the camera meets the ball of radius 0.5 in the origin: its normal; undefined beside it. */
function ballNormal(ray: Vector, distance: number): Vector | undefined {
  const along = distance * -ray[2]!;
  const root = along ** 2 - (distance ** 2 - 0.25);
  if (root < 0) return undefined;
  const t = along - Math.sqrt(root);
  return unit([t * ray[0]!, t * ray[1]!, distance + t * ray[2]!]);
}

/** The pixel whose value of `score` is largest. */
function best(size: number, score: (x: number, y: number) => number): [number, number] {
  let found: [number, number] = [0, 0];
  let most = Number.NEGATIVE_INFINITY;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const value = score(x, y);
      if (value > most) [most, found] = [value, [x, y]];
    }
  }
  return found;
}

/** Mean place of the pixels above half the brightest of those covered (or, of the background, those not). */
function brightest(drawn: Drawn, covered: boolean): [number, number] {
  const candidates: [number, number, number][] = [];
  for (let y = 0; y < drawn.size; y++) {
    for (let x = 0; x < drawn.size; x++) {
      const [r, , , a] = drawn.at(x, y);
      if (covered ? a === 1 : a === 0) candidates.push([x, y, r]);
    }
  }
  const top = Math.max(...candidates.map(([, , value]) => value)) / 2;
  const chosen = candidates.filter(([, , value]) => value > top);
  const mean = (axis: 0 | 1) => chosen.reduce((sum, place) => sum + place[axis], 0) / chosen.length;
  return [mean(0), mean(1)];
}

const distance = (a: readonly number[], b: readonly number[]) => Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!);
/** The panorama with a lamp, and turned so that the lamp is in another direction of the scene, by one of many ways. */
const LAMP_DIRECTION = unit([0.3, 0.8, 0.5]);
const LAMP = panorama(d => (dot(d, LAMP_DIRECTION) > Math.cos(0.08) ? [50, 50, 50] : [0, 0, 0]), 512);
function lampAt(direction: Vector, roll = 0): Scene3d['environment'] {
  const between = unit([0, 1, 2].map(i => LAMP_DIRECTION[i]! + direction[i]!));
  // Half a turn about the middle of the two, after a turn about the lamp itself.
  const turn: Quaternion = [...between, 0];
  const [s, c] = [Math.sin(roll / 2), Math.cos(roll / 2)];
  const own: Quaternion = [s * LAMP_DIRECTION[0], s * LAMP_DIRECTION[1], s * LAMP_DIRECTION[2], c];
  const rotation = product(turn, own);
  const matrix = rotationMatrix(rotation);
  const led = [0, 1, 2].map(row => dot(matrix.slice(3 * row, 3 * row + 3), LAMP_DIRECTION));
  expect(distance(led, direction)).toBeLessThan(1e-9);
  return { id: 'x', rotation, strength: 1 };
}
const unitQuaternion = (q: readonly number[]) => q.map(value => value / Math.hypot(...q)) as Quaternion;
const MIRROR: Texel = { roughness: 0, metalness: 255 };

const ENGINES: readonly Engine[] = [{ name: 'raster' }, { name: 'pathtrace', samples: 32, denoise: false, seed: 1 }];

describe.each(ENGINES)('$name', tested => {
  beforeAll(() => {
    engine = tested;
  });

  describe('light', () => {
    it('is twice as much from a panorama twice as strong', async () => {
      const sky = panorama(([, y]) => (y > 0 ? [0.3, 0.5, 0.9] : [0.2, 0.1, 0.05]));
      const items = shelf.put(sphere(), material({ color: [200, 120, 60], roughness: 120 }), sky);
      const once = await draw(items, scene());
      const twice = await draw(items, scene({ environment: { id: 'x', rotation: [...NO_TURN], strength: 2 } }));
      for (const [x, y] of [...inside(once), [2, 2] as const]) {
        for (let c = 0; c < 3; c++) expect(twice.at(x, y)[c]! / once.at(x, y)[c]!).toBeCloseTo(2, 1.7);
      }
    });

    it.each([
      ['a metal', 255, (r: number, g: number) => expect(g / r).toBeLessThan(0.2)],
      ['a dielectric', 0, (r: number, g: number) => expect(g / r).toBeGreaterThan(0.9)],
    ] as const)('reflects from %s in the right colour', async (_, metalness, check) => {
      const up = unit([0, 1, 1]);
      const red = material({ color: [120, 20, 20], roughness: 30, metalness });
      const drawn = await draw(shelf.put(sphere(), red, LAMP), scene({ environment: lampAt(up) }));
      const [x, y] = brightest(drawn, true).map(Math.round) as [number, number];
      const [r, g] = drawn.at(x, y);
      check(r, g);
    });
  });

  describe('geometry', () => {
    const mirrorBall = shelf.put(sphere(128), material(MIRROR), LAMP);
    const rolls = [0, 1, 2.5, 4];

    it.each(rolls)('a mirror ball shows a lamp where it has to, the panorama rolled by %f', async roll => {
      const wanted = unit([0.4, 0.5, 0.75]);
      const description = scene({ size: 256, environment: lampAt(wanted, roll) });
      const drawn = await draw(mirrorBall, description);
      const expected = best(256, (x, y) => {
        const ray = viewRay(x, y, description);
        const normal = ballNormal(ray, description.camera.distance);
        if (!normal) return -1;
        const twice = 2 * dot(ray, normal);
        return dot(unit(ray.map((r, i) => r - twice * normal[i]!)), wanted);
      });
      expect(distance(brightest(drawn, true), expected)).toBeLessThan(2);
    });

    it.each(rolls)('the background shows a lamp where it has to, the panorama rolled by %f', async roll => {
      const wanted = unit([0.4, 0.4, -1]);
      const description = scene({ size: 256, environment: lampAt(wanted, roll) });
      const drawn = await draw(mirrorBall, description);
      const expected = best(256, (x, y) => dot(viewRay(x, y, description), wanted));
      expect(distance(brightest(drawn, false), expected)).toBeLessThan(2);
    });

    it('covers as much of the image as a ball of diameter 1 does', async () => {
      const description = scene({ size: 256 });
      const drawn = await draw(shelf.put(sphere(128), material({}), WHITE), description);
      let area = 0;
      let expected = 0;
      for (let y = 0; y < 256; y++) {
        for (let x = 0; x < 256; x++) {
          area += drawn.at(x, y)[3];
          if (ballNormal(viewRay(x, y, description), description.camera.distance)) expected++;
        }
      }
      expect(area / expected).toBeCloseTo(1, 2);
    });
  });

  describe('materials around objects', () => {
    /** Quarters of a repeat: dark where one of left and upper, but not both. */
    const checks = material((u, v) => (u < 0.5 !== v < 0.5 ? { color: [0, 0, 0] } : {}), 128);

    it.each([1, 2, 3])('%i repeats on the side of a cube are twice as many checks', async repeats => {
      const description = withMapping({ scale: [repeats, repeats, repeats] }, { size: 256 });
      const drawn = await draw(shelf.put(cube(), checks, WHITE), description);
      // The row a little above the middle, on the face that looks at the camera: 1 away, so that it is 1/(2·tan) wide.
      const half = 256 / 2 / (2 * (36 / 2 / 32));
      const first = Math.ceil(128 - half) + 2;
      const last = Math.floor(128 + half) - 3;
      const edges: number[] = [];
      for (let x = first; x < last; x++) {
        const [here, next] = [drawn.at(x, 120)[0] > 0.5, drawn.at(x + 1, 120)[0] > 0.5];
        if (here !== next) edges.push(x + 1);
      }
      // Its offset is 0, so that the material's corner lies in the cube's centre.
      const expected: number[] = [];
      for (let k = -repeats + 1; k < repeats; k++) expected.push(128 + (k / repeats) * half);
      expect(edges).toHaveLength(expected.length);
      for (const [i, edge] of edges.entries()) expect(Math.abs(edge - expected[i]!)).toBeLessThan(1.5);
    });

    it('shows pictures upright and unmirrored on all sides', async () => {
      // Red grows to the right, green downwards.
      const ramp = material((u, v) => ({ color: [Math.round(255 * u), Math.round(255 * v), 0] }), 128);
      const items = shelf.put(cube(), ramp, WHITE);
      const h = Math.SQRT1_2;
      const sides: Quaternion[] = [
        [0, 0, 0, 1],
        [0, h, 0, h],
        [0, 1, 0, 0],
        [0, -h, 0, h],
        [h, 0, 0, h],
        [-h, 0, 0, h],
      ];
      for (const rotation of sides) {
        const drawn = await draw(items, withMapping({ offset: [0.5, 0.5, 0.5] }, { object: { id: 'x', rotation } }));
        const right = drawn.at(90, 64)[0] - drawn.at(40, 64)[0];
        const down = drawn.at(64, 90)[1] - drawn.at(64, 40)[1];
        expect(Math.min(right, down), `${rotation}`).toBeGreaterThan(0.2);
      }
    });

    it('a bump in the normal map is bright on the side of the light', async () => {
      // A hemisphere in the middle of the repeat; green up.
      const bump = material((u, v) => {
        const [x, y] = [(u - 0.5) / 0.3, (0.5 - v) / 0.3];
        const z = Math.sqrt(Math.max(0.1, 1 - x * x - y * y));
        const inBump = x * x + y * y < 0.9;
        const byte = (value: number) => Math.round(127.5 + 127.5 * value);
        return { roughness: 255, ...(inBump && { normal: [byte(x), byte(y), byte(z)] as const }) };
      }, 128);
      const up = panorama(([, y]) => (y > 0.7 ? [5, 5, 5] : [0.05, 0.05, 0.05]));
      const drawn = await draw(shelf.put(cube(), bump, up), withMapping({ offset: [0.5, 0.5, 0.5] }));
      const upper = drawn.at(64, 55)[0];
      const flat = drawn.at(40, 64)[0];
      const lower = drawn.at(64, 73)[0];
      expect(upper).toBeGreaterThan(1.3 * flat);
      expect(lower).toBeLessThan(0.9 * flat);
    });

    it('displacement lifts the surface by what the height says', async () => {
      const items = shelf.put(sphere(), material({ height: 255 }), WHITE);
      const plain = scene({ size: 256, camera: { distance: 1.8, focalLength: 32, sensor: 36 } });
      const area = async (displacement: number) => {
        const drawn = await draw(items, { ...plain, material: { ...plain.material, displacement } });
        let sum = 0;
        for (let y = 0; y < 256; y++) for (let x = 0; x < 256; x++) sum += drawn.at(x, y)[3];
        return sum;
      };
      // A ball of radius r seen from d is a disc of radius r/√(d² − r²).
      const disc = (r: number) => r ** 2 / (1.8 ** 2 - r ** 2);
      expect((await area(0.066)) / (await area(0))).toBeCloseTo(disc(0.566) / disc(0.5), 2);
    });

    it('displacement does not tear sharp edges open', async () => {
      // A cube seen corner first, in front of blue: where it tore, blue would be seen through it.
      const blue = panorama(() => [0, 0, 1], 64);
      const items = shelf.put(cube(), material({ height: 255, color: [255, 255, 255], occlusion: 0 }), blue);
      const plain = scene({ size: 128, camera: { distance: 2.5, focalLength: 32, sensor: 36 } });
      const half = Math.SQRT1_2;
      for (const rotation of [
        [0, Math.sin(0.4), 0, Math.cos(0.4)],
        [half, 0, 0, half],
        [0.28, 0.365, 0.1, 0.88],
      ]) {
        const object = { id: 'x', rotation: unitQuaternion(rotation) };
        const drawn = await draw(items, { ...plain, object, material: { ...plain.material, displacement: 0.1 } });
        for (let y = 0; y < 128; y++) {
          const covered = Array.from({ length: 128 }, (_, x) => drawn.at(x, y)[3] === 1);
          const [first, last] = [covered.indexOf(true), covered.lastIndexOf(true)];
          if (first >= 0) expect(covered.slice(first, last + 1).every(Boolean), `row ${y}`).toBe(true);
        }
      }
    });

    it('displacement is never cut off in front or behind, however far it goes', async () => {
      const plain = scene({ camera: { distance: 3, focalLength: 32, sensor: 36 } });
      const items = shelf.put(sphere(), material({ height: 255 }), WHITE);
      // A ball of radius 1.5, whose front and back are further from its centre than any part of an undisplaced object.
      const drawn = await draw(items, { ...plain, material: { ...plain.material, displacement: 1 } });
      expect(inside(drawn).length).toBeGreaterThan(0.7 * 128 ** 2);
      expect(drawn.at(64, 64)[3]).toBe(1);
    });
  });
});

describe('the rasteriser', () => {
  beforeAll(() => {
    engine = { name: 'raster' };
  });

  it('makes a rough white ball as bright as the white room around it (white furnace)', async () => {
    const drawn = await draw(shelf.put(sphere(), material({}), WHITE), scene());
    const seen = inside(drawn);
    expect(seen.length).toBeGreaterThan(3000);
    for (const [x, y] of seen)
      for (const value of drawn.at(x, y).slice(0, 3)) expect(Math.abs(value - 1)).toBeLessThan(0.03);
  });

  it('ambient occlusion darkens, transmission shows what is behind, and the mask stays whole', async () => {
    const dark = await draw(shelf.put(sphere(), material({ occlusion: 100 }), WHITE), scene());
    expect(dark.at(64, 64)[0]).toBeLessThan(0.6);
    const behind = panorama(([x]) => (x < 0 ? [0, 0, 1] : [1, 0, 0]));
    const glass = material({ transmission: 255, roughness: 0 });
    const drawn = await draw(shelf.put(sphere(), glass, behind), scene());
    const [r, , b, a] = drawn.at(64, 64);
    expect(a).toBe(1);
    expect(r + b).toBeGreaterThan(0.5);
    // How much is transmitted is the map's: white where nothing is, and the blue behind where all is.
    const room = panorama(([, , z]) => (z < 0 ? [0, 0, 1] : [1, 1, 1]));
    const half = material(u => ({ transmission: u < 0.5 ? 0 : 255, roughness: 0 }));
    const two = await draw(shelf.put(cube(), half, room), withMapping({ offset: [0.5, 0.5, 0.5] }));
    const redness = (x: number) => two.at(x, 64)[0] / two.at(x, 64)[2];
    expect(redness(50)).toBeGreaterThan(0.8);
    expect(redness(78)).toBeLessThan(0.4);
  });

  it('light of very wide panoramas is that of narrower ones, and no larger than what the host takes', async () => {
    const sky = (width: number) => panorama(([x, y, z]) => [0.5 + 0.5 * x, 0.5 + 0.5 * y, 0.5 + 0.5 * z], width, 128);
    const metal = material({ roughness: 60, metalness: 255 });
    const wide = shelf.put(sphere(), metal, sky(6000));
    const narrow = shelf.put(sphere(), metal, sky(256));
    const [a, b] = [await draw(wide, scene()), await draw(narrow, scene())];
    for (const [x, y] of inside(b)) {
      for (let c = 0; c < 3; c++) expect(Math.abs(a.at(x, y)[c]! - b.at(x, y)[c]!)).toBeLessThan(0.03);
    }
    expect((await shelf.get('lights', wide.environment))!.length).toBeLessThan(70e6);
  });

  it('light that was kept gives the very same picture', async () => {
    const sky = panorama(([x, y, z]) => [0.5 + 0.5 * x, 0.5 + 0.5 * y, 0.5 + 0.5 * z]);
    const items = shelf.put(sphere(), material({ roughness: 80, metalness: 255 }), sky);
    const job = { scene: scene(), items, output: 'picture' } as const;
    const first = await host.render(job, shelf);
    const again = await RenderHost.start({ pages: 1 });
    try {
      expect(await shelf.get('lights', items.environment)).toBeDefined();
      const second = await again.render(job, shelf);
      expect(Buffer.compare(first.pixels, second.pixels)).toBe(0);
    } finally {
      await again.close();
    }
  });
});
