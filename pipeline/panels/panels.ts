import sharp from 'sharp';
import {
  type ConditionName,
  PANEL_CONDITIONS,
  type PanelConditionName,
  REAL_CONDITION,
} from '../../scenes/panel-conditions.ts';
import { type PlannedTest, planTests } from '../../scenes/panel-plan.ts';
import type { Pool } from '../../scenes/panel-pool.ts';
import { GUTTER, PANEL_SIZE } from '../../scenes/panel-scene.ts';
import { type Bank, itemsOf, joinBanks, openBank } from '../bank.ts';
import { BANK_KINDS, type BankKind } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import { Drawing, type DrawingSettings } from '../drawing.ts';
import type { Fault } from '../faults.ts';
import { stagesOf } from '../generate.ts';
import { Inputs } from '../inputs.ts';
import type { Progress } from '../progress.ts';
import { recordedRun } from '../recorded-configuration.ts';
import { RunFolder } from '../run-folder.ts';
import { SPLITS } from '../splits.ts';
import type { Banks } from '../stage.ts';
import { STAGES } from '../stages.ts';
import { decodeTar } from '../tar.ts';
import { WorkerPool } from '../worker-pool.ts';
import { PanelFolder, type PanelRecord } from './panel-folder.ts';
import { needsOf, poolsOf, type Shortage, shortageOf } from './panel-pools.ts';
import type { PanelTask } from './panel-task.ts';
import { type RealInstance, realInstances } from './panels-real.ts';

/** What tests are asked for, and what concerns the machine. */
export interface PanelSettings {
  readonly conditions: readonly ConditionName[];
  readonly perCondition: number;
  /** The run's when left out. */
  readonly seed: number | undefined;
  /** Folder of photographs, where they are asked for. */
  readonly real: string | undefined;
  readonly workers: number | undefined;
  readonly drawing: DrawingSettings;
}

/** A condition as it ended. */
export interface ConditionOutcome {
  readonly condition: ConditionName;
  readonly asked: number;
  /** Tests that are there now, made by this process or before. */
  readonly tests: number;
  /** Instances that are compared. */
  readonly instances: number;
  /** Tests that this process made, and in what time. */
  readonly made: number;
  readonly seconds: number;
  readonly faults: readonly Fault[];
  /** Why there are fewer than asked. */
  readonly shortage?: string;
}

/** The tests of a condition before they are made. */
interface ConditionPlan {
  readonly condition: ConditionName;
  readonly instances: number;
  readonly tests: readonly PlannedTest[];
  readonly earlier: PanelRecord['earlier'];
  readonly inputs: PanelRecord['inputs'];
  readonly banks: Banks;
  readonly draws: boolean;
  readonly faults: readonly Fault[];
  readonly real?: readonly RealInstance[];
  readonly shortage?: string;
}

/**
 * Makes panel tests of a run's test split, as far as they are not there yet.
 * @throws UsageError, or the environment's error; the tests that are there stay, and the same command continues.
 */
export async function makePanels(
  run: string,
  settings: PanelSettings,
  progress: Progress,
  signal: AbortSignal,
): Promise<ConditionOutcome[]> {
  const folder = new RunFolder(run);
  const { configuration } = await recordedRun(folder, message => progress.warn(message));
  const seed = settings.seed ?? configuration.seed;
  const banks = await banksOf(folder, new Inputs(configuration, folder, folder.path, progress, signal));
  const unfinished = await unfinishedPools(configuration, banks);
  const plans: ConditionPlan[] = [];
  for (const condition of settings.conditions) {
    plans.push(
      condition === REAL_CONDITION
        ? await planReal(settings.real!, folder, seed, settings.perCondition)
        : await planCondition(condition, banks, unfinished, configuration, folder, seed, settings.perCondition),
    );
  }
  // Nothing is made before it is known that everything may be.
  for (const plan of plans)
    if (plan.tests.length > 0) await folderOf(folder, plan.condition).agree(recordOf(plan, seed));
  for (const { condition, shortage } of plans) if (shortage) progress.warn(`${condition}: ${shortage}`);
  const drawing = new Drawing(settings.drawing, folder, progress, signal, '--conditions');
  const unlock = await folder.lock(undefined);
  const pool = new WorkerPool(configuration, settings.workers);
  try {
    if (plans.some(({ draws, tests }) => draws && tests.length > 0)) await drawing.check();
    const outcomes: ConditionOutcome[] = [];
    for (const plan of plans) {
      outcomes.push(await makeCondition(plan, folder, seed, settings.perCondition, pool, drawing, progress, signal));
    }
    return outcomes;
  } finally {
    await pool.close();
    await drawing.close();
    await unlock();
  }
}

const SHAPE_BANKS = ['shapes', 'semantic-shapes', 'projected-shapes'] as const satisfies readonly BankKind[];

