import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bankItemId, finalizeBank } from '../../../pipeline/bank.ts';
import { configure } from '../../../pipeline/configuration.ts';
import { encodeGreyPng } from '../../../pipeline/grey-png.ts';
import {
  encodeLabel,
  panelTestSchema,
  type Sample2dLabel,
  type SilhouetteLabel,
  sample2dLabelSchema,
  shapeLabelSchema,
  silhouetteLabelSchema,
} from '../../../pipeline/labels.ts';
import type { Provenance } from '../../../pipeline/photo-index.ts';
import { sha256Of } from '../../../pipeline/sha256.ts';
import { type BankItem, ShardWriter } from '../../../pipeline/shard-writer.ts';
import type { Split } from '../../../pipeline/splits.ts';
import { encodeTar, type TarFile } from '../../../pipeline/tar.ts';
import { integer } from '../../../sampling/distributions.ts';
import { type Rng, rng } from '../../../sampling/rng.ts';
import { jpeg } from '../datasets/fixtures.ts';

/** What a test wants its small run to be made from; each source is used in turn. */
export interface SmallRunOptions {
  readonly licences?: readonly (string | null)[];
}

/** A sample that was written: its label and its files by field. */
export interface WrittenSample<Label = Sample2dLabel | SilhouetteLabel> {
  readonly label: Label;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

export interface SmallRun {
  readonly path: string;
  readonly shapes2d: readonly WrittenSample<Sample2dLabel>[];
  readonly silhouettes: readonly WrittenSample<SilhouetteLabel>[];
  /** PNGs of the finished bank by id; its shards hold one more. */
  readonly shapes: ReadonlyMap<string, Uint8Array>;
}

const SIDE = 24;
/** Instances of two images: splits and shards of shapes2d. */
const SHARDS: readonly (readonly [Split, number])[] = [
  ['train', 3],
  ['train', 2],
  ['val', 1],
  ['test', 2],
];
/** Classes with everything that a table has to quote. */
export const OBJECTS = [
  { dataset: 'cutouts', label: 'flower vase', taxonomy: { folder: 'household' } },
  { dataset: 'cutouts', label: 'clock, "old"', taxonomy: { folder: 'a\nb' } },
  {
    dataset: 'sprites',
    label: "Farfetch'd galar",
    taxonomy: { generation: 1, form: 'galar', species: "Farfetch'd", speciesId: 83, family: "Farfetch'd" },
  },
  {
    dataset: 'sprites',
    label: 'Mr. Mime',
    taxonomy: { generation: 1, form: null, species: 'Mr. Mime', speciesId: 122, family: null },
  },
] as const;

/** Writes a run folder as `generate` leaves it, with the pipeline's own writers but without its work. */
export async function writeSmallRun(path: string, { licences = ['CC0-1.0'] }: SmallRunOptions = {}): Promise<SmallRun> {
  const random = rng(1, 'tests', 'small run');
  const source = (i: number) => provenance(i, licences[i % licences.length]!);
  const configuration = await configure({ subsets: ['shapes2d', 'silhouettes'] });
  await mkdir(path, { recursive: true });
  await writeFile(
    join(path, 'run.json'),
    JSON.stringify({
      shapemill: '0.1.0',
      command: ['shapemill', 'generate'],
      started: '2026-03-04T05:06:07.000Z',
      configuration,
      assets: {},
      platform: { arch: 'x64', libvips: '8', sharp: '0' },
      machine: { node: 'v20', os: 'linux', cores: 2 },
    }),
  );
  return {
    path,
    shapes: await writeShapes(path, random, source),
    shapes2d: await writeShapes2d(path, random, source),
    silhouettes: await writeSilhouettes(path, random, source),
  };
}

function provenance(i: number, licence: string | null): Provenance {
  return {
    pack: i % 2 === 0 ? 'photographs' : 'my, "own" photos',
    file: `folder/photo-${i}.jpg`,
    licence,
    author: i % 3 === 0 ? 'Ångström, A.' : i % 3 === 1 ? null : 'line\nend',
    url: i % 2 === 0 ? `https://example.org/photo?n=${i}&x=1,2` : null,
  };
}

const fileId = (i: number) => createHash('sha256').update(`photo ${i}`).digest('hex').slice(0, 16);

type SourceOf = (i: number) => Provenance;

async function writeShapes(path: string, random: Rng, source: SourceOf): Promise<Map<string, Uint8Array>> {
  const folder = join(path, 'banks', 'shapes');
  const shapes = new Map<string, Uint8Array>();
  const shards: [number, BankItem[]][] = [];
  for (let shard = 0; shard < 2; shard++) {
    const writer = await ShardWriter.create(join(folder, `shapes-00000${shard}`));
    const items: BankItem[] = [];
    for (let i = 0; i < 3; i++) {
      const number = 3 * shard + i;
      const id = bankItemId('shapes', fileId(number), 0);
      const png = encodeGreyPng(randomMask(random));
      const label = encodeLabel(shapeLabelSchema, {
        id,
        kind: 'natural',
        split: 'train',
        width: SIDE,
        height: SIDE,
        area: 9,
        found: null,
        annotated: null,
        projected: null,
        statistics: STATISTICS,
        photo: { id: fileId(number), width: 100, height: 100 },
        provenance: source(number),
      });
      const { bytes, offsets } = encodeTar([
        { name: `${id}.json`, data: label },
        { name: `${id}.png`, data: png },
      ]);
      items.push({
        id,
        source: fileId(number),
        split: 'train',
        kind: 'natural',
        rank: 0,
        width: SIDE,
        height: SIDE,
        image: [writer.bytes + offsets[1]!, png.length],
        label: [writer.bytes + offsets[0]!, label.length],
        crc: 0,
      });
      await writer.append(bytes);
      if (number < 5) shapes.set(id, png);
    }
    const facts = { stage: 'extract-shapes', shard, samples: 3, seconds: 1, faults: [], counts: {} };
    await writer.finish({ ...facts, items });
    shards.push([shard, items]);
  }
  // The last item is beyond what was asked for.
  await finalizeBank(folder, 'shapes', 5, shards);
  return shapes;
}

async function writeShapes2d(path: string, random: Rng, source: SourceOf): Promise<WrittenSample<Sample2dLabel>[]> {
  const all: WrittenSample<Sample2dLabel>[] = [];
  const image = await jpeg(SIDE, SIDE);
  const perSplit: Partial<Record<Split, number>> = {};
  let number = 0;
  for (const [shard, [split, instances]] of SHARDS.entries()) {
    const file = perSplit[split] ?? 0;
    perSplit[split] = file + 1;
    const samples: WrittenSample<Sample2dLabel>[] = [];
    for (let i = 0; i < instances; i++, number++) {
      for (let variation = 0; variation < 2; variation++) {
        const key = `shapes2d-${String(number).padStart(6, '0')}-${variation}`;
        const mask = randomMask(random);
        const area = mask.data.filter(value => value >= 128).length;
        const id = `${fileId(number)}-r0`;
        const roles = [
          { role: 'shape', item: number },
          { role: 'fill', item: number + 1 },
          { role: 'background', item: number + 1 },
        ] as const;
        const label: Sample2dLabel = {
          key,
          subset: 'shapes2d',
          split,
          instance: { number, id },
          variation,
          seed: 1,
          attempt: 0,
          condition: 'natural-textured-textured-rotated',
          scene: {
            size: SIDE,
            shape: { id },
            placement: { scale: 1, rotation: 0, center: [12, 12] },
            fill: { kind: 'colour', rgb: [1, 2, 3] },
            background: { kind: 'colour', rgb: [200, 2, 3] },
          },
          facts: { box: { left: 1, top: 2, width: 3, height: 4 }, area, coverage: area / SIDE ** 2 },
          files: { jpg: `${key}.jpg`, 'mask.png': `${key}.mask.png`, json: `${key}.json` },
          sources: roles.map(({ role, item }) => ({
            role,
            id: `${fileId(item)}-r0`,
            photo: fileId(item),
            ...source(item),
          })),
        };
        // Every image is another: a JPEG's bytes after its end are ignored.
        const jpg = Buffer.concat([image, Buffer.from(key)]);
        samples.push({
          label,
          files: { jpg, json: jsonOf(sample2dLabelSchema, label), 'mask.png': encodeGreyPng(mask) },
        });
      }
    }
    const name = `shapes2d-${split}-${String(file).padStart(6, '0')}`;
    await writeShard(join(path, 'shapes2d', split, name), 'shapes2d', shard, samples);
    all.push(...samples);
  }
  return all;
}

async function writeSilhouettes(
  path: string,
  random: Rng,
  source: SourceOf,
): Promise<WrittenSample<SilhouetteLabel>[]> {
  const all: WrittenSample<SilhouetteLabel>[] = [];
  for (const [number, { dataset, label: text, taxonomy }] of OBJECTS.entries()) {
    const split = (['train', 'train', 'val', 'test'] as const)[number]!;
    const key = `silhouettes-${String(number).padStart(6, '0')}-0`;
    // 4 rows, 6 columns; the object is 2 × 3 pixels at column 2, row 1. In column-major order: 9 clear, 3 set, 1 clear, 3 set, 8 clear.
    const label: SilhouetteLabel = {
      key,
      subset: 'silhouettes',
      split,
      instance: { number, id: `${fileId(number)}-0` },
      variation: 0,
      seed: 1,
      annotated: { dataset, part: null, label: text, category: text, instance: null, taxonomy },
      picture: { width: 6, height: 4 },
      object: {
        box: { left: 2, top: 1, width: 2, height: 3 },
        area: 6,
        parts: 1,
        mask: { size: [4, 6], counts: '93107' },
      },
      hq: number === 0 ? { left: 1, top: 1, width: 4, height: 3 } : { left: 0, top: 0, width: 6, height: 4 },
      silhouette: { width: 2, height: 3, scale: 1, polarity: 'white-on-black', margin: 0, soft: false },
      statistics: STATISTICS,
      files: {
        'hq.jpg': `${key}.hq.jpg`,
        'silhouette.png': `${key}.silhouette.png`,
        'edge.png': `${key}.edge.png`,
        'grey.png': `${key}.grey.png`,
        json: `${key}.json`,
      },
      sources: [{ role: 'picture', id: fileId(number), ...source(number) }],
    };
    const picture = () => encodeGreyPng(randomMask(random));
    const sample: WrittenSample<SilhouetteLabel> = {
      label,
      files: {
        'edge.png': picture(),
        'grey.png': picture(),
        'hq.jpg': await jpeg(label.hq.width, label.hq.height),
        json: jsonOf(silhouetteLabelSchema, label),
        'silhouette.png': picture(),
      },
    };
    all.push(sample);
  }
  for (const [shard, split] of (['train', 'val', 'test'] as const).entries()) {
    const mine = all.filter(({ label }) => label.split === split);
    await writeShard(join(path, 'silhouettes', split, `silhouettes-${split}-000000`), 'silhouettes', shard, mine);
  }
  return all;
}

/** Writes panel tests of photographs: two conditions' worth of the one kind that needs no banks. */
export async function writePanels(path: string, condition: string, tests: number): Promise<unknown[]> {
  const folder = join(path, 'panels', condition);
  await mkdir(folder, { recursive: true });
  const labels: unknown[] = [];
  for (let number = 0; number < tests; number++) {
    const image = `${String(number).padStart(6, '0')}.jpg`;
    const bytes = Buffer.concat([await jpeg(8, 8), Buffer.from(`${condition} ${number}`)]);
    await writeFile(join(folder, image), bytes);
    const panel = (instance: string) => ({
      instance,
      photograph: { file: `${instance}/1.jpg`, width: 9, height: 9 },
      crop: { left: 0, top: 0, width: 9, height: 9 },
    });
    labels.push(
      panelTestSchema.parse({
        id: `real-${String(number).padStart(6, '0')}`,
        condition: 'real',
        image,
        sha256: sha256Of(bytes),
        size: 1024,
        subset: 'real',
        split: null,
        panels: { A: panel('cup'), B: panel('cup'), C: panel('pan'), D: panel('jug') },
        question: 'Which of the panels\tshows\nthe same?',
        alternatives: ['And which?'],
        choices: ['B', 'C', 'D'],
        answer: 'BCD'[number % 3],
        chance: 1 / 3,
        letters: { corner: 'upper-left', kind: 'badge' },
        sources: [{ role: 'photograph', id: 'cup/1.jpg', panels: ['A'], ...provenance(50 + number, null) }],
        seed: 1,
        attempt: 0,
      }),
    );
  }
  await writeFile(join(folder, 'panels.jsonl'), labels.map(label => `${JSON.stringify(label)}\n`).join(''));
  return labels;
}

const STATISTICS = {
  area: 9,
  perimeter: 12,
  solidity: 1,
  convexity: 1,
  holes: 0,
  eulerNumber: 1,
  elongation: 0,
  complexity: 1,
  thickness: 1,
};

async function writeShard(
  path: string,
  stage: string,
  shard: number,
  samples: readonly WrittenSample[],
): Promise<void> {
  const writer = await ShardWriter.create(path);
  for (const { label, files } of samples) {
    const members: TarFile[] = Object.entries(files).map(([field, data]) => ({ name: `${label.key}.${field}`, data }));
    await writer.append(encodeTar(members).bytes);
  }
  await writer.finish({ stage, shard, samples: samples.length, seconds: 1, faults: [], counts: {} });
}

const jsonOf = encodeLabel;

/** Grey values on all sides of one half; never empty. */
function randomMask(random: Rng): { data: Uint8Array; width: number; height: number } {
  const data = new Uint8Array(SIDE * SIDE);
  const [left, top] = [integer(random, 0, 10), integer(random, 0, 10)];
  for (let y = top; y < top + 12; y++) {
    for (let x = left; x < left + 9; x++) data[y * SIDE + x] = [0, 127, 128, 255][integer(random, 0, 3)]!;
  }
  data[top * SIDE + left] = 255;
  return { data, width: SIDE, height: SIDE };
}
