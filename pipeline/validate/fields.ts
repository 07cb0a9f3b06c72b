import { BANK_FORMS } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import { is3d, type Subset } from '../generate-options.ts';
import { AOV_FIELDS } from '../rendering.ts';
import type { Check, Place } from './check.ts';

const IMAGE = ['jpg', 'json', 'mask.png'] as const;
const SAMPLE_FIELDS: Readonly<Record<Subset, readonly string[]>> = {
  shapes2d: IMAGE,
  textures2d: IMAGE,
  shapes3d: IMAGE,
  materials3d: IMAGE,
  silhouettes: ['edge.png', 'grey.png', 'hq.jpg', 'json', 'silhouette.png'],
};

/** All samples of a subset have the same fields: loaders take those of the first for all. */
export const fields: Check = {
  name: 'fields',
  holds: 'all samples of a subset have the same fields',

  begin({ configuration }, tell) {
    return {
      sample({ key, files }, { path, place }) {
        const expected = fieldsOf(place, configuration);
        const missing = expected.filter(field => !files.has(field));
        // Materials may have further maps: opacity, transmission, occlusion.
        const more = 'bank' in place && place.bank === 'materials';
        const odd = more ? [] : [...files.keys()].filter(field => !expected.includes(field));
        const error = (kind: string, detail: string) => tell({ severity: 'error', kind, file: path, key, detail });
        if (missing.length > 0) error('a field is missing', missing.join(', '));
        if (odd.length > 0) error('a field that the others do not have', `${odd.join(', ')} (a dot in the key?)`);
      },
    };
  },
};

function fieldsOf(place: Place, { aov }: Configuration): readonly string[] {
  if ('bank' in place) return [...BANK_FORMS[place.bank].fields, 'json'];
  return [...SAMPLE_FIELDS[place.subset], ...(is3d(place.subset) ? aov.map(name => AOV_FIELDS[name]) : [])];
}
