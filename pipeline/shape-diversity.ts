/** How diverse shapes are: the distribution of each statistic of their form, and its entropy. */
import type { ShapeStatistics } from '../extractors/shape-statistics.ts';

/** How values are laid on an axis: 0 to 1; logarithmic from the least to the greatest; whole numbers, by powers of 2. */
type Scale = 'share' | 'logarithmic' | 'counts';

/** Every statistic, in the order of reports. */
export const SHOWN_STATISTICS: Readonly<
  Record<keyof ShapeStatistics, { readonly title: string; readonly scale: Scale }>
> = {
  solidity: { title: 'solidity', scale: 'share' },
  convexity: { title: 'convexity', scale: 'share' },
  elongation: { title: 'elongation', scale: 'share' },
  thickness: { title: 'thickness', scale: 'share' },
  complexity: { title: 'complexity', scale: 'logarithmic' },
  holes: { title: 'holes', scale: 'counts' },
  eulerNumber: { title: 'Euler number', scale: 'counts' },
  area: { title: 'area, pixels', scale: 'logarithmic' },
  perimeter: { title: 'perimeter, pixels', scale: 'logarithmic' },
};
export const STATISTIC_NAMES = Object.keys(SHOWN_STATISTICS) as (keyof ShapeStatistics)[];

/** Those that tell of form and not of size, each once: of a shape in one part, the Euler number is but 1 − holes. */
export const FORM_STATISTICS = ['solidity', 'convexity', 'elongation', 'thickness', 'complexity', 'holes'] as const;

/** Bins of an axis that is not of whole numbers. */
const BINS = 24;

/** Bins that the values of several sources share. */
export interface Bins {
  readonly count: number;
  readonly of: (value: number) => number;
  /** Texts below the axis and where they belong, 0–1. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** @param values of all sources together, at least one. */
export function binsFor(name: keyof ShapeStatistics, values: Iterable<number>): Bins {
  const { scale } = SHOWN_STATISTICS[name];
  if (scale === 'share') {
    return {
      count: BINS,
      of: value => Math.min(BINS - 1, Math.floor(value * BINS)),
      ticks: [0, 0.5, 1].map(at => ({ at, text: String(at) })),
    };
  }
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return scale === 'counts' ? countBins(least, most) : logarithmicBins(least, most);
}

function logarithmicBins(least: number, most: number): Bins {
  const range = Math.log(most / least);
  const text = (value: number) => (value >= 10 ? value.toFixed(0) : value.toFixed(1));
  if (range === 0) return { count: 1, of: () => 0, ticks: [{ at: 0.5, text: text(least) }] };
  return {
    count: BINS,
    of: value => Math.min(BINS - 1, Math.floor((BINS * Math.log(value / least)) / range)),
    ticks: [0, 0.5, 1].map(at => ({ at, text: text(least * (most / least) ** at) })),
  };
}

/** 0 and ±1 by themselves, then ±2 to ±3, ±4 to ±7 … */
function countBins(least: number, most: number): Bins {
  const bin = (value: number) => (value === 0 ? 0 : Math.sign(value) * (Math.floor(Math.log2(Math.abs(value))) + 1));
  const [first, last] = [bin(least), bin(most)];
  const count = last - first + 1;
  // Numbered by the value next to 0 of each bin, as far as there is room for five.
  const step = Math.ceil(count / 5);
  const ticks = Array.from({ length: Math.ceil(count / step) }, (_, i) => {
    const number = first + i * step;
    const value = number === 0 ? 0 : Math.sign(number) * 2 ** (Math.abs(number) - 1);
    return { at: (i * step + 0.5) / count, text: String(value).replace('-', '−') };
  });
  return { count, of: value => bin(value) - first, ticks };
}

/** Share of the values in each bin. */
export function distribution(values: readonly number[], bins: Bins): number[] {
  const counts = new Array<number>(bins.count).fill(0);
  for (const value of values) counts[bins.of(value)]!++;
  return counts.map(count => count / values.length);
}

/** Entropy of the distribution of values, 0 (all in one bin) to 1 (as many in every bin), and its standard error. */
export interface Entropy {
  readonly value: number;
  readonly error: number;
}

/** Shannon's entropy over its maximum, the logarithm of the number of bins; the error is that of the plug-in estimate. */
export function normalisedEntropy(values: readonly number[], bins: Bins): Entropy {
  if (bins.count === 1) return { value: 0, error: 0 };
  let [entropy, square] = [0, 0];
  for (const share of distribution(values, bins)) {
    if (share === 0) continue;
    const surprise = -Math.log(share);
    entropy += share * surprise;
    square += share * surprise ** 2;
  }
  const maximum = Math.log(bins.count);
  const error = Math.sqrt(Math.max(0, square - entropy ** 2) / values.length) / maximum;
  return { value: entropy / maximum, error };
}

/** Lower quartile, median and upper quartile, between neighbours in proportion. @param values at least one, in any order. */
export function quartiles(values: readonly number[]): [number, number, number] {
  const sorted = Float64Array.from(values).sort();
  return [0.25, 0.5, 0.75].map(share => {
    const at = share * (sorted.length - 1);
    const below = sorted[Math.floor(at)]!;
    return below + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - below);
  }) as [number, number, number];
}

/** Up to `most` of `count` numbers from 0, evenly spread. */
export function evenlySpread(count: number, most: number): number[] {
  const taken = Math.min(count, most);
  return Array.from({ length: taken }, (_, i) => Math.floor((i * count) / taken));
}

/** Names of statistics, by which of two sources has the higher entropy. */
export interface Comparison {
  readonly more: readonly string[];
  readonly less: readonly string[];
  /** The difference is within two standard errors. */
  readonly unclear: readonly string[];
  /** Shapes of each source: as many of both, since few values have less entropy than many. */
  readonly shapes: number;
}

/** In which statistics of form the shapes of one source are more diverse than another's. Both have at least one. */
export function compareDiversity(one: readonly ShapeStatistics[], other: readonly ShapeStatistics[]): Comparison {
  const shapes = Math.min(one.length, other.length);
  const [more, less, unclear] = [[], [], []] as [string[], string[], string[]];
  for (const name of FORM_STATISTICS) {
    const [a, b] = [one, other].map(source => evenlySpread(source.length, shapes).map(i => source[i]![name])) as [
      number[],
      number[],
    ];
    const bins = binsFor(name, [...a, ...b]);
    const [entropy, another] = [normalisedEntropy(a, bins), normalisedEntropy(b, bins)];
    const difference = entropy.value - another.value;
    const error = 2 * Math.hypot(entropy.error, another.error);
    (difference > error ? more : difference < -error ? less : unclear).push(SHOWN_STATISTICS[name].title);
  }
  return { more, less, unclear, shapes };
}
