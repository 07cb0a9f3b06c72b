import { type CellGrid, countBelow, isMagnitude, type KeyCounts } from './texture-channels.ts';

/** Bins of the histograms that are compared. */
const BINS = 10;

/** A divergence below this is rounding: two histograms of at most 255² values that differ at all lie above 10⁻¹¹. */
const ROUNDING = 1e-12;

/** The order of comparison does not change a minimum; these tell cells apart soonest. */
const MOST_DECISIVE_FIRST = [3, 2, 0, 1, 7, 8, 9, 4, 5, 6, 10, 11, 12];

/**
 * Similarity of two cells of a photo: 1 − the Jensen–Shannon distance (natural logarithm, as SciPy's `jensenshannon`) of their
 * histograms, the smallest of all channels. It lies between 1 − √ln 2 ≈ 0.17 (no common value) and 1 (the same
 * histograms). Histograms have 10 bins over the smallest to largest value of both cells together, the last bin closed.
 */
export class CellSimilarity {
  readonly #grid: CellGrid;
  /** n · ln n of every count that can occur. */
  readonly #nLogN: Float64Array;

  constructor(grid: CellGrid) {
    this.#grid = grid;
    this.#nLogN = Float64Array.from({ length: 2 * grid.pixels + 1 }, (_, n) => (n === 0 ? 0 : n * Math.log(n)));
  }

  /** Similarity of two cells. */
  between(a: number, b: number): number {
    const similarity = new Float64Array(1);
    this.ofPairs([a], [b], 0, similarity);
    return similarity[0]!;
  }

  /**
   * Similarities of the pairs (a[i], b[i]); ends at the first pair that is found to be under `enough`. It goes channel by channel:
   * most unlike cells are told apart by their colours, before tables of gradients are made, and the tables of one channel
   * fit the processor's cache, the more so when pairs that share a cell follow each other.
   * @param similarities receives a value per pair, complete only when no pair is under `enough`.
   * @returns the index of a pair under `enough`, −1 when there is none.
   */
  ofPairs(a: readonly number[], b: readonly number[], enough: number, similarities: Float64Array): number {
    const grid = this.#grid;
    const nLogN = this.#nLogN;
    similarities.fill(1, 0, a.length);
    for (const channel of MOST_DECISIVE_FIRST) {
      const magnitude = isMagnitude(channel);
      for (let i = 0; i < a.length; i++) {
        const counts = grid.counts(a[i]!, channel);
        const similarity = 1 - Math.sqrt(divergence(counts, grid.counts(b[i]!, channel), magnitude, nLogN));
        if (similarity < similarities[i]!) similarities[i] = similarity;
        if (similarity < enough) return i;
      }
    }
    return -1;
  }

  /** Jensen–Shannon divergence of two cells in one channel, 0 … ln 2. */
  divergence(a: number, b: number, channel: number): number {
    return divergence(this.#grid.counts(a, channel), this.#grid.counts(b, channel), isMagnitude(channel), this.#nLogN);
  }
}

/** Inner bin edges of the comparison under way: one array for all, to spare an allocation each. */
const edges = new Int32Array(BINS - 1);

/**
 * With counts a and b of n values each, JSD = ln 2 + Σ (a ln a + b ln b − (a + b) ln (a + b)) / 2n: the two halves of the
 * definition, ½ Σ p ln(p / m) + ½ Σ q ln(q / m) with m = (p + q) / 2, written in counts.
 */
function divergence(a: KeyCounts, b: KeyCounts, magnitude: boolean, nLogN: Float64Array): number {
  const min = Math.min(a.min, b.min);
  const max = Math.max(a.max, b.max);
  if (min === max) return 0;
  if (magnitude) rootEdges(min, max);
  else evenEdges(min, max);
  const total = (nLogN.length - 1) >> 1;
  let belowA = 0;
  let belowB = 0;
  let sum = 0;
  for (let bin = 0; bin < BINS - 1; bin++) {
    const edge = edges[bin]!;
    const uptoA = countBelow(a, edge);
    const uptoB = countBelow(b, edge);
    sum += nLogN[uptoA - belowA]! + nLogN[uptoB - belowB]! - nLogN[uptoA - belowA + uptoB - belowB]!;
    belowA = uptoA;
    belowB = uptoB;
  }
  sum += nLogN[total - belowA]! + nLogN[total - belowB]! - nLogN[2 * total - belowA - belowB]!;
  const result = Math.LN2 + sum / (2 * total);
  return result < ROUNDING ? 0 : result;
}

/**
 * The smallest key of bins 1 … 9 where the bin of a value v is min(9, floor((v − min) · 10 / (max − min))).
 * In whole numbers: (v − min) · 10 ≥ bin · (max − min), the quotient rounded up.
 */
function evenEdges(min: number, max: number): void {
  for (let bin = 1; bin < BINS; bin++) edges[bin - 1] = min + Math.floor((bin * (max - min) + BINS - 1) / BINS);
}

/**
 * The same for values that are square roots of whole keys. The edge is computed in the scale of the keys; where that lands on
 * a whole number up to rounding, the rule itself, in floating point, decides the bin of that key.
 */
function rootEdges(minKey: number, maxKey: number): void {
  const min = Math.sqrt(minKey);
  const range = Math.sqrt(maxKey) - min;
  for (let bin = 1; bin < BINS; bin++) {
    const root = min + (bin * range) / BINS;
    const edge = root * root;
    const near = Math.round(edge);
    if (Math.abs(edge - near) > 1e-6) edges[bin - 1] = Math.ceil(edge);
    else edges[bin - 1] = ((Math.sqrt(near) - min) * BINS) / range >= bin ? near : near + 1;
  }
}
