import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GreyImage } from '../../extractors/image.ts';
import { decodeRunLengths, expandCounts } from '../../extractors/run-lengths.ts';
import type { SilhouetteLabel } from '../../pipeline/labels.ts';
import { SPLITS } from '../../pipeline/splits.ts';
import {
  contentOf,
  damagedShards,
  filesIn,
  generate,
  isPartial,
  scratchFolder,
  shapemill,
  sidecarsOf,
  start,
  until,
} from './command.ts';
import { refusal } from './refusal.ts';
import {
  gradient,
  inBox,
  inDisc,
  maskOf,
  maskPng,
  type PlainPicture,
  writeCoco,
  writePlain,
} from './segmentation-folder.ts';
import { readShard } from './shard-files.ts';

const FIELDS = ['edge.png', 'grey.png', 'hq.jpg', 'json', 'silhouette.png'];
const scratch = scratchFolder();
const plain = join(scratch, 'things');
const run = join(scratch, 'run');
let boxJpeg: Buffer;

interface Sample {
  readonly label: SilhouetteLabel;
  readonly files: Readonly<Record<string, Buffer>>;
}

/** All samples of a run by the file of their picture, in the order of their shards. */
async function samplesOf(folder: string): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>();
  for (const file of (await filesIn(join(folder, 'silhouettes'))).filter(name => name.endsWith('.tar'))) {
    const members = await readShard(join(folder, 'silhouettes', file));
    for (let first = 0; first < members.length; first += FIELDS.length) {
      const own = members.slice(first, first + FIELDS.length);
      const files = Object.fromEntries(own.map(({ name, data }) => [name.slice(name.indexOf('.') + 1), data]));
      expect(Object.keys(files)).toEqual(FIELDS);
      expect(new Set(own.map(({ name }) => name.split('.')[0])).size).toBe(1);
      const label: SilhouetteLabel = JSON.parse(files.json!.toString());
      const name = label.sources[0]!.file;
      samples.set(name, [...(samples.get(name) ?? []), { label, files }]);
    }
  }
  return samples;
}

async function greyOf(png: Buffer): Promise<GreyImage> {
  const { data, info } = await sharp(png).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}
const sizeOf = async (image: Buffer) => {
  const { width, height } = await sharp(image).metadata();
  return [width, height];
};

const jpeg = (width: number, height: number) => gradient(width, height).jpeg({ quality: 90 }).toBuffer();

async function pictures(): Promise<PlainPicture[]> {
  const disc = (width: number, height: number) =>
    maskOf(width, height, (x, y) => inDisc(60, 45, 30)(x, y) && !inDisc(60, 45, 10)(x, y));
  const plainOnes = await Promise.all(
    Array.from(
      { length: 6 },
      async (_, i): Promise<PlainPicture> => ({
        file: `disc-${i}.jpg`,
        label: 'disc',
        split: SPLITS[i % 3]!,
        picture: await jpeg(120 + i, 90),
        mask: await maskPng(disc(120 + i, 90)),
      }),
    ),
  );
  boxJpeg = await jpeg(120, 90);
  const turned = await gradient(90, 120).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const one = async (file: string, picture: Buffer, mask: Parameters<typeof maskPng>[0]): Promise<PlainPicture> => ({
    file,
    label: 'traffic light',
    split: 'train',
    picture,
    mask: await maskPng(mask),
  });
  return [
    ...plainOnes,
    await one('box.jpg', boxJpeg, maskOf(120, 90, inBox(10, 5, 40, 20))),
    await one(
      'two.jpg',
      await jpeg(120, 90),
      maskOf(120, 90, (x, y) => inBox(0, 0, 30, 10)(x, y) || inBox(40, 20, 20, 20)(x, y)),
    ),
    await one(
      'alpha.png',
      await gradient(64, 64).ensureAlpha(0.5).png().toBuffer(),
      maskOf(64, 64, inBox(8, 8, 48, 24)),
    ),
    await one('half-size.jpg', await jpeg(240, 180), maskOf(120, 90, inBox(10, 20, 30, 60))),
    await one('upright.jpg', turned, maskOf(120, 90, inBox(0, 0, 40, 20))),
    await one('stored.jpg', turned, maskOf(90, 120, inBox(0, 0, 40, 20))),
    await one('large.jpg', await jpeg(3000, 2000), maskOf(3000, 2000, inBox(500, 200, 2000, 1500))),
    await one(
      'empty.jpg',
      await jpeg(120, 90),
      maskOf(120, 90, () => false),
    ),
    await one('speck.jpg', await jpeg(120, 90), maskOf(120, 90, inBox(3, 3, 7, 7))),
    await one(
      'thread.png',
      await gradient(700, 700).png().toBuffer(),
      maskOf(700, 700, (x, y) => x === y),
    ),
    await one('other-size.jpg', await jpeg(120, 90), maskOf(100, 90, inBox(3, 3, 50, 50))),
    await one(
      'broken.jpg',
      boxJpeg.subarray(0, Math.round(boxJpeg.length * 0.7)),
      maskOf(120, 90, inBox(0, 0, 20, 20)),
    ),
    await one('no-picture.jpg', Buffer.from('not a picture'), maskOf(120, 90, inBox(0, 0, 20, 20))),
  ];
}

