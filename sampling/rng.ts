import { hash128 } from './hash.ts';

/** A stream of random numbers. Everything random in shapemill is drawn from one of these. */
export interface Rng {
  /** The next number, uniform in [0, 1), with 32 random bits. */
  next(): number;
}

/**
 * The generator for one decision: seeded by (run seed, stage, item, attempt), so that it never depends on worker order,
 * time or what was drawn elsewhere. sfc32 (Chris Doty-Humphrey, PractRand) with the 128-bit hash of the four as state;
 * the first 12 outputs are thrown away, as its author advises.
 */
export function rng(seed: number, stage: string, item: string | number, attempt = 0): Rng {
  let [a, b, c, counter] = hash128(`${seed}/${stage}/${item}/${attempt}`) as [number, number, number, number];
  const next32 = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) next32();
  return { next: () => next32() / 2 ** 32 };
}
