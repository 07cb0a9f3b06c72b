import { expressionTerms } from '../card/licence-terms.ts';
import type { Provenance } from '../photo-index.ts';
import { grouped, paragraph, section, table } from './html.ts';
import type { SampleFacts } from './sample-facts.ts';

/** The licences of what the images that were looked at show, and what they ask. */
export function sourceSection(facts: readonly SampleFacts[]): string {
  const sources = new Map<string, Provenance>();
  for (const { labels } of facts) {
    for (const label of labels)
      for (const source of label.sources) sources.set(`${source.pack}\0${source.file}`, source);
  }
  const counts = new Map<string | null, number>();
  for (const { licence } of sources.values()) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const rows = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([licence, count]) => {
      const { demands, free, known } = expressionTerms(licence);
      const asks = !known ? 'not known: somebody has to read it' : free ? 'nothing' : demands.join(', ');
      return [licence ?? 'none stated', count, asks];
    });
  if (rows.length === 0) return '';
  const labels = facts.reduce((sum, fact) => sum + fact.labels.length, 0);
  return section(
    'licences',
    'Licences',
    table(['licence', 'sources', 'asks for'], rows),
    paragraph(
      `Of ${grouped(sources.size)} photos, meshes, panoramas and pictures that the ${grouped(labels)} labels looked at name.`,
    ),
  );
}
