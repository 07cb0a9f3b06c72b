import { bytesText, duration } from '../progress.ts';
import { bars } from './charts.ts';
import { escapeHtml, grouped, paragraph, section, table } from './html.ts';
import type { StageFacts } from './stage-facts.ts';

/** How many there are of everything, by stage and split. */
export function madeSection(stages: readonly StageFacts[]): string {
  if (stages.length === 0) return '';
  const rows = stages.map(({ title, splits, samples, shards, bytes, seconds, faultCount }) => [
    title,
    samples,
    splits.train,
    splits.val,
    splits.test,
    shards,
    bytesText(bytes),
    seconds > 0 ? `${grouped(samples / seconds)}/s` : '',
    faultCount,
  ]);
  return section(
    'made',
    'What was made',
    table(['stage', 'samples', 'train', 'val', 'test', 'shards', 'size', 'rate', 'faults'], rows),
    paragraph(
      'Rates are of the time that a shard was open: shards of one stage may overlap in time. A bank may keep fewer items than its shards hold.',
    ),
  );
}

/** Where the time went. */
export function timeSection(stages: readonly StageFacts[]): string {
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total === 0) return '';
  const rows = stages.map(({ title, seconds }) => ({
    name: title,
    value: seconds,
    text: `${seconds < 90 ? `${grouped(seconds)} s` : duration(seconds)} · ${grouped((100 * seconds) / total)} %`,
  }));
  return section('time', 'Where the time went', bars(rows));
}

/** Tallies that count what was looked at, and reject nothing. */
const LOOKED_AT = new Set(['looks', 'pictures', 'large-enough-for-windows']);

/** What was looked at, what it gave, and why the rest was rejected. */
export function yieldSection(stages: readonly StageFacts[]): string {
  const parts = stages.flatMap(({ title, unit, counts, samples }) => {
    const looks = counts.get('looks') ?? counts.get('pictures') ?? 0;
    const rejected = [...counts].filter(([name, count]) => !LOOKED_AT.has(name) && count > 0);
    if (looks === 0 && rejected.length === 0) return [];
    const gave =
      looks === 0
        ? ''
        : `${grouped(looks)} looked at gave ${grouped(samples)} ${unit} (${(samples / looks).toFixed(2)} each).`;
    const reasons = rejected
      .sort(([, a], [, b]) => b - a)
      .map(([name, value]) => ({ name: name.replaceAll('-', ' '), value, text: grouped(value) }));
    return [`<div><h3>${escapeHtml(title)}</h3>${gave && paragraph(gave)}${bars(reasons)}</div>`];
  });
  return section(
    'yields',
    'Yields and rejections',
    parts.length === 0 ? '' : `<div class="grid">${parts.join('\n')}</div>`,
    parts.length === 0
      ? ''
      : paragraph(
          'A photo is tried many times over, in several channels and at several thresholds: “try” counts these, “region” and “object” candidates in a picture, the others whole photos.',
        ),
  );
}

/** What was given up, and why. */
export function faultSection(stages: readonly StageFacts[]): string {
  const all = stages.reduce((sum, { faultCount }) => sum + faultCount, 0);
  if (stages.length === 0) return '';
  if (all === 0) return section('faults', 'Faults', paragraph('None: every file could be used.'));
  const rows = stages.flatMap(({ title, faults }) => faults.map(({ item, reason }) => [item, title, reason]));
  const more =
    all > rows.length ? paragraph(`${grouped(all - rows.length)} more are listed in the JSON beside each shard.`) : '';
  return section('faults', 'Faults', table(['item', 'stage', 'reason'], rows), more);
}
