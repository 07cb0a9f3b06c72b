import type { CommandModule } from 'yargs';
import { EXPORT_OPTIONS } from '../pipeline/exports/export-options.ts';
import { EXPORT_FORMATS } from '../pipeline/exports/exporter.ts';
import { EXPORTERS, type ExportSettings, exportRun } from '../pipeline/exports/exports.ts';
import { duration, makeProgress } from '../pipeline/progress.ts';
import { shownPath } from '../pipeline/run-folder.ts';
import { UsageError } from '../pipeline/usage-error.ts';
import { addOptions, readOptions } from './command-options.ts';
import { endInterrupted, interruptible } from './interruptible.ts';

export const exportCommand: CommandModule = {
  command: 'export [run]',
  describe: 'write a run in the forms that trainers and model testers read',
  builder: argv => {
    const command = addOptions(argv.positional('run', { type: 'string', describe: 'run folder' }), EXPORT_OPTIONS);
    for (const format of EXPORT_FORMATS) {
      command.example(`$0 export out/last-40-s1 --format ${format}`, EXPORTERS[format].title);
    }
    return command;
  },
  handler: async parsed => {
    const { format, out, subsets } = readOptions(EXPORT_OPTIONS, parsed, ['run']);
    if (parsed.run === undefined) throw new UsageError('export: expected a run folder, such as out/last-40-s1');
    if (!format)
      throw new UsageError(
        `--format: expected ${EXPORT_OPTIONS.format.expects}, got nothing: npm run export -- ${parsed.run} --format FORMAT`,
      );
    await run(String(parsed.run), { format, out, subsets });
  },
};

async function run(path: string, settings: ExportSettings): Promise<void> {
  const { signal, stopListening } = interruptible();
  try {
    const { folder, samples, written, seconds } = await exportRun(path, settings, makeProgress(), signal);
    const made =
      written > 0
        ? `${written} written in ${duration(seconds)} (${Math.round(written / seconds)}/s)`
        : 'all written before';
    console.log(`\n${shownPath(folder)}  ${settings.format}: ${samples} samples, ${made}`);
    console.log(`  how to read it: ${shownPath(folder)}/README.md`);
  } catch (error) {
    endInterrupted(error, signal);
  } finally {
    stopListening();
  }
}
