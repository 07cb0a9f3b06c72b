import { hubName } from '../card/card.ts';
import type { PanelTest, Sample3dLabel, SilhouetteLabel } from '../labels.ts';
import { AOV_FIELDS, AOVS } from '../rendering.ts';
import { readSamples } from '../stored-samples.ts';
import { type ExportGuide, exporter } from './exporter.ts';
import { boxValues, conditionOf, licenceOf, type MaskedLabel, type SampleLabel, sourceId } from './label-facts.ts';
import { type PanelPart, panelParts, readTests } from './panel-parts.ts';
import type { PartWriter } from './part-writer.ts';
import { fileOf, labelOf, type SamplePart, sampleParts } from './sample-parts.ts';

/** The images of a sample: field in the shard, and the name of the column that `datasets` makes of it. */
const MASKED_IMAGES = [
  ['jpg', ''],
  ['mask.png', 'mask_'],
] as const;
const SILHOUETTE_IMAGES = [
  ['hq.jpg', 'hq_'],
  ['silhouette.png', 'silhouette_'],
  ['edge.png', 'edge_'],
  ['grey.png', 'grey_'],
] as const;

/** Beside 3D images, where the run has them. */
const GEOMETRY_IMAGES = AOVS.map(name => [AOV_FIELDS[name], `${name}_`] as const);

const LIST = 'metadata.jsonl';

type ImagePart = SamplePart | PanelPart;
const isPanels = (part: ImagePart): part is PanelPart => part.place === 'panels';

/**
 * Hugging Face's imagefolder: images with a `metadata.jsonl` for each split, and for each condition of panel tests. Images lie in a
 * folder a shard, pictures of tests in one a thousand, since the Hub takes at most 10,000 files in one.
 */
export const imagefolder = exporter<ImagePart>({
  name: 'imagefolder',
  title: 'Hugging Face’s imagefolder, with a card',
  expects: 'samples of a subset, or panel tests',

  async plan(run) {
    return [...(await sampleParts(run)), ...(await panelParts(run))];
  },

  write(part, out) {
    return isPanels(part) ? writeTests(part, out) : writeSamples(part, out);
  },

  finish: (parts, out, signal) => out.writeLists(parts, signal),

  guide,
});

async function writeSamples(part: SamplePart, out: PartWriter): Promise<void> {
  const folder = `${part.subset}/${part.split}`;
  const images = part.subset === 'silhouettes' ? SILHOUETTE_IMAGES : MASKED_IMAGES;
  for await (const sample of readSamples(part)) {
    const names: Record<string, string> = {};
    const beside = GEOMETRY_IMAGES.filter(([field]) => sample.files[field]);
    for (const [field, column] of [...images, ...beside]) {
      const name = `${part.number}/${sample.key}.${field}`;
      out.file(`${folder}/${name}`, fileOf(sample, field, part));
      names[`${column}file_name`] = name;
    }
    const row = { ...names, ...columnsOf(labelOf<SampleLabel>(sample, part)) };
    out.row(`${folder}/${LIST}`, `${JSON.stringify(row)}\n`);
  }
}

async function writeTests(part: PanelPart, out: PartWriter): Promise<void> {
  const folder = `panels/${part.condition}`;
  for await (const { test, image } of readTests(part)) {
    const { id, condition, subset, question, alternatives, choices, answer, chance } = test;
    const name = `${test.image.slice(0, -'000.jpg'.length)}/${test.image}`;
    out.file(`${folder}/${name}`, image);
    const asked = { id, condition, subset, question, alternatives, choices, answer, chance };
    out.row(`${folder}/${LIST}`, `${JSON.stringify({ file_name: name, ...asked, ...sourceColumns(test) })}\n`);
  }
}

function sourceColumns(label: Pick<SampleLabel | PanelTest, 'sources'>): Record<string, unknown> {
  const { sources } = label;
  return {
    sources: sources.map(sourceId),
    authors: [...new Set(sources.map(({ author }) => author ?? 'unknown'))],
    licence: licenceOf(label),
  };
}

/** A label as columns of one type each: what is not known is an empty text, so that no column is null throughout a split. */
function columnsOf(label: SampleLabel): Record<string, unknown> {
  const { key, instance, variation } = label;
  return {
    key,
    instance: instance.number,
    instance_id: instance.id,
    variation,
    ...(label.subset === 'silhouettes' ? silhouetteColumns(label) : maskedColumns(label)),
    ...sourceColumns(label),
  };
}