const SILHOUETTES = ['--subsets', 'silhouettes', '--segmentation'];
const args = [...SILHOUETTES, `plain:${plain}`, '--shard-samples', '3'];
/** For runs of one picture. */
const ONE = ['--workers', '1', ...SILHOUETTES];
let samples: Map<string, Sample[]>;
let stdout: string;
const sample = (file: string) => samples.get(`images/${file}`)![0]!;

beforeAll(async () => {
  await writePlain(plain, await pictures());
  ({ stdout } = await generate([...args, '--out', run, '--workers', '2']));
  samples = await samplesOf(run);
});

describe('a run of silhouettes', () => {
  it('gives each usable picture one sample, in shards of its split', async () => {
    expect([...samples.values()].every(of => of.length === 1)).toBe(true);
    expect(samples.size).toBe(13);
    for (const [name, of] of samples)
      expect(of[0]!.label.annotated.label).toBe(name.includes('disc') ? 'disc' : 'traffic light');
    const sidecars = await sidecarsOf(run);
    expect(
      Object.keys(sidecars).every(name => /^silhouettes\/(train|val|test)\/silhouettes-\1-\d{6}\.json$/.test(name)),
    ).toBe(true);
    expect(Object.keys(sidecars).filter(name => name.includes('/val/'))).toHaveLength(1);
    for (const { label } of [...samples.values()].flat()) {
      expect(label.key).toBe(`silhouettes-${String(label.instance.number).padStart(6, '0')}-0`);
      expect(label.instance.id).toMatch(new RegExp(`^${label.sources[0]!.id}-0-[01]$`));
      expect(label.annotated).toMatchObject({ dataset: 'plain', taxonomy: { genus: 'test' } });
    }
  });

  it('has labels that match the published schema', async () => {
    const path = fileURLToPath(new URL('../../docs/schema/silhouettes-sample.schema.json', import.meta.url));
    const matches = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(
      JSON.parse(await readFile(path, 'utf8')),
    );
    for (const { label } of [...samples.values()].flat())
      expect([matches(label), matches.errors]).toEqual([true, null]);
    expect(matches({ ...sample('box.jpg').label, surprise: 1 })).toBe(false);
    expect(matches({ ...sample('box.jpg').label, hq: undefined })).toBe(false);
  });

  it('has pictures of the size that their labels say, the longest side 200', async () => {
    for (const { label, files } of [...samples.values()].flat()) {
      const { width, height } = label.silhouette;
      expect(Math.max(width, height)).toBe(200);
      for (const mode of ['silhouette.png', 'edge.png', 'grey.png'])
        expect(await sizeOf(files[mode]!)).toEqual([width, height]);
      expect(await sizeOf(files['hq.jpg']!)).toEqual([label.hq.width, label.hq.height]);
      for (const mode of ['silhouette.png', 'edge.png']) {
        expect((await greyOf(files[mode]!)).data.every(value => value === 0 || value === 255)).toBe(true);
      }
    }
  });

  it('shows a box in its picture pixel by pixel', async () => {
    const { label, files } = sample('box.jpg');
    expect(files['hq.jpg']!.equals(boxJpeg)).toBe(true);
    expect(label.object).toMatchObject({ box: { left: 10, top: 5, width: 40, height: 20 }, area: 800, parts: 1 });
    expect(label.picture).toEqual({ width: 120, height: 90 });
    expect(label.silhouette).toEqual({
      width: 200,
      height: 100,
      scale: 5,
      polarity: 'white-on-black',
      margin: 0,
      soft: false,
    });
    expect((await greyOf(files['silhouette.png']!)).data.every(value => value === 255)).toBe(true);
    // Nothing but the outline: the colours rise slowly.
    const edge = await greyOf(files['edge.png']!);
    const rim = maskOf(200, 100, (x, y) => x === 0 || y === 0 || x === 199 || y === 99);
    expect(Buffer.from(rim.data).equals(edge.data)).toBe(true);
    // Luminance by Rec. 601 of the picture at the middle of the box.
    const picture = await sharp(boxJpeg).raw().toBuffer();
    const [r, g, b] = picture.subarray(3 * (15 * 120 + 30), 3 * (15 * 120 + 30) + 3) as unknown as [
      number,
      number,
      number,
    ];
    const grey = await greyOf(files['grey.png']!);
    expect(Math.abs(grey.data[50 * 200 + 102]! - (0.299 * r + 0.587 * g + 0.114 * b))).toBeLessThan(4);
  });

  it('keeps holes, and says them in run lengths', async () => {
    const { label, files } = sample('disc-0.jpg');
    const { data } = await greyOf(files['silhouette.png']!);
    expect(label.silhouette).toMatchObject({ width: 200, height: 200 });
    expect([data[100 * 200 + 100], data[100 * 200 + 20], data[0]]).toEqual([0, 255, 0]);
    expect(label.statistics).toMatchObject({ area: label.object.area, holes: 1, eulerNumber: 0 });
    const [height, width] = label.object.mask.size;
    const mask = decodeRunLengths({ width, height, counts: expandCounts(label.object.mask.counts) });
    expect(mask).toEqual(maskOf(120, 90, (x, y) => inDisc(60, 45, 30)(x, y) && !inDisc(60, 45, 10)(x, y)));
  });

  it('takes the largest contiguous area of a mask that is all of a class', () => {
    expect(sample('two.jpg').label.object).toMatchObject({
      box: { left: 40, top: 20, width: 20, height: 20 },
      area: 400,
    });
    expect(sample('two.jpg').label.instance.id).toMatch(/-0-1$/);
  });

  it('lays transparency over white', async () => {
    const pixels = await sharp(sample('alpha.png').files['hq.jpg']!).raw().toBuffer();
    expect(pixels[2]).toBeGreaterThan(165);
  });

  it('brings a mask of half the size to that of its picture', () => {
    expect(sample('half-size.jpg').label).toMatchObject({
      picture: { width: 240, height: 180 },
      object: { box: { left: 20, top: 40, width: 60, height: 120 }, area: 7200 },
    });
  });

  it('turns a picture as its mask wants it', async () => {
    const [upright, stored] = [sample('upright.jpg'), sample('stored.jpg')];
    expect([upright.label.picture, stored.label.picture]).toEqual([
      { width: 120, height: 90 },
      { width: 90, height: 120 },
    ]);
    for (const { files } of [upright, stored])
      expect((await sharp(files['hq.jpg']!).metadata()).orientation).toBeUndefined();
    // Stored, red rises rightwards; turned clockwise, downwards.
    const rise = async ({ files, label: { hq } }: Sample, step: number) => {
      const pixels = await sharp(files['hq.jpg']!).raw().toBuffer();
      const at = (pixel: number) => pixels[3 * pixel]!;
      return at((hq.height - 1) * hq.width * Number(step > 1) + (hq.width - 1) * Number(step === 1)) - at(0);
    };
    expect(await rise(upright, 120)).toBeGreaterThan(100);
    expect(await rise(stored, 1)).toBeGreaterThan(100);
  });

  it('shrinks large pictures on the way to grey ones and sees the same', async () => {
    const { files, label } = sample('large.jpg');
    expect(label.silhouette).toMatchObject({ width: 200, height: 150 });
    const grey = await greyOf(files['grey.png']!);
    // Columns 500–2500 of 3000, rows 200–1700 of 2000: red 33–167, green 20–170.
    const expected = (x: number, y: number) => 0.299 * (33.3 + 0.667 * x) + 0.587 * (20 + y) + 0.114 * 90;
    for (const [x, y] of [
      [10, 10],
      [100, 75],
      [190, 140],
    ] as const) {
      expect(Math.abs(grey.data[y * 200 + x]! - expected(x, y))).toBeLessThan(4);
    }
  });

  it('counts what gave nothing, and names what is broken', async () => {
    const sidecars = Object.values(await sidecarsOf(run));
    const counts = (name: string) => sidecars.reduce((sum, sidecar) => sum + (sidecar.counts[name] ?? 0), 0);
    expect(counts('pictures')).toBe(19);
    expect(counts('picture-without-object')).toBe(1);
    expect([counts('picture-too-small'), counts('object-too-small')]).toEqual([1, 1]);
    expect([counts('picture-too-thin'), counts('object-too-thin')]).toEqual([1, 1]);
    expect(stdout).toContain(
      'pictures that gave no silhouette: 3 (1 without any object, 1 with none of enough pixels, 1 with none that is half a pixel thick',
    );
    const faults = new Map(
      sidecars.flatMap(({ faults }) => faults.map(({ item, reason }) => [item.split('/').at(-1), reason])),
    );
    expect([...faults.keys()].sort()).toEqual([
      'broken.jpg',
      'empty.jpg',
      'no-picture.jpg',
      'other-size.jpg',
      'speck.jpg',
      'thread.png',
    ]);
    expect(faults.get('empty.jpg')).toBe('there is no object in it');
    expect(faults.get('speck.jpg')).toBe('no object of at least 64 pixels');
    expect(faults.get('thread.png')).toBe('no object is half a pixel thick in its silhouette');
    expect(faults.get('other-size.jpg')).toBe('mask of 100×90 does not fit its picture of 120×90');
    expect(faults.get('broken.jpg')).toBe('the image data are cut off or damaged');
  });
});

