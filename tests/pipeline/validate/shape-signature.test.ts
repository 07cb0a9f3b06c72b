import { describe, expect, it } from 'vitest';
import type { Mask } from '../../../extractors/image.ts';
import { NearestShapes } from '../../../pipeline/validate/nearest-shapes.ts';
import {
  DESCRIPTION_LENGTH,
  describe as describeShape,
  likeness,
  mirrored,
  SIGNATURE_WORDS,
  writeSignature,
} from '../../../pipeline/validate/shape-signature.ts';
import { rng } from '../../../sampling/rng.ts';

/** A closed curve r(φ) of random waves, as a filled mask of its box; turned, scaled and mirrored as asked. */
function wavy(seed: number, turn = 0, size = 60, mirror = false): Mask {
  const random = rng(seed, 'wavy', 0);
  const waves = Array.from({ length: 6 }, (_, i) => ({
    order: i + 1,
    size: (0.7 * random.next()) / Math.sqrt(i + 1),
    at: random.next() * 7,
  }));
  const radius = (angle: number) =>
    waves.reduce((sum, wave) => sum + wave.size * Math.cos(wave.order * angle + wave.at), 1);
  const side = 5 * size;
  const data = new Uint8Array(side * side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [dx, dy] = [(mirror ? -1 : 1) * (x + 0.5 - side / 2), y + 0.5 - side / 2];
      if (Math.hypot(dx, dy) < size * Math.max(0.1, radius(Math.atan2(dy, dx) + turn))) data[y * side + x] = 255;
    }
  }
  return { data, width: side, height: side };
}

function signatureOf(mask: Mask): Uint32Array {
  const signature = new Uint32Array(SIGNATURE_WORDS);
  writeSignature(mask, signature);
  return signature;
}
const descriptionOf = (mask: Mask) => {
  const description = new Float32Array(DESCRIPTION_LENGTH);
  describeShape(signatureOf(mask), description);
  return description;
};
const apart = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0);

describe('a signature', () => {
  it('is like that of the same shape, turned, scaled and mirrored, and unlike that of another', () => {
    for (let seed = 0; seed < 5; seed++) {
      const signature = signatureOf(wavy(seed));
      const again = signatureOf(wavy(seed, 1 + seed, 40 + 5 * seed));
      expect(likeness(signature, again)).toBeGreaterThan(0.9);
      const reflection = signatureOf(wavy(seed, 2 * seed, 50, true));
      expect(likeness(mirrored(signature), reflection)).toBeGreaterThan(0.9);
      expect(likeness(signature, signatureOf(wavy(seed + 100)))).toBeLessThan(0.9);
    }
  });

  it('of itself is 1, and its mirror’s mirror is itself', () => {
    const signature = signatureOf(wavy(3));
    expect(likeness(signature, signature)).toBe(1);
    expect(mirrored(mirrored(signature))).toEqual(signature);
  });

  it('has an overlap that is the overlap of the areas: a disc and its half', () => {
    const side = 200;
    const disc = (holds: (x: number) => boolean): Mask => ({
      data: Uint8Array.from({ length: side * side }, (_, i) => {
        const [x, y] = [(i % side) + 0.5 - side / 2, Math.floor(i / side) + 0.5 - side / 2];
        return Math.hypot(x, y) < 80 && holds(x) ? 255 : 0;
      }),
      width: side,
      height: side,
    });
    const whole = signatureOf(disc(() => true));
    // A ring of the grid is set as a whole, or not at all.
    expect(new Set([...whole.subarray(0, 20)])).toEqual(new Set([0xffffffff]));
    expect(likeness(whole, signatureOf(disc(() => true)))).toBe(1);
    expect(likeness(whole, signatureOf(disc(x => x > 0)))).toBeLessThan(0.75);
  });
});

describe('a description', () => {
  it('hardly changes when the shape is turned or mirrored, and tells shapes apart', () => {
    for (let seed = 0; seed < 5; seed++) {
      const own = descriptionOf(wavy(seed));
      const same = Math.max(
        apart(own, descriptionOf(wavy(seed, 2))),
        apart(own, descriptionOf(wavy(seed, 0, 80, true))),
      );
      for (let other = 0; other < 5; other++) {
        if (other !== seed) expect(apart(own, descriptionOf(wavy(other)))).toBeGreaterThan(same);
      }
    }
  });
});

describe('nearest shapes', () => {
  it('are found in another split only, each pair once', async () => {
    const shapes = new NearestShapes();
    const added: [seed: number, split: number, turn: number][] = [];
    const add = (seed: number, split: number, turn = 0) => {
      shapes.add(wavy(seed, turn, 40), split);
      added.push([seed, split, turn]);
    };
    for (let seed = 0; seed < 18; seed++) add(seed, seed % 3);
    add(0, 0, 1); // of the same split
    add(3, 2, 2); // test, as one of train
    add(4, 2, 2); // test, as one of val
    const pairs: number[][] = [];
    let compared = 0;
    const found = shapes.pairs(0.9, () => compared++);
    for await (const { shape, other } of found) pairs.push([added[shape]![0], added[other]![0]]);
    expect(compared).toBe(added.length);
    expect(pairs.sort()).toEqual([
      [3, 3],
      [4, 4],
    ]);
  });
});
