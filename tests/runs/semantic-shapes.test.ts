import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { openBank, readItem } from '../../pipeline/bank.ts';
import { decodeMask } from '../../pipeline/bank-images.ts';
import type { Sample2dLabel, ShapeLabel } from '../../pipeline/labels.ts';
import { SPLITS } from '../../pipeline/splits.ts';
import { contentOf, filesIn, generate, scratchFolder, sidecarsOf } from './command.ts';
import { writePhotos, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { labelsIn, sampleLabels } from './shard-files.ts';

const scratch = scratchFolder();
const data = join(scratch, 'things');
const run = join(scratch, 'run');
const BANK = 'banks/semantic-shapes';
const PICTURES = 15;
const CLASSES = ['cat', 'traffic light', 'dog'];
const CONDITIONS = ['natural-textured-textured-rotated', 'semantic-black-white-unrotated'];

type Rectangle = readonly [left: number, top: number, width: number, height: number, value: 0 | 255];

async function writeMask(path: string, width: number, height: number, rectangles: readonly Rectangle[]): Promise<void> {
  const pixels = new Uint8Array(width * height);
  for (const [left, top, columns, rows, value] of rectangles) {
    for (let row = top; row < top + rows; row++) pixels.fill(value, row * width + left, row * width + left + columns);
  }
  await sharp(pixels, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .png()
    .toFile(path);
}

/**
 * Pictures of 200 × 160, five in each split: each with a large shape that has a hole, a smaller one, one too small, and one
 * too near an edge; then one of 1400 × 1200, and one whose mask is not there. A shape of 160 px pictures has 1,953 px at
 * least and keeps 2 px off the edges.
 */
async function writeThings(): Promise<void> {
  const lines = ['file,label,split,kingdom'];
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#555' } });
  for (const folder of ['images', 'masks']) await mkdir(join(data, folder), { recursive: true });
  const add = async (name: string, label: string, split: string) => {
    // Pictures are not looked at, so they may have any size.
    await picture
      .clone()
      .jpeg()
      .toFile(join(data, 'images', `${name}.jpg`));
    lines.push(`${name}.jpg,${label},${split},animals`);
  };
  for (let i = 0; i < PICTURES; i++) {
    await add(`thing-${i}`, CLASSES[i % 3]!, SPLITS[Math.floor(i / 5)]!);
    await writeMask(join(data, 'masks', `thing-${i}.png`), 200, 160, [
      [10, 10, 80 + i, 60, 255],
      [30, 30, 20, 20, 0],
      [110, 20, 50, 50 + i, 255],
      [110, 115, 10, 10, 255],
      [1, 90, 70, 40, 255],
    ]);
  }
  await add('large', 'cat', 'train');
  await writeMask(join(data, 'masks', 'large.png'), 1400, 1200, [[100, 200, 700, 500, 255]]);
  await add('lost', 'dog', 'train');
  await writeFile(join(data, 'labels.csv'), `${lines.join('\n')}\n`);
}

let photos: string;
let inputs: string[];
let samples: Record<Sample2dLabel['subset'], Sample2dLabel[]>;
beforeAll(async () => {
  photos = await writePhotos(scratch);
  await writeThings();
  const recipe = await writeRecipe(join(scratch, 'both.json'), {
    'semantic-shapes': 30,
    'shapes2d-images': 40,
    shapes2d: { variations: 2, size: 64, conditions: CONDITIONS },
    textures2d: { variations: 2, size: 64 },
  });
  inputs = ['--recipe', recipe];
  await generate(['--photos', photos, '--semantic', `plain:${data}`, ...inputs, '--out', run, '--workers', '2']);
  samples = { shapes2d: await sampleLabels(run, 'shapes2d'), textures2d: await sampleLabels(run, 'textures2d') };
});

const isSemantic = (id: string) => /^[0-9a-f]{16}-s\d+$/.test(id);
const tars = (content: Record<string, string>) => Object.keys(content).filter(file => file.endsWith('.tar'));

describe('the bank of semantic shapes', () => {
  it('holds the outlines of large objects with their class, each picture’s largest first', async () => {
    const bank = (await openBank(join(run, BANK)))!;
    expect(bank).toMatchObject({ kind: 'semantic-shapes', items: 30, asked: 30 });
    const ranks: number[] = [];
    for (let i = 0; i < bank.items; i++) {
      const item = await readItem(bank, i);
      const label = item.label as ShapeLabel;
      const { annotated, provenance, photo } = label;
      const rank = Number(label.id.slice(18));
      ranks.push(rank);
      expect(label).toMatchObject({ kind: 'semantic', found: null, projected: null });
      expect(isSemantic(label.id) && label.id.startsWith(photo.id)).toBe(true);
      const mask = await decodeMask(item.image);
      const name = /images\/(.*)\.jpg/.exec(provenance.file)![1]!;
      if (name === 'large') {
        // Short side 512: 700 × 512 / 1200 and 500 × 512 / 1200.
        expect([mask.width, mask.height, label.area]).toEqual([299, 213, 299 * 213]);
        expect(annotated).toMatchObject({ scale: 512 / 1200, box: { left: 100, top: 200, width: 700, height: 500 } });
        expect(photo).toMatchObject({ width: 1400, height: 1200 });
        continue;
      }
      const n = Number(name.slice('thing-'.length));
      expect(annotated).toEqual({
        dataset: 'plain',
        part: null,
        label: CLASSES[n % 3],
        category: CLASSES[n % 3],
        instance: null,
        taxonomy: { kingdom: 'animals' },
        box:
          rank === 0
            ? { left: 10, top: 10, width: 80 + n, height: 60 }
            : { left: 110, top: 20, width: 50, height: 50 + n },
        scale: 1,
      });
      expect(label).toMatchObject({ split: SPLITS[Math.floor(n / 5)], photo: { width: 200, height: 160 } });
      expect([mask.width, mask.height]).toEqual(rank === 0 ? [80 + n, 60] : [50, 50 + n]);
      expect(label.area).toBe(mask.data.reduce((sum, value) => sum + (value >> 7), 0));
      expect([label.area, label.statistics.holes]).toEqual(rank === 0 ? [(80 + n) * 60 - 400, 1] : [50 * (50 + n), 0]);
    }
    expect(ranks).toEqual([...new Array(16).fill(0), ...new Array(14).fill(1)]);
  });

  it('leaves out what is too small or near an edge, and tells pictures whose masks cannot be read', async () => {
    const sidecars = Object.values(await sidecarsOf(run)).filter(({ stage }) => stage === 'outline-shapes');
    const total = (name: string) => sidecars.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);
    expect(total('looks')).toBe(PICTURES + 2);
    expect(['object-too-small', 'object-border', 'object-found-before'].map(total)).toEqual([PICTURES, PICTURES, 0]);
    const [fault, ...others] = sidecars.flatMap(({ faults }) => faults);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ item: join(data, 'images/lost.jpg'), reason: expect.stringContaining('lost.png') });
  });
});

