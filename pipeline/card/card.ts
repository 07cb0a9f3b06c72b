import type { Configuration } from '../configuration.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import { bytesText } from '../progress.ts';
import { SPLITS, type Split } from '../splits.ts';
import { VERSION } from '../version.ts';
import { type LicenceCounts, licenceHeader, licenceSection } from './licence-section.ts';
import { markdownTable } from './markdown.ts';
import type { RunContents, RunShard, Sources } from './survey.ts';

/** What a card is written from. */
export interface CardFacts {
  readonly name: string;
  readonly configuration: Configuration;
  /** What drew 3D scenes. */
  readonly renderers: readonly string[];
  readonly contents: RunContents;
  readonly sources: Sources;
  readonly licences: LicenceCounts;
}

/** One paragraph: what each subset is. */
const WHAT: Readonly<Record<Subset, string>> = {
  shapes2d:
    'a shape, filled and laid on a background; the images of an instance show the same shape with other fills, backgrounds, places, sizes and rotations',
  textures2d:
    'a texture that fills a shape; the images of an instance show other crops of the same texture in other shapes on other backgrounds',
  shapes3d:
    'a 3D object, rendered; the images of an instance show the same object in other orientations, materials and surroundings',
  materials3d:
    'a PBR material on a 3D object, rendered; the images of an instance show the same material on other objects in other surroundings',
  silhouettes:
    'an object of a segmentation dataset in full colour, as silhouette, as edges and in grey, with its class',
};

/** The dataset card of a run: Markdown with the YAML header that the Hugging Face Hub reads. */
export function card(facts: CardFacts): string {
  const { name, contents, licences, sources } = facts;
  const subsets = SUBSETS.filter(subset => contents.shards.some(shard => shard.subset === subset));
  return `${[
    header(facts, subsets),
    `# ${name}`,
    'Labelled images about shape, texture and material, made from photographs, meshes and panoramas by ' +
      `shapemill ${VERSION}. The images of an *instance* share one thing (a shape, a texture, an object, a material) and differ in the rest; ` +
      'models are asked which images share it.',
    subsets.map(subset => `- **${subset}**: ${WHAT[subset]}.`).join('\n'),
    '## Contents',
    contentsSection(contents, subsets),
    '## Files and fields',
    fieldsSection(subsets, contents, facts.configuration),
    '## Splits',
    'Splits are cut by source: what is made from one photograph, mesh or panorama is in one split only (by hash, or as its pack declares). So ' +
      'nothing that the images of the test split show comes from a source of training images.',
    '## Recipe',
    recipeSection(facts, subsets),
    '## Loading',
    loadingSection(name, contents.shards, subsets),
    '## Licences and attribution',
    licenceSection(licences, sources.meetings),
    '## Known limits',
    limitsSection(facts, subsets),
  ]
    .filter(part => part !== '')
    .join('\n\n')}\n`;
}

function header({ name, contents, licences }: CardFacts, subsets: readonly Subset[]): string {
  const images = contents.shards.reduce((sum, { subset, samples }) => sum + (subset ? samples : 0), 0);
  const tasks = [
    ...(subsets.some(subset => subset !== 'silhouettes') ? ['image-feature-extraction', 'image-segmentation'] : []),
    ...(subsets.includes('silhouettes') ? ['image-classification'] : []),
    ...(contents.panels.length > 0 ? ['visual-question-answering'] : []),
  ];
  const lines = [
    '---',
    `pretty_name: ${JSON.stringify(name)}`,
    ...licenceHeader(licences),
    ...(tasks.length > 0 ? ['task_categories:', ...tasks.map(task => `- ${task}`)] : []),
    'size_categories:',
    `- ${sizeCategory(images)}`,
    'tags:',
    ...['shape', 'texture', 'material', 'synthetic', 'webdataset'].map(tag => `- ${tag}`),
    ...(subsets.length > 0 ? ['configs:'] : []),
  ];
  for (const subset of subsets) {
    lines.push(`- config_name: ${subset}`, '  data_files:');
    for (const split of splitsOf(contents.shards, subset)) {
      lines.push(`  - split: ${hubName(split)}`, `    path: ${subset}/${split}/*.tar`);
    }
  }
  lines.push('---');
  return lines.join('\n');
}

/** What the Hub calls a split. */
export function hubName(split: Split): string {
  return split === 'val' ? 'validation' : split;
}

/** The Hub's names of sizes. */
export function sizeCategory(samples: number): string {
  const limits: readonly (readonly [number, string])[] = [
    [1e3, 'n<1K'],
    [1e4, '1K<n<10K'],
    [1e5, '10K<n<100K'],
    [1e6, '100K<n<1M'],
    [1e7, '1M<n<10M'],
    [1e8, '10M<n<100M'],
  ];
  return limits.find(([most]) => samples < most)?.[1] ?? '100M<n<1B';
}

