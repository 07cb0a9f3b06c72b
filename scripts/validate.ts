import type { CommandModule } from 'yargs';
import { type OptionTable, type OptionValues, toggle, wholeNumber } from '../pipeline/options.ts';
import { bytesText, duration, makeProgress } from '../pipeline/progress.ts';
import { RunFolder, shownPath } from '../pipeline/run-folder.ts';
import { UsageError } from '../pipeline/usage-error.ts';
import { CHECKS, type Validation, validate } from '../pipeline/validate/validate.ts';
import { addOptions, checkSwitches, readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';
import { interruptible } from './interruptible.ts';

const group = 'What to show';
const VALIDATE_OPTIONS = {
  shown: wholeNumber(1, 1_000_000, { group, default: '5', help: 'findings of a kind that are listed' }),
  json: toggle({ group, help: 'the list as JSON' }),
} satisfies OptionTable;

export const validateCommand: CommandModule = {
  command: 'validate [run]',
  describe:
    'check a run from the outside: shards, labels, images, masks, banks, splits, card; 1 when something is wrong',
  builder: argv =>
    addOptions(argv.positional('run', { type: 'string', describe: 'run folder' }), VALIDATE_OPTIONS)
      .example('$0 validate out/last-40-s1', 'what is wrong with a run, if anything')
      .example(
        '$0 validate out/last-40-s1 --json > findings.json',
        'the same for programs (with npm: npm run -s validate -- …)',
      ),
  handler: async parsed => {
    checkSwitches(process.argv.slice(2), VALIDATE_OPTIONS);
    const flags: OptionValues<typeof VALIDATE_OPTIONS> = readOptions(VALIDATE_OPTIONS, parsed, ['run']);
    if (parsed.run === undefined) throw new UsageError('validate: expected a run folder, such as out/last-40-s1');
    const path = String(parsed.run);
    const { signal, stopListening } = interruptible();
    const began = performance.now();
    try {
      const validation = await validate(path, flags.shown ?? 5, makeProgress(), signal);
      if (flags.json) console.log(JSON.stringify(validation, null, 2));
      else print(path, validation, (performance.now() - began) / 1000);
      process.exitCode = validation.errors > 0 ? ExitCode.failed : ExitCode.done;
    } catch (error) {
      if (!signal.aborted) throw error;
      console.error('\nshapemill: interrupted; validate changes nothing, and begins anew');
      process.exit(ExitCode.interrupted);
    } finally {
      stopListening();
    }
  },
};

function print(
  path: string,
  { shards, samples, bytes, errors, warnings, findings }: Validation,
  seconds: number,
): void {
  console.log(`\n${shownPath(new RunFolder(path).path)}`);
  for (const { name, holds } of CHECKS) {
    const own = findings.filter(({ check }) => check === name);
    const mark =
      own.length === 0 ? 'ok     ' : own.some(({ severity }) => severity === 'error') ? 'ERROR  ' : 'warning';
    console.log(`  ${mark}  ${name.padEnd(12)}  ${holds}`);
    for (const { severity, kind, count, examples } of own) {
      console.log(`             ${severity}: ${kind}${count > 1 ? ` (${count} times)` : ''}`);
      for (const { file, key, detail } of examples) {
        console.log(`               ${[file, key].filter(Boolean).join(' ')}${detail ? `: ${detail}` : ''}`);
      }
      if (count > examples.length) console.log(`               … and ${count - examples.length} more (--shown)`);
    }
  }
  const what = `${shards} shards, ${samples} samples and bank items, ${bytesText(bytes)}, in ${duration(seconds)}`;
  console.log(`  ${numbered(errors, 'error')}, ${numbered(warnings, 'warning')} in ${what}`);
}

const numbered = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
