import type { CommandModule } from 'yargs';
import type { OptionValues } from '../pipeline/options.ts';
import { ADD_OPTIONS, ATTRIBUTION_OPTIONS, OWN_PACK_OPTIONS } from '../pipeline/packs/add-options.ts';
import { addPack, FAILURES_NAME, isBeingAdded } from '../pipeline/packs/add-pack.ts';
import { addDebianPack } from '../pipeline/packs/debian-pack.ts';
import type { Pack, PackKind } from '../pipeline/packs/manifest.ts';
import { OWN_SOURCES, ownPack } from '../pipeline/packs/own-pack.ts';
import { attributionLines } from '../pipeline/packs/pack-attribution.ts';
import type { PackHeader } from '../pipeline/packs/pack-index.ts';
import type { SourceOptions } from '../pipeline/packs/pack-source.ts';
import { listPacks, type PackSummary, packFolder, packsFolder, verifyPack } from '../pipeline/packs/pack-store.ts';
import { packFoldersIn, prunePack } from '../pipeline/packs/prune-packs.ts';
import { bytesText, makeProgress } from '../pipeline/progress.ts';
import { shownPath } from '../pipeline/run-folder.ts';
import { TextFile } from '../pipeline/text-file.ts';
import { didYouMean, UsageError } from '../pipeline/usage-error.ts';
import { addOptions, readOptions } from './command-options.ts';
import { ExitCode } from './exit-code.ts';
import { endInterrupted, interruptible } from './interruptible.ts';

const ACTIONS = ['list', 'add', 'verify', 'attribution', 'prune'] as const;
type Action = (typeof ACTIONS)[number];

const OPTIONS = { ...ADD_OPTIONS, ...OWN_PACK_OPTIONS, ...ATTRIBUTION_OPTIONS };
type Options = OptionValues<typeof OPTIONS>;

/** Which options an action takes. */
const TAKES: Readonly<Record<Action, readonly (keyof typeof OPTIONS)[]>> = {
  list: [],
  add: [
    ...(Object.keys(ADD_OPTIONS) as (keyof typeof ADD_OPTIONS)[]),
    ...(Object.keys(OWN_PACK_OPTIONS) as (keyof typeof OWN_PACK_OPTIONS)[]),
  ],
  verify: [],
  attribution: ['out'],
  prune: [],
};

export const assetsCommand: CommandModule = {
  command: 'assets [action] [pack] [from]',
  describe: 'list, add, verify and prune asset packs: photographs, meshes, panoramas',
  builder: argv =>
    addOptions(
      argv
        .positional('action', { type: 'string', describe: `what to do: ${ACTIONS.join(', ')}` })
        .positional('pack', { type: 'string', describe: 'asset pack id; add also takes url and dir' })
        .positional('from', {
          type: 'string',
          describe: 'of url: an address, or a list of them (text, CSV); of dir: a folder',
        }),
      OPTIONS,
    )
      .example('$0 assets list', 'packs, their licences, and whether they are here')
      .example('$0 assets add debian-photos', 'fetch about 300 photographs from Debian packages')
      .example('$0 assets add url photos.txt --licence CC-BY-4.0', 'fetch what a list names: a pack called photos')
      .example('$0 assets add url https://example.org/scans.zip --kind meshes', "fetch an archive's meshes")
      .example('$0 assets add dir /data/photos', 'files that stay where they are, with hashes and rights')
      .example('$0 assets verify', 'compare every file with its recorded size and sha256')
      .example('$0 assets attribution --out attribution.csv', 'every file with author, licence and address')
      .example('$0 assets prune', 'remove partial files and what no pack lists'),
  handler: async parsed => {
    const options = readOptions(OPTIONS, parsed, ['action', 'pack', 'from']);
    const action = actionOf(parsed.action);
    for (const name of Object.keys(options)) {
      if (!TAKES[action].some(taken => taken === name)) throw new UsageError(`assets ${action} takes no --${name}`);
    }
    const named = parsed.pack === undefined ? undefined : String(parsed.pack);
    const from = parsed.from === undefined ? undefined : String(parsed.from);
    if (from !== undefined && action !== 'add') throw new UsageError(`unexpected "${from}"; see --help`);
    const all = await listPacks();
    switch (action) {
      case 'list':
        return list(named === undefined ? all : [find(all, named)]);
      case 'verify':
        return verify(present(all, named));
      case 'attribution':
        return attribution(present(all, named), options.out);
      case 'prune':
        return prune(named);
      case 'add':
        return add(all, named, from, options);
    }
  },
};

