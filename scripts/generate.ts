import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { CARD, writeCard } from '../pipeline/card/write-card.ts';
import { type Configuration, configure } from '../pipeline/configuration.ts';
import { freeBytes } from '../pipeline/free-bytes.ts';
import { fullDisk } from '../pipeline/full-disk.ts';
import {
  generate,
  type Outcome,
  type PlannedStage,
  plan,
  type RunSettings,
  type StageOutcome,
} from '../pipeline/generate.ts';
import { GENERATE_OPTIONS } from '../pipeline/generate-options.ts';
import { writePreview } from '../pipeline/preview.ts';
import { bytesText, duration, makeProgress } from '../pipeline/progress.ts';
import { shownPath } from '../pipeline/run-folder.ts';
import type { StageName } from '../pipeline/stage-names.ts';
import { unlessAborted } from '../pipeline/unless-aborted.ts';
import { printable } from '../pipeline/usage-error.ts';
import { addOptions, checkSwitches, readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';
import { endInterrupted, interruptible } from './interruptible.ts';
import { table } from './table.ts';

export const generateCommand: CommandModule = {
  command: 'generate',
  describe: 'make a dataset: shape and texture banks, image shards, contact sheets',
  builder: argv =>
    addOptions(argv, GENERATE_OPTIONS)
      .example('$0 generate --shapes 40', 'a small run from the built-in photographs')
      .example('$0 generate --shapes 350000 --photos /data/open-images', 'the main job')
      .example('$0 generate --shapes 5000 --photos "/data/**/*.jpg" --dry-run', 'what it would take')
      .example('$0 generate --recipe my.yaml --seed 7 --out out/mine', 'own ranges and conditions'),
  handler: async parsed => {
    checkSwitches(process.argv.slice(2), GENERATE_OPTIONS);
    const flags = readOptions(GENERATE_OPTIONS, parsed);
    const configuration = await configure(flags);
    const settings: RunSettings = {
      out: flags.out ?? join('out', `${configuration.recipe}-${configuration.shapes}-s${configuration.seed}`),
      workers: flags.workers,
      stages: flags.stage,
      range: flags['shard-range'],
      fresh: flags.fresh ?? false,
      drawing: { browser: flags.browser, gl: flags.gl, pages: flags.pages, requireGpu: flags['require-gpu'] ?? false },
      command: ['shapemill', ...process.argv.slice(2)],
    };
    if (flags['dry-run']) await printPlan(configuration, settings);
    else await run(configuration, settings);
  },
};

async function run(configuration: Configuration, settings: RunSettings): Promise<void> {
  const began = performance.now();
  const { signal, stopListening } = interruptible();
  try {
    const progress = makeProgress();
    const outcome = await generate(configuration, settings, progress, signal);
    const onSheet = (_: unknown, written: number) => progress.count('contact sheets drawn', written);
    await unlessAborted(writePreview(outcome.folder, onSheet), signal);
    const onLabels = (labels: number) => progress.count('labels read for the dataset card', labels);
    await unlessAborted(writeCard(outcome.folder, signal, onLabels), signal);
    printSummary(outcome, (performance.now() - began) / 1000, settings.range === undefined);
    const short = outcome.stages.some(({ asked, samples }) => samples < asked);
    process.exitCode = short && !settings.range ? ExitCode.fewerThanAsked : ExitCode.done;
  } catch (error) {
    endInterrupted(fullDisk(error, shownPath(settings.out)), signal);
  } finally {
    stopListening();
  }
}

/** @param whole whether all shards are this process's; else what is missing may be another's to make. */
function printSummary({ folder, stages }: Outcome, seconds: number, whole: boolean): void {
  const bytes = stages.reduce((sum, stage) => sum + stage.bytes, 0);
  console.log(`\n${shownPath(folder.path)}  ${bytesText(bytes)} in ${duration(seconds)}`);
  const rows = stages.map(({ stage, made, seconds: took, bytes: size, samples, ...outcome }) => [
    stage.title,
    yieldText({ stage, samples, ...outcome }),
    shards(outcome.sidecars.length),
    bytesText(size),
    made > 0 ? `${(made / took).toFixed(1)}/s` : samples > 0 ? 'made earlier' : '',
    `${new Set(outcome.sidecars.flatMap(({ faults }) => faults.map(({ item }) => item))).size} faults`,
  ]);
  for (const line of table(rows)) console.log(`  ${line}`);
  printFaults({ folder, stages });
  if (whole) printShortages(stages);
  for (const { sidecars } of stages) printLeftOut(sidecars);
  console.log(`  pictures: ${shownPath(folder.at('report', 'index.html'))}`);
  console.log(`  dataset card: ${shownPath(folder.at(CARD))}`);
}

function printShortages(stages: Outcome['stages']): void {
  for (const { stage, asked, atMost, samples, sidecars } of stages) {
    const looks = looksOf(sidecars);
    if (samples >= asked || (!stage.fills && looks === 0)) continue;
    const remedy = REMEDIES[stage.name] ?? 'the folder holds no more';
    if (atMost) console.log(`  no ${stage.title}: ${counted(looks, lookedAt(stage))} gave none. ${remedy}`);
    else console.log(`  fewer ${stage.unit} than asked: ${looks} looks gave ${samples} of ${asked}. ${remedy}`);
  }
}

/** What helps where a bank has fewer items than asked; nothing where a folder was imported. */
const REMEDIES: Partial<Record<StageName, string>> = {
  'extract-shapes': 'More photos help (--photos)',
  'extract-textures': 'More photos help (--photos)',
  'make-materials': 'More photos help (--photos)',
  'outline-shapes': 'More pictures help (--semantic)',
  'project-shapes': 'Other meshes help (--meshes)',
  silhouettes: 'More pictures help (--segmentation)',
};

/** "12 of 20"; where at most so many were wanted, or pictures are counted, what they came from. */
function yieldText({
  stage,
  asked,
  atMost,
  samples,
  sidecars,
}: Pick<StageOutcome, 'stage' | 'asked' | 'atMost' | 'samples' | 'sidecars'>) {
  const pictures = sum(sidecars, 'pictures');
  if (atMost) return `${samples} from ${counted(looksOf(sidecars), lookedAt(stage))}`;
  return `${samples} of ${asked}${pictures > 0 ? `, from ${counted(pictures, 'picture')}` : ''}`;
}

/** What a stage looks at. */
const lookedAt = ({ unit }: StageOutcome['stage']) => (unit === 'materials' ? 'set' : 'picture');

/** How many inputs were looked at, as far as a stage counts them. */
const looksOf = (sidecars: StageOutcome['sidecars']) => sum(sidecars, 'looks') + sum(sidecars, 'pictures');

const sum = (sidecars: StageOutcome['sidecars'], name: string) =>
  sidecars.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);

