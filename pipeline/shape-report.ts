import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShapeStatistics } from '../extractors/shape-statistics.ts';
import { SHAPE_SOURCES } from '../scenes/conditions.ts';
import { openBank, readLabel, readRange } from './bank.ts';
import type { BankKind } from './bank-kinds.ts';
import { shapeLabelSchema, silhouetteLabelSchema } from './labels.ts';
import type { RunFolder } from './run-folder.ts';
import {
  binsFor,
  compareDiversity,
  distribution,
  evenlySpread,
  FORM_STATISTICS,
  normalisedEntropy,
  quartiles,
  SHOWN_STATISTICS,
  STATISTIC_NAMES,
} from './shape-diversity.ts';
import { jsonFrom } from './shard-writer.ts';
import { SPLITS } from './splits.ts';
import { readTar } from './tar.ts';

/** Where shapes come from, in the order of their colours; silhouettes are measured in the picture's pixels. */
const SOURCES = [...SHAPE_SOURCES, 'silhouettes'] as const;
type Source = (typeof SOURCES)[number];
const NAMES: Readonly<Record<Source, string>> = {
  natural: 'natural',
  semantic: 'semantic',
  projection: 'projected',
  silhouettes: 'silhouette',
};

const SHAPE_BANKS: readonly BankKind[] = ['shapes', 'semantic-shapes', 'projected-shapes'];
/** Labels that are read of each bank, and of the silhouettes of all splits. */
const MOST_LABELS = 5000;

/** The statistics of a run's shapes by source; only sources that have some. */
export type MeasuredShapes = ReadonlyMap<Source, readonly ShapeStatistics[]>;

/**
 * A part of the report: histograms of the statistics of a run's shapes, those of each source laid over each other, a table,
 * and which source is more diverse. Empty when the run has no shapes yet.
 * @throws DamagedFile when a bank or a shard is not what was written.
 */
export async function shapeStatisticsSection(folder: RunFolder): Promise<string> {
  return renderShapeStatistics(await measuredShapes(folder));
}

async function measuredShapes(folder: RunFolder): Promise<MeasuredShapes> {
  const found = new Map<Source, ShapeStatistics[]>(SOURCES.map(source => [source, []]));
  for (const kind of SHAPE_BANKS) {
    const bank = await openBank(folder.bank(kind));
    if (!bank) continue;
    for (const item of evenlySpread(bank.items, MOST_LABELS)) {
      const label = labelOfShape.safeParse(await readLabel(bank, item)).data;
      // Labels of earlier versions hold no statistics.
      if (label) found.get(label.kind)!.push(label.statistics);
    }
  }
  for (const split of SPLITS) {
    const most = Math.ceil(MOST_LABELS / SPLITS.length);
    found.get('silhouettes')!.push(...(await silhouettes(folder.at('silhouettes', split), most)));
  }
  return new Map([...found].filter(([, shapes]) => shapes.length > 0));
}

const labelOfShape = shapeLabelSchema.pick({ kind: true, statistics: true }).strip();
const labelOfSilhouette = silhouetteLabelSchema.pick({ statistics: true }).strip();

/** Statistics of the first silhouettes of a split, from finished shards. */
async function silhouettes(folder: string, most: number): Promise<ShapeStatistics[]> {
  const found: ShapeStatistics[] = [];
  const tars = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.tar')).sort();
  for (const tar of tars) {
    for await (const { name, offset, size } of readTar(join(folder, tar))) {
      if (!name.endsWith('.json')) continue;
      const text = (await readRange(join(folder, tar), offset, size)).toString('utf8');
      const label = labelOfSilhouette.safeParse(jsonFrom(text)).data;
      if (label) found.push(label.statistics);
      if (found.length === most) return found;
    }
  }
  return found;
}

