/** Places that packs come from, in the order of the help; each is a file in `sources/`. */
export const SOURCE_NAMES = ['open-images', 'objaverse', 'poly-haven', 'zenodo', 'coco', 'url', 'dir'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];
