import { integer, permutation, pick } from '../sampling/distributions.ts';
import { type Rng, rng } from '../sampling/rng.ts';
import type { Pool } from './panel-pool.ts';
import { CHOICES, type Choice, PANELS, type PanelName } from './panel-scene.ts';

/** Instances of a test by their numbers in a pool: what A and the answer show, then what the two other panels show. */
export type Triple = readonly [answer: number, other: number, another: number];

/** A test before its panels are drawn. */
export interface PlannedTest {
  readonly number: number;
  readonly answer: Choice;
  /** The instances, then those that take their place, in turn, where no panels can be drawn of them. */
  readonly triples: readonly Triple[];
}

/** Substitutes that a test's instances have at most. */
const SUBSTITUTES = 3;

/**
 * Plans tests: which instances each compares, and where the answer stands. All instances are asked for equally often, as far
 * as they can; no two tests compare the same instances in the same roles. Answers are as many B as C as D (one more of some
 * where three do not divide the number), in random order.
 *
 * The first tests of a larger number compare the same instances, but for substitutes. No list of answers is balanced at every
 * length and in no order, so tests that are added to others have an order of their own.
 * @param wanted tests; there are fewer where the pool has no more different ones.
 * @param earlier how many tests there were before some were added, each time, ascending: these keep their answers.
 */
export function planTests(
  seed: number,
  condition: string,
  pool: Pick<Pool, 'count' | 'related'>,
  wanted: number,
  earlier: readonly number[] = [],
): PlannedTest[] {
  const triples = drawTriples(rng(seed, 'panels', `${condition}/instances`), pool, (1 + SUBSTITUTES) * wanted);
  const tests = Math.min(wanted, triples.length);
  const answers = drawAnswers(seed, condition, [...earlier.filter(count => count < tests), tests]);
  return Array.from({ length: tests }, (_, number) => ({
    number,
    answer: answers[number]!,
    triples: Array.from({ length: 1 + SUBSTITUTES }, (_, k) => triples[number + k * tests]).filter(
      triple => triple !== undefined,
    ),
  }));
}

/** Answers up to each of the ends, balanced at each and in no order between two. */
function drawAnswers(seed: number, condition: string, ends: readonly number[]): Choice[] {
  const answers: Choice[] = [];
  for (const [part, end] of ends.entries()) {
    const start = answers.length;
    const order = permutation(rng(seed, 'panels', `${condition}/answers`, part), end - start);
    for (const place of order) answers.push(CHOICES[(start + place) % CHOICES.length]!);
  }
  return answers;
}

/** Different triples of unrelated items: each item is the answer once, then each once more, as long as there are any. */
function drawTriples(random: Rng, pool: Pick<Pool, 'count' | 'related'>, wanted: number): Triple[] {
  const triples: Triple[] = [];
  const used = new Map<number, Set<number>>();
  let open = [...permutation(random, pool.count)];
  while (open.length > 0 && triples.length < wanted) {
    open = open.filter(answer => {
      if (triples.length >= wanted) return false;
      const others = used.get(answer) ?? new Set();
      const pair = drawOthers(random, pool, answer, others);
      if (!pair) return false;
      others.add(pairKey(pool.count, pair));
      used.set(answer, others);
      triples.push([answer, ...pair]);
      return true;
    });
  }
  return triples;
}

type Pair = readonly [number, number];

/** A pair counts as the same in either order. */
const pairKey = (count: number, [a, b]: Pair) => Math.min(a, b) * count + Math.max(a, b);

/** Draws that hit nothing new before all pairs are listed. */
const MAX_DRAWS = 32;

/** Two items that are unrelated to the answer and to each other, and were not beside it before. */
function drawOthers(
  random: Rng,
  { count, related }: Pick<Pool, 'count' | 'related'>,
  answer: number,
  used: ReadonlySet<number>,
): Pair | undefined {
  const fits = (pair: Pair) => !related(...pair) && !used.has(pairKey(count, pair));
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const pair = [integer(random, 0, count - 1), integer(random, 0, count - 1)] as const;
    if (!related(answer, pair[0]) && !related(answer, pair[1]) && fits(pair)) return pair;
  }
  const candidates = Array.from({ length: count }, (_, i) => i).filter(i => !related(answer, i));
  const pairs = candidates.flatMap((a, place) =>
    candidates
      .slice(place + 1)
      .map((b): Pair => [a, b])
      .filter(fits),
  );
  return pairs.length === 0 ? undefined : pick(random, pairs);
}

/** Which instance each panel shows: A and the answer the first of a triple, the other two panels the others. */
export function instancesOf<T>([same, other, another]: readonly [T, T, T], answer: Choice): Record<PanelName, T> {
  const others = [other, another];
  const shown = PANELS.map(panel => [panel, panel === 'A' || panel === answer ? same : others.shift()!] as const);
  return Object.fromEntries(shown) as Record<PanelName, T>;
}
