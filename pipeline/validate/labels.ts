import type { Check, Sample, Shard } from './check.ts';

/** Every label matches its published schema and speaks of the sample that it lies beside. */
export const labels: Check = {
  name: 'labels',
  holds: 'labels match their schemas and their samples',

  begin(_, tell) {
    return {
      sample(sample, shard) {
        const { key, label, labelFault } = sample;
        if (label) for (const detail of strayFacts(sample, shard)) tell({ ...AT_ODDS, file: shard.path, key, detail });
        else tell({ severity: 'error', kind: 'does not match its schema', file: shard.path, key, detail: labelFault! });
      },
    };
  },
};

const AT_ODDS = { severity: 'error', kind: 'says something else than the sample it lies beside' } as const;

/** Where a label and the place of its sample disagree, as "name: label's, place's". */
function strayFacts({ key, label, files }: Sample, { place }: Shard): string[] {
  const value = label!.value;
  const name = 'key' in value ? { key: value.key } : 'id' in value ? { id: value.id } : {};
  const told: Record<string, unknown> = { ...name };
  const actual: Record<string, unknown> = 'key' in name ? { key } : { id: key };
  if ('subset' in place) {
    Object.assign(told, { split: value.split, ...('subset' in value && { subset: value.subset }) });
    Object.assign(actual, { split: place.split, subset: place.subset });
  }
  if ('files' in value) {
    for (const [field, file] of Object.entries(value.files)) {
      told[`files.${field}`] = file;
      actual[`files.${field}`] = files.has(field) ? `${key}.${field}` : undefined;
    }
  }
  if ('maps' in value) {
    for (const [map, { file }] of Object.entries(value.maps)) {
      told[`maps.${map}`] = file;
      actual[`maps.${map}`] = files.has(`${map}.jpg`) ? `${key}.${map}.jpg` : undefined;
    }
  }
  return Object.entries(told).flatMap(([fact, said]) =>
    said === actual[fact] ? [] : [`${fact}: ${said} in the label, ${actual[fact] ?? 'not there'}`],
  );
}
