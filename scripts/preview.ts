import type { CommandModule } from 'yargs';
import { writePreview } from '../pipeline/preview.ts';
import { RunFolder, shownPath } from '../pipeline/run-folder.ts';
import { UsageError } from '../pipeline/usage-error.ts';
import { readOptions } from './command-options.ts';

export const previewCommand: CommandModule = {
  command: 'preview [run]',
  describe: 'write contact sheets and a small HTML page for a run',
  builder: argv =>
    argv
      .positional('run', { type: 'string', describe: 'run folder' })
      .example('$0 preview out/last-40-s1', 'pictures of what the run holds so far'),
  handler: async parsed => {
    readOptions({}, parsed, ['run']);
    if (parsed.run === undefined) throw new UsageError('preview: expected a run folder, such as out/last-40-s1');
    const folder = new RunFolder(String(parsed.run));
    if (!(await folder.record())) throw new UsageError(`expected a run folder, found no run.json in ${parsed.run}`);
    await writePreview(folder, ({ title, caption, file }) =>
      console.log(`${shownPath(folder.at('report', file))}  ${title}: ${caption}`),
    );
    console.log(shownPath(folder.at('report', 'index.html')));
  },
};
