import { isDeepStrictEqual } from 'node:util';
import { connectedComponents } from '../extractors/connected-components.ts';
import type { Mask } from '../extractors/image.ts';
import { coverageFacts } from '../renderers/coverage.ts';
import type { RenderedFrame } from '../renderers/render-host.ts';
import type { RenderJob, SceneItems } from '../renderers/render-job.ts';
import { NEAREST, silhouette } from '../renderers/silhouette.ts';
import { type Rng, rng } from '../sampling/rng.ts';
import { decodeMesh, type StoredMesh } from '../scenes/mesh-format.ts';
import { composeScene, DRAW_QUANTITY, type Draw3d, type Quantities, type View } from '../scenes/object-scene.ts';
import { QUANTITIES, type Quantity, type Scene3dRecipe } from '../scenes/recipe3d.ts';
import type { Scene3d } from '../scenes/scene3d.ts';
import { type Bank, itemSize, readItem, readLabel } from './bank.ts';
import { encodeGrey, encodeJpeg } from './bank-images.ts';
import type { Fault } from './faults.ts';
import { aovForms, depthScale, encodeGeometry } from './geometry-pngs.ts';
import { sampleFileNames, sampleFiles, sampleKey } from './image-sample.ts';
import { type InstancePlan, pickInWindow } from './instances.ts';
import {
  type EnvironmentLabel,
  encodeLabel,
  type MaterialLabel,
  type MeshLabel,
  type Sample3dLabel,
  sample3dLabelSchema,
} from './labels.ts';
import { AOV_FIELDS, type Rendering, rendererOf, sceneJob } from './rendering.ts';
import type { Split } from './splits.ts';
import type { TaskResult } from './stage.ts';
import { encodeTar, type TarFile } from './tar.ts';

/** The banks that 3D scenes draw from. */
export interface Banks3d {
  readonly meshes: Bank;
  readonly materials: Bank;
  readonly environments: Bank;
}

/** Draws scenes: in a worker its port to the render host. */
export interface Drawer {
  render(job: RenderJob): Promise<RenderedFrame>;
}

/** One instance of a 3D subset, as a worker gets it. */
export interface Task3d extends InstancePlan {
  readonly split: Split;
  /** Where the shard's windows start in the split's items of each bank, and how long they are. */
  readonly windows: { readonly [K in keyof Banks3d]: readonly [start: number, length: number] };
}

/** What differs between the 3D subsets: what an instance is, and how its images are drawn. */
export interface Subset3d {
  readonly subset: 'shapes3d' | 'materials3d';
  readonly seed: number;
  readonly recipe: Scene3dRecipe;
  readonly rendering: Rendering;
  readonly instanceBank: 'meshes' | 'materials';
}

/** Side of the silhouette by which a view is accepted, pixels: 2.5 % of the image are then 230 of them. */
const VIEW_SIDE = 96;
/** Views that are tried for an image, and how often what its images share is drawn anew, before the item is given up. */
const MAX_VIEWS = 40;
const MAX_SHARED = 5;

/** Makes all images of an instance. */
export async function renderInstance3d(
  task: Task3d,
  kind: Subset3d,
  banks: Banks3d,
  drawer: Drawer,
): Promise<TaskResult> {
  const faults: Fault[] = [];
  for (const item of task.items) {
    const { id } = itemSize(banks[kind.instanceBank], item);
    const scenes = await drawScenes(task, kind, banks, item);
    if (!scenes) {
      const views = kind.instanceBank === 'meshes' ? 'no view' : 'no view of the meshes drawn for it';
      const share = Number((100 * kind.recipe.minCoverage).toPrecision(6));
      faults.push({ item: id, reason: `${views} covers ${share} % of the image from outside the object` });
      continue;
    }
    const files = await Promise.all(
      scenes.map((scene, variation) => renderVariation(task, kind, banks, drawer, id, scene, variation)),
    );
    return { bytes: encodeTar(files.flat()).bytes, samples: scenes.length, faults, counts: {} };
  }
  return { bytes: new Uint8Array(0), samples: 0, faults, counts: { 'instances-lost': 1 } };
}

/** A scene, the items it names, and how many draws were needed. */
interface DrawnScene {
  readonly scene: Scene3d;
  readonly items: SceneItems;
  readonly attempt: number;
}

