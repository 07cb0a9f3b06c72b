import type { PackKind } from './manifest.ts';

const IMAGES = /\.(jpe?g|jpe|png|webp|avif|tiff?)$/i;

/** What files of a pack of some kind are called, where an archive or a folder holds others beside them. */
export const KIND_FILES: Readonly<Record<PackKind, RegExp>> = {
  photos: IMAGES,
  meshes: /\.(glb|gltf|obj)$/i,
  environments: /\.(hdr|exr)$/i,
  materials: IMAGES,
  textures: IMAGES,
  segmentation: /\.(png|webp)$/i,
};
