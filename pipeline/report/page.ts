import { basename } from 'node:path';
import type { RunFolder, RunRecord } from '../run-folder.ts';
import { shapeStatisticsSection } from '../shape-report.ts';
import { escapeHtml, paragraph, section } from './html.ts';
import { colourSection, rotationSection, scaleSection } from './look-section.ts';
import { faultSection, madeSection, timeSection, yieldSection } from './made-section.ts';
import { panelSection } from './panel-section.ts';
import { sampleFacts } from './sample-facts.ts';
import { sourceSection } from './source-section.ts';
import { stageFacts } from './stage-facts.ts';
import { twinSection } from './twin-section.ts';

/** A picture of many samples, to look at. */
export interface ContactSheet {
  readonly title: string;
  readonly caption: string;
  /** Name beside the page. */
  readonly file: string;
}

/**
 * The report of a run as one page of HTML, with its styles and charts in it; contact sheets lie beside it. A few thousand labels and
 * a few hundred pictures are looked at, however large the run is.
 * @throws DamagedFile when a bank or a shard is not what was written.
 */
export async function reportPage(folder: RunFolder, sheets: readonly ContactSheet[]): Promise<string> {
  const stages = await stageFacts(folder);
  const samples = await sampleFacts(folder);
  const statistics = await shapeStatisticsSection(folder);
  const sections = [
    madeSection(stages),
    section('sheets', 'Contact sheets', sheetsGrid(sheets)),
    await panelSection(folder),
    yieldSection(stages),
    timeSection(stages),
    colourSection(samples),
    scaleSection(samples),
    rotationSection(samples),
    statistics,
    await twinSection(folder),
    sourceSection(samples),
    faultSection(stages),
  ].filter(part => part !== '');
  const name = basename(folder.path);
  const record = await folder.record();
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)} · shapemill</title>
<style>${STYLE}</style>
<h1>${escapeHtml(name)}</h1>
${record ? facts(record) : ''}
${links(sections)}
${sections.join('\n') || paragraph('Nothing is finished yet.')}
</html>
`;
}

/** How the run came about. */
function facts({ command, configuration, started, shapemill, platform, machine, renderers }: RunRecord): string {
  const rows: [string, string][] = [
    ['command', command.join(' ')],
    ['recipe', `${configuration.recipe}, seed ${configuration.seed}`],
    ['began', new Date(started).toUTCString()],
    ['made by', `shapemill ${shapemill}, sharp ${platform.sharp}, libvips ${platform.libvips}`],
    ['machine', `${machine.cores} cores, ${platform.arch}, ${machine.os}, Node ${machine.node}`],
    ['3D drawn by', renderers?.join('; ') ?? 'nothing: there are no 3D images'],
  ];
  return `<dl>${rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join('')}</dl>`;
}

function links(sections: readonly string[]): string {
  const named = sections.flatMap(text => {
    const [, id, title] = /<section id="([^"]+)"[^>]*>[\s\S]*?<h2>([^<]+)/.exec(text) ?? [];
    return id ? [`<a href="#${id}">${title}</a>`] : [];
  });
  return named.length < 2 ? '' : `<nav>${named.join('')}</nav>`;
}

function sheetsGrid(sheets: readonly ContactSheet[]): string {
  return sheets.length === 0 ? '' : `<div class="sheets">${sheets.map(contactSheet).join('\n')}</div>`;
}

function contactSheet({ title, caption, file }: ContactSheet): string {
  return (
    `<figure><figcaption><b>${escapeHtml(title)}</b> ${escapeHtml(caption)}</figcaption>` +
    `<a href="${file}"><img src="${file}" alt="${escapeHtml(title)}" loading="lazy"></a></figure>`
  );
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --bar: #2a6fbf; --line: #8886; --paper: #fff; --ground: #f6f6f3; --ink: #1c1c1a; --shade: #0005 }
  @media (prefers-color-scheme: dark) { :root { --bar: #6aa9ee; --paper: #1e1f20; --ground: #141516; --ink: #e8e8e4; --shade: #fff5 } }
  * { box-sizing: border-box }
  body { max-width: 84rem; margin: 0 auto; padding: clamp(1rem, 3vw, 2rem); background: var(--ground); color: var(--ink) }
  h1 { font-size: 1.6rem; margin: 0 0 1rem; overflow-wrap: anywhere } h2 { font-size: 1.2rem; margin: 0 0 .75rem } h3 { font-size: 1rem; margin: 0 }
  section { margin: 0 0 1.25rem; padding: clamp(.9rem, 2.5vw, 1.5rem); background: var(--paper); border-radius: .75rem; min-width: 0 }
  p { max-width: 48rem; margin: .5rem 0 }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: .5rem 2rem; margin: 0 0 1rem; font-size: .9rem }
  dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
  nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0 0 1.25rem; font-size: .95rem } nav a { color: var(--bar) }
  .grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1.5rem; margin: .75rem 0 }
  .grid > * { min-width: 0 }
  figure { margin: 0; min-width: 0 } figcaption { font-size: .9rem; margin: 0 0 .35rem } figcaption b { margin-right: .35rem }
  .sheets { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(32rem, 100%), 1fr)); gap: 1.75rem 1.5rem }
  .sheets > * { min-width: 0 } .sheets img { display: block; width: 100%; height: auto; border-radius: .5rem }
  .tests { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: 1.5rem }
  .tests img { display: block; width: 100%; height: auto } .tests figcaption { overflow-wrap: anywhere }
  /* Shades at the edges beyond which there is more; at the ends covers that move with the table hide them. */
  .wide { overflow-x: auto; background:
    linear-gradient(to right, var(--paper) 35%, transparent) left / 2.5rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 35%, transparent) right / 2.5rem 100% no-repeat local,
    linear-gradient(to right, var(--shade), transparent) left / .8rem 100% no-repeat scroll,
    linear-gradient(to left, var(--shade), transparent) right / .8rem 100% no-repeat scroll }
  .wide table { white-space: nowrap } @media (max-width: 40rem) { .wide tbody th { white-space: normal } } .wide td:last-child:not(.number) { white-space: normal; min-width: 10rem }
  .grid svg { display: block; width: 100%; height: auto } .grid text { fill: currentColor; font-size: 11px; opacity: .75 }
  .bar, .dot { fill: var(--bar) } .dot { fill-opacity: .7 } .axis { fill: none; stroke: var(--line) } .globe { fill: none; stroke: var(--line) }
  .grid:has(.plane) { grid-template-columns: repeat(auto-fill, minmax(min(14rem, 42%), 1fr)) } .plane .axis { stroke-width: .6 }
  .plane circle { stroke: var(--line); stroke-width: .4 } .grid .plane text { font-size: 6px } .grid .swatches { height: 2rem; border-radius: .35rem }
  table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
  th, td { padding: .2rem 1rem .2rem 0; text-align: left; font-weight: normal; vertical-align: top } thead th { opacity: .7 }
  tbody tr > * { border-top: 1px solid var(--line) } .number { text-align: right }
  .bars { list-style: none; margin: .5rem 0; padding: 0; font-size: .9rem; font-variant-numeric: tabular-nums }
  .bars li { display: grid; grid-template-columns: minmax(0, 11rem) minmax(4rem, 1fr) 7.5rem; gap: .75rem; align-items: center; margin: .2rem 0 }
  .grid .bars li { grid-template-columns: minmax(0, 9rem) minmax(4rem, 1fr) 4.5rem }
  .bars i { height: .75rem; min-width: 2px; background: var(--bar); border-radius: .15rem } .bars b { font-weight: normal; opacity: .8 }
`;
