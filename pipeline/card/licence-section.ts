import { type Demand, type ExpressionTerms, expressionTerms, type LicenceTerms } from './licence-terms.ts';
import { markdownTable } from './markdown.ts';

/** Sources by licence (null: not known), and how many there are. */
export type LicenceCounts = ReadonlyMap<string | null, number>;

const ASKS: Readonly<Record<Demand, string>> = {
  attribution: 'attribution',
  'share-alike': '**share-alike**',
  'non-commercial': '**non-commercial only**',
  'no-derivatives': '**no derivatives**',
  'all-rights-reserved': '**all rights reserved**',
};

/** The lines of a card's YAML header: a licence only where it is certain. */
export function licenceHeader(counts: LicenceCounts): string[] {
  const free = counts.size > 0 && [...counts.keys()].every(licence => expressionTerms(licence).free);
  if (free) return ['license: cc0-1.0'];
  return ['license: other', 'license_name: licences-of-the-sources', 'license_link: attribution.csv'];
}

/** Every licence that the sources name, each once, in alphabetical order. */
export function namedLicences(counts: LicenceCounts): LicenceTerms[] {
  const named = new Map<string, LicenceTerms>();
  for (const expression of counts.keys()) {
    for (const licence of expressionTerms(expression).licences) named.set(licence.id, licence);
  }
  return [...named.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * What the licences of the sources ask of the result, in Markdown. It lists and flags; it gives no answer where the licences give
 * none.
 * @param named where a sample's own sources are named beside the list: a sentence.
 * @param meetings images by the share-alike licences that meet in them; undefined: not looked at.
 */
export function licenceSection(counts: LicenceCounts, named: string, meetings?: ReadonlyMap<string, number>): string {
  const rows = [...counts].map(([licence, sources]) => ({ licence, sources, terms: expressionTerms(licence) }));
  rows.sort((a, b) => b.sources - a.sources || ((a.licence ?? '') < (b.licence ?? '') ? -1 : 1));
  if (rows.length === 0) return 'Nothing was made from any source yet.';
  const sources = (asks: (terms: ExpressionTerms) => boolean) =>
    rows.filter(({ terms }) => asks(terms)).reduce((sum, row) => sum + row.sources, 0);
  const demanding = (demand: Demand) => sources(({ demands }) => demands.includes(demand));
  const paragraphs = [
    'Images are made from works of others: photographs, meshes, panoramas, pictures of datasets. `attribution.csv` lists each of them ' +
      `with author, licence and address, as far as they are known. ${named}`,
    markdownTable([
      ['licence', 'sources', 'asks for'],
      ...rows.map(({ licence, sources: count, terms }) => [nameOf(licence, terms), count, asksFor(licence, terms)]),
    ]),
  ];
  if (sources(({ free }) => !free) === 0) paragraphs.push('No rights are claimed in any source.');
  const notes: string[] = [];
  const note = (count: number, text: string) => {
    if (count > 0) notes.push(`- **${works(count)}** ${text}`);
  };
  note(
    demanding('attribution'),
    'must be attributed: pass `attribution.csv` on with the data. All were changed: cut out, cropped, resized, laid over one another or rendered.',
  );
  note(
    demanding('share-alike'),
    'ask that what is made from them is passed on under the same licence (share-alike, copyleft).',
  );
  note(demanding('non-commercial'), 'may not be used commercially.');
  note(
    demanding('no-derivatives'),
    'may be passed on unchanged only, and what is made from them not at all: leave them out before you publish (`--licences` names those that may be used).',
  );
  note(
    demanding('all-rights-reserved'),
    'are somebody’s who reserves all rights: do not publish what shows them without asking.',
  );
  note(
    sources(({ known }) => !known),
    'are under a licence that shapemill does not know, or that nobody stated: look before you publish.',
  );
  if (notes.length > 0) paragraphs.push(notes.join('\n'));
  const copyleft = copyleftOf(rows.map(({ terms }) => terms));
  if (copyleft.length > 1) paragraphs.push(meeting(copyleft, meetings));
  return paragraphs.join('\n\n');
}

/** What a publisher may choose for a licence, one sentence; no answer where the licences of the sources give none. */
export function licenceChoice(counts: LicenceCounts): string {
  const rows = [...counts].map(([licence, sources]) => ({ sources, terms: expressionTerms(licence) }));
  const closed = rows.filter(
    ({ terms: { known, demands } }) =>
      !known || demands.includes('no-derivatives') || demands.includes('all-rights-reserved'),
  );
  const unclear = closed.reduce((sum, { sources }) => sum + sources, 0);
  const demands = new Set(rows.flatMap(({ terms }) => terms.demands));
  const copyleft = copyleftOf(rows.map(({ terms }) => terms));
  const first =
    unclear > 0 ? `first clear or leave out the ${works(unclear)} that no licence is known to open; then ` : '';
  const use = demands.has('non-commercial') ? ', for use that is not commercial only' : '';
  if (copyleft.length > 1)
    return `${first}none is sure: what is made from works under ${copyleft.join(' and ')} may have to be under each of them. Leave out all but one (\`--licences\`), or ask.`;
  if (copyleft.length === 1)
    return `${first}${copyleft[0]}, or one that it calls compatible, with the attribution${use}.`;
  if (demands.has('attribution')) return `${first}one of your choice that asks for the attribution to be kept${use}.`;
  return `${first}one of your choice.`;
}

const works = (count: number) => (count === 1 ? '1 source' : `${count.toLocaleString('en')} sources`);

function nameOf(licence: string | null, { licences }: ExpressionTerms): string {
  if (licence === null) return 'not known';
  const [only] = licences;
  return licences.length === 1 && only!.url ? `[${licence}](${only!.url})` : licence;
}

function asksFor(licence: string | null, { demands, free, known }: ExpressionTerms): string {
  if (free) return 'nothing';
  const asks = demands.map(demand => ASKS[demand]);
  if (!known) asks.push(licence === null ? '**unknown**' : '**unknown to shapemill**');
  if (asks.length === 0) asks.push('depends on which is chosen');
  return asks.join(', ');
}

/** The share-alike licences that bind, in alphabetical order. */
function copyleftOf(all: readonly ExpressionTerms[]): string[] {
  const ids = all
    .filter(({ demands }) => demands.includes('share-alike'))
    .flatMap(({ licences }) => licences.filter(({ demands }) => demands.includes('share-alike')).map(({ id }) => id));
  return [...new Set(ids)].sort();
}

const SHOWN_MEETINGS = 8;

function meeting(copyleft: readonly string[], meetings: ReadonlyMap<string, number> | undefined): string {
  const lines = [
    `**Several share-alike licences meet here: ${copyleft.join(', ')}.** Each asks that what is made from its works is passed on under it, or under one that it calls compatible. ` +
      'Whether an image that is made from works under two of them can satisfy both is not decided here, and no single licence is named ' +
      'for this dataset; `--licences` makes a run from works under chosen licences only.',
  ];
  if (!meetings) return lines.join('\n');
  if (meetings.size === 0) lines.push('', 'No image is made from works under two of them.');
  else {
    lines.push('', 'Images in which they meet:', '');
    for (const [names, images] of [...meetings].slice(0, SHOWN_MEETINGS)) {
      lines.push(`- ${names}: ${images.toLocaleString('en')}`);
    }
    if (meetings.size > SHOWN_MEETINGS) lines.push(`- … and ${meetings.size - SHOWN_MEETINGS} more combinations`);
  }
  return lines.join('\n');
}
