import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RenderHost } from '../../../renderers/render-host.ts';
import { silhouette } from '../../../renderers/silhouette.ts';
import { rng } from '../../../sampling/rng.ts';
import { uniformRotation } from '../../../sampling/rotation.ts';
import { decodeMesh, encodeMesh } from '../../../scenes/mesh-format.ts';
import type { Scene3d } from '../../../scenes/scene3d.ts';
import { cube, material, panorama, Shelf, scene, sphere } from './still-life.ts';

/**
 * Pictures as they were when somebody looked at them (`golden.png`: eight of 128 × 128 in a row). `UPDATE_GOLDEN=1` writes
 * them anew: look at them then. Graphics cards and drivers may differ a little.
 */
const GOLDEN = new URL('./golden.png', import.meta.url);
const SIZE = 128;
const TOLERANCE = 2;

let host: RenderHost;
beforeAll(async () => {
  host = await RenderHost.start({ pages: 2 });
});
afterAll(() => host?.close());

const shelf = new Shelf();
const meshes = [sphere(48), cube()];
const sky = panorama(([x, y, z]) => {
  const sun = x * 0.5 + y * 0.7 + z * 0.5 > 0.985 ? 30 : 0;
  return y > 0 ? [0.25 + sun, 0.45 + sun, 0.9 + sun] : [0.35, 0.25 + 0.1 * x, 0.15];
});
const materials = [
  material((u, v) => (u < 0.5 !== v < 0.5 ? { color: [200, 60, 30], roughness: 220 } : { roughness: 60 }), 64),
  material((u, v) => ({ color: [230, 180, 60], metalness: 255, roughness: Math.round(255 * Math.abs(u - v)) }), 64),
  material((u, v) => {
    const [x, y] = [(u - 0.5) / 0.4, (0.5 - v) / 0.4];
    const z = Math.sqrt(Math.max(0.1, 1 - x * x - y * y));
    const byte = (value: number) => Math.round(127.5 + 127.5 * value);
    const bump = x * x + y * y < 0.9;
    return {
      color: [90, 140, 110],
      roughness: 120,
      height: bump ? Math.round(255 * z) : 0,
      ...(bump && { normal: [byte(x), byte(y), byte(z)] as const }),
    };
  }, 64),
];

/** Eight scenes that show everything: both meshes, all materials, turned mappings, displacement, both tone mappings. */
const scenes = Array.from({ length: 8 }, (_, i) => {
  const random = rng(1, 'golden', i);
  const mesh = meshes[i % 2]!;
  const description: Scene3d = scene({
    size: SIZE,
    camera: { distance: 1.25 + 0.1 * i, focalLength: 32, sensor: 36 },
    object: { id: 'object', rotation: uniformRotation(random) },
    material: {
      id: 'material',
      mapping: {
        scale: i % 3 === 0 ? [2, 3, 4] : [3, 3, 3],
        rotation: i > 3 ? uniformRotation(random) : [0, 0, 0, 1],
        offset: [0.1 * i, 0.2, 0.3],
        blend: i === 5 ? 0.4 : 0.02,
      },
      displacement: i === 2 || i === 4 ? 0.066 : 0,
    },
    environment: { id: 'environment', rotation: uniformRotation(random), strength: 1 + 0.2 * i },
    toneMapping: i % 4 === 3 ? 'none' : 'agx',
  });
  return { description, mesh, items: shelf.put(mesh, materials[i % 3]!, sky) };
});

describe('eight scenes', () => {
  it('look as they did, inside their masks', async () => {
    const drawn = await Promise.all(
      scenes.map(({ description, items }) => host.render({ scene: description, items, output: 'picture' }, shelf)),
    );
    const pictures = drawn.map(({ pixels }) => Buffer.from(pixels.buffer));
    if (process.env.UPDATE_GOLDEN) await writeFile(GOLDEN, await strip(pictures));
    const { data, info } = await sharp(await readFile(GOLDEN))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([SIZE * 8, SIZE, 4]);
    for (const [i, pixels] of pictures.entries()) {
      let [difference, count, coverage] = [0, 0, 0];
      for (let p = 0; p < SIZE * SIZE; p++) {
        const golden = 4 * (Math.floor(p / SIZE) * SIZE * 8 + i * SIZE + (p % SIZE));
        coverage += Math.abs(pixels[4 * p + 3]! - data[golden + 3]!);
        if (data[golden + 3]! < 255) continue;
        for (let c = 0; c < 3; c++) difference += Math.abs(pixels[4 * p + c]! - data[golden + c]!);
        count += 3;
      }
      expect(count, `scene ${i}`).toBeGreaterThan(3000);
      expect(difference / count, `scene ${i}`).toBeLessThan(TOLERANCE);
      expect(coverage / (SIZE * SIZE), `mask of scene ${i}`).toBeLessThan(TOLERANCE);
    }
  });

  it('have masks where the numbers of their labels put the mesh', async () => {
    for (const { description, mesh, items } of scenes.filter(
      ({ description }) => description.material.displacement === 0,
    )) {
      const { pixels } = await host.render({ scene: description, items, output: 'picture' }, shelf);
      const expected = silhouette(decodeMesh(encodeMesh(mesh)), description.object.rotation, description.camera, SIZE)!;
      let [both, either] = [0, 0];
      for (let p = 0; p < SIZE * SIZE; p++) {
        const [a, b] = [pixels[4 * p + 3]! >= 128, expected.data[p] === 255];
        if (a && b) both++;
        if (a || b) either++;
      }
      expect(both / either).toBeGreaterThan(0.98);
    }
  });
});

function strip(pictures: Buffer[]): Promise<Buffer> {
  return sharp({ create: { width: SIZE * 8, height: SIZE, channels: 4, background: '#0000' } })
    .composite(
      pictures.map((input, i) => ({
        input,
        raw: { width: SIZE, height: SIZE, channels: 4 },
        left: i * SIZE,
        top: 0,
        blend: 'over' as const,
      })),
    )
    .png()
    .toBuffer();
}