describe('2D images', () => {
  it('show shapes of both sources, each under the conditions of its source', () => {
    expect(samples.shapes2d).toHaveLength(40);
    for (const { instance, scene, condition } of samples.shapes2d) {
      expect(scene.shape.id).toBe(instance.id);
      expect(condition).toBe(CONDITIONS[isSemantic(instance.id) ? 1 : 0]);
      expect(scene.fill.kind).toBe(isSemantic(instance.id) ? 'colour' : 'texture');
    }
    expect(new Set(samples.shapes2d.map(({ condition }) => condition))).toEqual(new Set(CONDITIONS));
  });

  it('of textures are filled into shapes of any source', () => {
    const semantic = samples.textures2d.filter(({ scene }) => isSemantic(scene.shape.id));
    expect(semantic.length).toBeGreaterThan(0);
    expect(semantic.length).toBeLessThan(samples.textures2d.length);
    expect(new Set(samples.textures2d.map(({ condition }) => condition))).toEqual(new Set(['textured-different']));
  });

  it('show nothing of one picture in two splits', () => {
    const splits = new Map<string, Set<string>>();
    for (const { split, sources } of [...samples.shapes2d, ...samples.textures2d]) {
      for (const { photo } of sources) splits.set(photo, (splits.get(photo) ?? new Set()).add(split));
    }
    expect(splits.size).toBeGreaterThan(15);
    for (const [photo, used] of splits) expect([photo, used.size]).toEqual([photo, 1]);
    expect(new Set(samples.shapes2d.map(({ split }) => split))).toEqual(new Set(SPLITS));
  });

  it('are the same, bank and all, with one worker', async () => {
    const one = join(scratch, 'one-worker');
    await generate(['--photos', photos, '--semantic', `plain:${data}`, ...inputs, '--out', one, '--workers', '1']);
    const content = await contentOf(one);
    expect(content).toEqual(await contentOf(run));
    expect(tars(content).filter(file => file.startsWith(BANK)).length).toBeGreaterThan(2);
  });

  it('are the same when shards of the bank and of images had to be made again', async () => {
    const again = join(scratch, 'again');
    await cp(run, again, { recursive: true });
    const content = await contentOf(run);
    const lost = [
      tars(content).find(file => file.startsWith(BANK))!,
      tars(content).find(file => file.startsWith('shapes2d'))!,
    ];
    for (const file of [...lost, `${BANK}/index.bin`, `${BANK}/index.json`]) await rm(join(again, file));
    await generate(['--photos', photos, '--semantic', `plain:${data}`, ...inputs, '--out', again]);
    expect(await contentOf(again)).toEqual(content);
  });

  it('are the same from another run’s banks: of shapes it gives all', async () => {
    const taker = join(scratch, 'taker');
    await generate([...inputs, '--shape-bank', run, '--texture-bank', run, '--out', taker]);
    const images = async (from: string) =>
      Object.entries(await contentOf(from)).filter(([file]) => /^(shapes|textures)2d\//.test(file));
    expect(await images(taker)).toEqual(await images(run));
    expect((await filesIn(taker)).filter(file => file.startsWith('banks'))).toEqual([]);
  });
});

describe('what no condition names', () => {
  const only = (condition: string, more: object = {}) =>
    writeRecipe(join(scratch, `${condition}.json`), {
      subsets: ['shapes2d'],
      'shapes2d-images': 8,
      shapes2d: { variations: 2, size: 64, conditions: [condition] },
      ...more,
    });
  const stages = async (out: string) => new Set(Object.values(await sidecarsOf(out)).map(({ stage }) => stage));

  it('is left out: no natural shapes where only semantic ones are shown', async () => {
    const out = join(scratch, 'semantic-only');
    const recipe = await only('semantic-textured-textured-rotated', {
      'semantic-shapes': 12,
      subsets: ['shapes2d', 'textures2d'],
      'textures2d-images': 24,
      textures2d: {
        variations: 4,
        size: 64,
        conditions: ['semantic-black-same', { source: 'semantic', background: 'white', shape: 'different' }],
      },
    });
    await generate(['--photos', photos, '--semantic', `plain:${data}`, '--recipe', recipe, '--out', out]);
    expect(await stages(out)).toEqual(new Set(['outline-shapes', 'extract-textures', 'shapes2d', 'textures2d']));
    const labels = await sampleLabels(out, 'shapes2d');
    expect(labels).toHaveLength(8);
    const ofTextures = await sampleLabels(out, 'textures2d');
    expect(ofTextures).toHaveLength(24);
    const shared = new Map<number, string>();
    for (const { scene, condition, instance } of ofTextures) {
      const isShared = condition === 'semantic-black-same';
      expect(scene.background).toMatchObject({ kind: 'colour', rgb: new Array(3).fill(isShared ? 0 : 255) });
      if (!isShared) expect(condition).toBe('semantic-white-different');
      else expect(scene.shape.id).toBe(shared.get(instance.number) ?? scene.shape.id);
      if (isShared) shared.set(instance.number, scene.shape.id);
    }
    expect(new Set(ofTextures.map(({ condition }) => condition)).size).toBe(2);
    for (const { scene } of [...labels, ...ofTextures]) expect(isSemantic(scene.shape.id)).toBe(true);
    // The bank's own folder may be named, too.
    const taker = join(scratch, 'one-bank');
    await generate(['--recipe', recipe, '--shape-bank', join(out, BANK), '--texture-bank', out, '--out', taker]);
    expect(await sampleLabels(taker, 'shapes2d')).toEqual(labels);
  });

  it('is left out, and told: semantic shapes where only natural ones are shown', async () => {
    const recipe = await only('natural-black-white-rotated');
    const args = [
      '--photos',
      photos,
      '--semantic',
      `plain:${data}`,
      '--recipe',
      recipe,
      '--out',
      join(scratch, 'left'),
    ];
    const { stderr } = await generate([...args, '--stage', 'outline-shapes']);
    expect(stderr).toContain('outline-shapes is left out: no condition of a 2D subset names semantic shapes');
    expect(await stages(join(scratch, 'left'))).toEqual(new Set());
  });

  it('and what nothing gives is refused before anything is made', async () => {
    const out = join(scratch, 'never');
    for (const source of ['semantic', 'projection']) {
      const recipe = await only(`${source}-black-white-rotated`);
      const said = await refusal('generate', '--photos', photos, '--recipe', recipe, '--out', out);
      expect(said).toMatch(new RegExp(`^shapes2d.conditions name ${source} shapes, and nothing gives any: .*$`));
    }
    expect(await filesIn(out)).toEqual([]);
  });
});

describe('--semantic-shapes', () => {
  const args = () => [
    '--photos',
    photos,
    '--semantic',
    `plain:${data}`,
    '--stage',
    'outline-shapes',
    '--shapes',
    '1000',
    '--workers',
    '1',
  ];

  it('left out takes what there is, at most as many as --shapes', async () => {
    const out = join(scratch, 'all');
    const { stdout } = await generate([...args(), '--out', out]);
    expect(await openBank(join(out, BANK))).toMatchObject({ items: 2 * PICTURES + 1, asked: 1000 });
    expect(stdout).toContain('semantic shapes');
  });

  it('given is a number that a run ends short of', async () => {
    await generate([...args(), '--semantic-shapes', '900', '--out', join(scratch, 'short')], 3);
  });
});

it('what nothing would show is told and looked up by a plan too', async () => {
  const out = join(scratch, 'planned');
  const plan = ['--subsets', 'silhouettes', '--dry-run', '--out', out, '--projections', '3', '--semantic'];
  const { stderr } = await generate([...plan, `plain:${data}`]);
  expect(stderr).toContain('outline-shapes is left out');
  expect(stderr).toContain('project-shapes is left out');
  expect(await refusal('generate', ...plan, `plain:${join(scratch, 'nowhere')}`)).toContain('nowhere');
});

it('cut-outs may touch the edges of their pictures', async () => {
  const folder = join(scratch, 'cut-outs', 'animals');
  await mkdir(folder, { recursive: true });
  const path = '<path fill="#c80" fill-rule="evenodd" d="M0 0H90V60H0Z M30 20H50V40H30Z"/>';
  const drawing = `<svg width="90" height="60">${path}</svg>`;
  await sharp(Buffer.from(drawing)).png().toFile(join(folder, 'red-fox.png'));
  const out = join(scratch, 'cut-outs-run');
  await generate([
    '--photos',
    photos,
    '--semantic',
    `cutouts:${join(scratch, 'cut-outs')}`,
    '--stage',
    'outline-shapes',
    '--workers',
    '1',
    '--out',
    out,
  ]);
  const labels = await labelsIn<ShapeLabel>(out, BANK);
  expect(labels.map(({ width, height, area, annotated }) => [width, height, area, annotated?.label])).toEqual([
    [90, 60, 5000, 'red fox'],
  ]);
});
