import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { rng } from '../../sampling/rng.ts';
import { contentOf, generate, scratchFolder, sidecarsOf } from './command.ts';
import { smallPhoto, writePhotos, writeRecipe } from './photo-folder.ts';
import { bankLabels } from './shard-files.ts';

const scratch = scratchFolder();
let recipe: string;

beforeAll(async () => {
  // All photos in one block: what a block holds is a function of the list, and here the list is what changes.
  recipe = await writeRecipe(join(scratch, 'one-block.json'), { 'shard-samples': 200 });
});

/** Reasons of faults by file name, for one stage. */
async function faultsOf(run: string, stage: string): Promise<Map<string, string>> {
  const sidecars = Object.values(await sidecarsOf(run)).filter(sidecar => sidecar.stage === stage);
  expect(sidecars.length).toBeGreaterThan(0);
  return new Map(sidecars.flatMap(({ faults }) => faults.map(({ item, reason }) => [basename(item), reason])));
}

/** Asks for so much that every photo is looked at. */
async function everything(name: string): Promise<string> {
  return writeRecipe(join(scratch, `${name}.json`), {
    shapes: 1000,
    textures: 1000,
    'shard-samples': 200,
    'natural-shapes': { rounds: 1 },
    'texture-regions': { 'cell-size': 16, 'min-cells': 5, 'min-similarity': 0.3, 'cell-rounds': [1] },
    subsets: ['shapes2d'],
    'shapes2d-images': 0,
  });
}

describe('broken photos', () => {
  it('cost themselves only: all else has the bytes of a run without them', async () => {
    const whole = await writePhotos(join(scratch, 'whole'));
    const spoilt = join(scratch, 'spoilt', 'photos');
    await cp(whole, spoilt, { recursive: true });
    await writeFile(
      join(spoilt, 'truncated.jpg'),
      (await smallPhoto('mountain-path.webp').jpeg().toBuffer()).subarray(0, 9000),
    );
    await writeFile(join(spoilt, 'text.jpg'), 'not an image at all\n');
    const missing = join(scratch, 'list.txt');
    await writeFile(missing, '# a photo that has gone since the list was made\nmissing.jpg\n');
    const broken = ['missing.jpg', 'text.jpg', 'truncated.jpg'];
    // Root may read everything, so that it cannot be shut out.
    if (process.getuid?.() !== 0) {
      await writeFile(join(spoilt, 'secret.jpg'), 'secret', { mode: 0 });
      broken.unshift('secret.jpg');
    }
    const [a, b] = [join(scratch, 'run-whole'), join(scratch, 'run-spoilt')];
    await generate(['--photos', whole, '--recipe', recipe, '--out', a]);
    const { stdout, stderr } = await generate(['--photos', spoilt, missing, '--recipe', recipe, '--out', b]);

    for (const stage of ['extract-shapes', 'extract-textures']) {
      const faults = await faultsOf(b, stage);
      expect([...faults.keys()].sort()).toEqual(broken.toSorted());
      for (const reason of faults.values()) expect(reason).toMatch(/^[^\n]{5,}$/);
      expect(faults.get('missing.jpg')).toBe('cannot read: ENOENT');
      expect(await faultsOf(a, stage)).toEqual(new Map());
    }
    for (const name of broken) {
      expect(stdout).toContain(name);
      expect(stderr).toContain(name);
    }
    expect(await bytesOf(b)).toEqual(await bytesOf(a));
  });

  /** Tars and bank indexes; sidecars legitimately tell of the faults and of the looks they cost, the list of the files. */
  async function bytesOf(run: string) {
    const files = Object.entries(await contentOf(run)).filter(([file]) => /\.tar$|index\.(bin|json)$/.test(file));
    const kept = files.filter(([file]) => !file.startsWith('photos/'));
    expect(kept.length).toBeGreaterThan(8);
    return Object.fromEntries(kept);
  }
});

describe('a broken photo that several rounds would look at', () => {
  it('is told once, whatever the workers and whichever round is made again', async () => {
    const photos = await writePhotos(join(scratch, 'rounds'));
    await writeFile(join(photos, 'text.jpg'), 'not an image at all\n');
    const greedy = await writeRecipe(join(scratch, 'greedy.json'), {
      shapes: 1000,
      textures: 1000,
      subsets: ['shapes2d'],
    });
    const inputs = ['--photos', photos, '--recipe', greedy];
    const [one, three] = [join(scratch, 'run-one'), join(scratch, 'run-three')];
    const { stdout } = await generate([...inputs, '--out', one, '--workers', '1'], 3);
    await generate([...inputs, '--out', three, '--workers', '3'], 3);
    const content = await contentOf(one);
    expect(await contentOf(three)).toEqual(content);

    const sidecars = Object.values(await sidecarsOf(one));
    for (const [stage, rounds] of [['extract-shapes', 3] as const, ['extract-textures', 2] as const]) {
      const mine = sidecars.filter(sidecar => sidecar.stage === stage);
      expect(mine.flatMap(({ faults }) => faults.map(({ item }) => basename(item)))).toEqual(['text.jpg']);
      expect(mine.reduce((looks, { counts }) => looks + (counts.looks ?? 0), 0)).toBe(7 + 6 * (rounds - 1));
    }
    expect(stdout).toMatch(/natural shapes .* 1 faults/);

    // The first round's word is all that a later one goes by, also when it stands alone.
    await rm(join(one, 'banks/shapes/shapes-000005.tar'));
    await rm(join(one, 'banks/shapes/shapes-000002.tar'));
    await generate([...inputs, '--out', one], 3);
    expect(await contentOf(one)).toEqual(content);
  });
});

