import type { PackSource } from './pack-source.ts';
import type { SourceName } from './source-names.ts';
import { coco } from './sources/coco.ts';
import { dir } from './sources/dir.ts';
import { objaverse } from './sources/objaverse.ts';
import { openImages } from './sources/open-images.ts';
import { polyHaven } from './sources/poly-haven.ts';
import { url } from './sources/url.ts';
import { zenodo } from './sources/zenodo.ts';

/** Every source by name. A manifest's addresses are checked by the source's own schema before it sees them. */
export const PACK_SOURCES: Readonly<Record<SourceName, PackSource>> = {
  'open-images': openImages,
  objaverse,
  'poly-haven': polyHaven,
  zenodo,
  coco,
  url,
  dir,
};
