import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RenderHost } from '../../../renderers/render-host.ts';
import type { Engine, PathTraceEngine, RenderJob, SceneItems } from '../../../renderers/render-job.ts';
import type { Quaternion, Scene3d, Vector } from '../../../scenes/scene3d.ts';
import { drawingPages, killPages } from './browser-processes.ts';
import { cube, material, panorama, Shelf, scene, sphere, type Texel } from './still-life.ts';

/** Path traced pictures against what can be worked out by hand, and against the raster engine. */
let host: RenderHost;
const shelf = new Shelf();

beforeAll(async () => {
  host = await RenderHost.start({ pages: 1 });
});
afterAll(() => host?.close());

const traced = (changes: Partial<PathTraceEngine> = {}): PathTraceEngine => ({
  name: 'pathtrace',
  samples: 64,
  denoise: false,
  seed: 1,
  ...changes,
});

const SIZE = 32;
const BALL = sphere(64);
const WHITE = panorama(() => [1, 1, 1], 64);
/** A box without the side that looks at the camera: most of its light comes by way of another side. */
const BOX = { ...cube(), indices: cube().indices.slice(0, -6) };

interface Pixel {
  readonly x: number;
  readonly y: number;
  readonly light: Vector;
  readonly covered: number;
}

async function draw(items: SceneItems, description: Scene3d, engine: Engine = traced()): Promise<Pixel[]> {
  const { pixels } = await host.render({ scene: description, items, output: 'radiance', engine }, shelf);
  const values = new Float32Array(pixels.buffer);
  expect(values.every(Number.isFinite)).toBe(true);
  return Array.from({ length: values.length / 4 }, (_, i) => ({
    x: i % description.size,
    y: Math.floor(i / description.size),
    light: [values[4 * i]!, values[4 * i + 1]!, values[4 * i + 2]!],
    covered: values[4 * i + 3]!,
  }));
}

const inside = (pixels: readonly Pixel[]) => pixels.filter(({ covered }) => covered === 1);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const red = (pixels: readonly Pixel[]) => pixels.map(({ light }) => light[0]);
const dot = (a: readonly number[], b: readonly number[]) => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const unit = (v: readonly number[]) => v.map(value => value / Math.hypot(...v)) as Vector;

function viewRay(x: number, y: number, { size, camera }: Scene3d): Vector {
  const half = camera.sensor / 2 / camera.focalLength;
  return unit([half * ((2 * (x + 0.5)) / size - 1), -half * ((2 * (y + 0.5)) / size - 1), -1]);
}

/** Where a pixel's middle meets the ball of radius 0.5: its normal, and the depth along the camera's axis. */
function onBall({ x, y }: Pick<Pixel, 'x' | 'y'>, description: Scene3d): { normal: Vector; depth: number } | undefined {
  const ray = viewRay(x, y, description);
  const { distance } = description.camera;
  const along = distance * -ray[2];
  const root = along ** 2 - (distance ** 2 - 0.25);
  if (root < 0) return undefined;
  const t = along - Math.sqrt(root);
  return { normal: unit([t * ray[0], t * ray[1], distance + t * ray[2]]), depth: -t * ray[2] };
}

