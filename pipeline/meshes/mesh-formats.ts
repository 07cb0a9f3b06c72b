/** The mesh files that are read. */
export const MESH_FORMATS = ['glb', 'gltf', 'obj'] as const;
export type MeshFormat = (typeof MESH_FORMATS)[number];
