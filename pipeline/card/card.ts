import { REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import type { BankKind } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import { EXPORT_FORMATS } from '../exports/exporter.ts';
import { is3d, type Subset } from '../generate-options.ts';
import { bytesText } from '../progress.ts';
import { SPLITS, type Split } from '../splits.ts';
import type { StageName } from '../stage-names.ts';
import { VERSION } from '../version.ts';
import { conditionNames, introduction, shapeSources, subsetsIn, titleOf } from './introduction.ts';
import { type LicenceCounts, licenceChoice, licenceHeader, licenceSection } from './licence-section.ts';
import { markdownTable } from './markdown.ts';
import type { PanelList, RunContents, RunShard, Sources } from './survey.ts';

/** What a card is written from. */
export interface CardFacts {
  readonly configuration: Configuration;
  /** What drew 3D scenes. */
  readonly renderers: readonly string[];
  readonly contents: RunContents;
  readonly sources: Sources;
  readonly licences: LicenceCounts;
}

/** The dataset card of a run: Markdown with the YAML header that the Hugging Face Hub reads. */
export function card(facts: CardFacts): string {
  const { configuration, contents, licences, sources } = facts;
  const subsets = subsetsIn(contents);
  return `${[
    header(facts, subsets),
    `# ${titleOf(contents)}`,
    `Labelled images, made by shapemill ${VERSION} from works of others; \`attribution.csv\` lists them.${isInstanced(subsets) ? INSTANCES : ''}`,
    introduction(contents, configuration),
    '## Contents',
    contentsSection(contents, subsets),
    '## Files and fields',
    fieldsSection(subsets, contents, configuration),
    '## Splits',
    'Splits are cut by source: what is made from one photograph, mesh, panorama or annotated picture is in one split only (by hash, or as its pack ' +
      'declares). So nothing that the images of the test split show comes from a source of training images.',
    '## Recipe',
    recipeSection(facts, subsets),
    '## Loading',
    loadingSection(contents, subsets),
    '## Licences and attribution',
    licenceSection(
      licences,
      `The label of each sample${contents.panels.length > 0 ? ' and the line of each panel test' : ''} names its own.`,
      sources.meetings,
    ),
    '## Known limits',
    limitsSection(facts, subsets),
    '## Before you publish',
    publishingSection(licences),
  ]
    .filter(part => part !== '')
    .join('\n\n')}\n`;
}

function header({ contents, licences }: CardFacts, subsets: readonly Subset[]): string {
  const images = contents.shards.reduce((sum, { subset, samples }) => sum + (subset ? samples : 0), 0);
  const tasks = [
    ...(isInstanced(subsets) ? ['image-feature-extraction', 'image-segmentation'] : []),
    ...(subsets.includes('silhouettes') ? ['image-classification'] : []),
    ...(contents.panels.length > 0 ? ['visual-question-answering'] : []),
  ];
  const lines = [
    '---',
    `pretty_name: ${JSON.stringify(titleOf(contents))}`,
    ...licenceHeader(licences),
    ...(tasks.length > 0 ? ['task_categories:', ...tasks.map(task => `- ${task}`)] : []),
    'size_categories:',
    `- ${sizeCategory(images)}`,
    'tags:',
    ...tagsOf(subsets).map(tag => `- ${tag}`),
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

const INSTANCES =
  ' The images of an *instance* share one thing (a shape, a texture, an object, a material) and differ in the rest: a model is to find out which images share it.';

/** Whether there are images that share something: a silhouette is one of its kind. */
const isInstanced = (subsets: readonly Subset[]) => subsets.some(subset => subset !== 'silhouettes');

const TAGS: Readonly<Record<Subset, string>> = {
  shapes2d: 'shape',
  textures2d: 'texture',
  shapes3d: 'shape',
  materials3d: 'material',
  silhouettes: 'shape',
};

function tagsOf(subsets: readonly Subset[]): string[] {
  const own = isInstanced(subsets) ? ['synthetic'] : [];
  return [...new Set([...subsets.map(subset => TAGS[subset]), ...own, 'webdataset'])];
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
      `What each stage made.${shards.some(({ bank }) => bank) ? ' A bank holds what scenes draw from; its shards may hold a few items more than the finished bank.' : ''}`,
      markdownTable([['stage', 'items or samples', 'shards', 'size', 'inputs skipped'], ...stages]),
    );
  }
  if (panels.length > 0) {
    parts.push(
      `Panel tests${panels.some(({ condition }) => condition === REAL_CONDITION) ? ' (`real`: of photographs that were given)' : ''}, made from the test split: which of the panels B, C and D shows what panel A shows?`,
      markdownTable([['condition', 'tests'], ...panels.map(({ condition, tests }) => [condition, tests])]),
    );
  }
  return parts.length > 0 ? parts.join('\n\n') : 'Nothing is finished yet.';
}

function fieldsSection(subsets: readonly Subset[], { shards, panels }: RunContents, { aov }: Configuration): string {
  const lines = [
    '- `<subset>/<split>/<subset>-<split>-000000.tar`: samples in WebDataset form; beside each shard a JSON with its sha256 and counts.',
  ];
  if (isInstanced(subsets)) {
    lines.push('- `jpg`: the image. `mask.png`: what of it the instance covers, 8-bit grey, 255 for all of a pixel.');
  }
  if (aov.length > 0 && subsets.some(is3d)) {
    const beside = { depth: '`depth.png` (along the axis of the camera)', normal: '`normal.png` (in its axes)' };
    const files = aov.map(name => beside[name]).join(', ');
    lines.push(
      `- 3D images also: ${files}, 16 bits a channel; value = stored × scale + offset, both in the label’s \`aov\`. OpenCV’s \`IMREAD_UNCHANGED\` keeps all 16 bits, WebDataset’s \`decode("torchrgb")\` does not.`,
    );
  }
  if (subsets.includes('silhouettes')) {
    lines.push(
      '- silhouettes: `hq.jpg` (full colour), `silhouette.png` (the object alone, cropped), `edge.png`, `grey.png`.',
    );
  }
  lines.push(
    '- `json`: the label: key `<subset>-<instance>-<variation>`, split, measured facts, and `sources` with author and licence.',
  );
  if (isInstanced(subsets)) {
    lines.push('  `instance.id` names the bank item that stays the same, `scene` is all that was drawn.');
  }
  if (subsets.includes('silhouettes')) {
    lines.push(
      '  Of silhouettes, `annotated.label` is the name of the class, beside the dataset’s own name of it and what else it says (`taxonomy`).',
    );
  }
  const banks = [...new Set(shards.flatMap(({ bank }) => bank ?? []))];
  if (banks.length > 0) {
    lines.push(`- \`banks/<kind>/\`: what scenes draw from (${banks.join(', ')}), each item with a label.`);
  }
  if (panels.length > 0) {
    lines.push('- `panels/<condition>/panels.jsonl`: one test a line: picture, question, choices, answer, scenes.');
  }
  lines.push(
    '- `attribution.csv`: every source. `croissant.json`: this description for machines (Croissant 1.1). `run.json`: command, settings, versions.',
  );
  return lines.join('\n');
}

