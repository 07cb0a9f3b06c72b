import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { copyAttribution, licencesIn, writeAttribution } from '../card/attribution.ts';
import { titleFrom } from '../card/introduction.ts';
import { licenceHeader, licenceSection } from '../card/licence-section.ts';
import { contentsOf, sourcesOf } from '../card/survey.ts';
import { ATTRIBUTION, isCurrent } from '../card/write-card.ts';
import type { Progress } from '../progress.ts';
import { RunFolder } from '../run-folder.ts';
import { writeDurably } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';
import { VERSION } from '../version.ts';
import { barebones } from './barebones.ts';
import { coco } from './coco.ts';
import { ExportFolder, type ExportRecord } from './export-folder.ts';
import type { Exporter, ExportFormat, ExportPart } from './exporter.ts';
import { folders } from './folders.ts';
import { imagefolder } from './imagefolder.ts';
import { inspect } from './inspect.ts';
import { vlmevalkit } from './vlmevalkit.ts';

/** Every format by name. */
export const EXPORTERS: Readonly<Record<ExportFormat, Exporter>> = {
  folders,
  imagefolder,
  coco,
  barebones,
  vlmevalkit,
  inspect,
};

export interface ExportSettings {
  readonly format: ExportFormat;
  /** Beside the run when left out. */
  readonly out: string | undefined;
  /** All when left out. */
  readonly subsets: readonly string[] | undefined;
}

/** An export as it ended. */
export interface ExportOutcome {
  readonly folder: string;
  readonly samples: number;
  /** Samples that this process wrote, and in what time. */
  readonly written: number;
  readonly seconds: number;
}

/**
 * Writes what is complete of a run in another form. Nothing is made again: files are taken from the shards as they are.
 * @throws UsageError, DamagedFile, or the environment's error; the same call continues.
 */
export async function exportRun(
  path: string,
  { format, out, subsets }: ExportSettings,
  progress: Progress,
  signal: AbortSignal,
): Promise<ExportOutcome> {
  const run = new RunFolder(path);
  if (!(await run.record())) throw new UsageError(`expected a run folder, found no run.json in ${path}`);
  const form = EXPORTERS[format];
  const parts = chosen(form, path, await form.plan(run), subsets);
  const folder = new ExportFolder(out ?? defaultFolder(run.path, format));
  refuseInside(run.path, folder.path);
  const record: ExportRecord = {
    shapemill: VERSION,
    format,
    parts: Object.fromEntries(parts.map(({ name, sha256 }) => [name, sha256])),
  };
  const began = performance.now();
  const samples = parts.reduce((sum, part) => sum + part.samples, 0);
  const ended = (written: number): ExportOutcome => ({
    folder: folder.path,
    samples,
    written,
    seconds: (performance.now() - began) / 1000,
  });
  if ((await folder.begin(record)) === 'complete') return ended(0);
  const unlock = await folder.lock();
  try {
    // Another process may have completed it between the look and the lock.
    if ((await folder.begin(record)) === 'complete') return ended(0);
    let written = 0;
    progress.begin({ name: `export-${format}`, title: format, unit: 'samples', total: samples });
    try {
      for (const part of parts) {
        signal.throwIfAborted();
        if (await folder.isWritten(part)) {
          progress.found(part.samples);
          continue;
        }
        await writePart(form, part, folder, signal);
        written += part.samples;
        progress.advance(part.samples, []);
      }
    } finally {
      progress.end();
    }
    await form.finish(parts, folder, signal);
    await describe(form, parts, folder, run, progress, signal);
    await folder.finish(record);
    return ended(written);
  } finally {
    await unlock();
  }
}

/** @throws UsageError when there is nothing to export, or nothing of what was named. */
function chosen(
  { name, expects }: Exporter,
  run: string,
  parts: readonly ExportPart[],
  subsets: readonly string[] | undefined,
): ExportPart[] {
  if (parts.length === 0) throw new UsageError(`--format ${name}: expected ${expects}, found none in ${run}`);
  const there = [...new Set(parts.map(({ subset }) => subset as string))];
  const missing = subsets?.find(subset => !there.includes(subset));
  if (missing !== undefined) {
    throw new UsageError(`--subsets ${missing}: ${run} has for --format ${name} only ${there.join(', ')}`);
  }
  return parts.filter(({ subset }) => !subsets || subsets.includes(subset));
}

/** Beside the run: a run's folder is published and continued as it is. */
function defaultFolder(run: string, format: ExportFormat): string {
  return join(dirname(run), `${basename(run)}-${format}`);
}

function refuseInside(run: string, out: string): void {
  const way = relative(run, out);
  if (way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(run, way) === out)) {
    throw new UsageError(`--out: expected a folder outside of the run, got ${out}`);
  }
}

async function writePart(form: Exporter, part: ExportPart, folder: ExportFolder, signal: AbortSignal): Promise<void> {
  const out = folder.writer(part, signal);
  try {
    await form.write(part, out);
  } catch (error) {
    out.abandon();
    throw error;
  }
  out.finish();
}

/** Writes the list of the sources of what was exported, and the README. */
async function describe(
  form: Exporter,
  parts: readonly ExportPart[],
  folder: ExportFolder,
  run: RunFolder,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const attribution = join(folder.path, ATTRIBUTION);
  const places = new Set(parts.map(({ place }) => place));
  const contents = await contentsOf(run);
  if (await isCurrent(run, contents)) await copyAttribution(run.at(ATTRIBUTION), attribution, places);
  else {
    const { used } = await sourcesOf(run, contents, signal, labels =>
      progress.count('labels read for the list of sources', labels),
    );
    const mine = used.filter(({ uses }) => [...uses.keys()].some(place => places.has(place)));
    writeAttribution(attribution, mine);
  }
  const licences = await licencesIn(attribution);
  const { layout, loading, rights, yaml = [] } = form.guide(parts);
  const title = `${titleFrom(namesOf(parts))} (${form.name})`;
  const text = [
    ['---', `pretty_name: ${JSON.stringify(title)}`, ...licenceHeader(licences), ...yaml, '---'].join('\n'),
    `# ${title}`,
    `${form.title}. Written by shapemill ${VERSION} from the run \`${basename(run.path)}\`; images are those of the run, byte by byte. \`export.json\` names what it was made from.`,
    '## Contents',
    contentsLines(parts),
    '## Layout',
    layout,
    '## Loading',
    loading,
    '## Licences and attribution',
    licenceSection(licences, rights),
    'The list names the sources of what was exported; `used_in` and `times` count the labels of the whole run.',
  ];
  await writeDurably(join(folder.path, 'README.md'), `${text.join('\n\n')}\n`);
}

/** What was exported, for its title: each subset once; of panel tests, that they are, and last. */
function namesOf(parts: readonly ExportPart[]): string[] {
  return [...new Set(parts.map(({ subset, place }) => (place === 'panels' ? 'panel tests' : subset)))];
}

function contentsLines(parts: readonly ExportPart[]): string {
  const counts = new Map<string, number>();
  for (const { subset, place, samples } of parts) {
    const name = place === 'panels' ? `panel tests of ${subset}` : subset;
    counts.set(name, (counts.get(name) ?? 0) + samples);
  }
  return [...counts].map(([subset, samples]) => `- ${subset}: ${samples.toLocaleString('en')}`).join('\n');
}
