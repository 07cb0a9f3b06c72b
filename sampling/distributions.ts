import type { Rng } from './rng.ts';

/** True with probability `p`. */
export function chance(rng: Rng, p: number): boolean {
  return rng.next() < p;
}

/** Uniform in [low, high). */
export function uniform(rng: Rng, low: number, high: number): number {
  return low + (high - low) * rng.next();
}

/** exp of a uniform between log(low) and log(high); `low` > 0. Equal bounds return that bound. */
export function logUniform(rng: Rng, low: number, high: number): number {
  return low * (high / low) ** rng.next();
}

/** A whole number in [low, high], both ends included. */
export function integer(rng: Rng, low: number, high: number): number {
  return low + Math.floor(rng.next() * (high - low + 1));
}

/** One element of a non-empty list. */
export function pick<T>(rng: Rng, items: readonly T[]): T {
  return items[Math.floor(rng.next() * items.length)] as T;
}

/**
 * A random permutation of 0 … count−1 (Fisher–Yates). Memory: 4 bytes an element.
 */
export function permutation(rng: Rng, count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = integer(rng, 0, i);
    const swap = order[i]!;
    order[i] = order[j]!;
    order[j] = swap;
  }
  return order;
}