/** The scenes of an instance; undefined when its object is too small in every view. */
async function drawScenes(
  task: Task3d,
  kind: Subset3d,
  banks: Banks3d,
  item: number,
): Promise<DrawnScene[] | undefined> {
  for (let round = 0; round < MAX_SHARED; round++) {
    const drawn = new DrawnItems(task, kind, banks, item);
    const shared = drawShared(rng(kind.seed, kind.subset, `${task.number}/shared`, round), kind, drawn);
    const scenes: DrawnScene[] = [];
    for (let variation = 0; variation < task.variations; variation++) {
      const scene = await drawScene(task, kind, banks, drawn, shared, scenes, round);
      if (!scene) break;
      scenes.push(scene);
    }
    if (scenes.length === task.variations) return scenes;
  }
  return undefined;
}

/** What stays the same in all images of an instance, each quantity from the same stream in the same order. */
function drawShared(random: Rng, kind: Subset3d, drawn: DrawnItems): Partial<Quantities> {
  const { vary } = kind.recipe;
  const fixed = QUANTITIES.filter(quantity => !vary.includes(quantity));
  return drawQuantities(random, kind.recipe, drawn, fixed);
}

function drawQuantities(
  random: Rng,
  recipe: Scene3dRecipe,
  drawn: DrawnItems,
  quantities: readonly Quantity[],
): Partial<Quantities> {
  return Object.fromEntries(
    quantities.map(quantity => [quantity, DRAW_QUANTITY[quantity](random, recipe, drawn)]),
  ) as Partial<Quantities>;
}

/** One image's scene: drawn anew until the object is large enough in it, and it differs from the others of its instance. */
async function drawScene(
  task: Task3d,
  { seed, subset, recipe }: Subset3d,
  banks: Banks3d,
  drawn: DrawnItems,
  shared: Partial<Quantities>,
  others: readonly DrawnScene[],
  round: number,
): Promise<DrawnScene | undefined> {
  const variation = others.length;
  let twin: DrawnScene | undefined;
  for (let view = 0; view < MAX_VIEWS; view++) {
    const attempt = round * MAX_VIEWS + view;
    const random = rng(seed, subset, `${task.number}/${variation}`, attempt);
    const own = drawQuantities(
      random,
      recipe,
      drawn,
      QUANTITIES.filter(quantity => recipe.vary.includes(quantity)),
    );
    const quantities = { ...shared, ...own } as Quantities;
    const mesh = await readMesh(banks.meshes, drawn.find(quantities.object.id));
    const { orientation, material } = quantities;
    if (!isAccepted(mesh, orientation, material.displacement, recipe.minCoverage)) continue;
    const items = {
      mesh: drawn.find(quantities.object.id),
      material: drawn.find(quantities.material.id),
      environment: drawn.find(quantities.environment.id),
    };
    const drawnScene = { scene: composeScene(recipe, quantities), items, attempt };
    // Where only the object varies, it may be drawn again; the image is the same only when there is no other object.
    if (!others.some(({ scene }) => isDeepStrictEqual(scene, drawnScene.scene))) return drawnScene;
    twin ??= drawnScene;
  }
  return twin;
}

/**
 * LAS&T's rule: some connected part of the object covers its share of the image. Ours: the camera is not in the object, also
 * where displacement lifts it as far as it can.
 */
export function isAccepted(
  mesh: StoredMesh,
  { rotation, camera }: View,
  displacement: number,
  minCoverage: number,
): boolean {
  const seen = silhouette(mesh, rotation, camera, VIEW_SIDE, NEAREST + displacement);
  if (!seen) return false;
  const largest = connectedComponents(seen).reduce((most, { area }) => Math.max(most, area), 0);
  return largest >= minCoverage * VIEW_SIDE ** 2;
}

/** Meshes this thread has looked at last: the images of an instance show the same one. */
const readMeshes = new Map<string, Promise<StoredMesh>>();
const MAX_READ_MESHES = 8;

export function readMesh(bank: Bank, item: number): Promise<StoredMesh> {
  const key = `${bank.parts[0]!.folder}/${item}`;
  let mesh = readMeshes.get(key);
  if (!mesh) {
    if (readMeshes.size >= MAX_READ_MESHES) readMeshes.delete(readMeshes.keys().next().value!);
    mesh = readItem(bank, item).then(({ image }) => decodeMesh(new Uint8Array(image)));
    readMeshes.set(key, mesh);
  }
  return mesh;
}

