import type { TarFile } from './tar.ts';

/** Key of an image: `<subset>-<instance>-<variation>`, without dots, since WebDataset cuts names at the first one. */
export function sampleKey(subset: string, instance: number, variation: number): string {
  return `${subset}-${String(instance).padStart(6, '0')}-${variation}`;
}

/** Names of an image's files, as its label holds them. */
export function sampleFileNames(key: string) {
  return { jpg: `${key}.jpg`, 'mask.png': `${key}.mask.png`, json: `${key}.json` };
}

/** An image's files as they stand in a shard: fields in alphabetical order, next to each other. */
export function sampleFiles(key: string, jpg: Uint8Array, label: Uint8Array, mask: Uint8Array): TarFile[] {
  const names = sampleFileNames(key);
  return [
    { name: names.jpg, data: jpg },
    { name: names.json, data: label },
    { name: names['mask.png'], data: mask },
  ];
}
