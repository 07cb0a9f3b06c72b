import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, platform, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Bank, bankShardName, finalizeBank, joinBanks, openBank } from './bank.ts';
import type { BankKind } from './bank-kinds.ts';
import type { Configuration } from './configuration.ts';
import { Drawing, type DrawingSettings } from './drawing.ts';
import { fullDisk } from './full-disk.ts';
import { is3d, type Subset } from './generate-options.ts';
import { foreignBankFolders, Inputs } from './inputs.ts';
import type { Progress } from './progress.ts';
import { RunFolder, type RunRecord } from './run-folder.ts';
import { runShards } from './run-shards.ts';
import { shapeGivers } from './shape-banks.ts';
import { type BankItem, readSidecar, type Sidecar } from './shard-writer.ts';
import type { Banks, Estimate, PlanContext, Stage } from './stage.ts';
import type { StageName } from './stage-names.ts';
import { STAGES } from './stages.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';
import { WorkerPool } from './worker-pool.ts';

/** What concerns the machine and not the data. */
export interface RunSettings {
  readonly out: string;
  readonly workers: number | undefined;
  readonly stages: readonly StageName[] | undefined;
  readonly range: readonly [number, number] | undefined;
  readonly fresh: boolean;
  readonly drawing: DrawingSettings;
  readonly command: readonly string[];
}

/** One stage as it ended. */
export interface StageOutcome {
  readonly stage: Stage;
  readonly asked: number;
  /** Whether as many as came were asked for, at least one. */
  readonly atMost: boolean;
  /** Samples in the run now, made by this process or before. */
  readonly samples: number;
  /** Samples this process made, and in what time. */
  readonly made: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly sidecars: readonly Sidecar[];
}

export interface Outcome {
  readonly folder: RunFolder;
  readonly stages: readonly StageOutcome[];
}

/** A stage of the plan that `--dry-run` prints. */
export interface PlannedStage {
  readonly stage: Stage;
  readonly estimate: Estimate;
}

/** What textures are found for, beside materials. */
const SUBSETS_2D: ReadonlySet<Subset> = new Set<Subset>(['shapes2d', 'textures2d']);

/**
 * The stages a configuration needs, in order. A bank that is another run's needs none, and one that nothing draws from is left
 * out. @throws UsageError when conditions name shapes that nothing gives.
 */
export async function stagesOf(configuration: Configuration): Promise<StageName[]> {
  const bankStage = async (
    kind: BankKind,
    source: string | null,
    extract: StageName,
    load: StageName,
  ): Promise<StageName[]> =>
    source === null ? [extract] : (await foreignBankFolders(configuration, kind)).size > 0 ? [] : [load];
  const { textureBank, materialBank, subsets } = configuration;
  const wants3d = subsets.some(is3d);
  const wants2d = subsets.some(subset => SUBSETS_2D.has(subset));
  const shapes = (await shapeGivers(configuration)).flatMap(({ stage, drawn }) => (stage && drawn ? [stage] : []));
  const projects = shapes.includes('project-shapes');
  return [
    ...shapes.filter(stage => stage !== 'project-shapes'),
    // 3D scenes show textures as materials only, which may be given.
    ...(wants2d || (wants3d && materialBank === null)
      ? await bankStage('textures', textureBank, 'extract-textures', 'import-textures')
      : []),
    ...(wants3d ? await bankStage('materials', materialBank, 'make-materials', 'import-materials') : []),
    ...(wants3d || projects ? (['prepare-meshes'] as const) : []),
    ...(wants3d ? (['prepare-environments'] as const) : []),
    ...(projects ? (['project-shapes'] as const) : []),
    ...subsets,
  ];
}

