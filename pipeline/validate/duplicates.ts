import { SPLITS } from '../splits.ts';
import type { Check } from './check.ts';
import { NearestShapes } from './nearest-shapes.ts';

/**
 * Overlap, turned and mirrored as is best, from which two shapes are told to be the same. Measured on the starter shapes: of a
 * shape and itself at 0.4 to 1 times its size, turned by any angle and mirrored, the median is 0.95 and a twentieth below 0.854;
 * of two shapes of different photos none is above 0.802. A larger bank has more that are alike by chance, so it is a warning.
 */
export const SAME_SHAPE = 0.85;

/** No shape is in two splits, as another size, turned or mirrored. */
export const duplicates: Check = {
  name: 'duplicates',
  holds: 'no shape of one split is nearly one of another',

  begin(_, tell) {
    const shapes = new NearestShapes();
    const places: string[] = [];
    return {
      sample({ key, label, pictures }, { path }) {
        const picture = pictures.get('png');
        if (label?.form !== 'shape-bank-item' || !picture || !('pixels' in picture) || !('grey' in picture.pixels))
          return;
        if (!picture.pixels.grey.data.some(value => value >= 128)) return;
        shapes.add(picture.pixels.grey, SPLITS.indexOf(label.value.split));
        places.push(`${path} ${key}`);
      },
      async end(progress) {
        const what = 'shapes compared';
        progress.begin({ name: what, title: what, unit: 'items', total: places.length });
        const compared = () => progress.advance(1, []);
        for await (const { shape, other, likeness } of shapes.pairs(SAME_SHAPE, compared)) {
          const [file, key] = places[shape]!.split(' ') as [string, string];
          const detail = `overlaps by ${likeness.toFixed(2)} with ${places[other]}`;
          tell({ severity: 'warning', kind: 'a shape that is nearly one of another split', file, key, detail });
        }
        progress.end();
      },
    };
  },
};
