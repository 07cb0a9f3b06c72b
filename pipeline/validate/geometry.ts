import type { GreyImage } from '../../extractors/image.ts';
import { OBJECT_RADIUS } from '../../scenes/scene3d.ts';
import type { Sample3dLabel } from '../labels.ts';
import { AOV_FIELDS } from '../rendering.ts';
import type { Check, DeepImage } from './check.ts';
import { deepOf, greyOf } from './decode-picture.ts';

/**
 * Pixels whose depth contradicts the mask all around them, by the pixels of the object. Depth is of a pixel's middle, the mask of a few places
 * in it: at outlines they differ.
 */
const CONTRADICTING = 0.01;
/** How far a normal's length may be from 1: it is stored in steps of 3e-5. */
const LENGTH = 0.001;
/** Of depths, for their steps and for what rounding adds. */
const MARGIN = 0.002;

/** Depth lies where the mask does and the scene puts the object; normals are there with it, of length 1. */
export const geometry: Check = {
  name: 'geometry',
  holds: 'depth lies where masks and scenes put the object, normals have length 1',

  begin(_, tell) {
    return {
      sample(sample, { path: file }) {
        const { label, key } = sample;
        if (label?.form !== 'shapes3d-sample' && label?.form !== 'materials3d-sample') return;
        const error = (kind: string, detail: string | undefined) => {
          if (detail !== undefined) tell({ severity: 'error', kind, file, key, detail });
        };
        const [depth, normal] = [deepOf(sample, AOV_FIELDS.depth, 1), deepOf(sample, AOV_FIELDS.normal, 3)];
        const mask = greyOf(sample, 'mask.png');
        const there = depth?.data ?? (normal && Uint8Array.from(mask?.data ?? [], (_, i) => Number(shown(normal, i))));
        if (mask && there?.length === mask.data.length) error('geometry lies elsewhere', misplaced(there, mask));
        if (depth) error('depth that no place of the object has', outOfReach(depth, label.value));
        if (normal) error('normals that are none', crooked(normal, depth, label.value));
      },
    };
  },
};

const shown = ({ data }: DeepImage, i: number) => data[3 * i]! + data[3 * i + 1]! + data[3 * i + 2]! > 0;

/** Something where the mask is empty all around, or nothing where it is full. */
function misplaced(there: ArrayLike<number>, { width, height, data }: GreyImage): string | undefined {
  let [outside, lacking] = [0, 0];
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const i = y * width + x;
      if (there[i]! > 0 === data[i]! > 0) continue;
      const around = [-width, 0, width].flatMap(row => [-1, 0, 1].map(column => data[i + row + column]!));
      if (there[i]! > 0) outside += Number(around.every(covered => covered === 0));
      else lacking += Number(around.every(covered => covered === 255));
    }
  }
  const object = data.reduce((count, covered) => count + Number(covered > 0), 0);
  if (outside + lacking <= CONTRADICTING * object) return undefined;
  return `${outside} pixels are something outside the mask, ${lacking} inside it nothing (the object is in ${object})`;
}

function outOfReach({ data }: DeepImage, { scene, aov }: Sample3dLabel): string | undefined {
  const scale = aov?.[AOV_FIELDS.depth]?.scale;
  if (scale === undefined) return undefined;
  const reach = OBJECT_RADIUS + scene.material.displacement + MARGIN;
  const [least, most] = [scene.camera.distance - reach, scene.camera.distance + reach];
  const odd = data.find(stored => stored > 0 && (stored * scale < least || stored * scale > most));
  if (odd === undefined) return undefined;
  return `${(odd * scale).toFixed(3)}, not between ${least.toFixed(3)} and ${most.toFixed(3)}`;
}

function crooked(normal: DeepImage, depth: DeepImage | undefined, { aov }: Sample3dLabel): string | undefined {
  const form = aov?.[AOV_FIELDS.normal];
  if (!form) return undefined;
  const { data, width, height } = normal;
  for (let i = 0; i < width * height; i++) {
    const there = shown(normal, i);
    if (depth && there !== depth.data[i]! > 0)
      return `pixel ${i}: ${there ? 'a normal' : 'none'} where depth says other`;
    if (!there) continue;
    const length = Math.hypot(...[0, 1, 2].map(c => data[3 * i + c]! * form.scale + form.offset));
    if (Math.abs(length - 1) > LENGTH) return `pixel ${i}: of length ${length.toFixed(3)}`;
  }
  return undefined;
}
