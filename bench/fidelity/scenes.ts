import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { MapPlan, MaterialPlan } from '../../extractors/material-plan.ts';
import { prepareMesh } from '../../extractors/mesh/prepare-mesh.ts';
import { type MaterialMaps, makeMaps } from '../../extractors/pbr-maps.ts';
import { configure } from '../../pipeline/configuration.ts';
import { openMesh } from '../../pipeline/meshes/mesh-file.ts';
import { decodePhoto, openPhoto } from '../../pipeline/photo.ts';
import { prepareEnvironment } from '../../pipeline/stages/prepare-environments.ts';
import { eulerRotation } from '../../sampling/rotation.ts';
import { allocateMaterial } from '../../scenes/material-format.ts';
import { encodeMesh, POSITION_STEPS } from '../../scenes/mesh-format.ts';
import { type Scene3d, SENSOR, type Vector } from '../../scenes/scene3d.ts';
import type { ConstantMaterial } from './peer-scene.ts';

/** A scene of the comparison with all that it is made of, in the form the render page takes. */
export interface FidelityScene {
  readonly name: string;
  readonly scene: Scene3d;
  readonly mesh: Uint8Array<ArrayBuffer>;
  readonly material: Uint8Array<ArrayBuffer>;
  readonly environment: Uint8Array<ArrayBuffer>;
  /** What every place of the object is made of, where it is the same everywhere: all that a renderer without box projection can draw. */
  readonly constant: ConstantMaterial | undefined;
  /** Whether the targets are for it; glass is compared beside them. */
  readonly opaque: boolean;
}

/** Maps made of the middle of a starter photo. */
interface TexturedMaterial {
  readonly photo: string;
  readonly roughness: MapPlan;
  readonly metallic: MapPlan;
  /** How many pixels white is above black. */
  readonly relief: number;
}

interface Plan {
  readonly name: string;
  readonly mesh: string;
  readonly panorama: string;
  /** Degrees about x, y and z. */
  readonly turned: Vector;
  readonly panoramaTurned: Vector;
  readonly distance: number;
  readonly strength?: number;
  readonly material: ConstantMaterial | TexturedMaterial;
  readonly scale?: Vector;
  readonly materialTurned?: Vector;
  readonly offset?: Vector;
  readonly blend?: number;
  readonly displacement?: number;
}

const level = (value: number): MapPlan => ({ kind: 'constant', level: value });
const grey = (range: readonly [number, number], negated = false): MapPlan => ({
  kind: 'pattern',
  source: { kind: 'grey' },
  negated,
  blurKernel: null,
  range,
  floor: null,
});

/** Meshes of the starter pack, most of them concave; rough and smooth, dielectric and metal; panoramas with a sun (city, sunrise, sky) and without. */
const PLANS: readonly Plan[] = [
  {
    name: 'rough clay teddy, hall',
    mesh: 'teddy-bear',
    panorama: 'hall',
    turned: [10, 30, 0],
    panoramaTurned: [0, 40, 0],
    distance: 1.5,
    material: { color: [200, 140, 100], roughness: 230, metalness: 0 },
  },
  {
    name: 'glossy plastic monkey, studio',
    mesh: 'monkey',
    panorama: 'studio',
    turned: [0, -35, 15],
    panoramaTurned: [20, 0, 60],
    distance: 1.5,
    material: { color: [30, 90, 190], roughness: 80, metalness: 0 },
  },
  {
    name: 'rough gold chair, courtyard',
    mesh: 'chair',
    panorama: 'courtyard',
    turned: [25, 40, 0],
    panoramaTurned: [0, 120, 30],
    distance: 1.6,
    material: { color: [255, 220, 150], roughness: 150, metalness: 255 },
  },
  {
    name: 'copper lamp in the sun, city',
    mesh: 'desk-lamp',
    panorama: 'city',
    turned: [15, 60, -10],
    panoramaTurned: [0, 20, 0],
    distance: 1.4,
    material: { color: [245, 180, 145], roughness: 110, metalness: 255 },
  },
  {
    name: 'matt wheelbarrow in the sun, sky',
    mesh: 'wheelbarrow',
    panorama: 'sky',
    turned: [25, -50, 0],
    panoramaTurned: [40, 0, 10],
    distance: 1.4,
    material: { color: [225, 225, 215], roughness: 255, metalness: 0 },
  },
  {
    name: 'cork lantern, displaced, forest',
    mesh: 'stone-lantern',
    panorama: 'forest',
    turned: [20, 25, 5],
    panoramaTurned: [0, 200, 0],
    distance: 1.4,
    material: { photo: 'cork.webp', roughness: grey([120, 255]), metallic: level(0), relief: 4 },
    scale: [1.6, 1.6, 1.6],
    materialTurned: [30, 40, 50],
    offset: [0.3, 0.7, 0.2],
    displacement: 0.066,
  },
  {
    name: 'deer with a bark print, sunrise',
    mesh: 'deer',
    panorama: 'sunrise',
    turned: [5, 70, 0],
    panoramaTurned: [10, -60, 0],
    distance: 1.5,
    strength: 0.4,
    material: { photo: 'nuthatch-on-bark.webp', roughness: grey([60, 220], true), metallic: level(0), relief: 6 },
    scale: [3, 3, 3],
    blend: 0.3,
  },
  {
    name: 'part metal boots, workshop',
    mesh: 'boots',
    panorama: 'workshop',
    turned: [20, 130, 0],
    panoramaTurned: [-30, 10, 80],
    distance: 1.4,
    material: { photo: 'autumn-hillside.webp', roughness: grey([40, 200]), metallic: grey([0, 255], true), relief: 3 },
    scale: [2, 1.2, 2.6],
    materialTurned: [200, 15, 80],
    offset: [4.4, 1.2, 7.9],
  },
  {
    name: 'paper staircase, lobby',
    mesh: 'spiral-staircase',
    panorama: 'lobby',
    turned: [35, 20, 10],
    panoramaTurned: [0, 0, 0],
    distance: 1.5,
    strength: 1.5,
    material: { photo: 'rough-paper.webp', roughness: grey([150, 255]), metallic: level(0), relief: 8 },
    scale: [2.5, 2.5, 2.5],
    materialTurned: [0, 0, 45],
    blend: 0.1,
  },
  {
    name: 'smooth metal barrel, displaced, dawn',
    mesh: 'barrel',
    panorama: 'dawn',
    turned: [30, 10, 20],
    panoramaTurned: [0, 90, 45],
    distance: 1.5,
    material: { photo: 'canvas.webp', roughness: grey([50, 130]), metallic: level(255), relief: 1 },
    scale: [1.5, 1.5, 1.5],
    offset: [0.1, 0.2, 0.3],
    displacement: 0.03,
  },
  {
    name: 'glass mug, apartment',
    mesh: 'beer-mug',
    panorama: 'apartment',
    turned: [20, 30, 0],
    panoramaTurned: [0, 60, 0],
    distance: 1.5,
    material: { color: [235, 245, 240], roughness: 20, metalness: 0, transmission: 255 },
  },
];

