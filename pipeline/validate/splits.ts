import type { Check, ValidLabel } from './check.ts';

/** Nothing that comes from one photo, mesh or panorama is in two splits, over all subsets and banks. */
export const splits: Check = {
  name: 'splits',
  holds: 'no photo, mesh or panorama is in two splits',

  begin(_, tell) {
    /** Where each source was met first. */
    const met = new Map<string, { readonly split: string; readonly where: string }>();
    return {
      sample({ key, label }, { path }) {
        if (!label) return;
        const { split } = label.value;
        for (const source of sourcesOf(label)) {
          const first = met.get(source);
          if (!first) met.set(source, { split: split!, where: `${path} ${key}` });
          else if (first.split !== split) {
            const detail = `${source} is in ${split} here, in ${first.split} at ${first.where}`;
            tell({ severity: 'error', kind: 'a source in two splits', file: path, key, detail });
          }
        }
      },
    };
  },
};

/** Ids of the files that something was made from: 16 hexadecimal digits each. */
function sourcesOf({ form, value }: ValidLabel): string[] {
  switch (form) {
    case 'shape-bank-item':
    case 'texture-bank-item':
      return [value.photo.id];
    case 'material-bank-item':
      return value.sources.map(({ photo }) => photo);
    case 'environment-bank-item':
      return [value.panorama];
    case 'mesh-bank-item':
      return [fileOf(value.id)];
    case 'panel-test':
      return [];
    default:
      return value.sources.map(source => ('photo' in source && source.photo ? source.photo : fileOf(source.id)));
  }
}

/** The file that a bank item was made from begins its id. */
function fileOf(item: string): string {
  return item.replace(/-[a-z]\d+$/, '');
}
