import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { splitOf } from '../../pipeline/photo-index.ts';
import { uniform } from '../../sampling/distributions.ts';
import { hashId } from '../../sampling/hash.ts';
import { rng } from '../../sampling/rng.ts';

/** A file name that a bank made of a folder puts into the test split: there, the hash of folder and name decides. */
function nameInTest(folder: string, name: string): string {
  for (let i = 0; ; i++) {
    if (splitOf(hashId(`${folder}/${name}-${i}`)) === 'test') return `${name}-${i}.jpg`;
  }
}

/** Writes shapes to be used as a bank, each a source of its own: blobs that are unlike each other and their own turned copies. @returns their folder. */
export async function writeShapes(parent: string, count: number): Promise<string> {
  const folder = join(parent, 'shapes');
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < count; i++) {
    const random = rng(1, 'tests', `shape ${i}`);
    const [width, height] = [uniform(random, 150, 420), uniform(random, 150, 420)].map(Math.round) as [number, number];
    const waves = [1, 2, 3, 4, 5, 6].map(k => ({
      k,
      size: uniform(random, 0, 0.7 / k),
      phase: uniform(random, 0, 2 * Math.PI),
    }));
    const mask = new Uint8Array(width * height);
    for (let at = 0; at < mask.length; at++) {
      const x = (2 * ((at % width) + 0.5)) / width - 1;
      const y = (2 * (Math.floor(at / width) + 0.5)) / height - 1;
      const angle = Math.atan2(y, x);
      const reach = waves.reduce((sum, { k, size, phase }) => sum + size * Math.cos(k * angle + phase), 0.55);
      if (Math.hypot(x, y) < Math.max(0.15, reach)) mask[at] = 255;
    }
    await sharp(mask, { raw: { width, height, channels: 1 } })
      .jpeg({ quality: 95 })
      .toFile(join(folder, nameInTest('shapes', `shape-${i}`)));
  }
  return folder;
}

/** Writes textures to be used as a bank, likewise: coloured patterns of several sizes. @returns their folder. */
export async function writeTextures(parent: string, count: number): Promise<string> {
  const folder = join(parent, 'textures');
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < count; i++) {
    const random = rng(1, 'tests', `texture ${i}`);
    const [width, height] = [uniform(random, 280, 800), uniform(random, 280, 800)].map(Math.round) as [number, number];
    const channels = [0, 1, 2].map(() => ({
      level: uniform(random, 60, 190),
      across: uniform(random, 0.02, 0.4),
      down: uniform(random, 0.02, 0.4),
    }));
    const pixels = new Uint8Array(3 * width * height);
    for (let at = 0; at < width * height; at++) {
      const [x, y] = [at % width, Math.floor(at / width)];
      for (let c = 0; c < 3; c++) {
        const { level, across, down } = channels[c]!;
        pixels[3 * at + c] = level + 50 * Math.sin(across * x + 2 * Math.sin(down * y)) + 10 * random.next();
      }
    }
    await sharp(pixels, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 95 })
      .toFile(join(folder, nameInTest('textures', `texture-${i}`)));
  }
  return folder;
}