function maskedColumns(label: MaskedLabel): Record<string, unknown> {
  const { box, area, coverage } = label.facts;
  const columns = { condition: conditionOf(label), box: boxValues(box), area, coverage };
  return label.subset === 'shapes3d' || label.subset === 'materials3d'
    ? { ...columns, ...viewColumns(label) }
    : columns;
}

/** What it takes to place depth in space: the camera, the object's turn, what stored values are. */
function viewColumns({ scene, aov = {} }: Sample3dLabel): Record<string, unknown> {
  const { camera, object, material, environment } = scene;
  const scales = AOVS.flatMap(name => {
    const form = aov[AOV_FIELDS[name]];
    return form ? [[`${name}_scale`, form.scale]] : [];
  });
  return {
    object: object.id,
    material: material.id,
    environment: environment.id,
    rotation: object.rotation,
    camera_distance: camera.distance,
    camera_focal_length: camera.focalLength,
    camera_sensor: camera.sensor,
    ...Object.fromEntries(scales),
  };
}

function silhouetteColumns({ annotated, object, statistics }: SilhouetteLabel): Record<string, unknown> {
  const { label, category, dataset, part, taxonomy } = annotated;
  const { area: silhouettePixels, ...form } = statistics;
  return {
    label,
    category,
    dataset,
    part: part ?? '',
    taxonomy: JSON.stringify(taxonomy),
    box: boxValues(object.box),
    area: object.area,
    ...form,
  };
}

function guide(parts: readonly ImagePart[]): ExportGuide {
  const panels = parts.filter(isPanels);
  const samples = parts.filter(part => !isPanels(part)) as readonly SamplePart[];
  const subsets = [...new Set(samples.map(({ subset }) => subset))];
  const yaml = ['configs:'];
  for (const subset of subsets) {
    yaml.push(`- config_name: ${subset}`, '  data_files:');
    for (const split of new Set(samples.filter(part => part.subset === subset).map(part => part.split))) {
      yaml.push(`  - split: ${hubName(split)}`, `    path: ${subset}/${split}/**`);
    }
  }
  for (const { condition } of panels) {
    yaml.push(`- config_name: panels-${condition}`, '  data_files:');
    yaml.push('  - split: test', `    path: panels/${condition}/**`);
  }
  const [first] = samples;
  const [configuration, split, columns] = first
    ? [first.subset, hubName(first.split), ['instance', first.subset === 'silhouettes' ? 'silhouette' : 'image']]
    : [`panels-${panels[0]!.condition}`, 'test', ['question', 'answer', 'image']];
  return {
    yaml,
    layout: [
      ...(first
        ? [
            `- \`<subset>/<split>/${LIST}\`: one line a sample: its images (\`file_name\`, \`mask_file_name\`; of silhouettes \`hq_file_name\`, \`silhouette_file_name\`, \`edge_file_name\`, \`grey_file_name\`) and its label as columns.`,
            '- `<subset>/<split>/<shard>/<key>.jpg`, `.mask.png` …: the images.',
            '- 3D images made with `--aov`: also `depth_file_name`, `normal_file_name`, 16 bits a channel: value = stored × `depth_scale`, stored × `normal_scale` − 1. Of colour, Pillow (and so `datasets`) keeps 8 of the 16 bits; OpenCV’s `IMREAD_UNCHANGED` keeps all.',
          ]
        : []),
      ...(panels.length > 0
        ? [
            `- \`panels/<condition>/${LIST}\`: one line a panel test: its picture (\`file_name\`), \`question\`, \`choices\`, \`answer\`, \`chance\` and more; on the Hub the configuration \`panels-<condition>\`. The letters are drawn into the pictures: do not shuffle the choices.`,
          ]
        : []),
    ].join('\n'),
    rights: `Each line of \`${LIST}\` has the sources of its sample (\`sources\`: \`id\` in the list), their authors, and their licences as one SPDX expression (\`licence\`).`,
    loading: [
      'In this folder:',
      '',
      '```python',
      'from pathlib import Path',
      'from datasets import load_dataset',
      '',
      '# Published, it is the name on the Hub instead of the path.',
      `samples = load_dataset(str(Path.cwd()), "${configuration}", split="${split}")`,
      'sample = samples[0]',
      `print(${columns.map(column => `sample["${column}"]`).join(', ')})`,
      '```',
    ].join('\n'),
  };
}
