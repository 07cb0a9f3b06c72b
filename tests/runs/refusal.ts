import { printable, UsageError } from '../../pipeline/usage-error.ts';
import { assetsCommand } from '../../scripts/assets.ts';
import { exportCommand } from '../../scripts/export.ts';
import { generateCommand } from '../../scripts/generate.ts';
import { panelsCommand } from '../../scripts/panels.ts';
import { parser } from '../../scripts/parser.ts';
import { validateCommand } from '../../scripts/validate.ts';

const COMMANDS = [generateCommand, panelsCommand, exportCommand, validateCommand, assetsCommand];

/**
 * What the command line says when it refuses: called within the process of the tests, as `scripts/shapemill.ts` calls it in one of
 * its own, where this is one line and exit code 2 (`tests/scripts/command-line.test.ts`).
 * @throws whatever else it throws; Error where it does not refuse.
 */
export async function refusal(...words: string[]): Promise<string> {
  const { argv } = process;
  process.argv = [...argv.slice(0, 2), ...words];
  try {
    await parser(words, COMMANDS).parseAsync();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return printable(error.message);
  } finally {
    process.argv = argv;
  }
  throw new Error(`expected a refusal of ${words.join(' ')}`);
}
