import { describe, expect, it } from 'vitest';
import { type InstanceShard, planInstances, shares, WINDOW, windowStart } from '../../pipeline/instances.ts';
import { SPLITS, type Split } from '../../pipeline/splits.ts';

const items = (train: number, val: number, test: number): Record<Split, number[]> => {
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
  return { train: from(0, train), val: from(train, val), test: from(train + val, test) };
};

interface Wanted {
  images: number;
  variations?: number;
  shardSamples?: number;
  seed?: number;
  bank: Record<Split, number[]>;
}
const plan = ({ images, variations = 5, shardSamples = 1000, seed = 1, bank }: Wanted): InstanceShard[] => [
  ...planInstances('shapes2d', images, variations, shardSamples, seed, bank),
];
const instancesOf = (shards: InstanceShard[]) => shards.flatMap(({ instances }) => instances);
const imagesIn = (shards: InstanceShard[]) => instancesOf(shards).reduce((sum, { variations }) => sum + variations, 0);

describe('shares', () => {
  it.each([
    // 800, 100, 100 of 10: exact.
    [10, [800, 100, 100], [8, 1, 1]],
    // 7 × (0.8, 0.1, 0.1) = 5.6, 0.7, 0.7: the two small ones are lifted to 1, 5 are left.
    [7, [8, 1, 1], [5, 1, 1]],
    // 10 × (1/3): the first gets the rest.
    [10, [1, 1, 1], [4, 3, 3]],
    // 10 × (0.55, 0.45) = 5.5, 4.5: the larger remainder would tie; the first wins.
    [10, [11, 9], [6, 4]],
    [5, [0, 1, 0], [0, 5, 0]],
    [5, [0, 0, 0], [0, 0, 0]],
    [0, [3, 3, 3], [0, 0, 0]],
  ])('deals %i by %j as %j', (total, weights, expected) => {
    expect(shares(total, weights)).toEqual(expected);
  });

  it('always deals all, and something to each that has any while it lasts', () => {
    for (let total = 3; total < 60; total++) {
      for (const weights of [
        [80, 10, 10],
        [1, 1, 50],
        [5, 0, 3],
        [997, 2, 1],
      ]) {
        const dealt = shares(total, weights);
        expect(dealt.reduce((a, b) => a + b)).toBe(total);
        for (const [i, weight] of weights.entries()) {
          expect(dealt[i]! > 0).toBe(weight > 0);
          const exact = (total * weight) / weights.reduce((a, b) => a + b);
          // Off by less than one, but where two small ones were lifted to one.
          expect(Math.abs(dealt[i]! - exact)).toBeLessThan(3);
        }
      }
    }
  });

  it('deals no more than there is', () => {
    for (const total of [1, 2]) expect(shares(total, [98, 1, 1]).reduce((a, b) => a + b)).toBe(total);
  });
});

describe('instances', () => {
  it('are bank items of the split, each once, numbered over all splits', () => {
    const bank = items(80, 10, 10);
    const shards = plan({ images: 250, bank });
    const instances = instancesOf(shards);
    expect(instances.map(({ number }) => number)).toEqual(instances.map((_, i) => i));
    const used = instances.map(instance => instance.items[0]!);
    expect(new Set(used).size).toBe(50);
    for (const { split, instances: some } of shards) {
      for (const { items: candidates } of some) for (const item of candidates) expect(bank[split]).toContain(item);
    }
    expect(SPLITS.map(split => instancesOf(shards.filter(shard => shard.split === split)).length)).toEqual([40, 5, 5]);
  });

  it('get more variations when there are fewer items than instances, and the images are as many as asked', () => {
    const shards = plan({ images: 500, variations: 5, bank: items(7, 2, 1) });
    // 100 instances by 7:2:1, 5 images each: 350, 100, 50.
    const per = (split: Split) => instancesOf(shards.filter(shard => shard.split === split)).map(i => i.variations);
    expect(per('train')).toEqual([50, 50, 50, 50, 50, 50, 50]);
    expect(per('val')).toEqual([50, 50]);
    expect(per('test')).toEqual([50]);
    const uneven = plan({ images: 40, variations: 5, bank: items(3, 0, 0) });
    expect(instancesOf(uneven).map(({ variations }) => variations)).toEqual([14, 13, 13]);
  });

  it('are rounded up to whole ones', () => {
    expect(imagesIn(plan({ images: 11, variations: 5, bank: items(50, 5, 5) }))).toBe(15);
    expect(imagesIn(plan({ images: 0, bank: items(50, 5, 5) }))).toBe(0);
  });

  it('come from nowhere when no split has items', () => {
    expect(plan({ images: 100, bank: items(0, 0, 0) })).toEqual([]);
  });

  it('have substitutes of their split that are no instance themselves', () => {
    const instances = instancesOf(plan({ images: 20, variations: 5, bank: items(30, 0, 0) }));
    const firsts = new Set(instances.map(instance => instance.items[0]!));
    for (const { items: candidates } of instances) {
      expect(candidates.length).toBeGreaterThan(1);
      for (const substitute of candidates.slice(1)) expect(firsts).not.toContain(substitute);
    }
    const all = instances.flatMap(instance => instance.items);
    expect(new Set(all).size).toBe(all.length);
  });

  it('are others for another seed, the same for the same', () => {
    const bank = items(500, 50, 50);
    const first = plan({ images: 100, bank });
    expect(plan({ images: 100, bank })).toEqual(first);
    const firsts = (shards: InstanceShard[]) => instancesOf(shards).map(instance => instance.items[0]);
    expect(firsts(plan({ images: 100, bank, seed: 2 }))).not.toEqual(firsts(first));
  });
});

describe('shards', () => {
  it('hold whole instances, at most as many images as said, and are named and numbered in a row', () => {
    const shards = plan({ images: 300, variations: 5, shardSamples: 23, bank: items(80, 10, 10) });
    expect(shards.map(({ shard }) => shard)).toEqual(shards.map((_, i) => i));
    for (const split of SPLITS) {
      const mine = shards.filter(shard => shard.split === split);
      const names = mine.map((_, i) => `shapes2d/${split}/shapes2d-${split}-${String(i).padStart(6, '0')}`);
      expect(mine.map(({ path }) => path)).toEqual(names);
      // Four instances of five fit into 23; only the last may hold fewer.
      for (const shard of mine.slice(0, -1)) expect(imagesIn([shard])).toBe(20);
      expect(imagesIn(mine.slice(-1))).toBeLessThanOrEqual(20);
    }
    expect(imagesIn(shards)).toBe(300);
  });

  it('hold one instance where even that is too large', () => {
    const shards = plan({ images: 20, variations: 5, shardSamples: 3, bank: items(4, 0, 0) });
    expect(shards.map(shard => imagesIn([shard]))).toEqual([5, 5, 5, 5]);
  });
});

describe('the window of a shard', () => {
  it('starts at the front of a bank that fits into it, and anywhere in a larger one', () => {
    for (let shard = 0; shard < 20; shard++) expect(windowStart(1, 'shapes2d', shard, 'shapes', WINDOW)).toBe(0);
    const starts = Array.from({ length: 200 }, (_, shard) => windowStart(1, 'shapes2d', shard, 'shapes', 10_000));
    expect(new Set(starts).size).toBeGreaterThan(190);
    for (const start of starts) expect(start >= 0 && start < 10_000).toBe(true);
    expect(Math.min(...starts)).toBeLessThan(1000);
    expect(Math.max(...starts)).toBeGreaterThan(9000);
    expect(windowStart(1, 'shapes2d', 5, 'textures', 10_000)).not.toBe(starts[5]);
  });
});
