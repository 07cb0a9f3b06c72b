import { integer, permutation } from '../sampling/distributions.ts';
import { type Rng, rng } from '../sampling/rng.ts';
import { SPLITS, type Split } from './splits.ts';
import type { Estimate } from './stage.ts';

/** An instance to be made: a bank item, and how many images of it. */
export interface InstancePlan {
  /** Number in the subset, over all splits. */
  readonly number: number;
  /** Bank item numbers: the instance's item, then those that take its place, in turn, when it cannot be decoded. */
  readonly items: readonly number[];
  readonly variations: number;
}

/** A shard of whole instances. */
export interface InstanceShard {
  readonly shard: number;
  /** Path without extension, relative to the run folder. */
  readonly path: string;
  readonly split: Split;
  readonly instances: readonly InstancePlan[];
}

/** Substitutes that an instance's item has at most. */
const SUBSTITUTES = 3;

/**
 * Deals images out to splits, instances and shards. Splits share in proportion to their items, at least one instance each
 * where they have any; an instance is a bank item in a seeded order, and where a split has fewer items than instances its
 * instances get more variations. Shards hold whole instances, at most `shardSamples` images (but at least one instance).
 * @param items bank items of each split that may be instances.
 */
export function* planInstances(
  subset: string,
  images: number,
  variations: number,
  shardSamples: number,
  seed: number,
  items: Readonly<Record<Split, ArrayLike<number>>>,
): Generator<InstanceShard> {
  const share = shares(
    Math.ceil(images / variations),
    SPLITS.map(split => items[split].length),
  );
  let number = 0;
  let shard = 0;
  for (const [s, split] of SPLITS.entries()) {
    const available = items[split].length;
    const total = share[s]! * variations;
    const instances = Math.min(share[s]!, available);
    const order = permutation(rng(seed, subset, `instances/${split}`), available);
    let pending: InstancePlan[] = [];
    let samples = 0;
    let file = 0;
    const flush = (): InstanceShard => {
      const name = `${subset}-${split}-${String(file++).padStart(6, '0')}`;
      const done = { shard: shard++, path: `${subset}/${split}/${name}`, split, instances: pending };
      pending = [];
      samples = 0;
      return done;
    };
    for (let i = 0; i < instances; i++) {
      const own = Math.floor(total / instances) + (i < total % instances ? 1 : 0);
      if (pending.length > 0 && samples + own > shardSamples) yield flush();
      const candidates: number[] = [];
      for (let k = i; k < available && candidates.length <= SUBSTITUTES; k += instances) {
        candidates.push(items[split][order[k]!]!);
      }
      pending.push({ number: number++, items: candidates, variations: own });
      samples += own;
    }
    if (pending.length > 0) yield flush();
  }
}

/** Splits `total` in proportion to `weights` (largest remainders), at least 1 for each positive weight while it lasts. */
export function shares(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const exact = weights.map(weight => (total * weight) / sum);
  const dealt = exact.map((x, i) => (weights[i]! > 0 ? Math.max(1, Math.floor(x)) : 0));
  const wanting = () => total - dealt.reduce((a, b) => a + b, 0);
  const by = (order: (i: number) => number) => weights.map((_, i) => i).sort((a, b) => order(a) - order(b) || a - b);
  while (wanting() > 0) dealt[by(i => dealt[i]! - exact[i]!).find(i => weights[i]! > 0)!]!++;
  while (wanting() < 0) {
    const order = by(i => exact[i]! - dealt[i]!);
    dealt[order.find(i => dealt[i]! > 1) ?? order.find(i => dealt[i]! > 0)!]!--;
  }
  return dealt;
}

/** Items a scene shard draws from: a run of its split's items, so that a large bank is read in long strides. */
export const WINDOW = 512;

/** Where a shard's window of a bank starts, seeded by the shard. @param length of the window. */
export function windowStart(
  seed: number,
  subset: string,
  shard: number,
  bank: string,
  items: number,
  length = WINDOW,
): number {
  return items <= length ? 0 : integer(rng(seed, subset, `window/${bank}/${shard}`), 0, items - 1);
}

/** An item of a window, each with the same probability; a window that reaches past the last item goes on at the first. */
export function pickInWindow(random: Rng, items: ArrayLike<number>, start: number, length = WINDOW): number {
  const offset = integer(random, 0, Math.min(length, items.length) - 1);
  return items[(start + offset) % items.length]!;
}

/**
 * A subset's size.
 * @param images asked for, rounded up to whole instances.
 * @param each what an image takes.
 */
export function estimateImages(
  images: number,
  variations: number,
  shardSamples: number,
  each: Pick<Estimate, 'bytesPerSample' | 'secondsPerSample'>,
): Estimate {
  const samples = Math.ceil(images / variations) * variations;
  const perShard = Math.max(1, Math.floor(shardSamples / variations)) * variations;
  return { samples, shards: Math.ceil(samples / perShard), ...each };
}