/** Makes what is missing of a run. @throws UsageError, or the environment's error; the run folder stays resumable. */
export async function generate(
  configuration: Configuration,
  settings: RunSettings,
  progress: Progress,
  signal: AbortSignal,
): Promise<Outcome> {
  const folder = new RunFolder(settings.out);
  if (settings.fresh) await folder.clear();
  else await folder.refuseForeign();
  await folder.refuseUnwritable();
  const inputs = new Inputs(configuration, folder, folder.path, progress, signal);
  const names = await stagesOf(configuration);
  await warnOfLeftOut(configuration, inputs, progress);
  const drawing = new Drawing(settings.drawing, folder, progress, signal);
  const wanted = names.filter(name => !settings.stages || settings.stages.includes(name)).map(name => STAGES[name]);
  const before = await folder.record();
  await folder.begin({
    ...record(settings.command, configuration),
    assets: before ? await inputs.digests(names) : await inputs.prepare(names),
  });
  signal.throwIfAborted();
  const unlock = await folder.lock(settings.range);
  const pool = new WorkerPool(configuration, settings.workers);
  try {
    const run = new Run(configuration, settings, folder, inputs, pool, drawing, progress, signal);
    if (await run.draws(wanted)) await drawing.check();
    for (const stage of wanted) await run.stage(stage);
    return { folder, stages: run.outcomes };
  } finally {
    await pool.close();
    await drawing.close();
    await unlock();
  }
}

/** Says which shapes are asked for and not made, since nothing would show them; what is named for them has to be there. */
async function warnOfLeftOut(configuration: Configuration, inputs: Inputs, progress: Progress): Promise<void> {
  for (const { stage, sources, drawn } of await shapeGivers(configuration)) {
    if (!stage || stage === 'extract-shapes' || drawn) continue;
    if (stage === 'outline-shapes') await inputs.check('semantic-images');
    if (stage === 'project-shapes') await inputs.check('mesh-files');
    progress.warn(`${stage} is left out: no condition of a 2D subset names ${sources.join(' or ')} shapes`);
  }
}

