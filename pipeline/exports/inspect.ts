import { exporter } from './exporter.ts';
import { type PanelPart, panelParts, readTests } from './panel-parts.ts';

/**
 * Four, so that the letters that Inspect gives them by their places are those in the picture.
 */
const CHOICES = ['panel A (shown to compare with; not an answer)', 'panel B', 'panel C', 'panel D'] as const;

/** Inspect's samples: a JSONL a condition, with the pictures beside; Inspect looks for them from the list's folder. */
export const inspect = exporter<PanelPart>({
  name: 'inspect',
  title: 'Inspect’s JSONL, one a condition of panel tests',
  expects: 'panel tests (npm run panels -- RUN)',

  plan: panelParts,

  async write(part, out) {
    for await (const { test, image } of readTests(part)) {
      const picture = `${part.condition}/${test.image}`;
      out.file(picture, image);
      const { id, condition, subset, question, alternatives, answer, chance, seed, sources } = test;
      const sample = {
        id,
        input: [
          {
            role: 'user',
            content: [
              { type: 'text', text: question },
              { type: 'image', image: picture },
            ],
          },
        ],
        choices: CHOICES,
        target: answer,
        metadata: {
          condition,
          subset,
          chance,
          seed,
          alternative_prompts: alternatives,
          do_not_shuffle: 'the letters are drawn into the picture: do not shuffle the choices',
          licences: [...new Set(sources.map(({ licence }) => licence ?? 'unknown'))].sort(),
        },
      };
      out.row(`${part.condition}.jsonl`, `${JSON.stringify(sample)}\n`);
    }
  },

  finish: (parts, out, signal) => out.writeLists(parts, signal),

  guide: parts => ({
    layout: [
      '- `<condition>.jsonl`: a sample a line: `id`, `input` (text and picture), `choices`, `target`, `metadata`.',
      '- `<condition>/000000.jpg` …: the pictures; paths count from the folder of the list, as Inspect resolves them.',
    ].join('\n'),
    rights: '`metadata.licences` of each sample are the licences of what its picture shows; it names no authors.',
    loading: [
      'As `panels.py` in this folder (`inspect eval panels.py --model …`):',
      '',
      '```python',
      'from inspect_ai import Task, task',
      'from inspect_ai.dataset import json_dataset',
      'from inspect_ai.scorer import choice',
      'from inspect_ai.solver import multiple_choice',
      '',
      '@task',
      'def panels():',
      `    return Task(dataset=json_dataset("${parts[0]?.condition}.jsonl"), solver=multiple_choice(), scorer=choice())`,
      '```',
      '',
      'The letters are drawn into the pictures: do not shuffle the choices. Panel A is the one to compare with and never the answer; it is a choice so that letters and places agree.',
    ].join('\n'),
  }),
});
