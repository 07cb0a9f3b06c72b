import { sampleKey } from '../image-sample.ts';
import type { Check } from './check.ts';

/** USTAR's limit for a name without prefix. */
const LONGEST_NAME = 100;

/** Names are such that every reader of WebDataset groups files into the same samples. */
export const keys: Check = {
  name: 'keys',
  holds: 'keys are unique and free of dots, files of a sample adjacent',

  begin(_, tell) {
    const inShard = new Set<string>();
    /** Bank items, over all shards of all banks; keys of samples are unique when each instance lies in one shard only. */
    const items = new Set<string>();
    return {
      sample({ key, members, label }, { path, place }) {
        const error = (kind: string, detail?: string) =>
          tell({ severity: 'error', kind, file: path, key, ...(detail !== undefined && { detail }) });
        if (inShard.has(key)) error('twice in one shard, or its files are not adjacent');
        inShard.add(key);
        if ('bank' in place) {
          if (items.has(key)) error('a bank item that is there twice');
          items.add(key);
        }
        const fields = members.map(name => name.slice(name.indexOf('.') + 1));
        const repeated = fields.find((field, i) => fields.indexOf(field) !== i);
        if (repeated !== undefined) error('a field that is there twice', repeated);
        for (const name of members) {
          if (!name.includes('.')) error('a file without a field', name);
          else if (name.includes('/')) error('a file in a folder', name);
          else if (!/^[\x21-\x7e]+$/.test(name) || name.length > LONGEST_NAME) {
            error(`a name that is not up to ${LONGEST_NAME} ASCII characters`, name);
          } else if (/[A-Z]/.test(name.slice(name.indexOf('.')))) error('a field with capitals', name);
          else if (name.startsWith('__')) error('a name that readers pass over', name);
        }
        if (!label || !('key' in label.value)) return;
        const { subset, instance, variation } = label.value;
        const expected = sampleKey(subset, instance.number, variation);
        if (label.value.key !== expected) error('a key that is not subset, instance and variation', expected);
      },
      shard() {
        inShard.clear();
      },
    };
  },
};