function recipeSection({ configuration, renderers }: CardFacts, subsets: readonly Subset[]): string {
  const { recipe, seed, shapes2d, textures2d, shapes3d, materials3d, silhouettes } = configuration;
  const lines = [
    `- recipe \`${recipe}\`, seed ${seed}; the same recipe, seed, assets and versions give the same ${subsets.some(is3d) ? '2D bytes and the same 3D scenes' : 'bytes'}`,
  ];
  if (subsets.includes('shapes2d')) {
    lines.push(
      `- shapes2d: ${shapes2d.size}², ${shapes2d.variations} images an instance; conditions (source of the shape, background, fill, rotation): ${conditionNames('shapes2d', configuration)}`,
    );
  }
  if (subsets.includes('textures2d')) {
    lines.push(
      `- textures2d: ${textures2d.size}², ${textures2d.variations} images an instance; conditions (background, and whether the shape is another or the same): ${conditionNames('textures2d', configuration)}`,
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

function loadingSection({ shards, panels }: RunContents, subsets: readonly Subset[]): string {
  const [subset] = subsets;
  const parts = [
    ...(subset !== undefined ? [sampleLoading(shards, subset)] : []),
    ...(panels.length > 0 ? [panelLoading(panels)] : []),
  ];
  if (parts.length === 0) return 'There are no samples yet.';
  const formats = EXPORT_FORMATS.filter(format => {
    if (format === 'folders') return isInstanced(subsets);
    if (format === 'barebones') return subsets.includes('silhouettes');
    if (format === 'coco') return subsets.length > 0;
    if (format === 'imagefolder') return true;
    return panels.length > 0;
  });
  parts.push(`shapemill writes other forms: \`npm run export -- RUN --format ${formats.join(' | ')}\`.`);
  return parts.join('\n\n');
}

function sampleLoading(shards: readonly RunShard[], subset: Subset): string {
  const split = splitsOf(shards, subset)[0]!;
  const mine = shards.filter(shard => shard.subset === subset && shard.split === split);
  const [fields, names, shown] =
    subset === 'silhouettes'
      ? [['hq.jpg', 'silhouette.png'], 'image, silhouette, label', '["annotated"]["label"]']
      : [['jpg', 'mask.png'], 'image, mask, label', '["instance"]["id"]'];
  return [
    'PyTorch, with WebDataset, in this folder:',
    '',
    '```python',
    'import webdataset as wds',
    '',
    `urls = "${subset}/${split}/${subset}-${split}-${numbersOf(mine)}.tar"`,
    `samples = wds.WebDataset(urls, shardshuffle=False).decode("torchrgb").to_tuple("${fields[0]}", "${fields[1]}", "json")`,
    `for ${names} in samples:`,
    `    print(label${shown}, image.shape)`,
    '```',
    '',
    'Hugging Face:',
    '',
    '```python',
    'from datasets import load_dataset',
    '',
    `samples = load_dataset("path/to/this/folder", "${subset}", split="${hubName(split)}", streaming=True)`,
    'for sample in samples:',
    `    print(sample["json"]${shown}, sample["${fields[0]}"].size)`,
    '```',
  ].join('\n');
}

/**
 * They are no configuration in the header: `datasets` reads all configurations of a folder with the builder of the first, which is that
 * of the shards, and finds no tar in a list of tests.
 */
function panelLoading(panels: readonly PanelList[]): string {
  const { condition } = panels[0]!;
  return [
    'Panel tests, in this folder, with Pillow:',
    '',
    '```python',
    'import json',
    'from pathlib import Path',
    'from PIL import Image',
    '',
    `for line in open("panels/${condition}/panels.jsonl", encoding="utf8"):`,
    '    test = json.loads(line)',
    `    image = Image.open(Path("panels/${condition}") / test["image"])`,
    '    print(test["question"], test["choices"], test["answer"], image.size)',
    '```',
    '',
    'or with Hugging Face’s `datasets`, a condition at a time:',
    '',
    '```python',
    'from datasets import Image, load_dataset',
    '',
    `folder = "panels/${condition}/"`,
    'tests = load_dataset("json", data_files=folder + "panels.jsonl", split="train")',
    'tests = tests.map(lambda test: {"image": folder + test["image"]}).cast_column("image", Image())',
    'print(tests[0]["question"], tests[0]["answer"], tests[0]["image"].size)',
    '```',
    '',
    'The export `imagefolder` has a configuration of the Hub for each condition. Guessing is right in `chance` of the tests. The letters are drawn into the pictures: do not shuffle the choices.',
  ].join('\n');
}

/** Numbers of shards as WebDataset reads them: a range in braces; a list where some are missing. */
function numbersOf(shards: readonly RunShard[]): string {
  const numbers = shards.map(({ path }) => /(\d+)\.tar$/.exec(path)![1]!);
  const [first, last] = [numbers[0]!, numbers.at(-1)!];
  if (numbers.length === 1) return first;
  return Number(last) - Number(first) === numbers.length - 1 ? `{${first}..${last}}` : `{${numbers.join(',')}}`;
}

/** What only a publisher knows, and what is to be looked at; the run is one command's output until then. */
function publishingSection(licences: LicenceCounts): string {
  return [
    'shapemill knows neither who publishes this nor where; fill in, and remove this section:',
    '',
    '- [ ] **Name**: `pretty_name` above, the title, and `name` and `description` in `croissant.json`.',
    '- [ ] **Who and where**: `creator`, `url` and `datePublished` in `croissant.json` (the first two stand as “to be filled in”, the third is the day the run began), and here whom to write to.',
    `- [ ] **Citation**: how this dataset is to be cited, here and as \`citeAs\` in \`croissant.json\`; that it was made with shapemill ${VERSION}, and where you have that from; the works that its recipe and its sources ask to be cited.`,
    `- [ ] **Licence**: ${licenceChoice(licences)} Name it as \`license\` above and in \`croissant.json\`; \`attribution.csv\` goes along.`,
    '- [ ] **Known limits**: whether the list above is whole, and holds for what you publish; `npm run validate -- RUN` finds nothing wrong.',
    '- [ ] **Paths**: `run.json` has the command with folders of your machine, and `panels/*/settings.json` and `locks/` are of use for continuing the run only.',
    '',
    'Fill in last, or in a copy: `generate`, `panels` and `card` write these files anew when something was added to the run.',
  ].join('\n');
}

const FROM_PHOTOGRAPHS = [
  ['shapes', 'extract-shapes', 'Natural shapes'],
  ['textures', 'extract-textures', 'Textures'],
] as const satisfies readonly (readonly [BankKind, StageName, string])[];

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
  for (const [bank, stage, what] of FROM_PHOTOGRAPHS) {
    if (!contents.shards.some(shard => shard.stage === stage)) continue;
    const photographs = sources.used.filter(({ uses }) => uses.has(`banks/${bank}`)).length;
    lines.push(
      `- ${what} come from ${photographs.toLocaleString('en')} photographs. Those of one photograph are not independent of each other, however many there are.`,
    );
  }
  const shapes = shapeSources(contents, configuration);
  if (shapes.includes('natural'))
    lines.push('- The outline of a natural shape is one that nature made, and no object.');
  if (shapes.includes('semantic')) {
    lines.push(
      '- Semantic shapes and their classes are as good as the annotations. Splits are cut by picture and not by class: shapes of one class may be in several.',
    );
  }
  if (subsets.some(subset => subset.endsWith('3d'))) {
    const how =
      configuration.engine === 'raster'
        ? 'are rasterised: light comes from the panorama, there are no shadows and no light from one part of an object to another'
        : 'are path traced: what noise is left is of the number of paths, and light that a path finds rarely is cut off';
    lines.push(`- 3D images ${how}. Pixels and measured facts may differ a little between graphics cards.`);
  }
  if (subsets.includes('silhouettes')) {
    lines.push(
      '- Classes and masks of silhouettes, and their faults, are those of the segmentation datasets. Splits are cut by picture and not by class: a class may be in several.',
    );
  }
  if (contents.panels.some(({ condition }) => condition === REAL_CONDITION)) {
    lines.push(
      '- Authors and licences of the photographs in the `real` tests are **not known**: they were given as a folder. Clear them before you publish, or leave `panels/real/` out. Whether one of them is also a photograph that training images were made from was not checked.',
    );
  }
  lines.push('- Authors and licences are those that the packs state; nothing was checked beyond that.');
  return lines.join('\n');
}