describe('the same run', () => {
  it('has the same bytes with one worker', async () => {
    const other = join(scratch, 'one-worker');
    await generate([...args, '--out', other, '--workers', '1']);
    expect(await contentOf(other)).toEqual(await contentOf(run));
  });

  it('has them when it was killed on the way', async () => {
    const killed = join(scratch, 'killed');
    for (const shards of [1, 3]) {
      const { child, ended } = start(['generate', ...args, '--out', killed]);
      const written = async () =>
        (await filesIn(killed)).filter(file => file.endsWith('.tar') && !isPartial(file)).length >= shards;
      await until(written, ended);
      child.kill('SIGKILL');
      await ended;
      expect(await damagedShards(killed)).toEqual([]);
    }
    await generate([...args, '--out', killed]);
    expect(await contentOf(killed)).toEqual(await contentOf(run));
  });

  it('has them from two processes with ranges of shards', async () => {
    const shared = join(scratch, 'shared');
    const command = [...args, '--out', shared, '--workers', '1', '--shard-range'];
    await Promise.all(['0..2', '3..99'].map(range => generate([...command, range])));
    expect(await contentOf(shared)).toEqual(await contentOf(run));
  });

  it('looks at as many pictures as it is told', async () => {
    const few = join(scratch, 'few');
    const ending = await shapemill('generate', ...args, '--out', few, '--silhouettes-images', '5', '--workers', '1');
    const sidecars = Object.values(await sidecarsOf(few));
    expect(sidecars.reduce((sum, { counts }) => sum + counts.pictures!, 0)).toBe(5);
    for (const [name, of] of await samplesOf(few))
      expect(of[0]!.files['silhouette.png']).toEqual(samples.get(name)![0]!.files['silhouette.png']);
    // Asked for by number, fewer are a shortage.
    const made = sidecars.reduce((sum, sidecar) => sum + sidecar.samples, 0);
    expect(ending.code).toBe(made < 5 ? 3 : 0);
    expect(ending.stdout).toContain(`${made} of 5, from 5 pictures`);
  });
});

