import { integer } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { ItemSize } from './scene2d.ts';

/** Bank items that panels are drawn from: those of one split, by number from 0. */
export interface Pool {
  readonly count: number;
  item(i: number): ItemSize;
  /** Whether two items have a source (photo, mesh, panorama) in common; an item is related to itself. */
  related(i: number, j: number): boolean;
}

/** Draws that hit nothing before what is left is listed. */
const MAX_DRAWS = 64;
/** Sets that are begun before a pool counts as too small. */
const MAX_SETS = 100;

/**
 * Draws items that are unrelated to each other, each uniform among those that remain.
 * @param allows whether an item may be the set's `place`-th.
 * @returns undefined when there is no such set, as far as was tried.
 */
export function drawApart(
  random: Rng,
  pool: Pool,
  count: number,
  allows: (i: number, place: number) => boolean = () => true,
): number[] | undefined {
  for (let set = 0; set < MAX_SETS; set++) {
    const drawn: number[] = [];
    while (drawn.length < count) {
      const next = drawWhere(
        random,
        pool,
        i => allows(i, drawn.length) && drawn.every(before => !pool.related(i, before)),
      );
      if (next === undefined) break;
      drawn.push(next);
    }
    if (drawn.length === count) return drawn;
    if (drawn.length === 0) return undefined;
  }
  return undefined;
}

function drawWhere(random: Rng, { count }: Pool, holds: (i: number) => boolean): number | undefined {
  if (count === 0) return undefined;
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const i = integer(random, 0, count - 1);
    if (holds(i)) return i;
  }
  const left = Array.from({ length: count }, (_, i) => i).filter(holds);
  return left.length === 0 ? undefined : left[integer(random, 0, left.length - 1)];
}

/** How many items of a pool are unrelated to each other: exact where relation goes by one source, else at least so many. */
export function unrelatedItems(pool: Pool, most: number): number {
  const found: number[] = [];
  for (let i = 0; i < pool.count && found.length < most; i++) {
    if (found.every(before => !pool.related(i, before))) found.push(i);
  }
  return found.length;
}
