import { type Bank, itemSize, openBank } from '../bank.ts';
import type { BankKind } from '../bank-kinds.ts';
import { DamagedFile } from '../faults.ts';
import { finishedShards } from '../finished-shards.ts';
import { AOV_FIELDS } from '../rendering.ts';
import type { RunFolder } from '../run-folder.ts';
import { readSamples } from '../stored-samples.ts';
import { readTarFiles } from '../tar.ts';
import { type ExportPart, exporter } from './exporter.ts';
import type { PartWriter } from './part-writer.ts';
import { fileOf, type SamplePart, sampleParts } from './sample-parts.ts';

/** Shapes of a shard that belong to the finished bank. */
interface ShapePart extends ExportPart {
  readonly subset: 'shapes';
  readonly kind: BankKind;
  readonly tar: string;
  /** Of the bank's items in the shard; the shard may hold more. */
  readonly ids: ReadonlySet<string>;
}

const SUBSETS = ['shapes2d', 'textures2d', 'shapes3d', 'materials3d'] as const;
const SHAPE_BANKS = ['shapes', 'semantic-shapes', 'projected-shapes'] as const satisfies readonly BankKind[];

/**
 * LAS&T's folders: one an instance. A trainer takes every file of such a folder for an image, so masks lie in a tree of
 * their own; and it knows no splits, so each split is a tree that it can be given.
 */
export const folders = exporter<SamplePart | ShapePart>({
  name: 'folders',
  title: 'LAS&T’s folders, one an instance, for its trainers',
  expects: `samples of ${SUBSETS.join(', ')}, or a bank of shapes`,

  async plan(run) {
    return [...(await sampleParts(run, SUBSETS)), ...(await shapeParts(run))];
  },

  write(part, out) {
    return part.subset === 'shapes' ? writeShapes(part, out) : writeSamples(part, out);
  },

  async finish() {},

  guide: parts => ({
    rights: 'LAS&T’s folders have no labels: of a single image, the label in the run (`<key>.json`) names the sources.',
    layout: [
      '- `<subset>/<split>/<instance>/<n>.jpg`: the images of an instance. `<subset>/<split>` is what LAS&T’s trainers take as their folder.',
      '- `masks/<subset>/<split>/<instance>/<n>.png`: their masks, 8-bit grey. They lie apart, since a trainer takes every file of an instance’s folder for an image.',
      '- `depth/…`, `normal/…` likewise, where the run has them: 16 bits a channel; their scales are in the run’s labels.',
      ...(parts.some(({ subset }) => subset === 'shapes')
        ? [
            '- `shapes/<id>.png` (`semantic-shapes/`, `projected-shapes/`): shapes in their tight boxes, 8-bit grey, 0 and 255.',
          ]
        : []),
      '- The number of an instance is that in the keys of the run: `shapes2d/train/000012/3.jpg` is `shapes2d-000012-3`.',
    ].join('\n'),
    loading: ['In this folder:', '', '```python', ...examplesOf(parts), '```'].join('\n'),
  }),
});

/** Python that reads what there is: images of instances, or shapes alone. */
function examplesOf([first]: readonly (SamplePart | ShapePart)[]): string[] {
  if (first!.subset === 'shapes') {
    return [
      'from pathlib import Path',
      'from PIL import Image',
      '',
      `shapes = [Image.open(path) for path in sorted(Path("${first.kind}").glob("*.png"))]`,
    ];
  }
  return [
    'from torchvision.datasets import ImageFolder',
    '',
    `instances = ImageFolder("${first!.subset}/${first!.split}")  # a class an instance: its images share what the subset is about`,
    'image, instance = instances[0]',
  ];
}

async function writeSamples(part: SamplePart, out: PartWriter): Promise<void> {
  const { subset, split } = part;
  for await (const sample of readSamples(part)) {
    const [instance, variation] = sample.key.slice(subset.length + 1).split('-');
    const folder = `${subset}/${split}/${instance}`;
    out.file(`${folder}/${variation}.jpg`, fileOf(sample, 'jpg', part));
    out.file(`masks/${folder}/${variation}.png`, fileOf(sample, 'mask.png', part));
    for (const [name, field] of Object.entries(AOV_FIELDS)) {
      const bytes = sample.files[field];
      if (bytes) out.file(`${name}/${folder}/${variation}.png`, bytes);
    }
  }
}

async function shapeParts(run: RunFolder): Promise<ShapePart[]> {
  const parts: ShapePart[] = [];
  for (const kind of SHAPE_BANKS) {
    const bank = await openBank(run.bank(kind));
    if (!bank) continue;
    const byShard = idsByShard(bank);
    for await (const { name, tar, sidecar } of finishedShards(run.bank(kind))) {
      const ids = byShard.get(sidecar.shard);
      if (ids)
        parts.push({
          name,
          subset: 'shapes',
          place: `banks/${kind}`,
          kind,
          tar,
          ids,
          samples: ids.size,
          sha256: sidecar.sha256,
        });
    }
  }
  return parts;
}

function idsByShard(bank: Bank): Map<number, Set<string>> {
  const byShard = new Map<number, Set<string>>();
  for (let i = 0; i < bank.items; i++) {
    const shard = bank.columns.shard[i]!;
    const ids = byShard.get(shard) ?? new Set();
    byShard.set(shard, ids.add(itemSize(bank, i).id));
  }
  return byShard;
}

async function writeShapes({ kind, tar, ids }: ShapePart, out: PartWriter): Promise<void> {
  let written = 0;
  for await (const files of readTarFiles(tar)) {
    for (const { name, data } of files) {
      if (!name.endsWith('.png') || !ids.has(name.slice(0, -'.png'.length))) continue;
      out.file(`${kind}/${name}`, data);
      written++;
    }
  }
  if (written !== ids.size) {
    throw new DamagedFile(`${tar}: expected ${ids.size} shapes of the bank, found ${written}; the shard is damaged`);
  }
}
