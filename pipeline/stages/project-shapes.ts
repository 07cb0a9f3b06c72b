import { scaledRule } from '../../extractors/natural-shape.ts';
import { type PlacedMask, tightMask } from '../../extractors/placed-mask.ts';
import { silhouette } from '../../renderers/silhouette.ts';
import { rng } from '../../sampling/rng.ts';
import { rotationMatrix, uniformRotation } from '../../sampling/rotation.ts';
import { decodeMesh, POSITION_STEPS, type StoredMesh, VERTEX_COMPONENTS } from '../../scenes/mesh-format.ts';
import { type Camera, halfField, type Quaternion, SENSOR } from '../../scenes/scene3d.ts';
import { itemSize, readItem } from '../bank.ts';
import { bankResult, bankShard, type NewItem } from '../bank-stage.ts';
import type { Configuration } from '../configuration.ts';
import type { MeshLabel } from '../labels.ts';
import { shapeItem } from '../shape-item.ts';
import type { Stage } from '../stage.ts';

interface Task {
  /** Number in the mesh bank. */
  readonly mesh: number;
  /** 0: the first view of this mesh. */
  readonly view: number;
}

/** Views are drawn anew so often, at most, until one gives a shape. */
const MAX_ATTEMPTS = 20;
/** Views that are planned for one that is asked for: meshes that give no shape, from whatever side, cost views. */
const VIEWS_A_SHAPE = 4;
/** Ranks have 16 bits. */
const MAX_VIEWS_A_MESH = 65_536;

/**
 * Meshes → projected shapes: outlines of the mesh bank's objects from random sides, held to the same sizes as natural shapes. Every
 * mesh gives its first view, then every one its second: N shapes show as many meshes as there are. A shape is in the split of
 * its mesh.
 */
export const projectShapes: Stage<Task> = {
  name: 'project-shapes',
  title: 'projected shapes',
  unit: 'shapes',
  reads: ['meshes'],
  fills: 'projected-shapes',
  asked: ({ projections }) => projections,

  async estimate({ configuration }) {
    const { projections } = configuration;
    const shards = Math.ceil(projections / viewsAShard(configuration));
    return { samples: projections, shards, bytesPerSample: 5000, secondsPerSample: 0.05 };
  },

  async shardCount({ configuration, banks }) {
    return Math.ceil(viewsInAll(configuration, banks.meshes?.items ?? 0) / viewsAShard(configuration));
  },

  async *plan({ configuration, banks }) {
    const meshes = banks.meshes!.items;
    const views = viewsInAll(configuration, meshes);
    const size = viewsAShard(configuration);
    for (let first = 0; first < views; first += size) {
      const tasks: Task[] = [];
      for (let i = first; i < Math.min(views, first + size); i++) {
        tasks.push({ mesh: i % meshes, view: Math.floor(i / meshes) });
      }
      yield bankShard('projected-shapes', first / size, tasks);
    }
  },

  async run({ mesh: item, view }, { configuration, banks }) {
    const meshes = banks.meshes!;
    const { image, label } = await readItem(meshes, item);
    const mesh = decodeMesh(new Uint8Array(image));
    const { id } = itemSize(meshes, item);
    const counts: Record<string, number> = { looks: 1 };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const rotation = viewRotation(configuration.seed, id, view, attempt);
      const projection = project(mesh, rotation, configuration);
      if (typeof projection !== 'string') {
        const shape = await newShape(label as MeshLabel, view, rotation, projection, configuration);
        return bankResult('projected-shapes', [shape], { faults: [], counts });
      }
      counts[`view-${projection}`] = (counts[`view-${projection}`] ?? 0) + 1;
    }
    counts['no-shape'] = 1;
    return bankResult('projected-shapes', [], { faults: [], counts });
  },
};

/** No more than an eighth of what is asked for, so that little is made beyond it where the last shard is not needed whole. */
function viewsAShard({ projections, shardSamples }: Configuration): number {
  return Math.min(shardSamples, Math.ceil(projections / 8));
}

function viewsInAll({ projections }: Configuration, meshes: number): number {
  return Math.min(VIEWS_A_SHAPE * projections, MAX_VIEWS_A_MESH * meshes);
}

/** From which side a view shows a mesh: uniform over SO(3). @param mesh id of the bank item. */
export function viewRotation(seed: number, mesh: string, view: number, attempt: number): Quaternion {
  return uniformRotation(rng(seed, 'project-shapes', `${mesh}/${view}`, attempt));
}

/** What of a mesh is seen. */
export interface Projection extends PlacedMask {
  readonly area: number;
  readonly camera: Camera;
}

/** Why a view gives no shape; `too-near`: some part of the mesh would be at the camera. */
export type ViewRejection = 'too-near' | 'too-small' | 'border';

/**
 * A view's outline in a square frame of the working size: as large as the frame and its border allow, smaller only where the
 * object's centre, which the camera looks at, is not that of its outline.
 */
export function project(
  mesh: StoredMesh,
  rotation: Quaternion,
  { naturalShapes: rule, shapes3d: { focalLength } }: Pick<Configuration, 'naturalShapes' | 'shapes3d'>,
): Projection | ViewRejection {
  const side = rule.workSide;
  const { minArea, border } = scaledRule(rule, side);
  const camera = {
    distance: fittingDistance(mesh, rotation, focalLength, 1 - (2 * border) / side),
    focalLength,
    sensor: SENSOR,
  };
  const seen = silhouette(mesh, rotation, camera, side);
  if (!seen) return 'too-near';
  const tight = tightMask(seen);
  if (!tight || tight.area < minArea) return 'too-small';
  const { left, top, width, height } = tight.box;
  const isClear = Math.min(left, top) >= border && Math.max(left + width, top + height) <= side - border;
  return isClear ? { ...tight, camera } : 'border';
}

/**
 * The distance from which a turned mesh just fits into the middle of the frame. A point at (x, y, z) is seen at x / (d − z) and
 * y / (d − z) from the distance d; it lies within ±t of the axis from d = z + max(|x|, |y|) / t on, and of all points the one
 * that needs most decides.
 * @param share of the frame's side that may be filled.
 */
export function fittingDistance(
  { vertices, positions }: Pick<StoredMesh, 'vertices' | 'positions'>,
  rotation: Quaternion,
  focalLength: number,
  share: number,
): number {
  const t = share * halfField({ distance: 1, focalLength, sensor: SENSOR });
  const [a, b, c, d, e, f, g, h, k] = rotationMatrix(rotation);
  let distance = 0;
  for (let v = 0; v < vertices; v++) {
    const x = positions[v * VERTEX_COMPONENTS]!;
    const y = positions[v * VERTEX_COMPONENTS + 1]!;
    const z = positions[v * VERTEX_COMPONENTS + 2]!;
    const aside = Math.max(Math.abs(a * x + b * y + c * z), Math.abs(d * x + e * y + f * z));
    distance = Math.max(distance, g * x + h * y + k * z + aside / t);
  }
  return distance / POSITION_STEPS;
}

function newShape(
  { id: mesh, split, provenance }: MeshLabel,
  view: number,
  rotation: Quaternion,
  { mask, box, area, camera }: Projection,
  { naturalShapes: { workSide } }: Configuration,
): Promise<NewItem> {
  return shapeItem('projected-shapes', mask, {
    kind: 'projection',
    split,
    // The id of the mesh's file, which its bank id begins with.
    source: mesh.slice(0, 16),
    rank: view,
    area,
    picture: { width: workSide, height: workSide },
    projected: { mesh, rotation, camera, box },
    provenance,
  });
}
