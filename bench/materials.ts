import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { RgbImage } from '../extractors/image.ts';
import { drawMaterial } from '../extractors/material-plan.ts';
import { makeMaps } from '../extractors/pbr-maps.ts';
import { encodeJpeg } from '../pipeline/bank-images.ts';
import { encodeMaps } from '../pipeline/material-files.ts';
import { decodePhoto, openPhoto } from '../pipeline/photo.ts';
import { rng } from '../sampling/rng.ts';
import { type BenchSettings, cpuSeconds, oneByOne, printRows, type Row, runPython } from './measure.ts';
import { benchPhotos } from './photos.ts';

/** Side of the textures, pixels. */
const SIDE = 575;
const QUALITY = 95;
const FLOOR_SETS = 40;
const PYTHON_SETS = 40;

/** Sets of five PBR maps from textures of 575 px: decode, draw, make, encode. Not shrunk to the recipe's size first. */
export async function materials({ photos, count = 200 }: BenchSettings): Promise<void> {
  const textures = await cropPhotos(await benchPhotos(photos));
  const make = async (i: number) => {
    const texture = await decode(textures[i % textures.length]!);
    return makeMaps(texture, drawMaterial(rng(1, 'bench', i)));
  };
  const sets = Array.from({ length: count }, (_, i) => i);
  for (const i of sets.slice(0, 20)) await encodeMaps(await make(i), QUALITY);

  const ours = await cpuSeconds(async () => {
    let bytes = 0;
    for (const i of sets) for (const [, file] of await encodeMaps(await make(i), QUALITY)) bytes += file.length;
    return bytes;
  });
  const made = await oneByOne(sets.slice(0, FLOOR_SETS), make);
  const floor = await cpuSeconds(async () => {
    for (const i of sets) {
      await decode(textures[i % textures.length]!);
      await encodeMaps(made[i % made.length]!, QUALITY);
    }
  });
  const rows: Row[] = [
    {
      name: 'ours',
      count,
      seconds: ours.seconds,
      note: `${Math.round(ours.result / count / 1000)} kB a set; decode, five maps, five JPEGs`,
    },
    { name: 'floor', count, seconds: floor.seconds, note: 'decode one JPEG, encode five' },
  ];
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  try {
    const files = textures.map((_, i) => join(folder, `${i}.jpg`));
    for (const [i, file] of files.entries()) await writeFile(file, textures[i]!);
    const python = await runPython('materials.py', [folder, '--count', String(PYTHON_SETS), ...files]);
    if (python) rows.push({ name: 'python', count: python.sets!, seconds: python.seconds, note: 'OpenCV and NumPy' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  printRows('sets', rows);
}

async function decode(jpeg: Buffer): Promise<RgbImage> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** The middle of each photo that is large enough, as a texture is kept. */
async function cropPhotos(paths: readonly string[]): Promise<Buffer[]> {
  const crops: Buffer[] = [];
  for (const path of paths) {
    const photo = await openPhoto(path);
    if (Math.min(photo.width, photo.height) < SIDE) continue;
    const window = {
      left: (photo.width - SIDE) >> 1,
      top: (photo.height - SIDE) >> 1,
      width: SIDE,
      height: SIDE,
    };
    crops.push(await encodeJpeg(await decodePhoto(photo, { window }), QUALITY, true));
  }
  return crops;
}
