import { createRequire } from 'node:module';
import type { CommandModule } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { DamagedFile, InputFault } from '../pipeline/faults.ts';
import { FullDisk } from '../pipeline/full-disk.ts';
import { printable, UsageError } from '../pipeline/usage-error.ts';
import { ExitCode } from './exit-code.ts';
import { parser } from './parser.ts';

/** The door hooks `require`; `import()` would not find TypeScript. */
const load = createRequire(import.meta.url);

/** In the order of the help. */
const COMMANDS = ['generate', 'preview', 'panels', 'export', 'card', 'validate', 'assets', 'doctor'];

/**
 * The command that the first word names; where it names none, as for the help, all of them. A command loads what it needs and not
 * what the others need, which would cost a fifth of a second.
 */
function namedCommands(words: readonly string[]): CommandModule[] {
  const named = COMMANDS.filter(name => name === words[0]);
  return (named.length > 0 ? named : COMMANDS).map(name => {
    const file: Record<string, CommandModule> = load(`./${name}.ts`);
    return file[`${name}Command`]!;
  });
}

/** The command line: parses, calls, and turns errors into one line and an exit code. */
async function main(): Promise<void> {
  const words = hideBin(process.argv);
  await parser(words, namedCommands(words)).parseAsync();
}

// Whoever reads along may leave (`| head -1`); that ends no run.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  });
}

main().catch(error => {
  if (error instanceof UsageError) {
    console.error(`shapemill: ${printable(error.message)}`);
    process.exitCode = ExitCode.usage;
  } else {
    console.error(`shapemill: ${describe(error)}`);
    process.exitCode = ExitCode.failed;
  }
});

/** What went wrong, in one line where the cause is known; with the stack where it is a fault of the program. */
function describe(error: unknown): string {
  const known = [DamagedFile, FullDisk, InputFault].some(kind => error instanceof kind);
  if (known) return printable((error as Error).message);
  const { code, path, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return 'the disk is full. Make room and run the same command again: it continues';
  if (code === 'EDQUOT') return 'the disk quota is used up. Make room and run the same command again: it continues';
  if (code === 'EACCES' || code === 'EROFS') return `may not write ${path ?? 'there'} (${code})`;
  return code === undefined ? (stack ?? String(error)) : message;
}