describe('light', () => {
  const furnace = scene({ size: SIZE });

  it.each<[string, Texel]>([
    ['rough', {}],
    ['half rough', { roughness: 128 }],
    ['smooth', { roughness: 0 }],
    ['rough metal', { metalness: 255 }],
    ['half rough metal', { metalness: 255, roughness: 128 }],
    ['smooth metal', { metalness: 255, roughness: 0 }],
    ['rough glass', { transmission: 255, roughness: 160 }],
    ['smooth glass', { transmission: 255, roughness: 0 }],
    ['half metal, half rough', { metalness: 128, roughness: 128 }],
    ['half glass, half metal, half rough', { transmission: 128, metalness: 128, roughness: 128 }],
  ])('a white ball in a white room is white: %s', async (_name, texel) => {
    // Light in glass is chosen from outside, so it is noisy.
    const samples = texel.transmission ? 512 : 64;
    const drawn = await draw(shelf.put(BALL, material(texel, 8), WHITE), furnace, traced({ samples }));
    const bright = mean(red(inside(drawn)));
    expect(Math.abs(bright - 1)).toBeLessThan(0.01);
  });

  it.each<[string, Texel]>([
    ['rough', {}],
    ['half rough metal', { metalness: 255, roughness: 128 }],
  ])('so is what lies inside a white box: %s', async (_name, texel) => {
    const drawn = await draw(shelf.put(BOX, material(texel, 8), WHITE), furnace, traced({ samples: 256 }));
    const deep = red(drawn.filter(({ x, y }) => Math.max(Math.abs(x - 15.5), Math.abs(y - 15.5)) < 6));
    expect(Math.abs(mean(deep) - 1)).toBeLessThan(0.01);
  });

  it.each<[string, Texel, number]>([
    ['mirror', { metalness: 255, roughness: 0 }, 0.9],
    ['half rough metal', { metalness: 255, roughness: 128 }, 0.8],
    ['half rough', { roughness: 128 }, 0.8],
  ])('a coarse ball with smoothed normals has no black shards: %s', async (_name, texel, least) => {
    const drawn = await draw(
      shelf.put(sphere(5), material(texel, 8), WHITE),
      scene({ size: 64 }),
      traced({ samples: 64 }),
    );
    const light = red(inside(drawn));
    expect(Math.min(...light)).toBeGreaterThan(least);
    expect(Math.max(...light)).toBeLessThan(1.1);
  });

  it.each<[string, number]>([
    ['dielectric', 0],
    ['metal', 255],
  ])(
    'a smooth grey %s in a white room reflects what Schlick says, and of the rest what it is grey',
    async (_name, metalness) => {
      const grey = 188; // sRGB
      const c = ((grey / 255 + 0.055) / 1.055) ** 2.4;
      const drawn = await draw(
        shelf.put(BALL, material({ color: [grey, grey, grey], roughness: 0, metalness }, 8), WHITE),
        furnace,
      );
      const expected = inside(drawn).map(pixel => {
        const { normal } = onBall(pixel, furnace) ?? { normal: [1, 0, 0] };
        const rise = (1 + dot(normal, viewRay(pixel.x, pixel.y, furnace))) ** 5;
        return metalness ? c + (1 - c) * rise : c + (1 - c) * (0.04 + 0.96 * rise);
      });
      expect(Math.abs(mean(red(inside(drawn))) / mean(expected) - 1)).toBeLessThan(0.01);
    },
  );

  it('a rough ball under half a sky is lit as planes of its slopes are', async () => {
    const sky = panorama(([, y]) => (y > 0 ? [1, 1, 1] : [0, 0, 0]), 256);
    const drawn = await draw(shelf.put(BALL, material({}, 8), sky), furnace, traced({ samples: 256 }));
    const off = inside(drawn).map(pixel => {
      const found = onBall(pixel, furnace);
      // Irradiance of a plane under a uniform hemisphere, over π.
      return found && Math.abs(found.normal[2]) > 0.3 ? pixel.light[0] - (1 + found.normal[1]) / 2 : 0;
    });
    expect(Math.abs(mean(off))).toBeLessThan(0.01);
    expect(Math.max(...off.map(Math.abs))).toBeLessThan(0.08);
  });

  it.each([
    ['round a cube', cube()],
    ['in a box', BOX],
  ])('looking for it by its brightness, by the material, or by both gives the same mean: %s', async (_name, mesh) => {
    const lamp = panorama(d => (dot(d, unit([0.3, 0.8, 0.5])) > Math.cos(0.4) ? [9, 9, 9] : [0.2, 0.2, 0.2]), 128);
    const items = shelf.put(mesh, material({ color: [200, 200, 200], roughness: 110 }, 8), lamp);
    const turned = scene({ size: SIZE, object: { id: 'x', rotation: unit4([0.2, 0.3, 0.1, 0.9]) } });
    const found: Record<string, { mean: number; error: number }> = {};
    for (const strategy of ['both', 'light', 'material'] as const) {
      const means: number[] = [];
      for (let seed = 0; seed < 6; seed++) {
        means.push(mean(red(inside(await draw(items, turned, traced({ strategy, seed, samples: 16 }))))));
      }
      const middle = mean(means);
      found[strategy] = { mean: middle, error: Math.sqrt(mean(means.map(m => (m - middle) ** 2)) / 5) };
    }
    const { both, ...alone } = found;
    for (const { mean, error } of Object.values(alone)) {
      expect(Math.abs(mean - both!.mean)).toBeLessThan(4 * Math.hypot(error, both!.error));
    }
  });

  it('shows a rough convex object as the raster engine does', async () => {
    const sky = panorama(([x, y, z]) => [0.6 + 0.4 * x, 0.6 + 0.4 * y, 0.6 + 0.4 * z], 128);
    const items = shelf.put(BALL, material({ color: [180, 180, 180] }, 8), sky);
    const [paths, raster] = [
      await draw(items, furnace, traced({ samples: 128 })),
      await draw(items, furnace, { name: 'raster' }),
    ];
    const both = paths
      .map((pixel, i) => [pixel, raster[i]!] as const)
      .filter(([a, b]) => a.covered === 1 && b.covered === 1);
    for (let channel = 0; channel < 3; channel++) {
      const ratio = mean(both.map(([a]) => a.light[channel]!)) / mean(both.map(([, b]) => b.light[channel]!));
      const spread = both.map(([a, b]) => Math.abs(a.light[channel]! / b.light[channel]! - 1));
      expect(Math.abs(ratio - 1)).toBeLessThan(0.03);
      expect(mean(spread)).toBeLessThan(0.02);
    }
  });
});

