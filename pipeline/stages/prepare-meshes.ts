import { prepareMesh } from '../../extractors/mesh/prepare-mesh.ts';
import { UnusableMesh } from '../../extractors/mesh/triangle-mesh.ts';
import { decodeMesh, encodeMesh, POSITION_STEPS } from '../../scenes/mesh-format.ts';
import { bankItemId } from '../bank.ts';
import { bankShard, type ImportTask, importFile, type NewItem } from '../bank-stage.ts';
import { CacheFolder, cacheKey } from '../cache-folder.ts';
import type { MeshPreparationRecipe } from '../configuration.ts';
import { InputFault } from '../faults.ts';
import { encodeLabel, type MeshLabel, meshLabelSchema } from '../labels.ts';
import { type MeshFile, openMesh } from '../meshes/mesh-file.ts';
import type { Stage } from '../stage.ts';

/** Goes up whenever preparation gives other bytes for the same file: entries of the cache are then made again. */
const PREPARATION_VERSION = 2;

/** Mesh files → mesh bank: one joined mesh each, made fit to be drawn and stored as the page takes it. */
export const prepareMeshes: Stage<ImportTask> = {
  name: 'prepare-meshes',
  title: 'meshes',
  unit: 'meshes',
  reads: [],
  large: true,
  fills: 'meshes',
  asked: () => null,

  async estimate({ configuration: { shardSamples }, index }) {
    const files = await index('mesh-files');
    return {
      samples: files.facts.files,
      shards: files.blocks(shardSamples),
      bytesPerSample: 250_000,
      secondsPerSample: 0.15,
    };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('mesh-files')).blocks(shardSamples);
  },

  async *plan({ configuration: { shardSamples }, index }) {
    const files = await index('mesh-files');
    for (let block = 0; block < files.blocks(shardSamples); block++) {
      const tasks = (await files.block(block, shardSamples)).map(file => ({ file }));
      yield bankShard('meshes', block, tasks);
    }
  },

  run({ file }, { configuration }) {
    return importFile('meshes', file, async (): Promise<NewItem> => {
      const { facts, mesh } = await prepareMeshFile(file.path, configuration.meshPreparation);
      const { id: source, split, provenance } = file;
      const id = bankItemId('meshes', source, 0);
      return {
        id,
        files: { mesh },
        label: encodeLabel(meshLabelSchema, { id, split, ...facts, provenance }),
        facts: { source, split, rank: 0, width: 0, height: 0 },
      };
    });
  },
};

/** What preparation gives: the stored mesh, and what its label says of it. */
export interface Prepared {
  readonly facts: Omit<MeshLabel, 'id' | 'split' | 'provenance'>;
  readonly mesh: Uint8Array;
}

/** The prepared mesh of a file, from the cache where it is there. @throws InputFault when it cannot be used. */
export async function prepareMeshFile(path: string, recipe: MeshPreparationRecipe): Promise<Prepared> {
  const file = await openMesh(path);
  const cache = new CacheFolder();
  const key = cacheKey('meshes', Buffer.from(file.digest), { version: PREPARATION_VERSION, recipe });
  const kept = await cache.get(key);
  if (kept) return unpack(kept);
  const made = await prepare(file, recipe);
  await cache.put(key, pack(made));
  return made;
}

async function prepare(file: MeshFile, recipe: MeshPreparationRecipe): Promise<Prepared> {
  const { mesh: raw, dropped } = await file.decode();
  const result = await prepareMesh(raw, recipe, POSITION_STEPS).catch(error => {
    throw error instanceof UnusableMesh ? new InputFault(error.message) : error;
  });
  const mesh = encodeMesh(result.mesh);
  const { vertices, triangles, sides } = decodeMesh(mesh);
  const { center, scale } = result.placement;
  const facts: Prepared['facts'] = {
    triangles,
    vertices,
    sides: [...sides],
    file: {
      format: file.format,
      triangles: raw.indices.length / 3,
      vertices: raw.positions.length / 3,
      dropped: [...dropped],
    },
    removed: result.removed,
    simplified: result.simplified,
    madeNormals: result.madeNormals,
    transform: { center: [...center], scale },
  };
  return { facts, mesh };
}

/** An entry of the cache: length of the facts, 4 bytes; the facts as JSON; the mesh. */
function pack({ facts, mesh }: Prepared): Uint8Array {
  const json = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, mesh]);
}

function unpack(bytes: Buffer): Prepared {
  const end = 4 + bytes.readUInt32LE();
  return { facts: JSON.parse(bytes.toString('utf8', 4, end)), mesh: bytes.subarray(end) };
}
