import { exporter } from './exporter.ts';
import { type PanelPart, panelParts, readTests } from './panel-parts.ts';

const COLUMNS = [
  'index',
  'image',
  'question',
  'A',
  'B',
  'C',
  'D',
  'answer',
  'category',
  'l2-category',
  'split',
] as const;

/**
 * VLMEvalKit's tables: one a condition, since pictures stand in them. Column A is empty: VLMEvalKit takes a table
 * that has columns A and B for multiple choice and any other for open questions, and it offers the letters whose cells are not empty;
 * panel A is what the others are compared with.
 */
export const vlmevalkit = exporter<PanelPart>({
  name: 'vlmevalkit',
  title: 'VLMEvalKit’s TSV, one a condition of panel tests',
  expects: 'panel tests (npm run panels -- RUN)',

  plan: panelParts,

  async write(part, out) {
    const table = out.text(tableName(part));
    try {
      table.append(`${COLUMNS.join('\t')}\n`);
      let index = part.first;
      for await (const { test, image } of readTests(part)) {
        const cells: Record<(typeof COLUMNS)[number], string> = {
          index: String(index++),
          image: image.toString('base64'),
          question: test.question,
          A: '',
          B: 'panel B',
          C: 'panel C',
          D: 'panel D',
          answer: test.answer,
          category: test.condition,
          'l2-category': test.subset,
          split: test.split ?? 'test',
        };
        table.append(`${COLUMNS.map(column => inOneLine(cells[column])).join('\t')}\n`);
        out.throwIfAborted();
      }
      table.finish();
    } catch (error) {
      table.abandon();
      throw error;
    }
  },

  async finish() {},

  guide: parts => ({
    layout: `- \`<condition>.tsv\`: ${COLUMNS.join(', ')}. A is empty: that panel is no answer. Images are JPEG in base64; \`index\` is unique over all files, so that they can be put together.`,
    rights:
      'The tables have no column of it: VLMEvalKit has none. Of a single picture, its line in the run’s `panels.jsonl` names the sources.',
    loading: [
      'In this folder, then in that of VLMEvalKit, which looks for tables in `$LMUData` (`~/LMUData` by default) and takes one with columns A and B for multiple choice:',
      '',
      '```sh',
      'mkdir -p ~/LMUData && cp *.tsv ~/LMUData/',
      'cd path/to/VLMEvalKit',
      `python run.py --data ${parts[0]!.condition} --model YOUR_MODEL`,
      '```',
      '',
      'The letters are drawn into the pictures: do not shuffle the choices (no circular evaluation).',
    ].join('\n'),
  }),
});

const tableName = ({ condition }: PanelPart) => `${condition}.tsv`;

/** A cell: tabs and line ends would begin another. */
const inOneLine = (text: string) => text.replace(/[\t\r\n]+/g, ' ');
