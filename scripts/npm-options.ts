import { checkValues, type OptionTable } from '../pipeline/options.ts';

/** How a command was called: its words, the command first, and the environment. */
export interface Call {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Options that npm has, too: what the environment tells of them may come from its settings. */
const OF_NPM: ReadonlySet<string> = new Set(['browser']);

/**
 * The script of `npm run SCRIPT` that the command was called by. npm keeps for itself what options do not stand behind `--`: of
 * `npm run panels RUN --per-condition 5` it passes on `panels RUN 5`.
 */
function npmScript({ env }: Call): string | undefined {
  const { npm_command: command, npm_lifecycle_event: script, npm_lifecycle_script: line } = env;
  return command === 'run' && line?.includes('shapemill') ? script : undefined;
}

/**
 * What is wrong with a call whose options npm kept: the kept ones are in the environment, with their values where these were joined on by `=`.
 * @param positionals how many words beside options the command takes.
 * @returns undefined when it kept none.
 */
export function keptByNpm(call: Call, table: OptionTable, positionals: number): string | undefined {
  const script = npmScript(call);
  if (script === undefined) return undefined;
  const kept: [name: string, value: string][] = [];
  for (const name of Object.keys(table)) {
    const value = call.env[`npm_config_${name.replaceAll('-', '_')}`];
    if (value && !OF_NPM.has(name)) kept.push([name, value]);
  }
  if (kept.length === 0) return undefined;
  const names = kept.map(([name]) => `--${name}`).join(' and ');
  return `npm kept ${names} for itself: options stand behind "--". Give: ${lineOf(script, call, table, positionals, kept)}`;
}

/**
 * What to do about words too many, in a call by npm without options: npm leaves no trace of an option whose name begins one of its own
 * (`--format`) but its value.
 */
export function behindDashes(call: Call, table: OptionTable, positionals: number): string {
  const script = npmScript(call);
  if (script === undefined || call.words.some(isOption)) return 'see --help';
  return `options stand behind "--": ${lineOf(script, call, table, positionals, [])}`;
}

const isOption = (word: string) => word.startsWith('-');

/** The line that should have been given, as far as it can be told; `…` where a value is any of several words. */
function lineOf(
  script: string,
  { words }: Call,
  table: OptionTable,
  positionals: number,
  kept: readonly (readonly [name: string, value: string])[],
): string {
  const first = words.findIndex(isOption);
  const plain = words.slice(1, first < 0 ? undefined : first);
  const options = first < 0 ? [] : words.slice(first);
  // npm says "true" of an option whose value, if any, is the next word; in which order options stood is lost.
  const open = kept.filter(([name, value]) => value === 'true' && table[name]!.type !== 'switch');
  const found = kept.flatMap(([name, value]) => {
    if (table[name]!.type === 'switch') return [`--${name}`];
    if (value !== 'true') return [`--${name}`, value];
    return [`--${name}`, ...(open.length === 1 ? takeValues(plain, name, table, positionals) : ['…'])];
  });
  for (const word of kept.length === 0 ? [...plain] : []) {
    const name = Object.keys(table).find(each => table[each]!.choices?.includes(word));
    if (name === undefined) continue;
    plain.splice(plain.indexOf(word), 1);
    found.push(`--${name}`, word);
  }
  const given = [...plain.slice(0, positionals), ...found, ...options].map(quoted);
  return ['npm run', script, '--', ...given].join(' ');
}

/** Takes the values of an option from the words: of a list all that are too many, of others the last that fits. */
function takeValues(plain: string[], name: string, table: OptionTable, positionals: number): string[] {
  if (table[name]!.type === 'list' && plain.length > positionals) return plain.splice(positionals);
  const at = plain.findLastIndex(word => fits(table, name, word));
  return at < 0 ? ['…'] : plain.splice(at, 1);
}

function fits(table: OptionTable, name: string, word: string): boolean {
  try {
    checkValues(table, { [name]: word }, '');
    return true;
  } catch {
    return false;
  }
}

const quoted = (word: string) => (/^[\w./:=,@+…-]+$/.test(word) ? word : JSON.stringify(word));
