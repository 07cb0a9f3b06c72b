import yargs, { type Argv, type CommandModule } from 'yargs';
import { VERSION } from '../pipeline/version.ts';
import { failUsage } from './command-options.ts';

/**
 * What reads the words of a command line and calls the command that they name.
 * @throws UsageError, when it parses, for words that name no command or do not fit it; whatever the command throws.
 */
export function parser(words: readonly string[], commands: readonly CommandModule[]): Argv {
  // Words too many behind a command that is known are its own affair: it knows what they may have been meant for.
  const known = commands.some(({ command }) => String(command).split(' ')[0] === words[0]);
  const asksForHelp = words.some(word => /^--?h(elp)?(=|$)/.test(word));
  return (
    yargs([...words])
      .scriptName('shapemill')
      .usage(
        '$0 <command> [options]\n\nTurns photographs into labelled image datasets about shape, texture and material.',
      )
      .command([...commands])
      .demandCommand(1, 'expected a command: generate, preview, panels, export, card, validate, assets or doctor')
      // Names and values reach the option tables as they were typed.
      .parserConfiguration({
        'camel-case-expansion': false,
        'boolean-negation': false,
        'dot-notation': false,
        'parse-numbers': false,
        'parse-positional-numbers': false,
      })
      .recommendCommands()
      .strictCommands(!known)
      .version(VERSION)
      .alias('help', 'h')
      // Yargs lays the help out for every command, in case it fails: breaking its lines takes a tenth of a command's start.
      .wrap(asksForHelp ? Math.min(110, process.stdout.columns ?? 110) : null)
      .epilogue(
        'Exit codes: 0 done · 1 failed · 2 wrong usage · 3 fewer samples than asked · 130 interrupted, resumable',
      )
      .fail(failUsage)
  );
}
