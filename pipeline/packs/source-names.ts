/** Places that packs come from, in the order of the help; each is a file in `sources/`. */
export const SOURCE_NAMES = ['url', 'dir'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];