/** The finished banks of a run, or those of other runs that it used; shapes of all sources joined. */
async function banksOf(folder: RunFolder, inputs: Inputs): Promise<Banks> {
  const open = async (kind: BankKind) => (await inputs.foreignBank(kind)) ?? (await openBank(folder.bank(kind)));
  const banks: { -readonly [K in BankKind]?: Bank } = {};
  for (const kind of BANK_KINDS) {
    const bank = await open(kind);
    if (bank) banks[kind] = bank;
  }
  const shapes = SHAPE_BANKS.flatMap(kind => banks[kind] ?? []);
  return { ...banks, ...(shapes.length > 0 && { shapes: joinBanks('shapes', shapes) }) };
}

/** The pools whose banks the run is still to fill. */
async function unfinishedPools(configuration: Configuration, banks: Banks): Promise<ReadonlySet<string>> {
  const filled = (await stagesOf(configuration)).flatMap(name => STAGES[name].fills ?? []);
  const open = filled.filter(kind => !banks[kind]);
  return new Set(open.map(kind => (SHAPE_BANKS.some(shapes => shapes === kind) ? 'shapes' : kind)));
}

async function planCondition(
  name: PanelConditionName,
  all: Banks,
  unfinished: ReadonlySet<string>,
  configuration: Configuration,
  run: RunFolder,
  seed: number,
  wanted: number,
): Promise<ConditionPlan> {
  const condition = PANEL_CONDITIONS[name];
  const needs = needsOf(condition);
  const banks: Banks = Object.fromEntries(needs.flatMap(({ pool }) => (all[pool] ? [[pool, all[pool]]] : [])));
  const pools = await poolsOf(condition, banks);
  const inputs = Object.fromEntries(Object.entries(banks).map(([kind, bank]) => [kind, bank.digest]));
  const plan = { condition: name, inputs, banks, draws: 'vary' in condition, faults: [], earlier: [] };
  const open = needs.find(({ pool }) => unfinished.has(pool));
  if (open) {
    const shortage = `the run has not finished its ${open.pool}: the command that makes it continues it`;
    return { ...plan, instances: 0, tests: [], shortage };
  }
  const shortage = shortageOf(needs, pools);
  if (shortage) {
    const words = inWords(shortage, remedyFor(shortage, all, configuration));
    return { ...plan, instances: pools.instances?.count ?? 0, tests: [], shortage: words };
  }
  const instances = pools.instances!;
  return { ...plan, ...(await planned(run, seed, name, instances, wanted, needs[0]!.items)) };
}

async function planReal(path: string, run: RunFolder, seed: number, wanted: number): Promise<ConditionPlan> {
  const { instances, faults, digest } = await realInstances(path);
  const pool: Pick<Pool, 'count' | 'related'> = { count: instances.length, related: (a, b) => a === b };
  return {
    condition: REAL_CONDITION,
    inputs: { photographs: digest },
    banks: {},
    draws: false,
    faults,
    real: instances,
    ...(await planned(run, seed, REAL_CONDITION, pool, wanted, 'objects')),
  };
}

/** @param items what the instances are, in the plural. */
async function planned(
  run: RunFolder,
  seed: number,
  condition: ConditionName,
  pool: Pick<Pool, 'count' | 'related'>,
  wanted: number,
  items: string,
): Promise<Pick<ConditionPlan, 'instances' | 'tests' | 'earlier' | 'shortage'>> {
  const before = await folderOf(run, condition).earlier();
  const tests = planTests(seed, condition, pool, wanted, before);
  const all = { instances: pool.count, tests, earlier: before.filter(count => count < tests.length) };
  if (tests.length === wanted) return all;
  const most = tests.length === 0 ? 'no test' : `only ${tests.length} different tests`;
  return { ...all, shortage: `${pool.count} ${items} give ${most}, ${wanted} were asked for` };
}

const folderOf = (run: RunFolder, condition: ConditionName) => new PanelFolder(run.at('panels', condition));

function recordOf({ condition, tests, earlier, inputs }: ConditionPlan, seed: number): PanelRecord {
  const layout = { panel: PANEL_SIZE, gap: GUTTER };
  const platform = { arch: process.arch, libvips: sharp.versions.vips!, sharp: sharp.versions.sharp! };
  return { condition, tests: tests.length, earlier, layout, seed, inputs, platform };
}

/** What there is, what is needed, and what helps. */
function inWords({ items, sources, there, needed }: Shortage, remedy: string): string {
  const found =
    there === 0
      ? `no ${items}, ${needed} ${needed === 1 ? 'is' : 'are'} needed`
      : `${items} of ${there} ${there === 1 ? sources.slice(0, -1) : sources}, ${needed} ${sources} are needed`;
  return `the test split has ${found}: ${remedy}`;
}