/** Counts of pictures of segmentation data that gave nothing, and the words for it. */
const LEFT_OUT = {
  'picture-without-object': 'without any object',
  'picture-too-small': 'with none of enough pixels',
  'picture-too-thin': 'with none that is half a pixel thick in its silhouette',
} as const;

function printLeftOut(sidecars: StageOutcome['sidecars']): void {
  const reasons: string[] = [];
  let pictures = 0;
  for (const [name, words] of Object.entries(LEFT_OUT)) {
    const count = sum(sidecars, name);
    if (count > 0) reasons.push(`${count} ${words}`);
    pictures += count;
  }
  if (pictures > 0) console.log(`  pictures that gave no silhouette: ${pictures} (${reasons.join(', ')})`);
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const shards = (count: number) => counted(count, 'shard');

const SHOWN_FAULTS = 5;

function printFaults({ stages }: Outcome): void {
  const faults = new Map<string, string>();
  for (const { sidecars } of stages)
    for (const s of sidecars) for (const { item, reason } of s.faults) faults.set(item, reason);
  for (const [item, reason] of [...faults].slice(0, SHOWN_FAULTS))
    console.log(`  skipped ${printable(`${shownPath(item)}: ${reason}`)}`);
  if (faults.size > SHOWN_FAULTS)
    console.log(`  … and ${faults.size - SHOWN_FAULTS} more, listed in the JSON beside each shard`);
}

async function printPlan(configuration: Configuration, settings: RunSettings): Promise<void> {
  const { signal, stopListening } = interruptible();
  const stages = await plan(configuration, settings, makeProgress(), signal)
    .catch(error => endInterrupted(error, signal))
    .finally(stopListening);
  const workers = settings.workers ?? availableParallelism();
  const bytes = (stage: PlannedStage) => stage.estimate.samples * stage.estimate.bytesPerSample;
  const seconds = (stage: PlannedStage) => (stage.estimate.samples * stage.estimate.secondsPerSample) / workers;
  console.log(`plan of ${shownPath(settings.out)} (nothing is written)`);
  const rows = stages.map(planned => [
    planned.stage.title,
    `${planned.estimate.samples} ${planned.stage.unit}`,
    shards(planned.estimate.shards),
    `about ${bytesText(bytes(planned))}`,
    `about ${duration(seconds(planned))}`,
  ]);
  for (const line of table(rows)) console.log(`  ${line}`);
  const total = stages.reduce((sum, stage) => sum + bytes(stage), 0);
  const time = stages.reduce((sum, stage) => sum + seconds(stage), 0);
  const free = await freeBytes(settings.out);
  console.log(
    `  disk about ${bytesText(total)} of ${bytesText(free)} free, time about ${duration(time)} on ${workers} workers`,
  );
  for (const { stage, estimate } of stages) {
    if (estimate.warning) console.log(`  warning: ${stage.title}: ${estimate.warning}`);
  }
  if (total > free) console.log('  warning: the disk is too small for this');
}
