import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CacheFolder, cacheKey } from '../../pipeline/cache-folder.ts';
import { rotationMatrix } from '../../sampling/rotation.ts';
import { type PackedMaterial, readPackedMaterial } from '../../scenes/material-format.ts';
import { decodePanorama } from '../../scenes/panorama-format.ts';
import { displacedMesh } from './displaced-mesh.ts';
import { rgbaUpwards, type TimedPicture } from './pictures.ts';
import type { FidelityScene } from './scenes.ts';

const SCRIPT = fileURLToPath(new URL('../python/cycles.py', import.meta.url));
const run = promisify(execFile);

/** Blender's version line; undefined where none is on the PATH. */
export async function blenderVersion(): Promise<string | undefined> {
  const ran = await run('blender', ['--version']).catch(() => undefined);
  return ran?.stdout.split('\n')[0]?.trim();
}

/** What Cycles renders of a scene: so many samples a pixel, from one seed. */
export interface CyclesRender {
  readonly samples: number;
  readonly seed: number;
}

/**
 * A scene's picture by Cycles, from the user's cache folder where it was made before: it lies there by all that decides it. Alpha is the
 * object's coverage; nothing lies behind the object.
 * @param version of Blender. @param bounces how often a path may be scattered after its first surface.
 */
export async function cyclesPicture(
  scene: FidelityScene,
  render: CyclesRender,
  version: string,
  bounces: number,
): Promise<TimedPicture> {
  const cache = new CacheFolder();
  const { arrays, description } = written(scene);
  const content = createHash('sha256').update(await readFile(SCRIPT));
  for (const array of Object.values(arrays)) content.update(array);
  const key = cacheKey('fidelity', content.digest(), { version, description, bounces, render });
  const kept = await cache.get(key);
  if (kept) return fromEntry(kept, scene, render);
  const [made] = await rendered(scene, [render], bounces);
  await cache.put(key, made!);
  return fromEntry(made!, scene, render);
}

/** Handing the scene over makes the first picture of a start slower. */
const FIRST: CyclesRender = { samples: 1, seed: 0 };

/** Pictures by Cycles whose seconds are those of this machine now, in one start of Blender. */
export async function cyclesPictures(
  scene: FidelityScene,
  renders: readonly CyclesRender[],
  bounces: number,
): Promise<TimedPicture[]> {
  const [, ...entries] = await rendered(scene, [FIRST, ...renders], bounces);
  return entries.map((entry, i) => fromEntry(entry, scene, renders[i]!));
}

function fromEntry(bytes: Buffer, { scene: { size } }: FidelityScene, { samples }: CyclesRender): TimedPicture {
  const pixels = new Float32Array(new Uint8Array(bytes.subarray(8)).buffer);
  return { picture: { size, pixels }, samples, seconds: bytes.readDoubleLE() };
}

/** Entries of the cache: seconds that rendering took, 8 bytes; RGBA floats, rows from the top down. */
async function rendered(scene: FidelityScene, renders: readonly CyclesRender[], bounces: number): Promise<Buffer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-cycles-'));
  try {
    const outputs = renders.map((_, i) => join(folder, `${i}.bin`));
    const { arrays, description } = written(scene);
    for (const [name, array] of Object.entries(arrays)) await writeFile(join(folder, `${name}.bin`), array);
    const job = { ...description, bounces, renders: renders.map((render, i) => ({ ...render, out: outputs[i] })) };
    await writeFile(join(folder, 'scene.json'), JSON.stringify(job));
    await run(
      'blender',
      ['--background', '--factory-startup', '--python-exit-code', '1', '--python', SCRIPT, '--', folder],
      { maxBuffer: 1 << 28 },
    ).catch(error => {
      throw new Error(`blender failed: ${(error.stdout ?? '').slice(-2000)}${(error.stderr ?? error).slice(-2000)}`);
    });
    return await Promise.all(outputs.map(path => readFile(path)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What cycles.py reads of a scene: arrays as raw numbers, the rest as JSON. */
function written({ scene, mesh, material, environment }: FidelityScene) {
  const maps = readPackedMaterial(material);
  const panorama = decodePanorama(environment);
  const [fx, fy, fz, w] = scene.environment.rotation;
  const arrays = {
    ...displacedMesh(mesh, scene.material, maps),
    ...linearMaps(maps),
    panorama: rgbaUpwards(panorama),
  };
  const description = {
    ...scene,
    side: maps.side,
    panorama: { width: panorama.width, height: panorama.height },
    // Rows of matrices that take the object's space to the material's, and the scene's directions to the panorama's.
    mapTurn: rotationMatrix(scene.material.mapping.rotation),
    toPanorama: rotationMatrix([-fx, -fy, -fz, w]),
  };
  return { arrays, description };
}

/** The maps as linear RGBA floats: filtered as light, as graphics cards filter sRGB textures. Alpha is 1 everywhere. */
function linearMaps({ side, color, normalHeight, properties }: PackedMaterial) {
  const maps = {
    color: new Float32Array(4 * side * side),
    normal: new Float32Array(4 * side * side),
    // Transmission, roughness, metalness.
    properties: new Float32Array(4 * side * side),
  };
  for (let i = 0; i < 4 * side * side; i += 4) {
    for (let c = 0; c < 3; c++) {
      maps.color[i + c] = fromSrgb(color[i + c]! / 255);
      maps.normal[i + c] = normalHeight[i + c]! / 255;
      maps.properties[i + c] = properties[i + (c === 0 ? 3 : c)]! / 255;
    }
    maps.color[i + 3] = maps.normal[i + 3] = maps.properties[i + 3] = 1;
  }
  return maps;
}

function fromSrgb(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}
