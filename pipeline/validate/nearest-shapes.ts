import { setImmediate } from 'node:timers/promises';
import type { Mask } from '../../extractors/image.ts';
import {
  DESCRIPTION_LENGTH,
  describe,
  likeness,
  mirrored,
  ORDERS,
  SIGNATURE_WORDS,
  writeSignature,
} from './shape-signature.ts';

/** The shapes of other splits, by their descriptions, that a shape is compared with. */
const COMPARED = 8;

/** Shapes that are looked at for it, the nearest in the one number that they are ordered by: bounds the time for large banks. */
const WALKED = 20_000;

/** Room for what a grid makes of areas. */
const SLACK = 1.05;

/** Shapes between two turns of the event loop. */
const BREATH = 256;

/** Two shapes of different splits that are alike. */
export interface AlikeShapes {
  /** Numbers in the order they were added; `shape` is of the later split. */
  readonly shape: number;
  readonly other: number;
  /** Intersection over union, as they are turned and mirrored best. */
  readonly likeness: number;
}

/** Shapes among which those that are alike can be found: 400 bytes each. */
export class NearestShapes {
  #signatures = new Uint32Array(SIGNATURE_WORDS);
  #descriptions = new Float32Array(DESCRIPTION_LENGTH);
  readonly #splits: number[] = [];

  /** @param mask with set pixels. @param split its number. */
  add(mask: Mask, split: number): void {
    const number = this.#splits.push(split) - 1;
    if ((number + 1) * SIGNATURE_WORDS > this.#signatures.length) this.#grow();
    const signature = this.#signature(number);
    writeSignature(mask, signature);
    describe(signature, this.#description(number));
  }

  /**
   * Pairs of shapes of different splits that overlap by at least `least`, among the nearest few of each shape of a later split.
   * Two shapes of area 1 that overlap so much differ in 2 (1 − least) / (1 + least) of area at most, and so do their descriptions.
   * The search walks from a shape's place in the order of one number outwards, as far as that number alone differs by less.
   * @param onShape called for each shape that was compared.
   */
  async *pairs(least: number, onShape: () => void = () => {}): AsyncGenerator<AlikeShapes> {
    const farthest = (SLACK * 2 * (1 - least)) / (1 + least);
    const keys = Float64Array.from(this.#splits, (_, i) => orderKey(this.#description(i)));
    const order = Uint32Array.from(keys.keys()).sort((a, b) => keys[a]! - keys[b]! || a - b);
    for (let place = 0; place < order.length; place++) {
      const shape = order[place]!;
      onShape();
      // Signals are heard in between.
      if (place % BREATH === 0) await setImmediate();
      if (this.#splits[shape] === 0) continue;
      const reflection = mirrored(this.#signature(shape));
      for (const other of this.#nearest(shape, place, order, keys, farthest)) {
        const signature = this.#signature(other);
        const value = Math.max(likeness(signature, this.#signature(shape)), likeness(signature, reflection));
        if (value >= least) yield { shape, other, likeness: value };
      }
    }
  }

  /** The nearest shapes of earlier splits. */
  #nearest(shape: number, place: number, order: Uint32Array, keys: Float64Array, within: number): number[] {
    const found: { other: number; distance: number }[] = [];
    let farthest = within;
    let [below, above] = [place - 1, place + 1];
    for (let walked = 0; walked < WALKED; walked++) {
      const down = below >= 0 ? keys[shape]! - keys[order[below]!]! : Number.POSITIVE_INFINITY;
      const up = above < order.length ? keys[order[above]!]! - keys[shape]! : Number.POSITIVE_INFINITY;
      if (Math.min(down, up) >= farthest) break;
      const other = order[down <= up ? below-- : above++]!;
      if (this.#splits[other]! >= this.#splits[shape]!) continue;
      const distance = this.#distance(shape, other, farthest);
      if (distance >= farthest) continue;
      found.push({ other, distance });
      found.sort((a, b) => a.distance - b.distance);
      if (found.length > COMPARED) found.pop();
      if (found.length === COMPARED) farthest = found[COMPARED - 1]!.distance;
    }
    return found.map(({ other }) => other);
  }

  /** What two shapes differ in at least: of each part of a description the largest difference; of those beyond `limit` any number beyond. */
  #distance(a: number, b: number, limit: number): number {
    const [startA, startB] = [a * DESCRIPTION_LENGTH, b * DESCRIPTION_LENGTH];
    const numbers = this.#descriptions;
    let sum = 0;
    for (let part = 0; part < DESCRIPTION_LENGTH && sum < limit; part += ORDERS) {
      let most = 0;
      for (let i = part; i < part + ORDERS; i++)
        most = Math.max(most, Math.abs(numbers[startA + i]! - numbers[startB + i]!));
      sum += most;
    }
    return sum;
  }

  #signature(number: number): Uint32Array {
    return this.#signatures.subarray(number * SIGNATURE_WORDS, (number + 1) * SIGNATURE_WORDS);
  }

  #description(number: number): Float32Array {
    return this.#descriptions.subarray(number * DESCRIPTION_LENGTH, (number + 1) * DESCRIPTION_LENGTH);
  }

  #grow(): void {
    const signatures = new Uint32Array(2 * this.#signatures.length);
    signatures.set(this.#signatures);
    this.#signatures = signatures;
    const descriptions = new Float32Array(2 * this.#descriptions.length);
    descriptions.set(this.#descriptions);
    this.#descriptions = descriptions;
  }
}

/** Area near the middle less area farther out: it differs by no more than the areas do. */
function orderKey(description: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < description.length; i += ORDERS)
    sum += i < description.length / 3 ? description[i]! : -description[i]!;
  return sum;
}
