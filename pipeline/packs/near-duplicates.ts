import sharp from 'sharp';
import { InputFault } from '../faults.ts';

/** The photo is shrunk to so many pixels square … */
const SIDE = 32;
/** … of whose cosine transform so many frequencies count, upright and across, from the first above 0 on. */
const FREQUENCIES = 8;
const BITS = 64;

/** Cosines of frequencies 1 to 8 at the pixels of a row: row `u` of the DCT-II without its scale, which no sign depends on. */
const COSINES = Array.from({ length: FREQUENCIES }, (_, i) =>
  Float64Array.from({ length: SIDE }, (_, x) => Math.cos(((i + 1) * (2 * x + 1) * Math.PI) / (2 * SIDE))),
);

/**
 * Perceptual hash of a photo (pHash; C. Zauner, Implementation and Benchmarking of Perceptual Image Hash Functions, 2010): 32 × 32 grey
 * pixels, their discrete cosine transform, of which the 8 × 8 lowest frequencies without 0 give a bit each, 1 where the
 * coefficient lies above the median of the 64. What scaling, compression and changes of brightness leave of a photo gives the same
 * bits or nearly so; two photos differ in 32 bits on average.
 * @returns 16 hexadecimal digits. @throws InputFault when it cannot be decoded.
 */
export async function likenessOf(path: string): Promise<string> {
  const grey = await sharp(path)
    .autoOrient()
    .greyscale()
    .resize(SIDE, SIDE, { fit: 'fill' })
    .raw()
    .toBuffer()
    .catch((error: Error) => {
      throw new InputFault(`cannot be decoded: ${error.message}`);
    });
  // First across each row, then down the columns.
  const rows = COSINES.map(cosines =>
    Float64Array.from({ length: SIDE }, (_, y) => dot(grey.subarray(y * SIDE, (y + 1) * SIDE), cosines)),
  );
  const coefficients = COSINES.flatMap(cosines => rows.map(row => dot(row, cosines)));
  const sorted = Float64Array.from(coefficients).sort();
  const median = (sorted[BITS / 2 - 1]! + sorted[BITS / 2]!) / 2;
  const bits = coefficients.map(value => (value > median ? '1' : '0')).join('');
  return BigInt(`0b${bits}`)
    .toString(16)
    .padStart(BITS / 4, '0');
}

function dot(a: ArrayLike<number>, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/**
 * Finds photos whose hashes differ in at most `most` bits from one before them that is no such photo itself: the first of a group stays. Cut into
 * `most + 1` bands, two such hashes agree in one band at least, so only those that share a band are compared.
 * @param likenesses number of a photo and its hash, in order.
 * @returns of each near-duplicate, the photo it is like.
 */
export function nearDuplicates(
  likenesses: Iterable<readonly [number: number, likeness: string]>,
  most: number,
): Map<number, number> {
  const bands = Array.from({ length: most + 1 }, (_, band) => ({
    from: Math.floor((band * BITS) / (most + 1)),
    to: Math.floor(((band + 1) * BITS) / (most + 1)),
    kept: new Map<bigint, number[]>(),
  }));
  // Hashes of those that stay: high and low words, by their places in `numbers`.
  const [numbers, high, low]: [number[], number[], number[]] = [[], [], []];
  const found = new Map<number, number>();
  for (const [number, likeness] of likenesses) {
    const hash = BigInt(`0x${likeness}`);
    const [h, l] = [Number(hash >> 32n), Number(hash & 0xffff_ffffn)];
    const lists = bands.map(({ from, to, kept }) => {
      const value = BigInt.asUintN(to - from, hash >> BigInt(from));
      const list = kept.get(value) ?? [];
      kept.set(value, list);
      return list;
    });
    const like = lists.flatMap(list => list.find(at => bitCount(high[at]! ^ h) + bitCount(low[at]! ^ l) <= most) ?? []);
    if (like.length > 0) {
      found.set(number, numbers[Math.min(...like)]!);
      continue;
    }
    for (const list of lists) list.push(numbers.length);
    numbers.push(number);
    high.push(h);
    low.push(l);
  }
  return found;
}

/** Bits that are 1 in a 32-bit word. */
function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x5555_5555);
  v = (v & 0x3333_3333) + ((v >>> 2) & 0x3333_3333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
