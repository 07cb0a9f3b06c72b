/** Splits are cut by source (photo, mesh, panorama): nothing of one photo is in two. */
export const SPLITS = ['train', 'val', 'test'] as const;
export type Split = (typeof SPLITS)[number];
