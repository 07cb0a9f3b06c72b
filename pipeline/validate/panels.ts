import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { PANEL_CONDITION_NAMES, REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import { CHOICES } from '../../scenes/panel-scene.ts';
import { unlessMissing } from '../faults.ts';
import { type PanelTest, panelTestSchema } from '../labels.ts';
import type { PanelRecord } from '../panels/panel-folder.ts';
import { sha256Of } from '../sha256.ts';
import { jsonFrom } from '../shard-writer.ts';
import { SPLITS } from '../splits.ts';
import { ahead } from './ahead.ts';
import { spread } from './blank.ts';
import type { Check, Picture, ValidatedRun } from './check.ts';
import { decodePicture } from './decode-picture.ts';
import type { Tell } from './findings.ts';
import { type ItemGroup, itemSplits } from './scenes.ts';
import { schemaFault } from './schema-fault.ts';

/** Panel tests match their schema, their pictures are there, and nothing but the instance gives their answers away. */
export const panels: Check = {
  name: 'panels',
  holds: 'panel tests are whole, of the test split, and their answers balanced',

  begin(run, tell) {
    return {
      async end(progress) {
        const folder = run.folder.at('panels');
        const conditions = ((await readdir(folder).catch(unlessMissing)) ?? []).sort();
        if (conditions.length === 0) return;
        const splits = itemSplits(run);
        for (const condition of conditions) {
          if (!CONDITIONS.has(condition)) {
            tell({ severity: 'warning', kind: 'no condition of panel tests', file: `panels/${condition}` });
            continue;
          }
          progress.begin({ name: `panels/${condition}`, title: condition, unit: 'images', total: 0 });
          await lookAtCondition(run, condition, splits, tell, () => progress.advance(1, []));
          progress.end();
        }
      },
    };
  },
};

const CONDITIONS: ReadonlySet<string> = new Set([...PANEL_CONDITION_NAMES, REAL_CONDITION]);

async function lookAtCondition(
  { folder }: ValidatedRun,
  condition: string,
  splits: Record<ItemGroup, Map<string, number>>,
  tell: Tell,
  onTest: () => void,
): Promise<void> {
  const file = `panels/${condition}/panels.jsonl`;
  const there = new Set((await readdir(folder.at('panels', condition)).catch(unlessMissing)) ?? []);
  if (!there.has('panels.jsonl')) {
    if (there.size > 0) tell({ severity: 'error', kind: 'tests that are not finished', file });
    return;
  }
  if (there.has('labels'))
    tell({ severity: 'error', kind: 'tests that are not finished', file: `panels/${condition}/labels` });
  const ids = new Set<string>();
  const answers = new Map(CHOICES.map(letter => [letter, 0]));
  const lines = createInterface({ input: createReadStream(folder.at(file)) });
  const read = async (line: string) => {
    const parsed = panelTestSchema.safeParse(jsonFrom(line));
    if (!parsed.data || !there.has(parsed.data.image)) return { parsed };
    const bytes = await readFile(folder.at('panels', condition, parsed.data.image));
    return { parsed, picture: await decodePicture(bytes, false), sha256: sha256Of(bytes) };
  };
  for await (const { parsed, picture, sha256 } of ahead(lines, read)) {
    onTest();
    if (!parsed.success) {
      tell({ severity: 'error', kind: 'does not match its schema', file, detail: schemaFault(parsed.error) });
      continue;
    }
    const test = parsed.data;
    const error = (kind: string, detail?: string) =>
      tell({ severity: 'error', kind, file, key: test.id, ...(detail && { detail }) });
    if (ids.has(test.id)) error('a test that is there twice');
    ids.add(test.id);
    answers.set(test.answer, answers.get(test.answer)! + 1);
    if (test.condition !== condition) error('a test of another condition', test.condition);
    for (const fault of giveaways(test)) error('a test that has no right answer, or several', fault);
    for (const fault of strangers(test, splits)) error('an item that is not of the test split', fault);
    there.delete(test.image);
    if (picture) lookAtPicture(picture, test, error);
    else error('a test without its picture', test.image);
    if (sha256 !== undefined && sha256 !== test.sha256) error('another picture than its label says', test.image);
  }
  for (const name of there) {
    // Pictures get their names after their labels: a line was lost.
    if (/^\d{6,}\.jpg$/.test(name))
      tell({ severity: 'error', kind: 'a picture of no test', file: `panels/${condition}/${name}` });
  }
  const settings = `panels/${condition}/settings.json`;
  const text = await readFile(folder.at(settings), 'utf8').catch(unlessMissing);
  const record = jsonFrom(text ?? '') as Partial<PanelRecord> | null | undefined;
  if (typeof record?.tests !== 'number') {
    tell({ severity: 'error', kind: 'settings of tests that are gone, or none', file: settings });
  }
  const asked = record?.tests ?? ids.size;
  const counts = [...answers.values()];
  // Answers are dealt out evenly; a test that could not be drawn leaves a gap of one.
  if (Math.max(...counts) - Math.min(...counts) > 1 + Math.max(0, asked - ids.size)) {
    const detail = [...answers].map(([letter, count]) => `${letter} ${count}`).join(', ');
    tell({ severity: 'error', kind: 'answers that are not balanced', file, detail });
  }
}

function lookAtPicture(picture: Picture, { size }: PanelTest, error: (kind: string, detail?: string) => void): void {
  if ('broken' in picture) error('a picture that cannot be decoded', picture.broken);
  else if (picture.width !== size || picture.height !== size) {
    error('a picture of another size', `${picture.width}×${picture.height}, not ${size}×${size}`);
  } else if (spread(picture)[1] < 1) error('a blank picture');
}

/** The answer shows the instance of A, the others two more; neither is of a photo or mesh that A is of. */
function giveaways({ panels: shown, answer, subset, sources }: PanelTest): string[] {
  const instance = (panel: keyof typeof shown) => shown[panel]?.instance;
  const faults: string[] = [];
  if (instance(answer) !== instance('A')) faults.push(`${answer} shows ${instance(answer)}, A ${instance('A')}`);
  const negatives = CHOICES.filter(letter => letter !== answer);
  const different = new Set(['A' as const, ...negatives].map(instance));
  if (different.size < 3) faults.push(`A, ${negatives.join(' and ')} show ${different.size} instances`);
  const role = (
    { shapes2d: 'shape', textures2d: 'fill', shapes3d: 'object', materials3d: 'material', real: 'photograph' } as const
  )[subset];
  const origins = (panel: keyof typeof shown) =>
    sources
      .filter(source => source.role === role && source.id === instance(panel) && source.panels.includes(panel))
      .map(({ pack, file }) => `${pack}/${file}`);
  const own = new Set(origins('A'));
  for (const letter of negatives) {
    const common = origins(letter).find(origin => own.has(origin));
    if (common) faults.push(`A and ${letter} are both of ${common}`);
  }
  return faults;
}

const GROUPS = {
  shape: 'shapes',
  fill: 'textures',
  background: 'textures',
  object: 'meshes',
  material: 'materials',
  environment: 'environments',
} as const satisfies Record<string, ItemGroup>;

/** Items that no bank has in the split that a test says. */
function strangers({ sources, split }: PanelTest, splits: Record<ItemGroup, Map<string, number>>): string[] {
  if (split === null) return [];
  if (split !== 'test') return [`the test is of ${split}`];
  return sources.flatMap(({ role, id }) => {
    if (role === 'photograph') return [];
    const group = splits[GROUPS[role]];
    const number = group.get(id);
    if (group.size === 0) return [];
    return number === undefined
      ? [`${role} ${id} is in no bank`]
      : SPLITS[number] === split
        ? []
        : [`${role} ${id} is of ${SPLITS[number]}`];
  });
}
