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
  /** Inner bin edges of the comparison under way: one array for all, to spare an allocation each. */
  readonly #edges = new Int32Array(BINS - 1);

  constructor(grid: CellGrid) {
    this.#grid = grid;
    this.#nLogN = Float64Array.from({ length: 2 * grid.pixels + 1 }, (_, n) => (n === 0 ? 0 : n * Math.log(n)));
  }

  /** @param enough stops at the first channel under this, and returns that channel's similarity. */
  between(a: number, b: number, enough: number): number {
    let similarity = 1;
    for (const channel of MOST_DECISIVE_FIRST) {
      const divergence = this.divergence(a, b, channel);
      similarity = Math.min(similarity, 1 - Math.sqrt(divergence));
      if (similarity < enough) break;
    }
    return similarity;
  }

  /** Jensen–Shannon divergence of two cells in one channel, 0 … ln 2. */
  divergence(cellA: number, cellB: number, channel: number): number {
    const a = this.#grid.counts(cellA, channel);
    const b = this.#grid.counts(cellB, channel);
    const min = Math.min(a.min, b.min);
    const max = Math.max(a.max, b.max);
    if (min === max) return 0;
    const edges = isMagnitude(channel) ? rootEdges(min, max, this.#edges) : evenEdges(min, max, this.#edges);
    return this.#divergence(a, b, edges);
  }

  /**
   * With counts a and b of n values each, JSD = ln 2 + Σ (a ln a + b ln b − (a + b) ln (a + b)) / 2n: the two halves of the
   * definition, ½ Σ p ln(p / m) + ½ Σ q ln(q / m) with m = (p + q) / 2, written in counts.
   */
  #divergence(a: KeyCounts, b: KeyCounts, edges: Int32Array): number {
    const nLogN = this.#nLogN;
    const total = this.#grid.pixels;
    let belowA = 0;
    let belowB = 0;
    let sum = 0;
    for (let bin = 0; bin < BINS; bin++) {
      const uptoA = bin < BINS - 1 ? countBelow(a, edges[bin]!) : total;
      const uptoB = bin < BINS - 1 ? countBelow(b, edges[bin]!) : total;
      const inA = uptoA - belowA;
      const inB = uptoB - belowB;
      sum += nLogN[inA]! + nLogN[inB]! - nLogN[inA + inB]!;
      belowA = uptoA;
      belowB = uptoB;
    }
    const divergence = Math.LN2 + sum / (2 * total);
    return divergence < ROUNDING ? 0 : divergence;
  }
}

/**
 * The smallest key of bins 1 … 9 where the bin of a value v is min(9, floor((v − min) · 10 / (max − min))).
 * In whole numbers: (v − min) · 10 ≥ bin · (max − min).
 */
function evenEdges(min: number, max: number, edges: Int32Array): Int32Array {
  for (let bin = 1; bin < BINS; bin++) edges[bin - 1] = min + Math.ceil((bin * (max - min)) / BINS);
  return edges;
}

/**
 * The same for values that are square roots of whole keys. The edge is computed in the scale of the keys; where that lands on
 * a whole number up to rounding, the rule itself, in floating point, decides the bin of that key.
 */
function rootEdges(minKey: number, maxKey: number, edges: Int32Array): Int32Array {
  const min = Math.sqrt(minKey);
  const range = Math.sqrt(maxKey) - min;
  for (let bin = 1; bin < BINS; bin++) {
    const edge = (min + (bin * range) / BINS) ** 2;
    const near = Math.round(edge);
    if (Math.abs(edge - near) > 1e-6) edges[bin - 1] = Math.ceil(edge);
    else edges[bin - 1] = ((Math.sqrt(near) - min) * BINS) / range >= bin ? near : near + 1;
  }
  return edges;
}
