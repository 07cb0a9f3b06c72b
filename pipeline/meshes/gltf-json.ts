import { z } from 'zod';
import { InputFault } from '../faults.ts';
import { checkTriangles, MAX_VERTICES } from './mesh-limits.ts';

const DRACO = 'KHR_draco_mesh_compression';
const MESHOPT = 'EXT_meshopt_compression';
const INSTANCING = 'EXT_mesh_gpu_instancing';

/** Extensions that say where vertices are, and that are read. */
const GEOMETRY_EXTENSIONS: readonly string[] = [DRACO, MESHOPT, INSTANCING, 'KHR_mesh_quantization'];
/** Extensions that concern only what is dropped: they may be required, and are not needed. */
const LOOKS = /^(KHR|EXT|ADOBE|MSFT)_(materials|texture|lights|animation|xmp|node_visibility|node_hoverability)/;

const index = z.int().min(0);
const numbers = (length: number) => z.array(z.number()).length(length);
const attributes = z.record(z.string(), index);

const ELEMENT_SIZES = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT2: 4, MAT3: 9, MAT4: 16 } as const;
const COMPONENT_BYTES = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 } as const;
const componentType = z.literal([5120, 5121, 5122, 5123, 5125, 5126]);

const primitive = z.object({
  attributes,
  indices: index.optional(),
  mode: z.int().min(0).max(6).default(4),
  targets: z.array(attributes).optional(),
  extensions: z.object({ [DRACO]: z.object({ bufferView: index, attributes }).optional() }).optional(),
});
const node = z.object({
  children: z.array(index).optional(),
  mesh: index.optional(),
  skin: index.optional(),
  matrix: numbers(16).optional(),
  translation: numbers(3).optional(),
  rotation: numbers(4).optional(),
  scale: numbers(3).optional(),
  weights: z.array(z.number()).optional(),
  extensions: z.object({ [INSTANCING]: z.object({ attributes }).optional() }).optional(),
});
const accessor = z.object({
  bufferView: index.optional(),
  byteOffset: index.default(0),
  componentType,
  normalized: z.boolean().optional(),
  count: z.int().min(1).max(MAX_VERTICES),
  type: z.literal(['SCALAR', 'VEC2', 'VEC3', 'VEC4', 'MAT2', 'MAT3', 'MAT4']),
  sparse: z
    .object({
      count: z.int().min(1),
      indices: z.object({ bufferView: index, byteOffset: index.default(0), componentType }),
      values: z.object({ bufferView: index, byteOffset: index.default(0) }),
    })
    .optional(),
});
const bufferView = z.object({
  buffer: index,
  byteOffset: index.default(0),
  byteLength: z.int().min(1),
  byteStride: z.int().min(1).max(255).optional(),
  extensions: z
    .object({
      [MESHOPT]: z
        .object({
          buffer: index,
          byteOffset: index.default(0),
          byteLength: z.int().min(1),
          byteStride: z.int().min(1).max(256),
          count: z.int().min(1).max(MAX_VERTICES),
          mode: z.literal(['ATTRIBUTES', 'TRIANGLES', 'INDICES']),
          filter: z.literal(['NONE', 'OCTAHEDRAL', 'QUATERNION', 'EXPONENTIAL']).optional(),
        })
        .optional(),
    })
    .optional(),
});
const buffer = z.object({
  uri: z.string().optional(),
  byteLength: z.int().min(1),
  extensions: z.object({ [MESHOPT]: z.object({ fallback: z.boolean().optional() }).optional() }).optional(),
});
const lists = <T extends z.ZodType>(item: T) => z.array(item).default([]);

/** What a glTF says of its geometry. Everything else (materials, textures, animations, cameras, lights, names) is left out. */
const geometrySchema = z.object({
  asset: z.object({ version: z.string().regex(/^2\./, 'expected glTF 2') }),
  scene: index.optional(),
  scenes: lists(z.object({ nodes: z.array(index).optional() })),
  nodes: lists(node),
  meshes: lists(z.object({ primitives: z.array(primitive), weights: z.array(z.number()).optional() })),
  skins: lists(z.object({ joints: z.array(index).min(1), inverseBindMatrices: index.optional() })),
  accessors: lists(accessor),
  bufferViews: lists(bufferView),
  buffers: lists(buffer),
  extensionsUsed: lists(z.string()),
  extensionsRequired: lists(z.string()),
});
export type GltfGeometry = z.infer<typeof geometrySchema>;
export type GltfNode = GltfGeometry['nodes'][number];
type Accessor = GltfGeometry['accessors'][number];

