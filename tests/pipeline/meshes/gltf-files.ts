import { Document, Logger, NodeIO } from '@gltf-transform/core';
import { ALL_EXTENSIONS, EXTMeshoptCompression, KHRDracoMeshCompression } from '@gltf-transform/extensions';
import draco3d from 'draco3dgltf';
import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import { boxMesh } from '../../extractors/mesh/raw-meshes.ts';

const SILENT = new Logger(Logger.Verbosity.SILENT);

/** Writes glTFs with every extension. */
export async function gltfWriter(): Promise<NodeIO> {
  await Promise.all([MeshoptEncoder.ready, MeshoptDecoder.ready]);
  return new NodeIO()
    .setLogger(SILENT)
    .registerExtensions(ALL_EXTENSIONS)
    .registerDependencies({
      'draco3d.encoder': await draco3d.createEncoderModule(),
      'draco3d.decoder': await draco3d.createDecoderModule(),
      'meshopt.encoder': MeshoptEncoder,
      'meshopt.decoder': MeshoptDecoder,
    });
}

/** A document with one box from 0, 0, 0 to 1, 2, 3 on one node, with normals outwards from its centre. */
export function boxDocument() {
  const document = new Document().setLogger(SILENT);
  const buffer = document.createBuffer();
  const { positions, indices } = boxMesh([0, 0, 0], [1, 2, 3]);
  const array = Float32Array.from(positions);
  const outwards = array.map((value, i) => Math.sign(value - [0.5, 1, 1.5][i % 3]!) / Math.sqrt(3));
  const accessor = (type: 'SCALAR' | 'VEC3', values: Float32Array | Uint16Array) =>
    document.createAccessor().setType(type).setArray(values).setBuffer(buffer);
  const position = accessor('VEC3', array);
  const primitive = document
    .createPrimitive()
    .setAttribute('POSITION', position)
    .setAttribute('NORMAL', accessor('VEC3', outwards))
    .setIndices(accessor('SCALAR', Uint16Array.from(indices)));
  const mesh = document.createMesh().addPrimitive(primitive);
  const node = document.createNode().setMesh(mesh);
  const scene = document.createScene().addChild(node);
  return { document, buffer, accessor, position, primitive, mesh, node, scene };
}

export type BoxDocument = ReturnType<typeof boxDocument>;

/** Compresses all of a document's meshes when it is written. */
export const compress = {
  draco: (document: Document) => document.createExtension(KHRDracoMeshCompression).setRequired(true),
  meshopt: (document: Document) => document.createExtension(EXTMeshoptCompression).setRequired(true),
};
