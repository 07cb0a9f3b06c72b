/** Looks at many draws of a quantity; used to check sampling laws. */

/**
 * How far the fullest or emptiest of equal bins is from its share of uniform draws, in standard deviations; infinite when
 * a value lies outside [low, high].
 */
export function worstBin(values: readonly number[], low: number, high: number, bins: number): number {
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    if (!(value >= low && value <= high)) return Number.POSITIVE_INFINITY;
    counts[Math.min(bins - 1, Math.floor((bins * (value - low)) / (high - low)))]!++;
  }
  const expected = values.length / bins;
  const deviation = Math.sqrt(expected * (1 - 1 / bins));
  return Math.max(...counts.map(count => Math.abs(count - expected) / deviation));
}

/** The same for whole numbers low … high, a bin each. */
export function worstNumber(values: readonly number[], low: number, high: number): number {
  if (!values.every(Number.isInteger)) return Number.POSITIVE_INFINITY;
  return worstBin(values, low - 0.5, high + 0.5, high - low + 1);
}

/** How far a count in so many draws is from its probability, in standard deviations. */
export function shareDeviation(count: number, draws: number, probability: number): number {
  return Math.abs(count - draws * probability) / Math.sqrt(draws * probability * (1 - probability));
}

/** How far the correlation of two independent quantities is from 0, in standard deviations. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [product, squaresA, squaresB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += (a[i]! - meanA) * (b[i]! - meanB);
    squaresA += (a[i]! - meanA) ** 2;
    squaresB += (b[i]! - meanB) ** 2;
  }
  return Math.abs(product / Math.sqrt(squaresA * squaresB)) * Math.sqrt(a.length);
}