describe('what the summary says', () => {
  const one = async (name: string, mask: Parameters<typeof maskPng>[0], label = 'cat') =>
    writePlain(join(scratch, name), [
      { file: 'a.jpg', label, split: 'train', picture: await jpeg(120, 90), mask: await maskPng(mask) },
    ]);
  const box = maskOf(120, 90, inBox(10, 10, 50, 50));

  it('counts what was looked at', () => {
    expect(stdout).toContain('13 from 19 pictures');
    expect(stdout).toContain('6 faults');
  });

  it('is that nothing came, with exit code 3', async () => {
    const empty = await one(
      'nothing',
      maskOf(120, 90, () => false),
    );
    const out = join(scratch, 'none');
    const ending = await generate([...ONE, `plain:${empty}`, '--out', out], 3);
    expect(ending.stdout).toContain('no silhouettes: 1 picture gave none');
    expect(ending.stdout).toContain('a.jpg: there is no object in it');
  });

  it('is how many there are when more are asked for, with exit code 3', async () => {
    const folder = await one('single', box);
    const out = join(scratch, 'more');
    const { stdout } = await generate([...ONE, `plain:${folder}`, '--silhouettes-images', '9', '--out', out], 3);
    expect(stdout).toContain('1 of 9, from 1 picture');
    const args = ['--silhouettes-images', '9', '--dry-run', '--out', join(scratch, 'planned')];
    const plan = await generate([...SILHOUETTES, `plain:${folder}`, ...args]);
    expect(plan.stdout).toContain('asked for 9, and the pictures number 1');
  });

  it('is the difference, when a label was changed in between', async () => {
    const out = join(scratch, 'changed');
    const command = [...ONE, `plain:${await one('changing', box)}`, '--out', out];
    await generate(command);
    await generate(command);
    await one('changing', box, 'dog');
    expect(await refusal('generate', ...command)).toContain('assets.segmentation-images: was');
  });

  it('is which licences there are, and no list stays', async () => {
    const out = join(scratch, 'unlicensed');
    const folder = await one('licences', box);
    const said = await refusal('generate', ...SILHOUETTES, `plain:${folder}`, '--licences', 'CC0-1.0', '--out', out);
    expect(said).toContain('no licence is known of what is there');
    expect(await filesIn(out)).toEqual([]);
  });
});