function actionOf(value: unknown): Action {
  const action = ACTIONS.find(known => known === value);
  if (action) return action;
  const given = String(value ?? '');
  throw new UsageError(`assets: expected ${ACTIONS.join(', ')}, got "${given}"${didYouMean(given, ACTIONS)}`);
}

const ids = (all: readonly PackSummary[]) => all.map(({ pack }) => pack.id);

function find(all: readonly PackSummary[], id: string, others: readonly string[] = []): PackSummary {
  const found = all.find(({ pack }) => pack.id === id);
  if (found) return found;
  const known = [...ids(all), ...others];
  throw new UsageError(`expected one of ${known.join(', ')}, got "${id}"${didYouMean(id, known)}`);
}

/** The pack that is named, or all that are here. */
function present(all: readonly PackSummary[], id: string | undefined): PackSummary[] {
  if (id === undefined) return all.filter(({ state }) => state !== 'not added');
  const summary = find(all, id);
  if (summary.state === 'not added') throw new UsageError(`${id} is not here yet: npm run assets -- add ${id}`);
  return [summary];
}

async function list(packs: readonly PackSummary[]): Promise<void> {
  for (const { pack, state, folder, files, bytes, header } of packs) {
    const unusable = header?.unusable ? `, ${header.unusable} of them not usable` : '';
    const size = state === 'not added' ? 'not added' : `${state}, ${files} files, ${bytesText(bytes)}${unusable}`;
    const begun = (await isBeingAdded(folder)) ? ', an add of it was begun: the same command continues it' : '';
    console.log(`${pack.id}  ${pack.kind}  ${size}${begun}`);
    console.log(`  ${pack.title}\n  ${pack.licence}\n  ${state === 'not added' ? 'would lie' : 'lies'} in ${folder}`);
  }
}

async function verify(packs: readonly PackSummary[]): Promise<void> {
  const progress = makeProgress();
  for (const { pack, files } of packs) {
    let checked = 0;
    const problems = await verifyPack(pack.id, {}, () => progress.count(`files of ${pack.id} checked`, ++checked));
    for (const { path, problem } of problems) console.log(`${pack.id}/${path}: ${problem}`);
    console.log(`${pack.id}: ${files - problems.length} of ${files} files as recorded`);
    if (problems.length > 0) process.exitCode = ExitCode.failed;
  }
}

async function attribution(packs: readonly PackSummary[], out: string | undefined): Promise<void> {
  const file = out === undefined ? undefined : new TextFile(out);
  for await (const line of attributionLines(packs)) {
    if (file) file.append(line);
    else process.stdout.write(line);
  }
  file?.finish();
}

async function prune(id: string | undefined): Promise<void> {
  const folders = await packFoldersIn(packsFolder());
  if (id !== undefined && !folders.includes(id)) {
    throw new UsageError(
      `expected a pack that was added (${folders.join(', ') || 'none is'}), got "${id}"${didYouMean(id, folders)}`,
    );
  }
  for (const name of id === undefined ? folders : [id]) {
    const { files, bytes, unfinished } = await prunePack(`${packsFolder()}/${name}`, name, id !== undefined);
    const removed = files === 0 ? 'nothing to remove' : `${files} files removed, ${bytesText(bytes)}`;
    console.log(
      `${name}: ${unfinished ? `an unfinished add is left alone; "assets prune ${name}" drops what it has brought` : removed}`,
    );
  }
}

