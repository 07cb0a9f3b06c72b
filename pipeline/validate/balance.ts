import { SPLITS, type Split } from '../splits.ts';
import type { Check } from './check.ts';

/** How many times the median the largest class may have before it is told. */
const MOST_OF_MEDIAN = 10;
/** How many times as many images one instance of a split may have as another. */
const MOST_OF_LEAST = 3;

type Counts = Map<string, number>;

/** Classes and instances have about as many images each. */
export const balance: Check = {
  name: 'balance',
  holds: 'classes and instances have about as many images each',

  begin(_, tell) {
    const classes: Record<Split, Counts> = { train: new Map(), val: new Map(), test: new Map() };
    /** Images by subset and split, then instance. */
    const images = new Map<string, Map<number, number>>();
    return {
      sample({ label }) {
        if (label?.form === 'silhouettes-sample') {
          const counts = classes[label.value.split];
          const name = label.value.annotated.label;
          counts.set(name, (counts.get(name) ?? 0) + 1);
        } else if (label && 'scene' in label.value) {
          const { subset, split, instance } = label.value;
          const counts = images.get(`${subset}/${split}`) ?? new Map<number, number>();
          images.set(`${subset}/${split}`, counts.set(instance.number, (counts.get(instance.number) ?? 0) + 1));
        }
      },
      end() {
        const warn = (kind: string, file: string, detail: string) => tell({ severity: 'warning', kind, file, detail });
        for (const split of SPLITS) {
          const usual = median(classes[split]);
          for (const [name, count] of [...classes[split]].sort(([, a], [, b]) => b - a)) {
            if (count <= MOST_OF_MEDIAN * usual) break;
            warn(
              'a class of far more pictures than the others',
              `silhouettes/${split}`,
              `${name}: ${count}, the median is ${usual}`,
            );
          }
        }
        // Where most have one picture, they name objects and are no classes to be learnt.
        const common = median(classes.train) > 1;
        for (const split of ['val', 'test'] as const) {
          if (!common && classes.train.size > 0) break;
          const unknown = [...classes[split].keys()].filter(name => !classes.train.has(name));
          if (unknown.length === 0) continue;
          const names = `${unknown.slice(0, 5).join(', ')}${unknown.length > 5 ? ' …' : ''}`;
          warn(
            'classes that train has none of',
            `silhouettes/${split}`,
            `${unknown.length} of ${classes[split].size}: ${names}`,
          );
        }
        for (const [place, counts] of images) {
          const sizes = [...counts.values()];
          const least = sizes.reduce((a, b) => Math.min(a, b));
          const most = sizes.reduce((a, b) => Math.max(a, b));
          if (most > MOST_OF_LEAST * least)
            warn('instances of very different numbers of images', place, `${least} to ${most}`);
        }
      },
    };
  },
};

/** Of the numbers of pictures; 0 where there are none. */
function median(counts: Counts): number {
  const sizes = [...counts.values()].sort((a, b) => b - a);
  return sizes[sizes.length >> 1] ?? 0;
}