/** The section as HTML with its own styles; empty without shapes. */
export function renderShapeStatistics(measured: MeasuredShapes): string {
  if (measured.size === 0) return '';
  const legend = [...measured].map(
    ([source, shapes]) =>
      `<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="${source}" d="M0 12V2H24V12"/></svg>` +
      `${NAMES[source]}, ${shapes.length}</li>`,
  );
  return `<section id="shapes" class="shape-statistics">
<style>${STYLE}</style>
<h2>Shape statistics</h2>
<p>${verdict(measured)}</p>
<ul>${legend.join('')}</ul>
<div>${STATISTIC_NAMES.map(name => histogram(name, measured)).join('\n')}</div>
${table(measured)}
</section>`;
}

/** Of fewer shapes, neither entropies nor their errors tell much. */
const FEWEST_COMPARED = 30;

/** What the numbers say about whose shapes are more diverse: a sentence for each source beside the first. */
function verdict(measured: MeasuredShapes): string {
  const [first, ...others] = measured;
  const [source, shapes] = first!;
  if (others.length === 0) return `The ${NAMES[source]} shapes of this run; height is the share of the shapes.`;
  const sentences = others.map(([other, otherShapes]) => {
    const comparison = compareDiversity(shapes, otherShapes);
    const number = `${comparison.shapes} shapes of each`;
    if (comparison.shapes < FEWEST_COMPARED) {
      return `${number} are too few to compare <b>${NAMES[source]}</b> with <b>${NAMES[other]}</b> ones.`;
    }
    const [more, less, unclear] = [comparison.more, comparison.less, comparison.unclear].map(names =>
      names.length === 0 ? 'none' : `${names.length} (${names.join(', ')})`,
    );
    return (
      `Of ${FORM_STATISTICS.length} statistics that do not depend on size, <b>${NAMES[source]}</b> shapes are more diverse than ` +
      `<b>${NAMES[other]}</b> ones (a histogram of higher entropy, by over two standard errors) in ${more}, less diverse in ${less}, ` +
      `without a clear difference in ${unclear}; ` +
      `${number} were compared${sizeCaution(shapes, otherShapes)}.`
    );
  });
  return sentences.join(' ');
}

/** What has to be added when one source's shapes have far more pixels: detail that small shapes cannot show is measured, too. */
function sizeCaution(shapes: readonly ShapeStatistics[], others: readonly ShapeStatistics[]): string {
  const [one, other] = [shapes, others].map(list => quartiles(list.map(({ area }) => area))[1]) as [number, number];
  if (Math.max(one / other, other / one) < 4) return '';
  return `, of ${shown(one)} and ${shown(other)} pixels at the median, so that holes and complexity tell of resolution, too`;
}

/** Histogram sizes in its own units, about a pixel each. */
const WIDTH = 360;
const HEIGHT = 110;
const FOOT = 16;

function histogram(name: keyof ShapeStatistics, measured: MeasuredShapes): string {
  const { title } = SHOWN_STATISTICS[name];
  const values = valuesOf(name, measured);
  const bins = binsFor(name, [...values.values()].flat());
  const shares = [...values].map(([source, list]) => [source, distribution(list, bins)] as const);
  const highest = Math.max(...shares.flatMap(([, list]) => list));
  const curves = shares.map(([source, list]) => {
    const steps = list.map(
      (share, i) => `V${round(HEIGHT * (1 - share / highest))}H${round((WIDTH * (i + 1)) / bins.count)}`,
    );
    return `<path class="${source}" d="M0 ${HEIGHT}${steps.join('')}V${HEIGHT}"/>`;
  });
  const ticks = bins.ticks.map(({ at, text }) => {
    const anchor = at < 0.1 ? 'start' : at > 0.9 ? 'end' : 'middle';
    return `<text x="${round(at * WIDTH)}" y="${HEIGHT + FOOT - 3}" text-anchor="${anchor}">${text}</text>`;
  });
  return (
    `<figure><figcaption>${title}</figcaption><svg viewBox="-1 -1 ${WIDTH + 2} ${HEIGHT + FOOT + 1}" role="img" ` +
    `aria-label="Histogram of ${title}">${curves.join('')}` +
    `<path class="axis" d="M0 ${HEIGHT}H${WIDTH}"/>${ticks.join('')}</svg></figure>`
  );
}