async function add(all: readonly PackSummary[], id: string | undefined, from: string | undefined, options: Options) {
  const own = OWN_SOURCES.find(source => source === id);
  if (own) {
    if (from === undefined)
      throw new UsageError(
        `assets add ${own}: expected ${own === 'dir' ? 'a folder' : 'an address or a list of addresses'} behind it`,
      );
    const { as, kind, licence, author } = options;
    const known = new Set(
      all
        .filter(({ header, state }) => state !== 'added' || header?.order.source === undefined)
        .map(({ pack }) => pack.id),
    );
    const made = await ownPack(own, from, { as, kind, licence, author }, known);
    return addFromSource(made.pack, { from: made.from, kind, licence, author }, options);
  }
  const addable = all.filter(({ pack }) => pack.obtained.via !== 'repository');
  if (id === undefined)
    throw new UsageError(`assets add: expected a pack: ${[...ids(addable), ...OWN_SOURCES].join(', ')}`);
  const summary = find(all, id, OWN_SOURCES);
  if (from !== undefined) throw new UsageError(`unexpected "${from}"; see --help`);
  const { pack } = summary;
  if (pack.obtained.via === 'repository') throw new UsageError(`${id} comes with shapemill and cannot be added`);
  if (pack.obtained.via === 'debian') {
    const [surplus] = Object.keys(options);
    if (surplus) throw new UsageError(`--${surplus}: ${id} is added whole`);
    return addDebian(summary);
  }
  const { as } = options;
  if (as !== undefined) throw new UsageError(`--as: ${id} has its name`);
  const source = {
    resolution: options.resolution,
    subsets: options.subsets,
    kind: options.kind,
    licence: options.licence,
    author: options.author,
  };
  return addFromSource(pack, source, options);
}

async function addFromSource(pack: Pack, source: SourceOptions, options: Options): Promise<void> {
  const { signal, stopListening } = interruptible();
  const folder = packFolder(pack);
  const order = {
    count: options.count ?? null,
    perCategory: options['per-category'] ?? null,
    seed: options.seed ?? 1,
    licences: options.licences ?? null,
    nearDuplicates: options['near-duplicates'] ?? null,
    source,
  };
  try {
    const { header, wasThere } = await addPack(pack, order, { folder, progress: makeProgress(), signal });
    console.log(
      `${pack.id}${wasThere ? ' is here already' : ''}: ${header.files} files, ${bytesText(header.bytes)} in ${shownPath(folder)}`,
    );
    printLosses(header, folder);
    console.log(useOf(pack));
    if (header.failed > 0) process.exitCode = ExitCode.fewerThanAsked;
  } catch (error) {
    endInterrupted(error, signal);
  } finally {
    stopListening();
  }
}

/** Options of `generate` that take packs, by their kinds. */
const TAKEN_BY: Readonly<Record<PackKind, string>> = {
  photos: 'photos',
  meshes: 'meshes',
  environments: 'environments',
  materials: 'material-bank',
  textures: 'texture-bank',
  segmentation: 'segmentation',
};
const useOf = ({ kind, id }: Pack) => `use it: npm run generate -- --${TAKEN_BY[kind]} ${id}`;

function printLosses({ failed, passing, unusable }: PackHeader, folder: string): void {
  if (failed > 0) {
    const again = passing > 0 ? `; ${passing} of them may come with the same command another time` : '';
    console.log(`  ${failed} more could not be had (${shownPath(folder)}/${FAILURES_NAME} says why)${again}`);
  }
  if (unusable > 0)
    console.log(`  ${unusable} of them are marked as unusable, with the reason, and no run looks at them`);
}

async function addDebian({ pack, state, folder }: PackSummary): Promise<void> {
  if (state !== 'not added') {
    console.log(`${pack.id} is here already: ${folder}`);
    return;
  }
  const added = await addDebianPack(pack.id, folder, ({ step, package: name, done, total }) => {
    console.log(`${done + 1} of ${total} packages: ${step} ${name}`);
  });
  for (const { package: name, expected, found } of added.deviations) {
    console.log(`note: ${name} gave ${found} files, not ${expected}: this Debian release has another version of it`);
  }
  console.log(`${pack.id}: ${added.files} files, ${bytesText(added.bytes)} in ${added.folder}`);
  console.log(useOf(pack));
}
