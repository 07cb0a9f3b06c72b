import { readFile } from 'node:fs/promises';
import { contentsOf, type RunContents, type RunFile, type Source, sourcesOf } from '../card/survey.ts';
import { ATTRIBUTION, CARD, CROISSANT } from '../card/write-card.ts';
import { readCsv } from '../datasets/csv.ts';
import { DamagedFile, unlessMissing } from '../faults.ts';
import type { Progress } from '../progress.ts';
import { sha256OfFile } from '../sha256.ts';
import { jsonFrom } from '../shard-writer.ts';
import { UsageError } from '../usage-error.ts';
import type { Check, ValidatedRun } from './check.ts';
import type { Tell } from './findings.ts';

/** The dataset card, its Croissant description and the list of sources are those of the shards and tests that are there. */
export const card: Check = {
  name: 'card',
  holds: 'the dataset card is there, croissant.json names every file, attribution.csv every source',

  begin(run, tell) {
    /** Shards that do not say what they were made from: that is told by others. */
    const damaged = new Set<string>();
    return {
      sample({ label }, { path }) {
        if (!label) damaged.add(path);
      },
      shard({ path }, { damage }) {
        if (damage !== undefined) damaged.add(path);
      },
      async end(progress) {
        const contents = await contentsOf(run.folder);
        const there = new Map<string, string>();
        for (const file of [CARD, CROISSANT, ATTRIBUTION]) {
          const text = await readFile(run.folder.at(file), 'utf8').catch(unlessMissing);
          if (text?.trim()) there.set(file, text);
          else tell({ severity: 'error', kind: MISSING, file });
        }
        const croissant = there.get(CROISSANT);
        if (croissant !== undefined) await lookAtCroissant(run, croissant, contents, tell);
        if (!there.has(ATTRIBUTION)) return;
        const sources = await sourcesIn(run, contents, damaged, progress);
        await lookAtAttribution(run, sources, damaged.size === 0, tell);
      },
    };
  },
};

const MISSING = 'not there, or empty (npm run card -- RUN writes it anew)';

/** The files that have a checksum are those of the run, with theirs. */
async function lookAtCroissant(run: ValidatedRun, text: string, contents: RunContents, tell: Tell): Promise<void> {
  const error = (kind: string, detail?: string) =>
    tell({ severity: 'error', kind, file: CROISSANT, ...(detail !== undefined && { detail }) });
  const { distribution } = (jsonFrom(text) ?? {}) as { distribution?: unknown };
  if (!Array.isArray(distribution)) return error('no description of files in JSON');
  const described = new Map<string, unknown>();
  for (const file of distribution as ({ '@id'?: unknown; sha256?: unknown } | null)[]) {
    if (file?.sha256 !== undefined) described.set(String(file['@id']), file.sha256);
  }
  const attribution = await sha256OfFile(run.folder.at(ATTRIBUTION)).catch(unlessMissing);
  const files: Pick<RunFile, 'path' | 'sha256'>[] = [
    ...contents.shards,
    ...contents.panels,
    ...(attribution === undefined ? [] : [{ path: ATTRIBUTION, sha256: attribution }]),
  ];
  for (const { path, sha256 } of files) {
    if (!described.has(path)) error('a file that it does not describe', path);
    else if (described.get(path) !== sha256) error('another sha256 than the file has', path);
    described.delete(path);
  }
  for (const path of described.keys()) error('describes a file that is not there', path);
}

/** What the labels of whole shards and lists of tests name. @param damaged takes the paths of the lists that are not whole. */
async function sourcesIn(
  { folder, signal }: ValidatedRun,
  { shards, panels }: RunContents,
  damaged: Set<string>,
  progress: Progress,
): Promise<Source[]> {
  const count = (labels: number) => progress.count('labels read for the dataset card', labels);
  const whole = shards.filter(({ path }) => !damaged.has(path));
  const used: Source[] = [...(await sourcesOf(folder, { shards: whole, panels: [] }, signal, count)).used];
  for (const list of panels) {
    try {
      used.push(...(await sourcesOf(folder, { shards: [], panels: [list] }, signal)).used);
    } catch (error) {
      // A line is no JSON, or not what labels are.
      if (!(error instanceof DamagedFile || error instanceof TypeError)) throw error;
      damaged.add(list.path);
    }
  }
  return used;
}

const FACTS = ['author', 'licence', 'url'] as const;

/** Every source has its line, which says of it what the labels say. @param all whether nothing else may be in the list. */
async function lookAtAttribution(
  { folder }: ValidatedRun,
  sources: readonly Source[],
  all: boolean,
  tell: Tell,
): Promise<void> {
  const about = (severity: 'error' | 'warning', kind: string, detail: string) =>
    tell({ severity, kind, file: ATTRIBUTION, detail });
  const keyOf = (pack: string, file: string) => `${pack}\0${file}`;
  const listed = new Map<string, Readonly<Record<string, string>>>();
  try {
    for await (const { values } of readCsv(folder.at(ATTRIBUTION), ['pack', 'file', ...FACTS])) {
      listed.set(keyOf(values.pack!, values.file!), values);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return about('error', 'no list of sources', error.message);
  }
  const named = new Map(sources.map(source => [keyOf(source.pack, source.file), source]));
  for (const [key, source] of named) {
    const line = listed.get(key);
    if (!line) {
      about('error', 'lacks a source that labels name', `${source.pack}/${source.file}`);
      continue;
    }
    for (const fact of FACTS) {
      const said = source[fact] ?? '';
      if (line[fact] === said) continue;
      const detail = `${fact} of ${source.pack}/${source.file}: "${line[fact]}", labels say "${said}"`;
      about('error', 'says of a source what labels do not', detail);
    }
  }
  if (!all) return;
  for (const [key, { pack, file }] of listed) {
    if (!named.has(key)) about('warning', 'a source that no label names', `${pack}/${file}`);
  }
}
