import { z } from 'zod';
import { didYouMean, invalidValue, UsageError } from './usage-error.ts';

/**
 * One command-line option, complete: its help, its check and its recipe key (the same name) come from here alone.
 * `expects` finishes the sentence "expected …" of its error message.
 */
export interface Option<T = unknown> {
  readonly type: 'number' | 'text' | 'list' | 'switch';
  readonly schema: z.ZodType<T>;
  readonly expects: string;
  readonly help: string;
  /** Shown as the default in the help; the value itself is set where it is used when it depends on others. */
  readonly default?: string;
  readonly group: string;
  /** The values a misspelt one is compared with. */
  readonly choices?: readonly string[];
  /** Whether a recipe file may set it: what shapes the data may, what concerns the machine may not. */
  readonly inRecipe?: boolean;
}
export type OptionTable = Readonly<Record<string, Option>>;
/** Checked values by option name, as far as they were given. */
export type OptionValues<Table extends OptionTable> = { [K in keyof Table]?: z.infer<Table[K]['schema']> };

type Details = Pick<Option, 'help' | 'group'> & Partial<Pick<Option, 'default' | 'inRecipe'>>;

/** A whole number in [low, high]. */
export function wholeNumber(low: number, high: number, details: Details): Option<number> {
  const most = high === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${high}`;
  return {
    type: 'number',
    schema: z.int().min(low).max(high),
    expects: `a whole number of at least ${low}${most}`,
    ...details,
  };
}

/** A number in [low, high]. */
export function number(low: number, high: number, details: Details): Option<number> {
  return {
    type: 'number',
    schema: z.number().min(low).max(high),
    expects: `a number from ${low} to ${high}`,
    ...details,
  };
}

export function text(expects: string, details: Details): Option<string> {
  return { type: 'text', schema: z.string().min(1), expects, ...details };
}

/** One or more values: `--photos a b` or `--photos a --photos b`. */
export function list(expects: string, details: Details): Option<string[]> {
  return { type: 'list', schema: z.array(z.string().min(1)).min(1), expects, ...details };
}

/** One or more of a closed set: also `--aov depth,normal`. */
export function listOf<const C extends string>(choices: readonly C[], details: Details): Option<C[]> {
  return {
    type: 'list',
    schema: z.array(z.enum(choices)).min(1),
    expects: `one or more of ${choices.join(', ')}`,
    choices,
    ...details,
  };
}

/** One of a closed set. */
export function choice<const C extends string>(choices: readonly C[], details: Details): Option<C> {
  return { type: 'text', schema: z.enum(choices), expects: `one of ${choices.join(', ')}`, choices, ...details };
}

export function toggle(details: Details): Option<boolean> {
  return { type: 'switch', schema: z.boolean(), expects: 'true or false', ...details };
}

/**
 * Checks raw values against their options.
 * @param prefix put before names in messages: `--` on the command line, empty in a recipe.
 * @throws UsageError naming the option, what was expected and what came.
 */
export function checkValues<Table extends OptionTable>(
  table: Table,
  raw: Readonly<Record<string, unknown>>,
  prefix: string,
): OptionValues<Table> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    const option = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!option) throw new UsageError(`unknown option ${prefix}${name}${didYouMean(name, Object.keys(table))}`);
    const typed = option.type === 'number' && typeof value === 'string' ? numberFrom(value) : value;
    const plain = option.type === 'list' ? listed(typed, option.choices) : typed;
    const parsed = option.schema.safeParse(plain);
    if (!parsed.success) {
      const { message } = invalidValue(prefix + name, option.expects, value);
      throw new UsageError(message + misspelling(plain, option.choices ?? []));
    }
    values[name] = parsed.data;
  }
  return values as OptionValues<Table>;
}

/** `12`, `1e3`, `350_000` and `350,000` are numbers; anything else stays text and fails its check. */
function numberFrom(value: string): number | string {
  const plain = value.replace(/(?<=\d)[_,](?=\d{3}(?!\d))/g, '');
  return plain.trim() !== '' && Number.isFinite(Number(plain)) ? Number(plain) : value;
}

/** One value is a list of one. Names of a closed set may be joined by commas: `depth,normal`. */
function listed(value: unknown, choices: Option['choices']): unknown {
  const values = typeof value === 'string' ? [value] : value;
  if (!choices || !Array.isArray(values)) return values;
  return values.flatMap(each => (typeof each === 'string' ? each.split(',') : [each]));
}

function misspelling(value: unknown, choices: readonly string[]): string {
  const wrong = [value].flat().find(v => typeof v === 'string' && !choices.includes(v));
  return typeof wrong === 'string' ? didYouMean(wrong, choices) : '';
}
