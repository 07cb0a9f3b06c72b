import type { TarFile } from './tar.ts';

/** Key of an image: `<subset>-<instance>-<variation>`, without dots, since WebDataset cuts names at the first one. */
export function sampleKey(subset: string, instance: number, variation: number): string {
  return `${subset}-${String(instance).padStart(6, '0')}-${variation}`;
}

/** Names of an image's files, as its label holds them. @param more fields beside the three that every image has. */
export function sampleFileNames<More extends string = never>(key: string, more: readonly More[] = []) {
  const names = ['jpg', 'mask.png', 'json', ...more] as const;
  return Object.fromEntries(names.map(field => [field, `${key}.${field}`])) as Record<(typeof names)[number], string>;
}

/** An image's files, given by field, as they stand in a shard: fields in alphabetical order, next to each other. */
export function sampleFiles(key: string, files: Readonly<Record<string, Uint8Array>>): TarFile[] {
  const fields = Object.keys(files).sort();
  return fields.map(field => ({ name: `${key}.${field}`, data: files[field]! }));
}
