import { joinBanks } from '../bank.ts';
import { BANK_KINDS } from '../bank-kinds.ts';
import { DamagedFile } from '../faults.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import { PhotoIndex } from '../photo-index.ts';
import { shapeGivers } from '../shape-banks.ts';
import type { IndexName } from '../stage.ts';
import { STAGES } from '../stages.ts';
import type { ValidatedRun } from './check.ts';

/** A shard that a run's recipe asks for. */
export interface PlannedShard {
  /** Of the tar, relative to the run. */
  readonly path: string;
  readonly subset: Subset;
  /** Number within the stage, as its sidecar has it. */
  readonly shard: number;
  /** Number of the first instance; the others follow it. */
  readonly first: number;
  /** Images of each instance; of silhouettes, that show what a picture has, none. */
  readonly variations: readonly number[];
}

/**
 * The shards of a subset, planned anew from the record and the banks.
 * @throws DamagedFile when a list or a bank that the plan needs is not there.
 */
export async function* plannedShards(
  { configuration, folder, banks }: ValidatedRun,
  subset: Subset,
): AsyncGenerator<PlannedShard> {
  const stage = STAGES[subset];
  const read = Object.fromEntries(BANK_KINDS.flatMap(kind => (banks.has(kind) ? [[kind, banks.get(kind)!]] : [])));
  if (stage.reads.includes('shapes')) {
    const drawn = (await shapeGivers(configuration)).filter(giver => giver.drawn).map(({ kind }) => kind);
    const missing = drawn.find(kind => !banks.has(kind));
    if (missing) throw new DamagedFile(`the ${missing} bank is not finished`);
    read.shapes = joinBanks(
      'shapes',
      drawn.map(kind => banks.get(kind)!),
    );
  }
  const missing = stage.reads.find(kind => !read[kind]);
  if (missing) throw new DamagedFile(`the ${missing} bank is not finished`);
  const plan = stage.plan({
    configuration,
    folder,
    banks: read,
    index: name => openList(folder.at(name), name),
    warn: () => {},
    written: () => Promise.reject(new Error('scene stages wait for no shard')),
  });
  for await (const { path, shard, tasks } of plan) {
    const instances = tasks as readonly { readonly number: number; readonly variations?: number }[];
    const variations = instances.flatMap(task => task.variations ?? []);
    yield { path: `${path}.tar`, subset, shard, first: instances[0]?.number ?? 0, variations };
  }
}

async function openList(path: string, name: IndexName): Promise<PhotoIndex> {
  const list = await PhotoIndex.open(path);
  if (!list) throw new DamagedFile(`the list ${name} is gone or was changed`);
  return list;
}

/** The subsets that a run was asked for. */
export function askedSubsets({ configuration }: ValidatedRun): Subset[] {
  return SUBSETS.filter(subset => configuration.subsets.includes(subset));
}
