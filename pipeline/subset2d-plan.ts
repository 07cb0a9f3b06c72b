import type { ShapeSource } from '../scenes/conditions.ts';
import { type Bank, sameSource, shapeSourceOf, sourcesIn } from './bank.ts';
import { planInstances } from './instances.ts';
import type { Task2d } from './scenes2d.ts';
import { SPLITS, type Split } from './splits.ts';
import type { PlanContext, ShardPlan } from './stage.ts';

/** What a 2D subset asks of its plan. */
export interface Subset2dPlan {
  readonly subset: 'shapes2d' | 'textures2d';
  readonly images: number;
  readonly variations: number;
  readonly instanceBank: 'shapes' | 'textures';
  /** The sources of shapes that its conditions name; undefined is one that takes any. */
  readonly sources: ReadonlySet<ShapeSource | undefined>;
  /** Textures that an image may show, each of another photo: only splits that have so many can take part. */
  readonly texturesShown: 0 | 1 | 2;
}

/** Shards of a 2D subset. */
export function* plan2d(context: PlanContext, wanted: Subset2dPlan): Generator<ShardPlan<Task2d>> {
  const { configuration, banks } = context;
  const { seed, shardSamples } = configuration;
  const shapes = banks.shapes!;
  const textures = banks.textures!;
  const items = usableItems(context, wanted, shapes, textures);
  const { subset, images, variations } = wanted;
  for (const planned of planInstances(subset, images, variations, shardSamples, seed, items)) {
    const { shard, path, split, instances } = planned;
    yield { shard, path, tasks: instances.map(instance => ({ ...instance, split, shard })) };
  }
}

/** The items of each split that may be instances; none in a split that lacks what its images would show. */
function usableItems(
  context: PlanContext,
  wanted: Subset2dPlan,
  shapes: Bank,
  textures: Bank,
): Record<Split, number[]> {
  const { subset, instanceBank, sources, texturesShown } = wanted;
  const usable: Record<Split, number[]> = { train: [], val: [], test: [] };
  const isShown = (shape: number) => sources.has(undefined) || sources.has(shapeSourceOf(shapes, shape));
  for (const split of SPLITS) {
    const shown = [...shapes.bySplit[split]].filter(isShown);
    const own = instanceBank === 'shapes' ? shown : [...textures.bySplit[split]];
    const lack =
      shown.length === 0
        ? 'shapes'
        : texturesShown > 0 && textures.bySplit[split].length === 0
          ? 'textures'
          : texturesShown === 2 && !hasTwoSources(textures, split)
            ? 'textures of two photos'
            : undefined;
    if (!lack) usable[split] = own;
    else if (own.length > 0) context.warn(`${subset}: split ${split} has no ${lack}, so it gets no images`);
  }
  const there = sourcesIn(shapes);
  for (const source of sources) {
    if (source === undefined || there.includes(source)) continue;
    context.warn(`${subset}: conditions name ${source} shapes, of which the shape bank holds none`);
  }
  return usable;
}

function hasTwoSources(bank: Bank, split: Split): boolean {
  const items = bank.bySplit[split];
  return items.some(item => !sameSource(bank, item, items[0]!));
}

/** What an image takes, as measured. */
export const EACH_2D = { bytesPerSample: 125_000, secondsPerSample: 0.025 };
