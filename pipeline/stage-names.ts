/** The stages in the order they run; each is one file in `stages/`. */
export const STAGE_NAMES = [
  'extract-shapes',
  'import-shapes',
  'outline-shapes',
  'extract-textures',
  'import-textures',
  'make-materials',
  'import-materials',
  'prepare-meshes',
  'prepare-environments',
  'project-shapes',
  'shapes2d',
  'textures2d',
  'shapes3d',
  'materials3d',
  'silhouettes',
] as const;
export type StageName = (typeof STAGE_NAMES)[number];