/** The scenes, made of the starter packs; always the same. @param only those whose name holds it. */
export async function fidelityScenes(size: number, only = ''): Promise<FidelityScene[]> {
  return Promise.all(PLANS.filter(({ name }) => name.includes(only)).map(plan => compose(plan, size)));
}

async function compose(plan: Plan, size: number): Promise<FidelityScene> {
  const constant = 'photo' in plan.material ? undefined : plan.material;
  const [mesh, material, environment] = await Promise.all([
    meshOf(plan.mesh),
    'photo' in plan.material ? texturedMaterial(plan.material) : constantMaterial(plan.material),
    panoramaOf(plan.panorama),
  ]);
  const scene: Scene3d = {
    size,
    camera: { distance: plan.distance, focalLength: 32, sensor: SENSOR },
    object: { id: plan.mesh, rotation: eulerRotation(...plan.turned) },
    material: {
      id: plan.name,
      mapping: {
        scale: plan.scale ?? [1, 1, 1],
        rotation: eulerRotation(...(plan.materialTurned ?? [0, 0, 0])),
        offset: plan.offset ?? [0, 0, 0],
        blend: plan.blend ?? 0.02,
      },
      displacement: plan.displacement ?? 0,
    },
    environment: {
      id: plan.panorama,
      rotation: eulerRotation(...plan.panoramaTurned),
      strength: plan.strength ?? 1,
    },
    toneMapping: 'none',
  };
  return { name: plan.name, scene, mesh, material, environment, constant, opaque: !constant?.transmission };
}

const starter = (path: string) => fileURLToPath(new URL(`../../assets/starter/${path}`, import.meta.url));

async function meshOf(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const { mesh } = await (await openMesh(starter(`meshes/${name}.glb`))).decode();
  const { meshPreparation } = await configure({});
  return encodeMesh((await prepareMesh(mesh, meshPreparation, POSITION_STEPS)).mesh);
}

async function panoramaOf(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const { environmentPreparation } = await configure({});
  const bytes = await readFile(starter(`environments/${name}.exr`));
  return new Uint8Array((await prepareEnvironment(bytes, environmentPreparation)).packed);
}

/** Normals in a map cannot be quite straight (128 is not the middle): all renderers get the same ones. */
function constantMaterial({ color, roughness, metalness, transmission = 0 }: ConstantMaterial) {
  const { bytes, material } = allocateMaterial(1, transmission > 0);
  material.color.set([...color, 255]);
  material.normalHeight.set([128, 128, 255, 0]);
  material.properties.set([255, roughness, metalness, transmission]);
  return bytes;
}

const TEXTURE_SIDE = 512;

async function texturedMaterial(textured: TexturedMaterial): Promise<Uint8Array<ArrayBuffer>> {
  const photo = await openPhoto(starter(`photos/${textured.photo}`));
  const side = Math.min(TEXTURE_SIDE, photo.width, photo.height);
  const window = { left: (photo.width - side) >> 1, top: (photo.height - side) >> 1, width: side, height: side };
  const plan: MaterialPlan = {
    augmentation: { hueShift: 0, quarterTurn: false, flipHorizontal: false, flipVertical: false },
    colorHueShift: 0,
    height: grey([0, 255]),
    roughness: textured.roughness,
    metallic: textured.metallic,
    opacity: null,
    transmission: null,
    // Metalness stays as the map says.
    metal: { level: 255, full: false, fullIsSmooth: false, restIsNone: false, metalIsRough: false },
    normalStrength: textured.relief,
    occlusion: false,
  };
  return packed(makeMaps(await decodePhoto(photo, { window }), plan));
}

function packed({ color, normal, height, roughness, metallic }: MaterialMaps): Uint8Array<ArrayBuffer> {
  const { bytes, material } = allocateMaterial(color.width, false);
  for (let i = 0; i < color.width ** 2; i++) {
    material.color.set(color.data.subarray(3 * i, 3 * i + 3), 4 * i);
    material.normalHeight.set(normal.data.subarray(3 * i, 3 * i + 3), 4 * i);
    material.normalHeight[4 * i + 3] = height.data[i]!;
    material.properties.set([255, roughness.data[i]!, metallic.data[i]!, 0], 4 * i);
  }
  return bytes;
}
