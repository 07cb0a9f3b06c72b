import { expect, test } from 'vitest';
import { convergence, secondsTo } from '../../bench/fidelity/convergence.ts';
import type { TimedPicture } from '../../bench/fidelity/pictures.ts';
import { rng } from '../../sampling/rng.ts';

test('the fit finds the noise and the time of an engine that is known', () => {
  const size = 64;
  const mask = new Uint8Array(size * size).fill(1);
  const [deviation, perSample, fixed] = [0.3, 0.05, 2];
  // Uniform noise of that standard deviation, averaged over n samples.
  const draw = (samples: number): TimedPicture => {
    const random = rng(1, 'convergence', samples);
    const width = (deviation * Math.sqrt(12)) / Math.sqrt(samples);
    const pixels = Float32Array.from({ length: 4 * size * size }, () => 1 + width * (random.next() - 0.5));
    return { picture: { size, pixels }, samples, seconds: fixed + perSample * samples };
  };
  const fit = convergence([draw(16), draw(64), draw(128)], draw(256), mask);
  expect(fit.noise / deviation ** 2).toBeCloseTo(1, 1);
  expect(fit.secondsPerSample).toBeCloseTo(perSample, 9);
  // 0.09 / 0.01² samples.
  expect(secondsTo(0.01, { noise: 0.09, secondsPerSample: 0.05 })).toBeCloseTo(45, 9);
});
