import { expandCounts, InvalidRunLengths, runLengthArea, runLengthBox } from '../../extractors/run-lengths.ts';
import { coverageFacts } from '../../renderers/coverage.ts';
import type { Check, Sample } from './check.ts';
import { greyOf } from './decode-picture.ts';

/** Masks hold what their labels say: box, area and coverage, counted again. */
export const masks: Check = {
  name: 'masks',
  holds: 'masks have the boxes and areas that their labels say',

  begin(_, tell) {
    return {
      sample(sample, { path: file }) {
        const wrong = maskFaults(sample);
        for (const detail of wrong) {
          tell({ severity: 'error', kind: 'not what its label says', file, key: sample.key, detail });
        }
      },
    };
  },
};

function maskFaults(sample: Sample): string[] {
  const { label } = sample;
  switch (label?.form) {
    case 'shapes2d-sample':
    case 'textures2d-sample':
    case 'shapes3d-sample':
    case 'materials3d-sample': {
      const mask = greyOf(sample, 'mask.png');
      return mask ? differing(label.value.facts, coverageFacts(mask)) : [];
    }
    case 'shape-bank-item': {
      const mask = greyOf(sample, 'png');
      if (!mask) return [];
      const { width, height, area } = label.value;
      // A shape's picture is cut to the shape, and hard.
      const box = { left: 0, top: 0, width, height };
      const soft = mask.data.findIndex(value => value !== 0 && value !== 255);
      const found = coverageFacts(mask);
      return [
        ...differing({ area, box }, { area: found.area, box: found.box }),
        ...(soft < 0 ? [] : [`pixel ${soft}: ${mask.data[soft]}, neither 0 nor 255`]),
      ];
    }
    case 'silhouettes-sample': {
      const { object, picture } = label.value;
      const [height, width] = object.mask.size;
      try {
        const runs = { width, height, counts: expandCounts(object.mask.counts) };
        const found = { area: runLengthArea(runs), box: runLengthBox(runs), width, height };
        return differing({ area: object.area, box: object.box, ...picture }, found);
      } catch (error) {
        if (!(error instanceof InvalidRunLengths)) throw error;
        return [`object.mask: ${error.message}`];
      }
    }
    default:
      return [];
  }
}

/** Where two sets of facts differ, as "name: label's, not found". */
function differing<Facts extends object>(said: Facts, found: Facts): string[] {
  return Object.entries(said).flatMap(([name, value]) => {
    const [a, b] = [JSON.stringify(value), JSON.stringify(found[name as keyof Facts])];
    return a === b ? [] : [`${name}: ${a} in the label, ${b} in the mask`];
  });
}
