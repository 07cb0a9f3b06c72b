import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { PANEL_CONDITION_NAMES, REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import { unlessMissing } from '../faults.ts';
import { type PanelTest, panelTestSchema } from '../labels.ts';
import type { RunFolder } from '../run-folder.ts';
import { evenlySpread } from '../shape-diversity.ts';
import { jsonFrom } from '../shard-writer.ts';
import { escapeHtml, grouped, paragraph, section, table } from './html.ts';

const SHOWN_TESTS = 6;
/** Side of a test's picture in the page, pixels: they are in the page itself, about 20 kB each. */
const SHOWN_SIDE = 400;

/** The tests of a condition, of which one is looked at. */
interface ConditionTests {
  readonly condition: string;
  /** Pictures that are there. */
  readonly tests: number;
  /** Undefined until the list of all is written. */
  readonly first: PanelTest | undefined;
}

/** Panel tests by condition, and a test each of a few conditions; empty where a run has none. */
export async function panelSection(folder: RunFolder): Promise<string> {
  const conditions: ConditionTests[] = [];
  for (const condition of [...PANEL_CONDITION_NAMES, REAL_CONDITION]) {
    const names = (await readdir(folder.at('panels', condition)).catch(unlessMissing)) ?? [];
    const tests = names.filter(name => /^\d{6,}\.jpg$/.test(name)).length;
    if (tests === 0) continue;
    const list = folder.at('panels', condition, 'panels.jsonl');
    conditions.push({ condition, tests, first: names.includes('panels.jsonl') ? await firstTest(list) : undefined });
  }
  if (conditions.length === 0) return '';
  const rows = conditions.map(({ condition, tests, first }) => [
    condition,
    tests,
    first ? `${grouped(100 * first.chance)} %` : 'not finished',
  ]);
  const finished = conditions.flatMap(({ first }) => first ?? []);
  const shown: string[] = [];
  for (const i of evenlySpread(finished.length, SHOWN_TESTS)) shown.push(await example(folder, finished[i]!));
  return section(
    'panels',
    'Panel tests',
    table(['condition', 'tests', 'right by guessing'], rows),
    shown.length === 0 ? '' : paragraph('The first test of some conditions:'),
    shown.length === 0 ? '' : `<div class="tests">${shown.join('\n')}</div>`,
  );
}

async function firstTest(list: string): Promise<PanelTest | undefined> {
  const input = createReadStream(list);
  try {
    for await (const line of createInterface({ input })) return panelTestSchema.safeParse(jsonFrom(line)).data;
    return undefined;
  } finally {
    input.destroy();
  }
}

/** A test's picture, scaled down and part of the page; nothing where it cannot be decoded, which `validate` tells. */
async function example(folder: RunFolder, { condition, image, answer, question }: PanelTest): Promise<string> {
  const picture = await sharp(folder.at('panels', condition, image))
    .resize({ width: SHOWN_SIDE })
    .jpeg({ quality: 80 })
    .toBuffer()
    .catch(() => undefined);
  if (!picture) return '';
  const source = `data:image/jpeg;base64,${picture.toString('base64')}`;
  return (
    `<figure><figcaption><b>${escapeHtml(condition)}</b> answer ${answer}</figcaption>` +
    `<img src="${source}" alt="${escapeHtml(question)}" width="${SHOWN_SIDE}" height="${SHOWN_SIDE}"></figure>`
  );
}