/** Where more of what there is too little of comes from, in a run that has some of it or in one that has none. */
function remedyFor({ items, pool }: Shortage, banks: Banks, configuration: Configuration): string {
  const { shapeBank, textureBank, materialBank } = configuration;
  const photographs = (option: string) =>
    `more photographs help (--photos), or more from these (${option}), in a new run`;
  const more = (option: string) => `more of them help (${option}), in a new run`;
  const textures = textureBank === null ? photographs('--textures') : more('--texture-bank');
  switch (pool) {
    case 'shapes':
      if (items.startsWith('semantic')) return semanticRemedy(banks, configuration);
      return shapeBank === null ? photographs('--shapes') : more('--shape-bank');
    case 'textures':
      return textures;
    case 'materials':
      if (!banks.materials) return 'the subsets shapes3d and materials3d make them';
      return materialBank === null ? textures : more('--material-bank');
    case 'meshes':
    case 'environments':
      return banks[pool] ? more(`--${pool}`) : 'the subsets shapes3d and materials3d take them in';
  }
}

function semanticRemedy({ shapes }: Banks, { semantic, naturalShapes }: Configuration): string {
  const all = shapes ? SPLITS.reduce((sum, split) => sum + itemsOf(shapes, split, 'semantic').length, 0) : 0;
  if (semantic.length === 0) {
    return all === 0
      ? '--semantic name:DIR brings semantic shapes into a run'
      : `of its ${all} shapes about a tenth are for tests; more of them help (--shape-bank), in a new run`;
  }
  const found = `--semantic gave ${all} shapes, of whose pictures about a tenth are for tests`;
  const smaller = `smaller objects (natural-shapes: min-area in a recipe, now ${naturalShapes.minArea} px where a picture's short side is 512 px)`;
  const others = 'where not all pictures were used, more shapes (--semantic-shapes) or another --seed';
  return `${found}; in a new run more annotated pictures help (--semantic), or ${smaller}, or, ${others}`;
}

async function makeCondition(
  plan: ConditionPlan,
  run: RunFolder,
  seed: number,
  asked: number,
  pool: WorkerPool,
  drawing: Drawing,
  progress: Progress,
  signal: AbortSignal,
): Promise<ConditionOutcome> {
  const { condition, instances, tests, shortage } = plan;
  const began = performance.now();
  const fewer = (there: number): Pick<ConditionOutcome, 'shortage'> => {
    if (shortage || there === asked) return shortage ? { shortage } : {};
    return { shortage: `of ${asked - there} of ${asked} tests nothing could be drawn` };
  };
  const ended = (counts: Pick<ConditionOutcome, 'tests' | 'made' | 'faults'>): ConditionOutcome => ({
    condition,
    asked,
    instances,
    seconds: (performance.now() - began) / 1000,
    ...counts,
    ...fewer(counts.tests),
  });
  if (tests.length === 0) return ended({ tests: 0, made: 0, faults: plan.faults });
  const folder = folderOf(run, condition);
  await folder.begin(recordOf(plan, seed));
  const missing = tests.filter(({ number }) => !folder.has(number));
  const faults = [...plan.faults];
  let made = 0;
  progress.begin({ name: condition, title: condition, unit: 'tests', total: tests.length });
  progress.found(tests.length - missing.length);
  progress.advance(0, plan.faults);
  const host = plan.draws && missing.length > 0 ? await drawing.host() : undefined;
  try {
    await eachOf(missing, pool.tasks, signal, async (test, working) => {
      const task = taskOf(plan, seed, test);
      const result = await pool.run({ stage: 'panels', task, banks: plan.banks }, working, host);
      if (result.samples > 0) {
        const [image, label] = decodeTar(Buffer.from(result.bytes), condition);
        await folder.put(test.number, image!.data, label!.data);
      }
      made += result.samples;
      faults.push(...result.faults);
      progress.advance(result.samples, result.faults);
    });
    const complete = missing.length === 0 && folder.isListed;
    return ended({ tests: complete ? tests.length : await folder.finish(), made, faults });
  } finally {
    progress.end();
  }
}

function taskOf({ condition, real }: ConditionPlan, seed: number, test: PlannedTest): PanelTask {
  const task = { condition, seed, ...test };
  return real ? { ...task, real: Object.fromEntries(test.triples.flat().map(i => [i, real[i]!])) } : task;
}

/** Works on several things at a time. The first error ends the work on the others, and is thrown when they have ended. */
async function eachOf<T>(
  things: readonly T[],
  atATime: number,
  signal: AbortSignal,
  work: (thing: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const working = AbortSignal.any([signal, stop.signal]);
  const errors: unknown[] = [];
  const waiting = things.values();
  const lane = async () => {
    for (const thing of waiting) {
      if (working.aborted) return;
      await work(thing, working).catch(error => {
        errors.push(error);
        stop.abort();
      });
    }
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
}