const dropped = z.object({
  materials: lists(z.unknown()),
  textures: lists(z.unknown()),
  animations: lists(z.unknown()),
  cameras: lists(z.unknown()),
  skins: lists(z.unknown()),
  extensions: z
    .object({ KHR_lights_punctual: z.object({ lights: lists(z.unknown()) }).optional() })
    .default({ KHR_lights_punctual: undefined }),
});

/**
 * The geometry that a glTF describes, checked so far that nothing outside its buffers is read and no more is decoded than a
 * mesh may have; and what else it holds, by name.
 * @throws InputFault when it is malformed, needs an extension that is not read, has a cyclic node graph, or is too large.
 */
export function readGltfJson(text: string): { geometry: GltfGeometry; dropped: string[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputFault(`not a glTF: ${(error as Error).message}`);
  }
  const parsed = geometrySchema.safeParse(json);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new InputFault(`not a valid glTF: ${path.map(String).join('.')}: ${message}`);
  }
  const geometry = parsed.data;
  const unknown = geometry.extensionsRequired.find(name => !GEOMETRY_EXTENSIONS.includes(name) && !LOOKS.test(name));
  if (unknown !== undefined) throw new InputFault(`it needs the glTF extension ${unknown}, which is not read`);
  checkReferences(geometry);
  checkTree(geometry);
  checkBounds(geometry);
  checkTriangles(countTriangles(geometry));
  const known = (name: string) => GEOMETRY_EXTENSIONS.includes(name);
  return {
    geometry: {
      ...geometry,
      extensionsUsed: geometry.extensionsUsed.filter(known),
      extensionsRequired: geometry.extensionsRequired.filter(known),
    },
    dropped: namesOfDropped(json),
  };
}

function namesOfDropped(json: unknown): string[] {
  const parsed = dropped.safeParse(json);
  if (!parsed.success) return [];
  const { extensions, ...rest } = parsed.data;
  const all = { ...rest, lights: extensions.KHR_lights_punctual?.lights ?? [] };
  return Object.entries(all).flatMap(([name, items]) => (items.length > 0 ? [name] : []));
}

/** The nodes that are shown: those of the default scene, or all that are nobody's children where there is no scene. */
export function rootNodes({ scene, scenes, nodes }: GltfGeometry): readonly number[] {
  const shown = scenes[scene ?? 0];
  if (shown) return shown.nodes ?? [];
  const children = new Set(nodes.flatMap(({ children }) => children ?? []));
  return nodes.flatMap((_, i) => (children.has(i) ? [] : [i]));
}

/** How often a node's mesh is drawn, and the accessors that say where. */
export function instancesOf({ extensions }: GltfNode): Readonly<Record<string, number>> | undefined {
  return extensions?.[INSTANCING]?.attributes;
}

function checkReferences(geometry: GltfGeometry): void {
  const { scene, scenes, nodes, meshes, skins, accessors, bufferViews, buffers } = geometry;
  const check = (what: string, list: readonly unknown[], references: readonly (number | undefined)[]) => {
    for (const reference of references) {
      if (reference !== undefined && reference >= list.length) {
        throw new InputFault(`not a valid glTF: it refers to ${what} ${reference} of ${list.length}`);
      }
    }
  };
  if (scenes.length > 0) check('scene', scenes, [scene]);
  for (const { nodes: roots } of scenes) check('node', nodes, roots ?? []);
  for (const n of nodes) {
    check('node', nodes, n.children ?? []);
    check('mesh', meshes, [n.mesh]);
    check('skin', skins, [n.skin]);
    check('accessor', accessors, Object.values(instancesOf(n) ?? {}));
  }
  for (const { joints, inverseBindMatrices } of skins) {
    check('node', nodes, joints);
    check('accessor', accessors, [inverseBindMatrices]);
  }
  for (const { primitives } of meshes) {
    for (const p of primitives) {
      const targets = (p.targets ?? []).flatMap(Object.values<number>);
      check('accessor', accessors, [...Object.values(p.attributes), p.indices, ...targets]);
      check('bufferView', bufferViews, [p.extensions?.[DRACO]?.bufferView]);
    }
  }
  for (const { bufferView: view, sparse } of accessors) {
    check('bufferView', bufferViews, [view, sparse?.indices.bufferView, sparse?.values.bufferView]);
  }
  for (const { buffer: b, extensions } of bufferViews) check('buffer', buffers, [b, extensions?.[MESHOPT]?.buffer]);
}

