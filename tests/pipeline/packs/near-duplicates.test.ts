import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { likenessOf, nearDuplicates } from '../../../pipeline/packs/near-duplicates.ts';
import { rng } from '../../../sampling/rng.ts';

const bits = (a: string, b: string) =>
  [...(BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2)].filter(c => c === '1').length;
const PHOTOS = 'assets/starter/photos';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-likeness-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('likenessOf', () => {
  it('has a bit for each low frequency, 1 where it lies above the median', async () => {
    const random = rng(1, 'likeness', 0);
    const grey = Buffer.from(Array.from({ length: 32 * 32 }, () => Math.floor(256 * random.next())));
    const path = join(folder, 'noise.png');
    await sharp(grey, { raw: { width: 32, height: 32, channels: 1 } })
      .png()
      .toFile(path);
    const coefficients: number[] = [];
    for (let v = 1; v <= 8; v++) {
      for (let u = 1; u <= 8; u++) {
        let sum = 0;
        for (let y = 0; y < 32; y++) {
          for (let x = 0; x < 32; x++) {
            sum +=
              grey[32 * y + x]! * Math.cos((Math.PI / 32) * (x + 0.5) * u) * Math.cos((Math.PI / 32) * (y + 0.5) * v);
          }
        }
        coefficients.push(sum);
      }
    }
    const sorted = coefficients.toSorted((a, b) => a - b);
    const expected = coefficients.map(value => (value > (sorted[31]! + sorted[32]!) / 2 ? '1' : '0'));
    expect(await likenessOf(path)).toBe(
      BigInt(`0b${expected.join('')}`)
        .toString(16)
        .padStart(16, '0'),
    );
  });

  it('is nearly the same for a photo that was scaled, compressed or brightened, and another for another photo', async () => {
    const original = await likenessOf(join(PHOTOS, 'chair.jpg'));
    const [small, dim, other] = ['small.jpg', 'dim.webp', 'other.jpg'].map(name => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await sharp(join(PHOTOS, 'chair.jpg')).resize(200).jpeg({ quality: 40 }).toFile(small);
    await sharp(join(PHOTOS, 'chair.jpg')).linear(0.8, 20).webp({ quality: 60 }).toFile(dim);
    await sharp(join(PHOTOS, 'goldfish.jpg')).toFile(other);
    expect(bits(original, await likenessOf(small))).toBeLessThanOrEqual(4);
    expect(bits(original, await likenessOf(dim))).toBeLessThanOrEqual(4);
    expect(bits(original, await likenessOf(other))).toBeGreaterThan(12);
  });

  it('says of what is no photo that it cannot be decoded', async () => {
    await writeFile(join(folder, 'broken.jpg'), 'no photo');
    await expect(likenessOf(join(folder, 'broken.jpg'))).rejects.toThrow(/cannot be decoded/);
  });
});

describe('nearDuplicates', () => {
  /** As it is described: each against all that stay. */
  function literal(list: readonly (readonly [number, string])[], most: number): Map<number, number> {
    const kept: (readonly [number, string])[] = [];
    const found = new Map<number, number>();
    for (const [number, likeness] of list) {
      const like = kept.find(([, other]) => bits(likeness, other) <= most);
      if (like) found.set(number, like[0]);
      else kept.push([number, likeness]);
    }
    return found;
  }

  it.each([0, 1, 4, 8])('finds what a comparison of all with all finds, within %i bits', most => {
    const random = rng(1, 'near-duplicates', most);
    const word = () => Math.floor(random.next() * 2 ** 32);
    const list: [number, string][] = [];
    for (let i = 0; i < 600; i++) {
      let hash = (BigInt(word()) << 32n) | BigInt(word());
      // Two of three are a few flipped bits away from an earlier one.
      if (i > 10 && i % 3 > 0) {
        hash = BigInt(`0x${list[Math.floor(random.next() * i)]![1]}`);
        for (let flips = Math.floor(random.next() * 12); flips > 0; flips--)
          hash ^= 1n << BigInt(Math.floor(random.next() * 64));
      }
      list.push([2 * i, hash.toString(16).padStart(16, '0')]);
    }
    const found = nearDuplicates(list, most);
    expect(found.size).toBeGreaterThan(10);
    const expected = literal(list, most);
    expect([...found.keys()]).toEqual([...expected.keys()]);
    expect([...found]).toEqual([...expected]);
  });
});
