import { type Rng, rng } from '../../sampling/rng.ts';
import { type ConditionName, PANEL_CONDITIONS, REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import type { PlannedTest, Triple } from '../../scenes/panel-plan.ts';
import { panelPrompts } from '../../scenes/panel-questions.ts';
import { CHOICES, SHEET_SIZE } from '../../scenes/panel-scene.ts';
import { type Fault, InputFault } from '../faults.ts';
import { encodeLabel, type PanelTest, panelTestSchema } from '../labels.ts';
import { sha256Of } from '../sha256.ts';
import type { TaskResult, WorkContext } from '../stage.ts';
import { encodeTar } from '../tar.ts';
import { draw2dPanels } from './panels-2d.ts';
import { draw3dPanels } from './panels-3d.ts';
import { drawRealPanels, type RealInstance } from './panels-real.ts';

/** A test to be made, as a worker gets it. */
export interface PanelTask extends PlannedTest {
  readonly condition: ConditionName;
  readonly seed: number;
  /** Of photographs: the instances of the test's triples, by the numbers there. */
  readonly real?: Readonly<Record<number, RealInstance>>;
}

/** A test's picture, and the part of its label that only what drew it knows. */
export interface DrawnPanels {
  readonly jpg: Uint8Array;
  readonly label: DrawnLabel;
}
type Drawn<Label> = Label extends PanelTest
  ? Pick<Label, Extract<keyof Label, 'subset' | 'split' | 'renderer' | 'panels' | 'letters' | 'sources'>>
  : never;
export type DrawnLabel = Drawn<PanelTest>;

/** Draws of a test's panels for one set of instances, before the next set takes its place. */
const ATTEMPTS_A_TRIPLE = 4;
/** Of photographs one: it goes through all that the instances have. */
const ATTEMPTS_A_REAL_TRIPLE = 1;

/** How many draws a test has for one set of instances. */
const drawsOf = (condition: string) => (condition === REAL_CONDITION ? ATTEMPTS_A_REAL_TRIPLE : ATTEMPTS_A_TRIPLE);

/** Whether a test compares other instances than were planned first, since of those nothing could be drawn. */
export function showsSubstitutes({ condition, attempt }: Pick<PanelTest, 'condition' | 'attempt'>): boolean {
  return attempt >= drawsOf(condition);
}

/** Names of a test's files: its picture, and its label until all tests of the condition are there. */
export function panelFileNames(number: number): { image: string; label: string } {
  const name = String(number).padStart(6, '0');
  return { image: `${name}.jpg`, label: `${name}.json` };
}

/** Makes a test: one sample of two files, or none where nothing of what it would show can be drawn. */
export async function makePanelTest(task: PanelTask, context: WorkContext): Promise<TaskResult> {
  const { condition, seed, number, answer } = task;
  const id = `${condition}-${String(number).padStart(6, '0')}`;
  const faults: Fault[] = [];
  const draws = drawsOf(condition);
  for (let attempt = 0; attempt < draws * task.triples.length; attempt++) {
    const random = rng(seed, 'panels', `${condition}/${number}`, attempt);
    const triple = task.triples[Math.floor(attempt / draws)]!;
    try {
      const drawn = await drawPanels(random, task, triple, context, faults);
      if (!drawn) continue;
      const files = panelFileNames(number);
      const [question, ...alternatives] = panelPrompts(drawn.label.subset);
      const label = encodeLabel(panelTestSchema, {
        id,
        condition,
        image: files.image,
        sha256: sha256Of(drawn.jpg),
        size: SHEET_SIZE,
        ...drawn.label,
        question,
        alternatives,
        choices: [...CHOICES],
        answer,
        chance: 1 / CHOICES.length,
        seed,
        attempt,
      });
      const { bytes } = encodeTar([
        { name: files.image, data: drawn.jpg },
        { name: files.label, data: label },
      ]);
      return { bytes, samples: 1, faults, counts: {} };
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push({ item: id, reason: error.message });
    }
  }
  if (faults.length === 0) faults.push({ item: id, reason: 'no view shows enough of all its objects' });
  return { bytes: new Uint8Array(0), samples: 0, faults, counts: {} };
}

function drawPanels(
  random: Rng,
  task: PanelTask,
  triple: Triple,
  { configuration, banks, port }: WorkContext,
  faults: Fault[],
): Promise<DrawnPanels | undefined> {
  if (task.condition === REAL_CONDITION) return drawRealPanels(random, triple, task.answer, task.real!, faults);
  const condition = PANEL_CONDITIONS[task.condition];
  return 'values' in condition
    ? draw2dPanels(random, condition, triple, task.answer, configuration, banks)
    : draw3dPanels(random, condition, triple, task.answer, configuration, banks, port!);
}
