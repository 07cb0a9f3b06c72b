import type { CommandModule } from 'yargs';
import { writeCard } from '../pipeline/card/write-card.ts';
import type { Fault } from '../pipeline/faults.ts';
import { fullDisk } from '../pipeline/full-disk.ts';
import { PANEL_OPTIONS } from '../pipeline/panels/panel-options.ts';
import { type ConditionOutcome, makePanels, type PanelSettings } from '../pipeline/panels/panels.ts';
import { makeProgress } from '../pipeline/progress.ts';
import { RunFolder, shownPath } from '../pipeline/run-folder.ts';
import { unlessAborted } from '../pipeline/unless-aborted.ts';
import { UsageError } from '../pipeline/usage-error.ts';
import { type ConditionName, PANEL_CONDITION_NAMES, REAL_CONDITION } from '../scenes/panel-conditions.ts';
import { addOptions, checkSwitches, readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';
import { endInterrupted, interruptible } from './interruptible.ts';
import { table } from './table.ts';

export const panelsCommand: CommandModule = {
  command: 'panels [run]',
  describe: 'make panel tests from the test split of a run: which of B, C and D shows what A shows',
  builder: argv =>
    addOptions(argv.positional('run', { type: 'string', describe: 'run folder' }), PANEL_OPTIONS)
      .example('$0 panels out/last-40-s1 --per-condition 500', 'tests of all conditions that the run has items for')
      .example('$0 panels out/last-40-s1 --conditions real --real photographs', 'tests from photographs of objects'),
  handler: async parsed => {
    checkSwitches(process.argv.slice(2), PANEL_OPTIONS);
    const flags = readOptions(PANEL_OPTIONS, parsed, ['run']);
    if (parsed.run === undefined) throw new UsageError('panels: expected a run folder, such as out/last-40-s1');
    const conditions = new Set<ConditionName>(flags.conditions ?? PANEL_CONDITION_NAMES);
    if (conditions.has(REAL_CONDITION) && flags.real === undefined) {
      throw new UsageError('--conditions real: expected photographs, give --real DIR');
    }
    if (flags.real !== undefined) conditions.add(REAL_CONDITION);
    await run(String(parsed.run), {
      conditions: [...conditions],
      perCondition: flags['per-condition'] ?? 500,
      seed: flags.seed,
      real: flags.real,
      workers: flags.workers,
      drawing: { browser: flags.browser, gl: flags.gl, pages: flags.pages, requireGpu: flags['require-gpu'] ?? false },
    });
  },
};

async function run(path: string, settings: PanelSettings): Promise<void> {
  const { signal, stopListening } = interruptible();
  try {
    const progress = makeProgress();
    const outcomes = await makePanels(path, settings, progress, signal);
    const onLabels = (labels: number) => progress.count('labels read for the dataset card', labels);
    await unlessAborted(writeCard(new RunFolder(path), signal, onLabels), signal);
    printSummary(path, outcomes);
    const short = outcomes.some(({ asked, tests }) => tests < asked);
    process.exitCode = short ? ExitCode.fewerThanAsked : ExitCode.done;
  } catch (error) {
    endInterrupted(fullDisk(error, shownPath(new RunFolder(path).path)), signal);
  } finally {
    stopListening();
  }
}

const SHOWN_FAULTS = 5;

/** Several tests may have met the same fault. */
const reasons = (faults: readonly Fault[]) => new Map(faults.map(({ item, reason }) => [item, reason]));

function printSummary(path: string, outcomes: readonly ConditionOutcome[]): void {
  console.log(`\n${shownPath(new RunFolder(path).at('panels'))}`);
  const rows = outcomes.map(({ condition, asked, tests, instances, made, seconds, faults }) => [
    condition,
    `${tests} of ${asked} tests`,
    `${instances} instances`,
    made > 0 ? `${(made / seconds).toFixed(1)}/s` : tests > 0 ? 'made earlier' : '',
    `${reasons(faults).size} faults`,
  ]);
  for (const line of table(rows)) console.log(`  ${line}`);
  const faults = [...reasons(outcomes.flatMap(outcome => outcome.faults))];
  for (const [item, reason] of faults.slice(0, SHOWN_FAULTS)) console.log(`  skipped ${item}: ${reason}`);
  if (faults.length > SHOWN_FAULTS) console.log(`  … and ${faults.length - SHOWN_FAULTS} more`);
  const short = new Map<string, string[]>();
  for (const { condition, shortage } of outcomes) {
    if (shortage) short.set(shortage, [...(short.get(shortage) ?? []), condition]);
  }
  for (const [shortage, conditions] of short) console.log(`  fewer than asked: ${shortage} (${conditions.join(', ')})`);
}