/** glTF's nodes are trees: a node that is reached twice has two parents, or is its own ancestor. */
function checkTree({ nodes, scenes }: GltfGeometry): void {
  const parents = new Uint32Array(nodes.length).fill(nodes.length);
  for (const [parent, { children }] of nodes.entries()) {
    for (const child of children ?? []) {
      if (parents[child] !== nodes.length) throw new InputFault(`node ${child} has two parents`);
      parents[child] = parent;
    }
  }
  const roots = new Set(nodes.flatMap((_, i) => (parents[i] === nodes.length ? [i] : [])));
  const below = [...roots];
  let reached = 0;
  for (let next = below.pop(); next !== undefined; next = below.pop()) {
    reached++;
    for (const child of nodes[next]!.children ?? []) below.push(child);
  }
  if (reached < nodes.length) throw new InputFault('the node graph is cyclic');
  for (const { nodes: shown = [] } of scenes) {
    if (new Set(shown).size < shown.length) throw new InputFault('a scene shows a node twice');
    const child = shown.find(i => !roots.has(i));
    if (child !== undefined) throw new InputFault(`node ${child} is a child and shown by a scene, too`);
  }
}

/** Whether every view lies within its buffer and every accessor within its view. */
function checkBounds({ accessors, bufferViews, buffers, meshes }: GltfGeometry): void {
  const outside = (what: string, number: number) =>
    new InputFault(`not a valid glTF: ${what} ${number} reaches beyond the end of its data`);
  for (const [i, { buffer: b, byteOffset, byteLength, extensions }] of bufferViews.entries()) {
    const packed = extensions?.[MESHOPT];
    const from = packed ?? { buffer: b, byteOffset, byteLength };
    if (from.byteOffset + from.byteLength > buffers[from.buffer]!.byteLength) throw outside('bufferView', i);
    if (packed && packed.count * packed.byteStride !== byteLength) {
      throw new InputFault(
        `not a valid glTF: bufferView ${i} is ${byteLength} bytes, its compressed data says another`,
      );
    }
  }
  for (const [i, a] of accessors.entries()) {
    const { sparse } = a;
    const size = COMPONENT_BYTES[a.componentType] * ELEMENT_SIZES[a.type];
    const fits = (view: number, offset: number, count: number, bytes: number) => {
      const { byteLength, byteStride = bytes } = bufferViews[view]!;
      return offset + (count - 1) * byteStride + bytes <= byteLength;
    };
    if (a.bufferView !== undefined && !fits(a.bufferView, a.byteOffset, a.count, size)) throw outside('accessor', i);
    if (!sparse) continue;
    const { indices, values, count } = sparse;
    const inside =
      count <= a.count &&
      fits(indices.bufferView, indices.byteOffset, count, COMPONENT_BYTES[indices.componentType]) &&
      fits(values.bufferView, values.byteOffset, count, size);
    if (!inside) throw outside('accessor', i);
  }
  // Data that the file does not hold, but that is unpacked from it or filled with zeros, is bounded all the same.
  const compressed = new Set(
    meshes.flatMap(({ primitives }) =>
      primitives.flatMap(p => (p.extensions?.[DRACO] ? [p.indices, ...Object.values(p.attributes)] : [])),
    ),
  );
  const zeros = sum(accessors, (a, i) => (a.bufferView === undefined && !compressed.has(i) ? a.count : 0));
  const unpacked = sum(bufferViews, ({ extensions }) => extensions?.[MESHOPT]?.count ?? 0);
  if (zeros > MAX_VERTICES || unpacked > 4 * MAX_VERTICES) throw new InputFault('it unpacks to too much data');
}

/** Triangles of everything that is shown, by the counts that the file states. */
function countTriangles(geometry: GltfGeometry): number {
  const { nodes, meshes, accessors } = geometry;
  const inPrimitive = ({ mode, indices, attributes: { POSITION } }: z.infer<typeof primitive>) => {
    const vertices: Accessor | undefined = accessors[indices ?? POSITION ?? -1];
    if (!vertices || mode < 4) return 0;
    return mode === 4 ? Math.floor(vertices.count / 3) : Math.max(0, vertices.count - 2);
  };
  const inMesh = meshes.map(({ primitives }) => sum(primitives, inPrimitive));
  let triangles = 0;
  const below = [...rootNodes(geometry)];
  for (let next = below.pop(); next !== undefined; next = below.pop()) {
    const n = nodes[next]!;
    const instances = Object.values(instancesOf(n) ?? {}).map(i => accessors[i]!.count);
    triangles += n.mesh === undefined ? 0 : inMesh[n.mesh]! * Math.max(1, ...instances);
    for (const child of n.children ?? []) below.push(child);
  }
  return triangles;
}

function sum<T>(items: readonly T[], of: (item: T, i: number) => number): number {
  return items.reduce((total, item, i) => total + of(item, i), 0);
}
