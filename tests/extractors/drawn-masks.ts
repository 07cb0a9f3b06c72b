import type { GreyImage, Mask } from '../../extractors/image.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import { integer } from '../../sampling/distributions.ts';
import type { Rng } from '../../sampling/rng.ts';

/** A mask drawn with `#` and `.`. */
export function drawn(...rows: string[]): Mask {
  return {
    width: rows[0]!.length,
    height: rows.length,
    data: Uint8Array.from(rows.join(''), c => (c === '#' ? 255 : 0)),
  };
}

/** The rows of a binary image, as {@link drawn} takes them. */
export function rowsOf({ data, width, height }: GreyImage): string[] {
  return Array.from({ length: height }, (_, row) =>
    Array.from(data.subarray(row * width, (row + 1) * width), value =>
      value === 0 ? '.' : value === 255 ? '#' : '?',
    ).join(''),
  );
}

/** A mask somewhere in a picture. */
export function placedAt(mask: Mask, left = 0, top = 0): PlacedMask {
  return { mask, box: { left, top, width: mask.width, height: mask.height } };
}

/** A mask of random discs with random holes, and specks. */
export function randomMask(random: Rng, width: number, height: number): Mask {
  const data = new Uint8Array(width * height);
  for (let disc = integer(random, 1, 6); disc >= 0; disc--) {
    const [cx, cy] = [integer(random, 0, width - 1), integer(random, 0, height - 1)];
    const radius = integer(random, 1, Math.max(1, Math.min(width, height) >> 1));
    const value = disc > 0 && integer(random, 0, 3) === 0 ? 0 : 255;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) if ((x - cx) ** 2 + (y - cy) ** 2 <= radius ** 2) data[y * width + x] = value;
    }
  }
  for (let speck = integer(random, 0, 9); speck > 0; speck--) data[integer(random, 0, data.length - 1)] ^= 255;
  if (!data.includes(255)) data[integer(random, 0, data.length - 1)] = 255;
  return { data, width, height };
}