function splitsOf(shards: readonly RunShard[], subset: Subset): Split[] {
  return SPLITS.filter(split => shards.some(shard => shard.subset === subset && shard.split === split));
}

function contentsSection({ shards, panels }: RunContents, subsets: readonly Subset[]): string {
  const samples = (some: readonly RunShard[]) => some.reduce((sum, shard) => sum + shard.samples, 0);
  const size = (some: readonly RunShard[]) => bytesText(some.reduce((sum, shard) => sum + shard.bytes, 0));
  const parts: string[] = [];
  if (subsets.length > 0) {
    const rows = subsets.map(subset => {
      const mine = shards.filter(shard => shard.subset === subset);
      return [
        subset,
        ...SPLITS.map(split => samples(mine.filter(shard => shard.split === split))),
        samples(mine),
        mine.length,
        size(mine),
      ];
    });
    parts.push(markdownTable([['samples', ...SPLITS, 'all', 'shards', 'size'], ...rows]));
  }
  const stages = [...new Set(shards.map(({ stage }) => stage))].map(stage => {
    const mine = shards.filter(shard => shard.stage === stage);
    const faults = mine.reduce((sum, shard) => sum + shard.faults, 0);
    return [stage, samples(mine), mine.length, size(mine), faults];
  });
  if (stages.length > 0) {
    parts.push(
      'What each stage made. A bank holds what scenes draw from; its shards may hold a few items more than the finished bank.',
      markdownTable([['stage', 'items or samples', 'shards', 'size', 'inputs skipped'], ...stages]),
    );
  }
  if (panels.length > 0) {
    parts.push(
      'Panel tests, made from the test split: which of the panels B, C and D shows what panel A shows?',
      markdownTable([['condition', 'tests'], ...panels.map(({ condition, tests }) => [condition, tests])]),
    );
  }
  return parts.length > 0 ? parts.join('\n\n') : 'Nothing is finished yet.';
}

function fieldsSection(subsets: readonly Subset[], { panels }: RunContents, { aov }: Configuration): string {
  const lines = [
    '- `<subset>/<split>/<subset>-<split>-000000.tar`: samples in WebDataset form; beside each shard a JSON with its sha256 and counts.',
  ];
  if (subsets.some(subset => subset !== 'silhouettes')) {
    lines.push('- `jpg`: the image. `mask.png`: what of it the instance covers, 8-bit grey, 255 for all of a pixel.');
  }
  if (aov.length > 0 && subsets.some(is3d)) {
    const beside = { depth: '`depth.png` (along the axis of the camera)', normal: '`normal.png` (in its axes)' };
    const files = aov.map(name => beside[name]).join(', ');
    lines.push(
      `- 3D images also: ${files}, 16 bits a channel; value = stored × scale + offset, both in the label’s \`aov\`.`,
    );
  }
  if (subsets.includes('silhouettes')) {
    lines.push(
      '- silhouettes: `hq.jpg` (full colour), `silhouette.png` (the object alone, cropped), `edge.png`, `grey.png`.',
    );
  }
  lines.push(
    '- `json`: the label: key `<subset>-<instance>-<variation>`, split, `instance` (its `id` is the bank item that stays the same), the whole scene that ' +
      'was drawn, measured facts, and `sources` with author and licence.',
    '- `banks/<kind>/`: the shapes, textures, materials, meshes and panoramas, each with a label.',
  );
  if (panels.length > 0) {
    lines.push('- `panels/<condition>/panels.jsonl`: one test a line: picture, question, choices, answer, scenes.');
  }
  lines.push(
    '- `attribution.csv`: every source. `croissant.json`: this description for machines (Croissant 1.1). `run.json`: command, settings, versions.',
  );
  return lines.join('\n');
}

const is3d = (subset: Subset) => subset === 'shapes3d' || subset === 'materials3d';