const unit4 = (q: readonly number[]) => q.map(value => value / Math.hypot(...q)) as Quaternion;

describe('shape', () => {
  it('depth, normals and outline are those of rays worked out by hand, and of the raster engine', async () => {
    const description = scene({ size: 64 });
    const items = shelf.put(BALL, material({}, 8), WHITE);
    const job: RenderJob = { scene: description, items, output: 'radiance', geometry: true };
    const paths = await host.render({ ...job, engine: traced({ samples: 16 }) }, shelf);
    const raster = await host.render(job, shelf);
    const [values, others] = [paths.geometry!, raster.geometry!];
    const coverage = new Float32Array(paths.pixels.buffer, 0, 4 * 64 * 64);
    let off = 0;
    for (let i = 0; i < 64 * 64; i++) {
      const found = onBall({ x: i % 64, y: Math.floor(i / 64) }, description);
      const [nx, ny, nz, depth] = values.subarray(4 * i, 4 * i + 4) as never as [number, number, number, number];
      if (!found !== (depth === 0) || (depth === 0) !== (others[4 * i + 3] === 0)) {
        off++; // on the outline of a ball of triangles
        continue;
      }
      if (!found) continue;
      const [p, q] = [coverage[4 * i + 3]!, found.normal[2]];
      if (q > 0.6) expect(p).toBe(1);
      if (q < 0.4) continue; // facets are seen from the side there
      expect(Math.abs(depth - found.depth)).toBeLessThan(0.002);
      expect(dot([nx, ny, nz], found.normal)).toBeGreaterThan(Math.cos(0.01));
      // Graphics cards snap vertices to 1/256 of a pixel.
      expect(Math.abs(depth - others[4 * i + 3]!)).toBeLessThan(2e-4);
      expect(dot([nx, ny, nz], others.subarray(4 * i, 4 * i + 3) as never)).toBeGreaterThan(1 - 1e-4);
    }
    expect(off).toBeLessThan(40);
  });

  it('displaced, it is where the raster engine puts it', async () => {
    const bumps = material((u, v) => ({ height: Math.round(127 + 127 * Math.sin(12 * u) * Math.sin(12 * v)) }));
    const plain = scene({ size: 64, object: { id: 'x', rotation: unit4([0.2, 0.5, 0.1, 0.7]) } });
    const displaced = {
      ...plain,
      camera: { ...plain.camera, distance: 2 },
      material: { ...plain.material, displacement: 0.2 },
    };
    const job: RenderJob = {
      scene: displaced,
      items: shelf.put(BALL, bumps, WHITE),
      output: 'picture',
      geometry: true,
    };
    const [paths, raster] = [
      await host.render({ ...job, engine: traced({ samples: 1 }) }, shelf),
      await host.render(job, shelf),
    ];
    let off = 0;
    for (let i = 3; i < paths.geometry!.length; i += 4)
      if (Math.abs(paths.geometry![i]! - raster.geometry![i]!) > 5e-4) off++;
    expect(off).toBeLessThan(20);
  });
});

