import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { contentOf, generate, scratchFolder, sidecarsOf } from './command.ts';
import { smallPhoto, writePhotos, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { bankLabels, sampleLabels } from './shard-files.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();

/** A white drawing on black as LAS&T publishes its shapes: 8-bit grey PNG. */
function shape(drawing: string): Promise<Buffer> {
  const svg = `<svg width="120" height="90"><rect width="120" height="90"/><g fill="#fff">${drawing}</g></svg>`;
  return sharp(Buffer.from(svg)).toColourspace('b-w').png().toBuffer();
}

async function writeShapes(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < 30; i++) {
    // Names as 00a2e43047dcd44a.png.
    const name = `00a2e43047dc${(0xd44a + 97 * i).toString(16)}.png`;
    await writeFile(join(folder, name), await shape(`<ellipse cx="60" cy="45" rx="${20 + i}" ry="${12 + (i % 9)}"/>`));
  }
}

/** Two textures of each of 20 photos, named as VasTextures names them. */
async function writeTextures(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const photo = await smallPhoto('mountain-path.webp').jpeg().toBuffer();
  for (let i = 0; i < 40; i++) {
    // Names as 0a2fe8effe4e72e1_7_Score_5035_TileSize40_Texture.jpg.
    const name = `0a2fe8effe4e${(0x72e1 + 79 * (i >> 1)).toString(16)}_${i & 1}_Score_50${10 + i}_TileSize40_Texture.jpg`;
    const crop = sharp(photo).extract({ left: 3 * i, top: 2 * i, width: 140 + i, height: 140 + i });
    await crop.jpeg().toFile(join(folder, name));
  }
}

describe('--shape-bank and --texture-bank with folders', () => {
  it('use what can be used, keep textures of one photo in one split, and record the rest', async () => {
    const [shapes, textures] = [join(scratch, 'published', 'shapes'), join(scratch, 'published', 'textures')];
    await writeShapes(shapes);
    await writeTextures(textures);
    await writeFile(join(shapes, 'broken.png'), (await shape('<circle cx="50" cy="40" r="30"/>')).subarray(0, 120));
    await writeFile(join(shapes, 'empty.png'), await shape(''));
    await writeFile(join(textures, 'broken_0_Texture.jpg'), 'no image');
    const recipe = await writeRecipe(join(scratch, 'given.json'), { shapes: 30, textures: 40, 'shard-samples': 10 });
    const run = join(scratch, 'folders');
    await generate(['--recipe', recipe, '--shape-bank', shapes, '--texture-bank', textures, '--out', run]);

    const sidecars = Object.values(await sidecarsOf(run));
    const stages = new Set(sidecars.map(({ stage }) => stage));
    expect(stages).toEqual(new Set(['import-shapes', 'import-textures', 'shapes2d', 'textures2d']));
    const faults = new Map(sidecars.flatMap(s => s.faults).map(({ item, reason }) => [item, reason]));
    expect([...faults.keys()].sort()).toEqual([
      join(shapes, 'broken.png'),
      join(shapes, 'empty.png'),
      join(textures, 'broken_0_Texture.jpg'),
    ]);
    expect(faults.get(join(shapes, 'empty.png'))).toContain('no white pixel');

    const shapeLabels = await bankLabels(run, 'shapes');
    expect(shapeLabels).toHaveLength(30);
    // Cut to the shape's box.
    const first = shapeLabels.find(({ provenance }) => provenance.file === '00a2e43047dcd44a.png')!;
    expect(first).toMatchObject({ kind: 'natural', width: 40, height: 24, found: null });
    expect(first.photo).toMatchObject({ width: 120, height: 90 });

    const textureLabels = await bankLabels(run, 'textures');
    expect(textureLabels).toHaveLength(40);
    const photos = new Set(textureLabels.map(({ provenance }) => provenance.file.split('_')[0]!));
    expect(photos.size).toBe(20);
    for (const photo of photos) {
      const two = textureLabels.filter(({ provenance }) => provenance.file.startsWith(photo));
      expect(two).toHaveLength(2);
      expect(two[0]!.split).toBe(two[1]!.split);
      expect(two[0]!.photo.id).toBe(two[1]!.photo.id);
    }
    expect(new Set(textureLabels.map(({ split }) => split))).toEqual(new Set(['train', 'val', 'test']));
    expect(await sampleLabels(run, 'shapes2d')).toHaveLength(20);
  });

  it('take shapes of another kind by a prefix, for conditions that ask for them', async () => {
    const shapes = join(scratch, 'drawn');
    await mkdir(shapes);
    for (let i = 0; i < 20; i++) {
      const drawing = `<rect x="20" y="20" width="${30 + i}" height="25"/>`;
      await writeFile(join(shapes, `object${i}.png`), await shape(drawing));
    }
    const recipe = await writeRecipe(join(scratch, 'semantic.json'), {
      shapes: 20,
      subsets: ['shapes2d'],
      shapes2d: { variations: 2, size: 64, conditions: ['semantic-coloured-coloured-rotated'] },
    });
    const run = join(scratch, 'semantic');
    const bank = ['--shape-bank', `semantic:${shapes}`];
    const photos = await writePhotos(scratch);
    await generate(['--recipe', recipe, '--photos', photos, ...bank, '--out', run]);
    expect(new Set((await bankLabels(run, 'shapes')).map(({ kind }) => kind))).toEqual(new Set(['semantic']));
    const labels = await sampleLabels(run, 'shapes2d');
    expect(labels).toHaveLength(20);
    for (const { scene } of labels) expect([scene.fill.kind, scene.background.kind]).toEqual(['colour', 'colour']);
  });
});

describe('--shape-bank and --texture-bank with another run', () => {
  it('make images from its banks alone, equal to those it makes itself', async () => {
    const { run, inputs, recipe } = await smallRun();
    const [giver, taker] = [join(scratch, 'giver'), join(scratch, 'taker')];
    await cp(run, giver, { recursive: true });
    const args = ['--recipe', recipe, '--shape-bank', giver, '--texture-bank', giver, '--out', taker];
    await generate(args);
    const images = (content: Record<string, string>) =>
      Object.fromEntries(Object.entries(content).filter(([file]) => /^(shapes2d|textures2d)/.test(file)));
    // Cards differ: the banks lie in one run alone.
    const made = images(await contentOf(taker));
    expect(made).toEqual(images(await contentOf(giver)));
    expect(Object.keys(made).length).toBeGreaterThan(10);
    // Another bank is another input.
    const other = ['--fresh', '--seed', '2', '--stage', 'extract-shapes', 'extract-textures'];
    await generate([...inputs, '--out', giver, ...other]);
    expect(await refusal('generate', ...args)).toMatch(/differs in assets\.shapes bank: was "[0-9a-f]+", is "/);
  });

  it('refuse a run whose bank is not finished', async () => {
    const { run, recipe } = await smallRun();
    const giver = join(scratch, 'unfinished');
    await cp(run, giver, { recursive: true });
    for (const file of ['index.json', 'index.bin']) await rm(join(giver, 'banks/textures', file));
    const taker = ['--recipe', recipe, '--texture-bank', giver, '--out', join(scratch, 'never')];
    expect(await refusal('generate', ...taker)).toContain('bank is not finished: continue it first');
  });
});