async function renderVariation(
  task: Task3d,
  kind: Subset3d,
  banks: Banks3d,
  drawer: Drawer,
  instanceId: string,
  { scene, items, attempt }: DrawnScene,
  variation: number,
): Promise<TarFile[]> {
  const key = sampleKey(kind.subset, task.number, variation);
  const { aov } = kind.rendering;
  const job = sceneJob(scene, items, kind.rendering);
  const { pixels, geometry } = await drawer.render({ ...job, geometry: aov.length > 0 });
  const { picture, mask } = splitFrame(pixels, scene.size);
  const scale = depthScale(kind.recipe);
  const [jpg, png, more, sources] = await Promise.all([
    encodeJpeg(picture, kind.recipe.quality),
    encodeGrey(mask),
    geometry ? encodeGeometry(geometry, scene.size, aov, scale) : {},
    sourcesOf(banks, items),
  ]);
  const label = encodeLabel(sample3dLabelSchema, {
    key,
    subset: kind.subset,
    split: task.split,
    instance: { number: task.number, id: instanceId },
    variation,
    seed: kind.seed,
    attempt,
    varies: [...kind.recipe.vary],
    scene,
    renderer: rendererOf(kind.rendering),
    facts: coverageFacts(mask),
    files: sampleFileNames(
      key,
      aov.map(name => AOV_FIELDS[name]),
    ),
    ...(aov.length > 0 && { aov: aovForms(aov, scale) }),
    sources,
  });
  return sampleFiles(key, { ...more, jpg, json: label, 'mask.png': png });
}

/** Colour and coverage of a rendered frame. */
export function splitFrame(pixels: Uint8Array, size: number) {
  const data = new Uint8Array(3 * size * size);
  const mask = new Uint8Array(size * size);
  for (let i = 0, from = 0, to = 0; i < mask.length; i++) {
    data[to++] = pixels[from++]!;
    data[to++] = pixels[from++]!;
    data[to++] = pixels[from++]!;
    mask[i] = pixels[from++]!;
  }
  return {
    picture: { data, width: size, height: size },
    mask: { data: mask, width: size, height: size } satisfies Mask,
  };
}

/** Who made what an image shows. */
export async function sourcesOf(banks: Banks3d, items: SceneItems): Promise<Sample3dLabel['sources']> {
  const [mesh, material, environment] = await Promise.all([
    readLabel(banks.meshes, items.mesh) as Promise<MeshLabel>,
    readLabel(banks.materials, items.material) as Promise<MaterialLabel>,
    readLabel(banks.environments, items.environment) as Promise<EnvironmentLabel>,
  ]);
  return [
    { role: 'object', id: mesh.id, ...mesh.provenance },
    ...material.sources.map(({ photo, provenance }) => ({
      role: 'material' as const,
      id: material.id,
      photo,
      ...provenance,
    })),
    { role: 'environment', id: environment.id, ...environment.provenance },
  ];
}

/** Draws bank items for the images of one instance and remembers them by id. */
class DrawnItems implements Draw3d {
  readonly #task: Task3d;
  readonly #kind: Subset3d;
  readonly #banks: Banks3d;
  readonly #instance: string;
  readonly #found = new Map<string, number>();

  constructor(task: Task3d, kind: Subset3d, banks: Banks3d, instance: number) {
    this.#task = task;
    this.#kind = kind;
    this.#banks = banks;
    this.#instance = this.#remember(banks[kind.instanceBank], instance);
  }

  find(id: string): number {
    return this.#found.get(id)!;
  }

  mesh(random: Rng): string {
    return this.#kind.instanceBank === 'meshes' ? this.#instance : this.#pick(random, 'meshes');
  }

  material(random: Rng): string {
    return this.#kind.instanceBank === 'materials' ? this.#instance : this.#pick(random, 'materials');
  }

  environment(random: Rng): string {
    return this.#pick(random, 'environments');
  }

  /** An item of the shard's window, in the instance's split. */
  #pick(random: Rng, kind: keyof Banks3d): string {
    const bank = this.#banks[kind];
    const items = bank.bySplit[this.#task.split];
    return this.#remember(bank, pickInWindow(random, items, ...this.#task.windows[kind]));
  }

  #remember(bank: Bank, item: number): string {
    const { id } = itemSize(bank, item);
    this.#found.set(id, item);
    return id;
  }
}
