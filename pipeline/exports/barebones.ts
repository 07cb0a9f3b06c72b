import { type CsvValue, csvLine } from '../csv-line.ts';
import type { SilhouetteLabel } from '../labels.ts';
import { readSamples } from '../stored-samples.ts';
import { exporter } from './exporter.ts';
import { fileOf, labelOf, type SamplePart, sampleParts } from './sample-parts.ts';

const COLUMNS = ['image_path', 'silhouette_path', 'label'] as const;
/** What sprites have beside: BareBones' name of the column, and ours in the taxonomy. */
const SPRITE_COLUMNS = [
  ['gen', 'generation'],
  ['form', 'form'],
  ['base_id', 'speciesId'],
  ['base_name', 'species'],
] as const;
const SPRITES: ReadonlySet<string> = new Set(['sprites', 'wtp']);
/** Ours; BareBones has no splits. */
const SPLIT = 'split';

const LIST = 'metadata.csv';

/** BareBones' layout: of each dataset a folder with the pictures in both modes, and a table of them. */
export const barebones = exporter<SamplePart>({
  name: 'barebones',
  title: 'BareBones’ two modes: hq, silhouette and metadata.csv for each dataset',
  expects: 'samples of silhouettes',

  plan: run => sampleParts(run, ['silhouettes']),

  async write(part, out) {
    for await (const sample of readSamples(part)) {
      const { annotated } = labelOf<SilhouetteLabel>(sample, part);
      const { dataset, label, taxonomy } = annotated;
      const image = `hq/${sample.key}.jpg`;
      const silhouette = `silhouette/${sample.key}.png`;
      out.file(`${dataset}/${image}`, fileOf(sample, 'hq.jpg', part));
      out.file(`${dataset}/${silhouette}`, fileOf(sample, 'silhouette.png', part));
      const values: CsvValue[] = [image, silhouette, label];
      if (SPRITES.has(dataset)) values.push(...SPRITE_COLUMNS.map(([, name]) => taxonomy[name] ?? null));
      out.row(`${dataset}/${LIST}`, csvLine([...values, part.split]));
    }
  },

  finish: (parts, out, signal) =>
    out.writeLists(parts, signal, list => {
      const sprites = SPRITES.has(list.split('/')[0]!) ? SPRITE_COLUMNS.map(([name]) => name) : [];
      return csvLine([...COLUMNS, ...sprites, SPLIT]);
    }),

  guide: () => ({
    layout: [
      '- `<dataset>/hq/<key>.jpg`: the object in full colour; `<dataset>/silhouette/<key>.png`: its silhouette in the canonical form.',
      `- \`<dataset>/${LIST}\`: ${COLUMNS.join(', ')}; of sprites also ${SPRITE_COLUMNS.map(([name]) => name).join(', ')}; and ${SPLIT}. Paths count from the dataset's folder.`,
    ].join('\n'),
    rights:
      'The tables have no column of it: BareBones has none. Of a single picture, the label in the run (`<key>.json`) names the sources.',
    loading: [
      'In this folder:',
      '',
      '```python',
      'from pathlib import Path',
      'import pandas as pd',
      '',
      'def ask_model(picture):  # your model: the path of a picture in, the name of a class out',
      '    return "dog"',
      '',
      `for table in Path(".").glob("*/${LIST}"):`,
      '    rows = pd.read_csv(table, keep_default_na=False)',
      '    for mode in ("image_path", "silhouette_path"):',
      '        answers = [ask_model(table.parent / path) for path in rows[mode]]',
      '        print(table.parent, mode, (rows["label"] == answers).mean())',
      '```',
      '',
      'The drop from `hq` to `silhouette` is what BareBones calls the texture bias cliff.',
    ].join('\n'),
  }),
});
