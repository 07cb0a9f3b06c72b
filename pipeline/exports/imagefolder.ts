import { hubName } from '../card/card.ts';
import type { SilhouetteLabel } from '../labels.ts';
import { type ExportGuide, exporter } from './exporter.ts';
import { boxValues, conditionOf, licenceOf, type MaskedLabel, type SampleLabel, sourceId } from './label-facts.ts';
import { fileOf, labelOf, readSamples, type SamplePart, sampleParts } from './sample-parts.ts';

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

const LIST = 'metadata.jsonl';

/**
 * Hugging Face's imagefolder: images with a `metadata.jsonl` for each split. Images lie in a folder a shard, since the Hub takes
 * at most 10,000 files in one.
 */
export const imagefolder = exporter<SamplePart>({
  name: 'imagefolder',
  title: 'Hugging Face’s imagefolder, with a card',
  expects: 'samples of a subset',

  plan: run => sampleParts(run),

  async write(part, out) {
    const folder = `${part.subset}/${part.split}`;
    const images = part.subset === 'silhouettes' ? SILHOUETTE_IMAGES : MASKED_IMAGES;
    for await (const sample of readSamples(part)) {
      const names: Record<string, string> = {};
      for (const [field, column] of images) {
        const name = `${part.number}/${sample.key}.${field}`;
        out.file(`${folder}/${name}`, fileOf(sample, field, part));
        names[`${column}file_name`] = name;
      }
      const row = { ...names, ...columnsOf(labelOf<SampleLabel>(sample, part)) };
      out.row(`${folder}/${LIST}`, `${JSON.stringify(row)}\n`);
    }
  },

  finish: (parts, out, signal) => out.writeLists(parts, signal),

  guide,
});

/** A label as columns of one type each: what is not known is an empty text, so that no column is null throughout a split. */
function columnsOf(label: SampleLabel): Record<string, unknown> {
  const { key, instance, variation, sources } = label;
  return {
    key,
    instance: instance.number,
    instance_id: instance.id,
    variation,
    ...(label.subset === 'silhouettes' ? silhouetteColumns(label) : maskedColumns(label)),
    sources: sources.map(sourceId),
    authors: [...new Set(sources.map(({ author }) => author ?? 'unknown'))],
    licence: licenceOf(label),
  };
}

function maskedColumns(label: MaskedLabel): Record<string, unknown> {
  const { box, area, coverage } = label.facts;
  return { condition: conditionOf(label), box: boxValues(box), area, coverage };
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

function guide(parts: readonly SamplePart[]): ExportGuide {
  const subsets = [...new Set(parts.map(({ subset }) => subset))];
  const yaml = ['configs:'];
  for (const subset of subsets) {
    yaml.push(`- config_name: ${subset}`, '  data_files:');
    for (const split of new Set(parts.filter(part => part.subset === subset).map(part => part.split))) {
      yaml.push(`  - split: ${hubName(split)}`, `    path: ${subset}/${split}/**`);
    }
  }
  return {
    yaml,
    layout: [
      `- \`<subset>/<split>/${LIST}\`: one line a sample: its images (\`file_name\`, \`mask_file_name\`; of silhouettes \`hq_file_name\`, \`silhouette_file_name\`, \`edge_file_name\`, \`grey_file_name\`) and its label as columns.`,
      '- `<subset>/<split>/<shard>/<key>.jpg`, `.mask.png` …: the images.',
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
      `samples = load_dataset(str(Path.cwd()), "${subsets[0]}", split="${hubName(parts[0]!.split)}")`,
      'sample = samples[0]',
      `print(sample["instance"], sample["${subsets[0] === 'silhouettes' ? 'silhouette' : 'image'}"])`,
      '```',
    ].join('\n'),
  };
}
