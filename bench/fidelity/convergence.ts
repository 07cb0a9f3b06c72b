import { rmse, type TimedPicture } from './pictures.ts';

/** How an engine gets rid of noise: variance is `noise`/n after n samples of `secondsPerSample` each. */
export interface Convergence {
  /** Mean squared error of one sample a pixel, linear light. */
  readonly noise: number;
  readonly secondsPerSample: number;
}

/**
 * Fits an engine's convergence.
 * @param pictures of other samples than the converged one's, of at least two numbers of samples.
 * @param converged of so many samples that its own noise counts little; it is taken into account.
 */
export function convergence(pictures: readonly TimedPicture[], converged: TimedPicture, mask: Uint8Array): Convergence {
  // Errors of few samples and of many weigh the same: the mean of logarithms.
  const logs = pictures.map(({ picture, samples }) =>
    Math.log(rmse(picture, converged.picture, mask) ** 2 / (1 / samples + 1 / converged.samples)),
  );
  const fewest = pictures.reduce((a, b) => (b.samples < a.samples ? b : a));
  const most = pictures.reduce((a, b) => (b.samples > a.samples ? b : a));
  if (fewest.samples === most.samples) throw new Error('expected pictures of different numbers of samples');
  // What a picture takes whatever its samples (handing the scene over, reading back) is left out, unless others kept the machine so
  // busy that nothing is left.
  const each = (most.seconds - fewest.seconds) / (most.samples - fewest.samples);
  return {
    noise: Math.exp(logs.reduce((a, b) => a + b) / logs.length),
    secondsPerSample: each > 0 ? each : most.seconds / most.samples,
  };
}

/** Seconds until the RMSE is that small. */
export function secondsTo(rmse: number, { noise, secondsPerSample }: Convergence): number {
  return (noise / rmse ** 2) * secondsPerSample;
}