/** The plan of a run, without writing anything into its folder. */
export async function plan(
  configuration: Configuration,
  settings: RunSettings,
  progress: Progress,
  signal?: AbortSignal,
): Promise<PlannedStage[]> {
  const folder = new RunFolder(settings.out);
  if (!settings.fresh) await folder.refuseOther(plainConfiguration(configuration));
  const scratch = await mkdtemp(join(tmpdir(), 'shapemill-plan-')).catch(error => {
    throw fullDisk(error, tmpdir());
  });
  try {
    const lists = settings.fresh ? new RunFolder(scratch) : folder;
    const inputs = new Inputs(configuration, lists, scratch, progress, signal);
    await warnOfLeftOut(configuration, inputs, progress);
    const planned: PlannedStage[] = [];
    for (const name of await stagesOf(configuration)) {
      const stage = STAGES[name];
      const estimate = await stage.estimate({ configuration, index: index => inputs.index(index) });
      planned.push({ stage, estimate });
    }
    return planned;
  } catch (error) {
    throw fullDisk(error, tmpdir());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A run in progress: runs stages one after the other and keeps the banks they finish. */
class Run {
  readonly outcomes: StageOutcome[] = [];
  readonly #configuration: Configuration;
  readonly #settings: RunSettings;
  readonly #folder: RunFolder;
  readonly #inputs: Inputs;
  readonly #pool: WorkerPool;
  readonly #drawing: Drawing;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  /** The banks that stages of this process finished, and those that stages read: of shapes, all that are drawn in one. */
  readonly #made = new Map<BankKind, Bank>();
  readonly #banks: { -readonly [K in keyof Banks]: Banks[K] } = {};

  constructor(
    configuration: Configuration,
    settings: RunSettings,
    folder: RunFolder,
    inputs: Inputs,
    pool: WorkerPool,
    drawing: Drawing,
    progress: Progress,
    signal: AbortSignal,
  ) {
    this.#configuration = configuration;
    this.#settings = settings;
    this.#folder = folder;
    this.#inputs = inputs;
    this.#pool = pool;
    this.#drawing = drawing;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** Whether some of the stages have images to draw: a subset of none needs no browser. */
  async draws(stages: readonly Stage[]): Promise<boolean> {
    for (const stage of stages) {
      if (stage.draws && (await stage.estimate(this.#context())).samples > 0) return true;
    }
    return false;
  }

  async stage(stage: Stage): Promise<void> {
    for (const kind of stage.reads) this.#banks[kind] ??= await this.#bankFor(kind, stage);
    const context = this.#context();
    const limit = stage.fills ? stage.asked!(this.#configuration) : null;
    const atMost = stage.atMost?.(this.#configuration) ?? false;
    const expected = limit === null || atMost ? (await stage.estimate(context)).samples : limit;
    const { name, title, unit } = stage;
    this.#progress.begin({ name, title, unit, total: expected });
    const began = performance.now();
    let made = 0;
    const { samples, sidecars } = await runShards({
      stage,
      context,
      pool: this.#pool,
      host: stage.draws ? () => this.#drawing.host() : undefined,
      signal: this.#signal,
      range: this.#settings.range,
      enough: limit ?? Number.POSITIVE_INFINITY,
      events: {
        found: sidecar => this.#progress.found(sidecar.samples),
        made: result => {
          made += result.samples;
          this.#progress.advance(result.samples, result.faults);
        },
      },
    }).finally(() => this.#progress.end());
    if (stage.fills) {
      const bank = await this.#finalize(stage, stage.fills);
      if (bank) this.#made.set(stage.fills, bank);
    }
    this.outcomes.push({
      stage,
      asked: atMost ? Math.max(1, Math.min(samples, limit ?? samples)) : this.#asked(stage, samples, expected),
      atMost,
      samples: Math.min(samples, limit ?? samples),
      made,
      seconds: (performance.now() - began) / 1000,
      bytes: sidecars.reduce((sum, sidecar) => sum + sidecar.bytes, 0),
      sidecars,
    });
  }

  /** Where all there is was asked for, a file that cannot be used is a fault and no shortage. */
  #asked(stage: Stage, samples: number, expected: number): number {
    return stage.asked?.(this.#configuration) ?? (stage.fills ? samples : expected);
  }

  #context(): Omit<PlanContext, 'written'> {
    return {
      configuration: this.#configuration,
      folder: this.#folder,
      banks: this.#banks,
      index: name => this.#inputs.index(name),
      warn: message => this.#progress.warn(message),
    };
  }

  /** The bank that a stage reads. @throws UsageError when it is not finished. */
  async #bankFor(kind: BankKind, reader: Stage): Promise<Bank> {
    if (kind !== 'shapes') return this.#finishedBank(kind, reader);
    const banks: Bank[] = [];
    for (const giver of await shapeGivers(this.#configuration)) {
      if (giver.drawn) banks.push(await this.#finishedBank(giver.kind, reader));
    }
    return joinBanks('shapes', banks);
  }

  async #finishedBank(kind: BankKind, reader: Stage): Promise<Bank> {
    const bank =
      this.#made.get(kind) ?? (await this.#inputs.foreignBank(kind)) ?? (await openBank(this.#folder.bank(kind)));
    if (bank) return bank;
    throw new UsageError(`${reader.name} reads the ${kind} bank, which is not finished: run its stage first`);
  }

  /** Indexes the bank when its shards suffice: enough items without a gap, or all shards there can be. */
  async #finalize(stage: Stage, kind: BankKind): Promise<Bank | undefined> {
    const folder = this.#folder.bank(kind);
    const asked = stage.asked!(this.#configuration);
    const last = await stage.shardCount!(this.#context());
    const shards: [number, readonly BankItem[]][] = [];
    for (let shard = 0, items = 0; shard < last && items < (asked ?? Number.POSITIVE_INFINITY); shard++) {
      const sidecar = await readSidecar(join(folder, bankShardName(kind, shard)), stage.name, shard);
      if (!sidecar) {
        this.#progress.info(
          `${kind} bank: shard ${shard} is not there yet; the process that completes it finishes the bank`,
        );
        return undefined;
      }
      shards.push([shard, sidecar.items ?? []]);
      items += sidecar.samples;
    }
    return finalizeBank(folder, kind, asked, shards);
  }
}

/** A configuration as run.json holds it. */
const plainConfiguration = (configuration: Configuration): RunRecord['configuration'] =>
  JSON.parse(JSON.stringify(configuration));

function record(command: readonly string[], configuration: Configuration): Omit<RunRecord, 'assets'> {
  return {
    shapemill: VERSION,
    command: [...command],
    started: new Date().toISOString(),
    configuration: plainConfiguration(configuration),
    platform: { arch: process.arch, libvips: sharp.versions.vips!, sharp: sharp.versions.sharp! },
    machine: { node: process.version, os: `${platform()} ${release()}`, cores: availableParallelism() },
  };
}
