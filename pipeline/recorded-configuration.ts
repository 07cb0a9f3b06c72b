import { SHAPE_CONDITIONS, TEXTURE_CONDITIONS } from '../scenes/conditions.ts';
import { type Configuration, configure } from './configuration.ts';
import type { RunFolder, RunRecord } from './run-folder.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

/**
 * Reads how a run was made. A run may be older than an option: it was then made as the option's default says, so that stands
 * for it, and `warn` is told.
 * @throws UsageError when there is no run, or its record has what this version does not know.
 */
export async function recordedRun(
  folder: RunFolder,
  warn: (message: string) => void,
): Promise<{ record: RunRecord; configuration: Configuration }> {
  const record = await folder.record();
  if (!record) throw new UsageError(`expected a run folder, found no run.json in ${folder.path}`);
  const defaults = await configure({});
  const added: string[] = [];
  const refuse = (what: string): never => {
    throw new UsageError(
      `${folder.at('run.json')}: ${what}. It was recorded by shapemill ${record.shapemill}, this is ${VERSION}: use the version that made the run, or make it anew`,
    );
  };
  const laid = lay(record.configuration, defaults as unknown as Mapping, '', added);
  if (typeof laid === 'string') return refuse(laid);
  const { shapes2d, textures2d } = laid as unknown as Configuration;
  const unknown = [
    ...shapes2d.conditions.filter(name => typeof name === 'string' && !Object.hasOwn(SHAPE_CONDITIONS, name)),
    ...textures2d.conditions.filter(name => typeof name === 'string' && !Object.hasOwn(TEXTURE_CONDITIONS, name)),
  ];
  if (unknown.length > 0) refuse(`unknown condition "${unknown[0]}"`);
  if (added.length > 0) {
    warn(
      `the run was recorded without ${added.slice(0, 4).join(', ')}${added.length > 4 ? ' …' : ''}: read as these defaults`,
    );
  }
  return { record, configuration: laid as unknown as Configuration };
}

type Mapping = Readonly<Record<string, unknown>>;

/** Recorded values over defaults, in mappings too; in words, the first that cannot be one. @param added takes the gaps. */
function lay(recorded: Mapping, defaults: Mapping, within: string, added: string[]): Mapping | string {
  const laid: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(recorded)) {
    const known = defaults[name];
    if (!Object.hasOwn(defaults, name)) return `unknown name "${within}${name}"`;
    if (isMapping(known) && isMapping(value)) {
      const inner = lay(value, known, `${within}${name}.`, added);
      if (typeof inner === 'string') return inner;
      laid[name] = inner;
    } else if (!mayBe(value, known)) {
      return `"${within}${name}": expected something like ${JSON.stringify(known)}, got ${JSON.stringify(value)}`;
    } else laid[name] = value;
  }
  for (const [name, value] of Object.entries(defaults)) {
    if (!Object.hasOwn(recorded, name)) added.push(`${within}${name}: ${JSON.stringify(value)}`);
  }
  return laid;
}

/** Whether a value has the form of a default. Where that is nothing, anything may be; a word such as "auto" stands for numbers. */
function mayBe(value: unknown, known: unknown): boolean {
  if (known === null) return true;
  if (Array.isArray(known) || isMapping(known))
    return Array.isArray(value) === Array.isArray(known) && typeof value === 'object' && value !== null;
  return typeof value === typeof known || (typeof known === 'string' && typeof value === 'number');
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
