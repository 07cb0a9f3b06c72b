import type { Argv, Options } from 'yargs';
import { checkValues, type Option, type OptionTable, type OptionValues } from '../pipeline/options.ts';
import { didYouMean, invalidValue, UsageError } from '../pipeline/usage-error.ts';
import { behindDashes, type Call, keptByNpm } from './npm-options.ts';

/** Gives yargs a table of options. Values arrive as text and are checked by {@link readOptions}, so messages read alike. */
export function addOptions<T>(argv: Argv<T>, table: OptionTable): Argv<T> {
  for (const [name, option] of Object.entries(table)) argv.option(name, yargsOption(option));
  return argv;
}

function yargsOption(option: Option): Options {
  const { help, group, choices, expects } = option;
  // Not as yargs' choices: it would check them itself, with messages of its own, and knows no lists with commas.
  const describe = choices ? `${help} (${expects})` : help;
  const common = { describe, group: `${group}:`, ...(option.default && { defaultDescription: option.default }) };
  switch (option.type) {
    case 'switch':
      return { ...common, type: 'boolean' };
    case 'list':
      return { ...common, type: 'string', array: true };
    default:
      return { ...common, type: 'string', requiresArg: true };
  }
}

/** yargs takes whatever stands behind `--switch=` for false unless it is "true"; that must not start a run. */
export function checkSwitches(words: readonly string[], table: OptionTable): void {
  for (const word of words) {
    const [, name, value] = /^--(?:no-)?([\w-]+)=(.*)$/.exec(word) ?? [];
    if (name === undefined || !Object.hasOwn(table, name) || table[name]!.type !== 'switch') continue;
    if (value !== 'true' && value !== 'false') throw invalidValue(`--${name}`, table[name]!.expects, value);
  }
}

/** Names that yargs puts into every result. */
const YARGS_NAMES = new Set(['_', '$0', 'help', 'h', 'version']);

/**
 * Checks what yargs parsed against the table.
 * @param positionals names of the command's positional arguments.
 * @throws UsageError for unknown options (with the nearest name), leftover words, wrong values, and options that npm kept for itself.
 */
export function readOptions<Table extends OptionTable>(
  table: Table,
  parsed: Readonly<Record<string, unknown>>,
  positionals: readonly string[] = [],
  call: Call = { words: process.argv.slice(2), env: process.env },
): OptionValues<Table> {
  const kept = keptByNpm(call, table, positionals.length);
  if (kept !== undefined) throw new UsageError(kept);
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (YARGS_NAMES.has(name) || positionals.includes(name) || value === undefined) continue;
    if (!Object.hasOwn(table, name)) {
      throw new UsageError(`unknown option --${name}${didYouMean(name, Object.keys(table))}; see --help`);
    }
    if (table[name]!.type !== 'list' && Array.isArray(value)) {
      throw new UsageError(`--${name}: expected to be given once, got it ${value.length} times`);
    }
    given[name] = value;
  }
  const leftover = (parsed._ as (string | number)[]).slice(1);
  if (leftover.length > 0) {
    throw new UsageError(`unexpected "${leftover.join(' ')}"; ${behindDashes(call, table, positionals.length)}`);
  }
  return checkValues(table, given, '--');
}

/** yargs' own complaints (missing arguments, unknown commands) as usage errors. */
export function failUsage(message: string | undefined, error: Error | undefined): never {
  if (error && error.name !== 'YError') throw error;
  throw new UsageError(message ?? 'wrong usage; see --help');
}
