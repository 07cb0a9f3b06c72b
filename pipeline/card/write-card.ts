import { readFile, stat } from 'node:fs/promises';
import { unlessMissing } from '../faults.ts';
import { recordedRun } from '../recorded-configuration.ts';
import type { RunFolder } from '../run-folder.ts';
import { sha256OfFile } from '../sha256.ts';
import { jsonFrom, writeDurably } from '../shard-writer.ts';
import { writeAttribution } from './attribution.ts';
import { card } from './card.ts';
import { countLicences, croissant } from './croissant.ts';
import { titleOf } from './introduction.ts';
import { contentsOf, type RunContents, sourcesOf } from './survey.ts';

export const CARD = 'README.md';
export const CROISSANT = 'croissant.json';
export const ATTRIBUTION = 'attribution.csv';

/**
 * Writes a run's dataset card, its Croissant description and the list of its sources, for what is complete of it now. Nothing is done
 * when they are there and nothing was added since.
 * @param onLabels called now and then with the number of labels read.
 * @returns whether they were written.
 * @throws UsageError when the folder holds no run.
 */
export async function writeCard(
  run: RunFolder,
  signal: AbortSignal,
  onLabels: (labels: number) => void = () => {},
): Promise<boolean> {
  // A run that is older than an option was made as the option's default says.
  const recorded = await recordedRun(run, () => {});
  let written = false;
  // Another process may add to the run meanwhile, and write a card of more before this one is written over it.
  for (;;) {
    const contents = await contentsOf(run);
    if (await isCurrent(run, contents)) return written;
    await writeOf(run, recorded, contents, signal, onLabels);
    written = true;
  }
}

async function writeOf(
  run: RunFolder,
  { record, configuration }: Awaited<ReturnType<typeof recordedRun>>,
  contents: RunContents,
  signal: AbortSignal,
  onLabels: (labels: number) => void,
): Promise<void> {
  const sources = await sourcesOf(run, contents, signal, onLabels);
  writeAttribution(run.at(ATTRIBUTION), sources.used);
  const licences = countLicences(sources.used);
  const renderers = record.renderers ?? [];
  await writeDurably(run.at(CARD), card({ configuration, renderers, contents, sources, licences }));
  const name = titleOf(contents);
  const identity = { name, description: describe(name, contents), date: record.started.slice(0, 10) };
  const described = await croissant(identity, contents, sources.used, run.at(ATTRIBUTION), configuration.aov);
  // Last: what tells whether the others are of now.
  await writeDurably(run.at(CROISSANT), JSON.stringify(described, null, 2));
}

/** Whether all files of a card are there and describe just these shards and tests. */
export async function isCurrent(run: RunFolder, { shards, panels }: RunContents): Promise<boolean> {
  const card = await stat(run.at(CARD)).catch(unlessMissing);
  const attribution = await sha256OfFile(run.at(ATTRIBUTION)).catch(unlessMissing);
  const text = await readFile(run.at(CROISSANT), 'utf8').catch(unlessMissing);
  if (!card?.size || !attribution || text === undefined) return false;
  const { distribution } = (jsonFrom(text) ?? {}) as { distribution?: { '@id'?: unknown; sha256?: unknown }[] };
  if (!Array.isArray(distribution)) return false;
  const before = distribution.filter(({ sha256 }) => sha256 !== undefined);
  const now = [...shards, ...panels, { path: ATTRIBUTION, sha256: attribution }];
  return (
    before.length === now.length &&
    now.every(({ path, sha256 }, i) => before[i]!['@id'] === path && before[i]!.sha256 === sha256)
  );
}

function describe(title: string, { shards, panels }: RunContents): string {
  const counts = new Map<string, number>();
  for (const { subset, samples } of shards) if (subset) counts.set(subset, (counts.get(subset) ?? 0) + samples);
  const tests = panels.reduce((sum, panel) => sum + panel.tests, 0);
  const parts = [
    ...[...counts].map(([subset, samples]) => `${samples} samples of ${subset}`),
    ...(tests > 0 ? [`${tests} panel tests`] : []),
  ];
  return `${title}: ${parts.join(', ') || 'nothing is finished yet'}.`;
}