function table(measured: MeasuredShapes): string {
  const rows = STATISTIC_NAMES.flatMap(name => {
    const values = valuesOf(name, measured);
    const bins = binsFor(name, [...values.values()].flat());
    return [...values].map(([source, list], i) => {
      const [lower, median, upper] = quartiles(list);
      const entropy = normalisedEntropy(list, bins).value.toFixed(2);
      const head = i === 0 ? `<th scope="rowgroup" rowspan="${values.size}">${SHOWN_STATISTICS[name].title}</th>` : '';
      return (
        `<tr>${head}<th scope="row">${NAMES[source]}</th><td class="shapes">${list.length}</td><td>${shown(median)}</td>` +
        `<td>${shown(lower)} – ${shown(upper)}</td><td>${entropy}</td></tr>`
      );
    });
  });
  return `<div class="table"><table>
<thead><tr><th>statistic</th><th>source</th><th class="shapes">shapes</th><th>median</th><th>quartiles</th><th>entropy</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

function valuesOf(name: keyof ShapeStatistics, measured: MeasuredShapes): Map<Source, number[]> {
  return new Map([...measured].map(([source, shapes]) => [source, shapes.map(shape => shape[name])]));
}

const round = (value: number) => Number(value.toFixed(1));

/** Three digits or all before the point. */
function shown(value: number): string {
  const size = Math.abs(value);
  const text = Number.isInteger(value) ? String(value) : value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  return text.replace('-', '−');
}

const STYLE = `
  .shape-statistics { --natural: #1b6ac9; --semantic: #c2410c; --projection: #15803d; --silhouettes: #9333ea; margin: 0 0 2.5rem }
  @media (prefers-color-scheme: dark) {
    .shape-statistics { --natural: #6cb0ff; --semantic: #ff9a5c; --projection: #5fd38a; --silhouettes: #cf9bff }
  }
  .shape-statistics > p { max-width: 48rem }
  .shape-statistics ul { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 1rem 0; padding: 0; list-style: none }
  .shape-statistics li svg { width: 1.5rem; height: .75rem; margin-right: .5rem }
  .shape-statistics > div { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem }
  .shape-statistics figure { margin: 0 } .shape-statistics figcaption { opacity: 1 }
  .shape-statistics figure svg { width: 100%; height: auto; display: block }
  .shape-statistics path { fill: var(--color); fill-opacity: .15; stroke: var(--color); stroke-width: 1.5 }
  .shape-statistics .axis { --color: currentColor; stroke-width: 1; opacity: .5 }
  .shape-statistics text { fill: currentColor; font-size: 11px; opacity: .75 }
${SOURCES.map(source => `  .shape-statistics .${source} { --color: var(--${source}) }`).join('\n')}
  .shape-statistics .semantic { stroke-dasharray: 6 2 } .shape-statistics .projection { stroke-dasharray: 2 2 }
  .shape-statistics > .table { display: block; overflow-x: auto; margin-top: 1.5rem }
  .shape-statistics table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
  .shape-statistics :is(th, td) { padding: .15rem .75rem .15rem 0; text-align: right; font-weight: normal; white-space: nowrap }
  .shape-statistics :is(th[scope], th:nth-child(-n+2)) { text-align: left; vertical-align: top }
  @media (max-width: 30rem) {
    .shape-statistics .shapes { display: none }
    .shape-statistics table { font-size: .75rem }
    .shape-statistics :is(th, td) { padding-right: .35rem }
    .shape-statistics [scope="rowgroup"] { white-space: normal }
  }
  .shape-statistics tr:has([scope="rowgroup"]) > * , .shape-statistics thead th { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent) }
`;