describe('options', () => {
  const coco = join(scratch, 'coco');
  beforeAll(async () => {
    await writeCoco(
      coco,
      [
        [
          { category: 'cat', box: [10, 10, 40, 20] },
          { category: 'dog', box: [60, 10, 50, 50] },
          { category: 'dog', box: [0, 70, 20, 10] },
          { category: 'cat', box: [100, 80, 3, 3] },
        ],
      ],
      120,
      90,
    );
  });
  async function made(...options: string[]): Promise<Sample[]> {
    const out = join(scratch, options.join('') || 'default');
    await generate([...ONE, `coco:${coco}`, ...options, '--out', out]);
    return [...(await samplesOf(out)).values()].flat();
  }

  it('by default the dominant object is shown', async () => {
    const [only, ...others] = await made('--polygons');
    expect(others).toEqual([]);
    expect(only!.label).toMatchObject({
      variation: 0,
      annotated: { dataset: 'coco', label: 'dog' },
      object: { area: 2500, polygons: [{ outer: [60, 10, 110, 10, 110, 60, 60, 60], holes: [] }] },
    });
  });

  it('--all-instances shows all that are large enough, the largest first, each in its surroundings', async () => {
    const all = await made('--all-instances');
    expect(all.map(({ label }) => [label.variation, label.annotated.label, label.object.area, label.hq])).toEqual([
      [0, 'dog', 2500, { left: 55, top: 5, width: 60, height: 60 }],
      [1, 'cat', 800, { left: 6, top: 8, width: 48, height: 24 }],
      [2, 'dog', 200, { left: 0, top: 69, width: 22, height: 12 }],
    ]);
    expect(new Set(all.map(({ label }) => label.instance.number))).toEqual(new Set([0]));
    for (const { label, files } of all)
      expect(await sizeOf(files['hq.jpg']!)).toEqual([label.hq.width, label.hq.height]);
  });

  it('--whole-class shows all of the dominant object’s class', async () => {
    const [{ label }] = (await made('--whole-class')) as [Sample];
    expect(label.object).toMatchObject({ box: { left: 0, top: 10, width: 110, height: 70 }, area: 2700, parts: 2 });
    expect(label.annotated.label).toBe('dog');
  });

  it('--polarity, --margin and --max-side change the form', async () => {
    const [{ label, files }] = (await made('--polarity', 'black-on-white', '--margin', '0.1', '--max-side', '60')) as [
      Sample,
    ];
    expect(label.silhouette).toEqual({
      width: 60,
      height: 60,
      scale: 1,
      polarity: 'black-on-white',
      margin: 0.1,
      soft: false,
    });
    const silhouette = await greyOf(files['silhouette.png']!);
    const box = maskOf(60, 60, (x, y) => !inBox(5, 5, 50, 50)(x, y));
    expect(Buffer.from(box.data).equals(silhouette.data)).toBe(true);
    const [edge, grey] = [await greyOf(files['edge.png']!), await greyOf(files['grey.png']!)];
    expect([edge.data[0], edge.data[5 * 60 + 5], grey.data[0]]).toEqual([255, 0, 255]);
    expect(grey.data[30 * 60 + 30]).toBeLessThan(200);
  });

  it.each([
    [['--polarity', 'black'], 'polarity'],
    [['--margin', '3'], 'margin'],
    [['--max-side', '4'], 'max-side'],
    [['--silhouettes-images', '0'], 'silhouettes-images'],
    [['--segmentation', 'cocoa:/data'], 'cocoa'],
    [['--segmentation', `plain:${scratch}`], 'labels.csv'],
  ])('%s is refused', async (options, named) => {
    const command = ['generate', '--subsets', 'silhouettes', ...options, '--out', join(scratch, 'refused')];
    expect(await refusal(...command)).toContain(named);
  });
});