describe('photos of odd sizes', () => {
  it('1×1 and 20,000×10 give nothing, and are no faults', async () => {
    const photos = join(scratch, 'odd', 'photos');
    await mkdir(photos, { recursive: true });
    await plain(1, 1).jpeg().toFile(join(photos, 'one-pixel.jpg'));
    await plain(1, 1).png().toFile(join(photos, 'one-pixel.png'));
    await noise(20_000, 10).jpeg().toFile(join(photos, 'ribbon.jpg'));
    await noise(10, 20_000).png().toFile(join(photos, 'column.png'));
    const run = join(scratch, 'run-odd');
    // The default rules, not those of the small recipe.
    const { stdout } = await generate(
      ['--photos', photos, '--shapes', '1', '--subsets', 'shapes2d', 'textures2d', '--out', run],
      3,
    );
    expect(stdout).toMatch(/natural shapes +0 of 1 /);
    const sidecars = Object.values(await sidecarsOf(run));
    expect(sidecars.flatMap(({ faults }) => faults)).toEqual([]);
    for (const stage of ['extract-shapes', 'extract-textures']) {
      const mine = sidecars.filter(sidecar => sidecar.stage === stage);
      expect(mine[0]!.counts.looks).toBe(4);
      for (const { samples } of mine) expect(samples).toBe(0);
    }
  });

  it('above --max-pixels are faults that name the limit', async () => {
    const photos = await writePhotos(join(scratch, 'large'));
    await plain(1200, 1000).png().toFile(join(photos, 'too-large.png'));
    const run = join(scratch, 'run-large');
    await generate(['--photos', photos, '--recipe', recipe, '--out', run, '--max-pixels', '1_000_000']);
    for (const stage of ['extract-shapes', 'extract-textures']) {
      const faults = await faultsOf(run, stage);
      expect([...faults]).toEqual([['too-large.png', '1200×1000 exceeds the limit of 1000000 pixels']]);
    }
  });
});

describe('photos of all formats', () => {
  it('are taken, turned as their EXIF orientation says', async () => {
    const photos = join(scratch, 'formats', 'photos');
    await mkdir(photos, { recursive: true });
    const photo = () => smallPhoto('tiger-in-snow.jpg');
    const { width, height } = (await photo().toBuffer({ resolveWithObject: true })).info;
    const files = {
      'plain.jpg': photo().jpeg(),
      'turned.jpeg': photo().rotate(90).withMetadata({ orientation: 8 }).jpeg(),
      'sixteen-bit.png': photo().toColourspace('rgb16').png(),
      'grey.jpg': photo().greyscale().jpeg(),
      'grey.png': photo().toColourspace('b-w').png(),
      'print.jpg': photo().toColourspace('cmyk').jpeg(),
      'print.tif': photo().toColourspace('cmyk').tiff({ compression: 'lzw' }),
      'web.webp': photo().webp(),
      'new.avif': photo().avif({ effort: 0 }),
      'clear.png': photo().ensureAlpha(0.5).png(),
      'SHOUTING.JPG': photo().jpeg(),
    };
    for (const [name, image] of Object.entries(files)) await writeFile(join(photos, name), await image.toBuffer());
    // Each file is what its name says.
    expect(await sharp(join(photos, 'turned.jpeg')).metadata()).toMatchObject({ width: height, orientation: 8 });
    expect(await sharp(join(photos, 'sixteen-bit.png')).metadata()).toMatchObject({ depth: 'ushort' });
    for (const name of ['print.jpg', 'print.tif']) {
      expect(await sharp(join(photos, name)).metadata()).toMatchObject({ space: 'cmyk', channels: 4 });
    }
    expect(await sharp(join(photos, 'clear.png')).metadata()).toMatchObject({ hasAlpha: true });

    const run = join(scratch, 'run-formats');
    await generate(['--photos', photos, '--recipe', await everything('formats'), '--out', run], 3);
    const sidecars = Object.values(await sidecarsOf(run));
    expect(sidecars.flatMap(({ faults }) => faults)).toEqual([]);
    for (const kind of ['shapes', 'textures'] as const) {
      const labels = await bankLabels(run, kind);
      expect([...new Set(labels.map(({ provenance }) => provenance.file))].sort()).toEqual(Object.keys(files).sort());
      for (const { photo } of labels) expect(photo).toMatchObject({ width, height });
    }
  });
});

function plain(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: '#808080' } });
}

/** Bytes at random, the same every time: libvips' own noise is another one in each run, and now and then has a shape. */
function noise(width: number, height: number): Sharp {
  const random = rng(1, 'noise', `${width}x${height}`);
  const data = Uint8Array.from({ length: 3 * width * height }, () => Math.floor(256 * random.next()));
  return sharp(data, { raw: { width, height, channels: 3 } });
}