function recipeSection({ configuration, renderers }: CardFacts, subsets: readonly Subset[]): string {
  const { recipe, seed, shapes2d, textures2d, shapes3d, materials3d, silhouettes } = configuration;
  const lines = [
    `- recipe \`${recipe}\`, seed ${seed}; the same recipe, seed, assets and versions give the same 2D bytes and the same 3D scenes`,
  ];
  if (subsets.includes('shapes2d')) {
    lines.push(
      `- shapes2d: ${shapes2d.size}², ${shapes2d.variations} images an instance; conditions ${shapes2d.conditions.join(', ')}`,
    );
  }
  if (subsets.includes('textures2d')) {
    lines.push(
      `- textures2d: ${textures2d.size}², ${textures2d.variations} images an instance; conditions ${textures2d.conditions.join(', ')}`,
    );
  }
  if (subsets.includes('shapes3d'))
    lines.push(`- shapes3d: ${shapes3d.size}², ${shapes3d.variations} images an instance`);
  if (subsets.includes('materials3d')) {
    lines.push(`- materials3d: ${materials3d.size}², ${materials3d.variations} images an instance`);
  }
  if (subsets.includes('silhouettes')) {
    const { maxSide, margin, polarity, soft, minArea, wholeClass, allInstances } = silhouettes;
    const which = wholeClass ? 'all of a class' : allInstances ? 'every object' : 'the dominant object';
    const edges = soft ? 'soft' : 'hard';
    lines.push(
      `- silhouettes: ${which} of a picture from ${minArea} px up, ${polarity.replaceAll('-', ' ')} with ${edges} edges, longest side ${maxSide} px, margin ${margin}`,
    );
  }
  if (renderers.length > 0) {
    const { engine, samples, denoise } = configuration;
    const how =
      engine === 'raster' ? 'rasterised' : `path traced with ${samples} paths a pixel${denoise ? ', denoised,' : ''}`;
    lines.push(`- 3D scenes were ${how} by ${renderers.join('; ')}`);
  }
  return lines.join('\n');
}

function loadingSection(name: string, shards: readonly RunShard[], subsets: readonly Subset[]): string {
  const [subset] = subsets;
  if (subset === undefined) return 'There are no samples yet.';
  const split = splitsOf(shards, subset)[0]!;
  const count = shards.filter(shard => shard.subset === subset && shard.split === split).length;
  const last = String(count - 1).padStart(6, '0');
  const numbers = count === 1 ? last : `{000000..${last}}`;
  const fields = subset === 'silhouettes' ? ['hq.jpg', 'silhouette.png'] : ['jpg', 'mask.png'];
  return [
    'PyTorch, with WebDataset:',
    '',
    '```python',
    'import webdataset as wds',
    '',
    `urls = "${subset}/${split}/${subset}-${split}-${numbers}.tar"`,
    `samples = wds.WebDataset(urls, shardshuffle=False).decode("torchrgb").to_tuple("${fields[0]}", "${fields[1]}", "json")`,
    'for image, mask, label in samples:',
    '    print(label["instance"]["id"], image.shape)',
    '```',
    '',
    'Hugging Face:',
    '',
    '```python',
    'from datasets import load_dataset',
    '',
    `samples = load_dataset("path/to/${name}", "${subset}", split="${hubName(split)}", streaming=True)`,
    'for sample in samples:',
    `    print(sample["json"]["instance"]["id"], sample["${fields[0]}"].size)`,
    '```',
    '',
    '`npm run export -- RUN --format folders | imagefolder | coco | barebones | vlmevalkit | inspect` writes other forms.',
  ].join('\n');
}

function limitsSection({ contents, configuration, sources }: CardFacts, subsets: readonly Subset[]): string {
  const lines: string[] = [];
  const asked: Partial<Record<Subset, number | null>> = {
    shapes2d: configuration.shapes2dImages,
    textures2d: configuration.textures2dImages,
    shapes3d: configuration.shapes3dImages,
    materials3d: configuration.materials3dImages,
  };
  for (const subset of configuration.subsets) {
    const there = contents.shards.reduce((sum, shard) => sum + (shard.subset === subset ? shard.samples : 0), 0);
    const wanted = asked[subset] ?? 0;
    if (there < wanted) lines.push(`- ${subset} has ${there} of the ${wanted} samples that were asked for.`);
  }
  const photographs = sources.used.filter(({ uses }) =>
    [...uses.keys()].some(place => /^banks\/(shapes|textures)$/.test(place)),
  );
  if (photographs.length > 0) {
    lines.push(
      `- Shapes and textures come from ${photographs.length.toLocaleString('en')} photographs. Those of one photograph are not independent of each other, however many there are.`,
    );
  }
  if (subsets.includes('shapes2d') || contents.shards.some(({ bank }) => bank === 'shapes')) {
    lines.push(
      '- A natural shape is a region of a colour channel above or below a threshold: an outline that nature made, and no object.',
    );
  }
  if (subsets.some(subset => subset.endsWith('3d'))) {
    lines.push(
      '- 3D images are rasterised: light comes from the panorama, there are no shadows and no light from one part of an object to another. Pixels and measured facts may differ a little between graphics cards.',
    );
  }
  if (subsets.includes('silhouettes')) {
    lines.push('- Classes, masks and their faults are those of the segmentation datasets.');
  }
  lines.push('- Authors and licences are those that the packs state; nothing was checked beyond that.');
  return lines.join('\n');
}
