import sharp from 'sharp';
import { InputFault } from '../faults.ts';

/**
 * Difference hash of a photo: shrunk to 9 × 8 grey pixels, a bit for each pixel and its right neighbour, 1 where the left is
 * brighter. What scaling, compression and mild changes of colour leave of a photo gives the same bits or nearly so.
 * @returns 16 hexadecimal digits. @throws InputFault when it cannot be decoded.
 */
export async function likenessOf(path: string): Promise<string> {
  const grey = await sharp(path)
    .autoOrient()
    .greyscale()
    .resize(COLUMNS + 1, ROWS, { fit: 'fill' })
    .raw()
    .toBuffer()
    .catch((error: Error) => {
      throw new InputFault(`cannot be decoded: ${error.message}`);
    });
  let bits = 0n;
  for (let y = 0; y < ROWS; y++) {
    for (let x = 0; x < COLUMNS; x++) {
      const at = y * (COLUMNS + 1) + x;
      bits = (bits << 1n) | (grey[at]! > grey[at + 1]! ? 1n : 0n);
    }
  }
  return bits.toString(16).padStart(16, '0');
}

const COLUMNS = 8;
const ROWS = 8;
const BITS = 64;

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