describe('a picture', () => {
  const harsh = panorama(
    ([x, y, z]) => (x > 0.99 ? [60_000, 60_000, 60_000] : [0.1 + 0.1 * y, 0.2, 0.2 + 0.1 * z]),
    128,
  );
  const bumpy = material((u, v) => ({
    normal: [Math.round(128 + 120 * Math.sin(40 * u)), Math.round(128 + 120 * Math.sin(40 * v)), 150],
    color: [255, 200, 90],
    roughness: Math.round(255 * u),
    metalness: v < 0.5 ? 255 : 0,
    transmission: u < 0.5 ? 255 : 0,
    height: Math.round(255 * v),
  }));
  const items = shelf.put(cube(), bumpy, harsh);
  const turned = scene({ size: SIZE, object: { id: 'x', rotation: unit4([0.3, 0.4, 0.1, 0.8]) } });
  const job: RenderJob = {
    scene: { ...turned, toneMapping: 'agx', material: { ...turned.material, displacement: 0.1 } },
    items,
    output: 'picture',
    engine: traced({ samples: 48, clamp: 10 }),
  };

  it('holds numbers only, however harsh the light and the material, and is the same every time', async () => {
    // A path that is no number covers nothing: the same paths in plain light tell what is covered.
    const covered = (pixels: readonly Pixel[]) => pixels.map(pixel => pixel.covered);
    const plain = shelf.put(
      cube(),
      material((_, v) => ({ height: Math.round(255 * v) }), 64),
      WHITE,
    );
    const [found, expected] = [await draw(items, job.scene), await draw(plain, job.scene)];
    expect(covered(found)).toEqual(covered(expected));
    const first = await host.render(job, shelf);
    const again = await host.render(job, shelf);
    expect(Buffer.compare(first.pixels, again.pixels)).toBe(0);
    const other = await host.render({ ...job, engine: traced({ samples: 48, clamp: 10, seed: 2 }) }, shelf);
    expect(Buffer.compare(first.pixels, other.pixels)).not.toBe(0);
  });

  it.skipIf(process.platform !== 'linux')('is the same after its page was killed while it was traced', async () => {
    const long: RenderJob = { ...job, engine: traced({ samples: 1000 }) };
    const undisturbed = await host.render(long, shelf);
    const before = await drawingPages(host);
    const disturbed = host.render(long, shelf);
    await new Promise(resolve => setTimeout(resolve, 200));
    await killPages(host);
    expect(Buffer.compare((await disturbed).pixels, undisturbed.pixels)).toBe(0);
    for (const page of await drawingPages(host)) expect(before).not.toContain(page);
  });

  it('denoised, is nearer to what it would be without noise, the same every time, and its geometry is as ever', async () => {
    const sky = panorama(([x, y]) => (y > 0.6 && x > 0 ? [6, 5, 4] : [0.3, 0.4, 0.5]), 128);
    const rough = shelf.put(BOX, material({ color: [200, 120, 80] }, 8), sky);
    const description = scene({ size: 64, object: { id: 'x', rotation: unit4([0.1, 0.3, 0.1, 0.9]) } });
    const drawn = (engine: PathTraceEngine) =>
      host.render({ scene: description, items: rough, output: 'radiance', geometry: true, engine }, shelf);
    const values = ({ pixels }: { pixels: Uint8Array<ArrayBuffer> }) =>
      new Float32Array(pixels.buffer, pixels.byteOffset, 4 * 64 * 64);
    const clean = values(await drawn(traced({ samples: 512, seed: 2 })));
    const noisy = await drawn(traced({ samples: 16 }));
    const smooth = await drawn(traced({ samples: 16, denoise: true }));
    const again = await drawn(traced({ samples: 16, denoise: true }));
    const error = (frame: { pixels: Uint8Array<ArrayBuffer> }) => {
      const light = values(frame);
      const squares = Array.from(light, (value, i) => (i % 4 < 3 && clean[i | 3] === 1 ? (value - clean[i]!) ** 2 : 0));
      return Math.sqrt(mean(squares));
    };
    expect(error(smooth)).toBeLessThan(0.7 * error(noisy));
    expect(Buffer.compare(smooth.pixels, again.pixels)).toBe(0);
    expect(smooth.geometry).toEqual(noisy.geometry);
    const covered = (frame: { pixels: Uint8Array<ArrayBuffer> }) => values(frame).filter((_, i) => i % 4 === 3);
    expect(covered(smooth)).toEqual(covered(noisy));
  });
});
