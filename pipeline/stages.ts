import type { Stage } from './stage.ts';
import type { StageName } from './stage-names.ts';
import { extractShapes } from './stages/extract-shapes.ts';
import { extractTextures } from './stages/extract-textures.ts';
import { importMaterials } from './stages/import-materials.ts';
import { importShapes } from './stages/import-shapes.ts';
import { importTextures } from './stages/import-textures.ts';
import { makeMaterials } from './stages/make-materials.ts';
import { materials3d } from './stages/materials3d.ts';
import { outlineShapes } from './stages/outline-shapes.ts';
import { prepareEnvironments } from './stages/prepare-environments.ts';
import { prepareMeshes } from './stages/prepare-meshes.ts';
import { projectShapes } from './stages/project-shapes.ts';
import { shapes2d } from './stages/shapes2d.ts';
import { shapes3d } from './stages/shapes3d.ts';
import { silhouettes } from './stages/silhouettes.ts';
import { textures2d } from './stages/textures2d.ts';

/** Every stage by name. */
export const STAGES: Readonly<Record<StageName, Stage>> = {
  'extract-shapes': extractShapes,
  'import-shapes': importShapes,
  'outline-shapes': outlineShapes,
  'extract-textures': extractTextures,
  'import-textures': importTextures,
  'make-materials': makeMaterials,
  'import-materials': importMaterials,
  'prepare-environments': prepareEnvironments,
  'prepare-meshes': prepareMeshes,
  'project-shapes': projectShapes,
  shapes2d,
  textures2d,
  shapes3d,
  materials3d,
  silhouettes,
};
