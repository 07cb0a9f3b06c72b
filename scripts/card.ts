import type { CommandModule } from 'yargs';
import { ATTRIBUTION, CARD, CROISSANT, writeCard } from '../pipeline/card/write-card.ts';
import { makeProgress } from '../pipeline/progress.ts';
import { RunFolder, shownPath } from '../pipeline/run-folder.ts';
import { UsageError } from '../pipeline/usage-error.ts';
import { readOptions } from './command-options.ts';
import { endInterrupted, interruptible } from './interruptible.ts';

export const cardCommand: CommandModule = {
  command: 'card [run]',
  describe: 'write the dataset card, croissant.json and attribution.csv of a run for what it holds now',
  builder: argv =>
    argv
      .positional('run', { type: 'string', describe: 'run folder' })
      .example(
        '$0 card out/last-40-s1',
        'after shards came from elsewhere: generate and panels write the card by themselves',
      ),
  handler: async parsed => {
    readOptions({}, parsed, ['run']);
    if (parsed.run === undefined) throw new UsageError('card: expected a run folder, such as out/last-40-s1');
    await run(new RunFolder(String(parsed.run)));
  },
};

async function run(folder: RunFolder): Promise<void> {
  const { signal, stopListening } = interruptible();
  try {
    const progress = makeProgress();
    const written = await writeCard(folder, signal, labels => progress.count('labels read', labels));
    for (const file of [CARD, CROISSANT, ATTRIBUTION]) {
      console.log(`${shownPath(folder.at(file))}${written ? '' : '  as it was: nothing was added since'}`);
    }
  } catch (error) {
    endInterrupted(error, signal);
  } finally {
    stopListening();
  }
}
