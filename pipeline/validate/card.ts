import { readFile } from 'node:fs/promises';
import {
  contentsOf,
  namedSources,
  type PanelList,
  type RunContents,
  type RunFile,
  type Source,
  sourceKey,
  sourcesOf,
} from '../card/survey.ts';
import { ATTRIBUTION, CARD, CROISSANT } from '../card/write-card.ts';
import { readCsv } from '../datasets/csv.ts';
import { DamagedFile, unlessMissing } from '../faults.ts';
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
    /** What labels name, by pack and file. */
    const named = new Map<string, Source>();
    /** Shards and lists of tests that do not say what they were made from: that is told by others. */
    const damaged = new Set<string>();
    /** Of the shard that is looked at. */
    let mine: Source[] = [];
    const add = (sources: readonly Source[]) => {
      for (const source of sources) named.set(sourceKey(source.pack, source.file), source);
    };
    return {
      sample({ label }, { path }) {
        if (label) mine.push(...namedSources(label.value));
        else damaged.add(path);
      },
      shard({ path, sidecar }, { bytes, damage }) {
        if (damage !== undefined) damaged.add(path);
        // The card is of finished shards.
        if (!damaged.has(path) && sidecar?.bytes === bytes) add(mine);
        mine = [];
      },
      async end() {
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
        for (const list of contents.panels) {
          const sources = await listedSources(run, list);
          if (sources) add(sources);
          else damaged.add(list.path);
        }
        await lookAtAttribution(run, named, damaged.size === 0, tell);
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

/** What a list of panel tests names; undefined where it is not whole. */
async function listedSources(
  { folder, signal }: ValidatedRun,
  list: PanelList,
): Promise<readonly Source[] | undefined> {
  try {
    return (await sourcesOf(folder, { shards: [], panels: [list] }, signal)).used;
  } catch (error) {
    // A line is no JSON, or not what labels are.
    if (error instanceof DamagedFile || error instanceof TypeError) return undefined;
    throw error;
  }
}

const FACTS = ['author', 'licence', 'url'] as const;

/** Every source has its line, which says of it what the labels say. @param all whether nothing else may be in the list. */
async function lookAtAttribution(
  { folder }: ValidatedRun,
  named: ReadonlyMap<string, Source>,
  all: boolean,
  tell: Tell,
): Promise<void> {
  const about = (severity: 'error' | 'warning', kind: string, detail: string) =>
    tell({ severity, kind, file: ATTRIBUTION, detail });
  const listed = new Map<string, Readonly<Record<string, string>>>();
  try {
    for await (const { values } of readCsv(folder.at(ATTRIBUTION), ['pack', 'file', ...FACTS])) {
      listed.set(sourceKey(values.pack!, values.file!), values);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return about('error', 'no list of sources', error.message);
  }
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
