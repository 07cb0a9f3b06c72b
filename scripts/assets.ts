import type { CommandModule } from 'yargs';

import { addDebianPack } from '../pipeline/packs/debian-pack.ts';
import { listPacks, type PackSummary, verifyPack } from '../pipeline/packs/pack-store.ts';
import { bytesText } from '../pipeline/progress.ts';
import { didYouMean, UsageError } from '../pipeline/usage-error.ts';
import { readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';

const ACTIONS = ['list', 'verify', 'add'];

export const assetsCommand: CommandModule = {
  command: 'assets [action] [pack]',
  describe: 'list, verify and add asset packs',
  builder: argv =>
    argv
      .positional('action', { type: 'string', describe: `what to do: ${ACTIONS.join(', ')}` })
      .positional('pack', { type: 'string', describe: 'asset pack id; verify takes all packs without one' })
      .example('$0 assets list', 'packs, their licences, and whether they are here')
      .example('$0 assets add debian-photos', 'fetch about 300 photographs from Debian packages')
      .example('$0 assets add debian-meshes', 'fetch 175 meshes from a Debian package')
      .example('$0 assets verify', 'compare every file with its recorded size and sha256'),
  handler: async parsed => {
    readOptions({}, parsed, ['action', 'pack']);
    const all = await listPacks();
    const chosen = parsed.pack === undefined ? undefined : find(all, String(parsed.pack));
    switch (parsed.action) {
      case 'list':
        return list(chosen ? [chosen] : all);
      case 'verify':
        return verify(chosen ? [chosen] : all.filter(({ state }) => state !== 'not added'));
      case 'add':
        if (!chosen) throw new UsageError(`assets add: expected a pack: ${ids(all).join(', ')}`);
        return add(chosen);
      default: {
        const action = String(parsed.action ?? '');
        throw new UsageError(`assets: expected ${ACTIONS.join(', ')}, got "${action}"${didYouMean(action, ACTIONS)}`);
      }
    }
  },
};

const ids = (all: readonly PackSummary[]) => all.map(({ pack }) => pack.id);

function find(all: readonly PackSummary[], id: string): PackSummary {
  const found = all.find(({ pack }) => pack.id === id);
  if (found) return found;
  throw new UsageError(`expected one of ${ids(all).join(', ')}, got "${id}"${didYouMean(id, ids(all))}`);
}

function list(packs: readonly PackSummary[]): void {
  for (const { pack, state, folder, files, bytes } of packs) {
    const size = state === 'not added' ? 'not added' : `${state}, ${files} files, ${bytesText(bytes)}`;
    console.log(`${pack.id}  ${pack.kind}  ${size}`);
    console.log(`  ${pack.title}\n  ${pack.licence}\n  ${state === 'not added' ? 'would lie' : 'lies'} in ${folder}`);
  }
}

async function verify(packs: readonly PackSummary[]): Promise<void> {
  for (const { pack, state, files } of packs) {
    if (state === 'not added') throw new UsageError(`${pack.id} is not here yet: npm run assets -- add ${pack.id}`);
    const problems = await verifyPack(pack.id);
    for (const { path, problem } of problems) console.log(`${pack.id}/${path}: ${problem}`);
    console.log(`${pack.id}: ${files - problems.length} of ${files} files as recorded`);
    if (problems.length > 0) process.exitCode = ExitCode.failed;
  }
}

async function add({ pack, state, folder }: PackSummary): Promise<void> {
  if (state !== 'not added') {
    console.log(`${pack.id} is here already: ${folder}`);
    return;
  }
  if (pack.obtained.via !== 'debian') throw new UsageError(`${pack.id} comes with shapemill and cannot be added`);
  const added = await addDebianPack(pack.id, folder, ({ step, package: name, done, total }) => {
    console.log(`${done + 1} of ${total} packages: ${step} ${name}`);
  });
  for (const { package: name, expected, found } of added.deviations) {
    console.log(`note: ${name} gave ${found} files, not ${expected}: this Debian release has another version of it`);
  }
  console.log(`${pack.id}: ${added.files} files, ${bytesText(added.bytes)} in ${added.folder}`);
  console.log(`use it: npm run generate -- --${pack.kind} ${pack.id}`);
}
