import type { Scene3dRecipe } from '../scenes/recipe3d.ts';
import type { Bank } from './bank.ts';
import type { Configuration } from './configuration.ts';
import { estimateImages, planInstances, WINDOW, windowStart } from './instances.ts';
import type { Aov } from './rendering.ts';
import type { Banks3d, Subset3d, Task3d } from './scenes3d.ts';
import { SPLITS, type Split } from './splits.ts';
import type { Estimate, PlanContext, ShardPlan } from './stage.ts';

/** What a 3D subset asks of its plan. */
export interface Subset3dPlan extends Pick<Subset3d, 'subset' | 'instanceBank'> {
  readonly images: number;
  readonly variations: number;
}

/**
 * Panoramas that the images of a shard show: no more than a render page keeps on the graphics card, so that each is handed
 * over once a shard.
 */
const ENVIRONMENT_WINDOW = 12;

/** Shards of a 3D subset, with the seeded windows their images draw from. */
export function* plan3d(context: PlanContext, wanted: Subset3dPlan): Generator<ShardPlan<Task3d>> {
  const { seed, shardSamples } = context.configuration;
  const { subset, images, variations } = wanted;
  const banks = context.banks as Required<typeof context.banks>;
  const items = usableItems(context, wanted, banks);
  for (const planned of planInstances(subset, images, variations, shardSamples, seed, items)) {
    const window = (bank: Bank, length: number): readonly [number, number] => {
      const all = bank.bySplit[planned.split].length;
      return [windowStart(seed, subset, planned.shard, bank.kind, all, length), Math.min(all, length)];
    };
    const windows = {
      meshes: window(banks.meshes, WINDOW),
      materials: window(banks.materials, WINDOW),
      environments: window(banks.environments, ENVIRONMENT_WINDOW),
    };
    const tasks = planned.instances.map(instance => ({ ...instance, split: planned.split, windows }));
    yield { shard: planned.shard, path: planned.path, tasks };
  }
}

/** The items of each split that may be instances; none in a split that lacks what its images would show. */
function usableItems(
  context: PlanContext,
  { subset, instanceBank }: Subset3dPlan,
  banks: Banks3d,
): Record<Split, ArrayLike<number>> {
  const usable: Record<Split, ArrayLike<number>> = { train: [], val: [], test: [] };
  for (const split of SPLITS) {
    const lack = (['meshes', 'materials', 'environments'] as const).find(
      kind => banks[kind].bySplit[split].length === 0,
    );
    if (!lack) usable[split] = banks[instanceBank].bySplit[split];
    else if (lack !== instanceBank && banks[instanceBank].bySplit[split].length > 0) {
      context.warn(`${subset}: split ${split} has no ${lack}, so it gets no images`);
    }
  }
  return usable;
}

/** What an image of 512 × 512 takes as it is rasterised, as measured: its bytes, and one core's seconds. */
const RASTERISED_IMAGE = { bytes: 60_000, seconds: 0.3 };
/** Bytes that files beside the picture take for each pixel, as measured. */
const BYTES_A_PIXEL: Readonly<Record<Aov, number>> = { depth: 0.15, normal: 0.85 };
/** One core's seconds that a path takes where software draws (llvmpipe), as measured. */
const SECONDS_A_PATH = 3e-6;

/** How much a 3D subset has to do. @param images asked for. */
export function estimate3d(
  images: number,
  { variations, size }: Scene3dRecipe,
  { shardSamples, engine, samples, aov }: Configuration,
): Estimate {
  const pixels = size * size;
  const traced = engine === 'pathtrace';
  const estimate = estimateImages(images, variations, shardSamples, {
    bytesPerSample: RASTERISED_IMAGE.bytes + aov.reduce((sum, name) => sum + pixels * BYTES_A_PIXEL[name], 0),
    secondsPerSample: RASTERISED_IMAGE.seconds + (traced ? pixels * samples! * SECONDS_A_PATH : 0),
  });
  if (!traced || images === 0) return estimate;
  return { ...estimate, warning: 'the time is that of software; a graphics card takes a fraction of it' };
}
