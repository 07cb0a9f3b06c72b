import { integer } from '../../sampling/distributions.ts';
import type { Rng } from '../../sampling/rng.ts';
import { CHOICES, type Choice } from '../../scenes/panel-scene.ts';

/** What a cheater sees of a test: for each panel, A first, the same list of numbers. It does not see what is an instance's. */
export interface Glimpse {
  readonly values: readonly (readonly number[])[];
  readonly answer: Choice;
}

/** All numbers of a value, in the order of its keys, with where they stand; texts (ids, kinds) are left out. */
export function numbersIn(value: unknown, name = ''): [name: string, value: number][] {
  if (typeof value === 'number') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, name ? `${name}.${key}` : key));
}

/** A score for each of B, C and D; the highest is the cheater's reply. */
type Strategy = (values: readonly (readonly number[])[]) => readonly number[];

const CHOSEN = [1, 2, 3] as const;

/** Strategies that look at one number of each panel: A's, that of the panel that is scored, those of the two others. */
const OF_ONE_NUMBER: Readonly<Record<string, (a: number, own: number, others: readonly number[]) => number>> = {
  nearest: (a, own) => -Math.abs(own - a),
  farthest: (a, own) => Math.abs(own - a),
  equal: (a, own) => Number(own === a),
  largest: (_, own) => own,
  smallest: (_, own) => -own,
  middle: (_, own, others) => -Math.abs(others.reduce((sum, other) => sum + own - other, 0)),
  unique: (_, own, others) => Number(!others.includes(own)),
};

/** Strategies that look at all numbers, scaled to the same spread. */
const OF_ALL: Readonly<Record<string, (panels: readonly (readonly number[])[], own: number) => number>> = {
  'nearest in all': (panels, own) => -distance(panels[own]!, panels[0]!),
  'farthest in all': (panels, own) => distance(panels[own]!, panels[0]!),
  'most equal values': (panels, own) => panels[own]!.filter((value, i) => value === panels[0]![i]).length,
  'odd one out': (panels, own) => CHOSEN.reduce((sum, other) => sum + distance(panels[own]!, panels[other]!), 0),
  'one of the crowd': (panels, own) => -CHOSEN.reduce((sum, other) => sum + distance(panels[own]!, panels[other]!), 0),
  'most unique values': (panels, own) =>
    panels[own]!.filter((value, i) => CHOSEN.every(other => other === own || panels[other]![i] !== value)).length,
};

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((value, i) => value - b[i]!));
}

/**
 * How many standard deviations each strategy's share of right answers lies above or below chance. Ties are broken at random.
 * The last strategies learn: from the first half of the tests what the answer's differences to A look like, or what tests
 * with the most similar values had as answers; they are asked about the second half.
 */
export function cheat(tests: readonly Glimpse[], random: Rng): Record<string, number> {
  const scaled = standardized(tests);
  const count = tests[0]!.values[0]!.length;
  const found: Record<string, number> = {};
  const ask = (name: string, of: readonly Glimpse[], strategy: Strategy) => {
    found[name] = deviation(of, strategy, random);
  };
  for (let i = 0; i < count; i++) {
    if (tests.every(({ values }) => values.every(panel => panel[i] === tests[0]!.values[0]![i]))) continue;
    for (const [name, score] of Object.entries(OF_ONE_NUMBER)) {
      ask(`${name} ${i}`, tests, values => {
        const own = CHOSEN.map(panel => values[panel]![i]!);
        return own.map((value, k) =>
          score(
            values[0]![i]!,
            value,
            own.filter((_, other) => other !== k),
          ),
        );
      });
    }
  }
  for (const [name, score] of Object.entries(OF_ALL)) {
    ask(name, scaled, values => CHOSEN.map(own => score(values, own)));
  }
  const half = Math.floor(scaled.length / 2);
  const [known, asked] = [scaled.slice(0, half), scaled.slice(half)];
  const weights = learn(known);
  ask('learned weights', asked, values => featuresOf(values).map(features => dot(features, weights)));
  ask('most similar test', asked, values => similarAnswers(known, values.flat()));
  return found;
}

function deviation(tests: readonly Glimpse[], strategy: Strategy, random: Rng): number {
  const right = tests.filter(({ values, answer }) => {
    const scores = strategy(values);
    const best = Math.max(...scores);
    const replies = CHOICES.filter((_, i) => scores[i] === best);
    return replies[integer(random, 0, replies.length - 1)] === answer;
  }).length;
  return (right - tests.length / 3) / Math.sqrt((tests.length * 2) / 9);
}

/** Each number with mean 0 and deviation 1 over all panels of all tests; what never changes becomes 0. */
function standardized(tests: readonly Glimpse[]): Glimpse[] {
  const panels = tests.flatMap(({ values }) => values);
  const mean = (i: number, of: (v: number) => number) => panels.reduce((sum, p) => sum + of(p[i]!), 0) / panels.length;
  const scale = panels[0]!.map((_, i) => {
    const middle = mean(i, v => v);
    const spread = Math.sqrt(mean(i, v => (v - middle) ** 2));
    return (value: number) => (spread < 1e-12 ? 0 : (value - middle) / spread);
  });
  return tests.map(({ values, answer }) => ({
    values: values.map(panel => panel.map((value, i) => scale[i]!(value))),
    answer,
  }));
}

/** What is told of each of B, C and D: each number, how far it is from A's, and whether it is the same. */
function featuresOf(values: readonly (readonly number[])[]): number[][] {
  const [a] = values;
  return CHOSEN.map(panel =>
    values[panel]!.flatMap((value, i) => [value, Math.abs(value - a![i]!), value * a![i]!, Number(value === a![i])]),
  );
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Logistic regression on the choice among three, by gradient descent. */
function learn(tests: readonly Glimpse[]): number[] {
  const examples = tests.map(({ values, answer }) => ({
    features: featuresOf(values),
    right: CHOICES.indexOf(answer),
  }));
  let weights = examples[0]!.features[0]!.map(() => 0);
  for (let round = 0; round < 40; round++) {
    const gradient = weights.map(() => 0);
    for (const { features, right } of examples) {
      const scores = features.map(own => Math.exp(Math.max(-30, Math.min(30, dot(own, weights)))));
      const sum = scores.reduce((a, b) => a + b, 0);
      for (const [k, own] of features.entries()) {
        const pull = Number(k === right) - scores[k]! / sum;
        for (let i = 0; i < own.length; i++) gradient[i]! += pull * own[i]!;
      }
    }
    weights = weights.map((weight, i) => weight + (0.5 * gradient[i]!) / examples.length);
  }
  return weights;
}

/** How many of the most similar known tests are asked. */
const NEIGHBOURS = 15;

/** How often each letter was the answer among the known tests that are most similar. */
function similarAnswers(known: readonly Glimpse[], values: readonly number[]): number[] {
  const near: { readonly answer: Choice; readonly far: number }[] = [];
  for (const { values: other, answer } of known) {
    const far = squared(other, values);
    if (near.length === NEIGHBOURS && far >= near.at(-1)!.far) continue;
    near.splice(near.findLastIndex(one => one.far <= far) + 1, 0, { answer, far });
    near.splice(NEIGHBOURS);
  }
  return CHOICES.map(choice => near.filter(({ answer }) => answer === choice).length);
}

function squared(panels: readonly (readonly number[])[], values: readonly number[]): number {
  let sum = 0;
  let i = 0;
  for (const panel of panels) for (const value of panel) sum += (value - values[i++]!) ** 2;
  return sum;
}
