import type { GreyImage } from '../../extractors/image.ts';
import { expandCounts, InvalidRunLengths, runLengthArea, runLengthBox } from '../../extractors/run-lengths.ts';
import { coverageFacts } from '../../renderers/coverage.ts';
import { AOV_FIELDS } from '../rendering.ts';
import type { Check, Sample } from './check.ts';

/**
 * Pixels whose depth contradicts the mask all around them, by the pixels of the object. Depth is of a pixel's middle, the mask of a few places
 * in it: at outlines they differ.
 */
const CONTRADICTING = 0.01;

/** Masks hold what their labels say: box, area and coverage, counted again; depth lies where they do. */
export const masks: Check = {
  name: 'masks',
  holds: 'masks have the boxes and areas that their labels say, depth lies where they do',

  begin(_, tell) {
    return {
      sample(sample, { path: file }) {
        const wrong = maskFaults(sample);
        for (const detail of wrong) {
          tell({ severity: 'error', kind: 'not what its label says', file, key: sample.key, detail });
        }
        const detail = depthFault(sample);
        if (detail) tell({ severity: 'error', kind: 'depth lies elsewhere', file, key: sample.key, detail });
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

/** Depth where the mask is empty all around, or none where it is full. */
function depthFault(sample: Sample): string | undefined {
  const [depth, mask] = [greyOf(sample, AOV_FIELDS.depth), greyOf(sample, 'mask.png')];
  if (!depth || !mask || depth.width !== mask.width || depth.height !== mask.height) return undefined;
  const { width, height, data } = mask;
  let [outside, lacking] = [0, 0];
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const i = y * width + x;
      const there = depth.data[i]! > 0;
      if (there === data[i]! > 0) continue;
      const around = [-width, 0, width].flatMap(row => [-1, 0, 1].map(column => data[i + row + column]!));
      if (there) outside += Number(around.every(covered => covered === 0));
      else lacking += Number(around.every(covered => covered === 255));
    }
  }
  const shown = data.reduce((count, covered) => count + Number(covered > 0), 0);
  if (outside + lacking <= CONTRADICTING * shown) return undefined;
  return `${outside} pixels have depth outside the mask, ${lacking} inside it have none (the object is in ${shown})`;
}

/** A picture of one channel; undefined where it is broken, or of another form, which is told elsewhere. */
function greyOf({ pictures }: Sample, field: string): GreyImage | undefined {
  const picture = pictures.get(field);
  return picture && 'pixels' in picture && 'grey' in picture.pixels ? picture.pixels.grey : undefined;
}

/** Where two sets of facts differ, as "name: label's, not found". */
function differing<Facts extends object>(said: Facts, found: Facts): string[] {
  return Object.entries(said).flatMap(([name, value]) => {
    const [a, b] = [JSON.stringify(value), JSON.stringify(found[name as keyof Facts])];
    return a === b ? [] : [`${name}: ${a} in the label, ${b} in the mask`];
  });
}
