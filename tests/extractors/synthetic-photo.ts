import type { RgbImage } from '../../extractors/image.ts';
import { chance, integer, uniform } from '../../sampling/distributions.ts';
import type { Rng } from '../../sampling/rng.ts';

/** Something a natural shape can be found in, by luck: ellipses of one colour each, waves of light, grain. */
export function syntheticPhoto(rng: Rng, width: number, height: number): RgbImage {
  const data = new Uint8Array(3 * width * height);
  const short = Math.min(width, height);
  const colour = () => [uniform(rng, 0, 255), uniform(rng, 0, 255), uniform(rng, 0, 255)];
  const ground = colour();
  const ellipses = Array.from({ length: integer(rng, 1, 6) }, () => ({
    x: uniform(rng, 0, width),
    y: uniform(rng, 0, height),
    a: uniform(rng, 0.05, 0.5) * short,
    b: uniform(rng, 0.05, 0.5) * short,
    colour: colour(),
  }));
  // Sometimes one that nearly fills the frame: too large to be a shape, yet clear of the edges.
  if (chance(rng, 0.5))
    ellipses.unshift({ x: width / 2, y: height / 2, a: 0.46 * width, b: 0.46 * height, colour: colour() });
  const waves = Array.from({ length: 3 }, () => ({
    x: uniform(rng, -12, 12) / short,
    y: uniform(rng, -12, 12) / short,
    phase: uniform(rng, 0, 7),
    height: uniform(rng, 0, 60),
  }));
  const grain = uniform(rng, 0, 1) ** 3 * 80;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const top = ellipses.findLast(e => ((x - e.x) / e.a) ** 2 + ((y - e.y) / e.b) ** 2 < 1);
      for (let c = 0; c < 3; c++) {
        const wave = waves[c]!;
        const light = wave.height * Math.sin(wave.x * x + wave.y * y + wave.phase);
        const value = (top?.colour ?? ground)[c]! + light + grain * (rng.next() - 0.5);
        data[3 * (y * width + x) + c] = Math.max(0, Math.min(255, Math.round(value)));
      }
    }
  }
  return { width, height, data };
}
