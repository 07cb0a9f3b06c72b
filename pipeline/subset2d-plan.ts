import { type Bank, sameSource } from './bank.ts';
import { type InstanceShard, planInstances, windowStart } from './instances.ts';
import type { Task2d } from './scenes2d.ts';
import { SPLITS, type Split } from './splits.ts';
import type { PlanContext, ShardPlan } from './stage.ts';

/** What a 2D subset asks of its plan. */
export interface Subset2dPlan {
  readonly subset: 'shapes2d' | 'textures2d';
  readonly images: number;
  readonly variations: number;
  /** Bank items that may be instances; all of the bank when left out. */
  readonly isInstance?: (item: number) => boolean;
  readonly instanceBank: 'shapes' | 'textures';
  /** Textures that an image may show, each of another photo: only splits that have so many can take part. */
  readonly texturesShown: 0 | 1 | 2;
}

/** Shards of a 2D subset, with the seeded windows their images draw from. */
export function* plan2d(context: PlanContext, wanted: Subset2dPlan): Generator<ShardPlan<Task2d>> {
  const { configuration, banks } = context;
  const { seed, shardSamples } = configuration;
  const shapes = banks.shapes!;
  const textures = banks.textures!;
  const items = usableItems(context, wanted, shapes, textures);
  for (const planned of planInstances(wanted.subset, wanted.images, wanted.variations, shardSamples, seed, items)) {
    const start = (bank: Bank) =>
      windowStart(seed, wanted.subset, planned.shard, bank.kind, bank.bySplit[planned.split].length);
    yield shardOf(planned, { shapes: start(shapes), textures: start(textures) });
  }
}

function shardOf({ shard, path, split, instances }: InstanceShard, windows: Task2d['windows']): ShardPlan<Task2d> {
  return { shard, path, tasks: instances.map(instance => ({ ...instance, split, windows })) };
}

/** The items of each split that may be instances; none in a split that lacks what its images would show. */
function usableItems(
  context: PlanContext,
  wanted: Subset2dPlan,
  shapes: Bank,
  textures: Bank,
): Record<Split, number[]> {
  const usable: Record<Split, number[]> = { train: [], val: [], test: [] };
  const bank = wanted.instanceBank === 'shapes' ? shapes : textures;
  for (const split of SPLITS) {
    const own = [...bank.bySplit[split]].filter(wanted.isInstance ?? (() => true));
    const lack =
      shapes.bySplit[split].length === 0
        ? 'shapes'
        : wanted.texturesShown > 0 && textures.bySplit[split].length === 0
          ? 'textures'
          : wanted.texturesShown === 2 && !hasTwoSources(textures, split)
            ? 'textures of two photos'
            : undefined;
    if (!lack) usable[split] = own;
    else if (own.length > 0) context.warn(`${wanted.subset}: split ${split} has no ${lack}, so it gets no images`);
  }
  if (!wanted.isInstance || SPLITS.some(split => [...bank.bySplit[split]].some(wanted.isInstance!))) return usable;
  context.warn(
    `${wanted.subset}: the shape bank holds no shape of the kind that the conditions name, so there are no images`,
  );
  return usable;
}

function hasTwoSources(bank: Bank, split: Split): boolean {
  const items = bank.bySplit[split];
  return items.some(item => !sameSource(bank, item, items[0]!));
}

/** What an image takes, as measured. */
export const EACH_2D = { bytesPerSample: 125_000, secondsPerSample: 0.025 };
