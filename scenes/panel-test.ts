import { integer, uniform } from '../sampling/distributions.ts';
import type { Rng } from '../sampling/rng.ts';
import type { ShapeCondition, TextureCondition } from './conditions.ts';
import { composeScene, DRAW_QUANTITY, type Draw3d, type Quantities, type View } from './object-scene.ts';
import { sampleColourPair, samplePaint, solid } from './paint.ts';
import type { PanelCondition3d } from './panel-conditions.ts';
import { drawApart, type Pool } from './panel-pool.ts';
import { PANELS, type PanelScene2d, type PanelScene3d, type TextureWindow } from './panel-scene.ts';
import type { Shapes2dRecipe } from './recipe.ts';
import type { Scene3dRecipe } from './recipe3d.ts';
import type { Paint } from './scene2d.ts';
import { turnedBox } from './shape-scene.ts';

/**
 * Samplers of the four panels of a test, A to D. They do not know which instance a panel will show: they are told at most
 * which three instances the test compares, and treat these alike. So no value of a scene can tell the answer, whatever a
 * reader makes of it. The rules of the training images are other ones: there a shape's place follows from its aspect, a
 * texture's crop from its size, a view from the mesh.
 */
export type Panels<Scene> = readonly Scene[];

const FOUR = PANELS.length;

/**
 * Panels of a shape test: where the shape lies, what fills it, what lies behind. Textures of a role come from four photos,
 * fill and background of a panel from two.
 * @returns undefined when there are too few photos.
 */
export function sampleShapePanels(
  random: Rng,
  recipe: Pick<Shapes2dRecipe, 'size' | 'longSide'>,
  condition: ShapeCondition,
  textures: Pool,
): Panels<PanelScene2d> | undefined {
  const paints = samplePaints(random, recipe.size, condition, textures);
  const rotations = condition.rotated ? sampleRotations(random) : [];
  return paints?.map(({ fill, background }, place) => ({
    size: recipe.size,
    shape: null,
    placement: samplePlacement(random, recipe, rotations[place] ?? 0),
    fill,
    background,
  }));
}

/** Four different rotations, whole degrees. */
function sampleRotations(random: Rng): number[] {
  const rotations = new Set<number>();
  while (rotations.size < FOUR) rotations.add(integer(random, 0, 359));
  return [...rotations];
}

/** Ranges of LAS&T, for a shape of any aspect: shrunk and placed as its square, turned, fits into the picture. */
function samplePlacement(
  random: Rng,
  { size, longSide: [low, high] }: Pick<Shapes2dRecipe, 'size' | 'longSide'>,
  rotation: number,
): PanelScene2d['placement'] {
  const drawn = uniform(random, low, high) * size;
  const [extent] = turnedBox({ width: 1, height: 1 }, rotation);
  const longSide = Math.min(drawn, size / extent);
  const half = (extent * longSide) / 2;
  return { longSide, rotation, center: [uniform(random, half, size - half), uniform(random, half, size - half)] };
}

interface Paints {
  readonly fill: Paint;
  readonly background: Paint;
}

function samplePaints(
  random: Rng,
  size: number,
  condition: ShapeCondition,
  textures: Pool,
): readonly Paints[] | undefined {
  const apart = (allows?: (i: number, place: number) => boolean) => drawApart(random, textures, FOUR, allows);
  const fills = condition.shape === 'texture' ? apart() : [];
  if (!fills) return undefined;
  const other = (i: number, place: number) => fills.length === 0 || !textures.related(i, fills[place]!);
  const backgrounds = condition.background === 'texture' ? apart(other) : [];
  if (!backgrounds) return undefined;
  const paints: Paints[] = [];
  while (paints.length < FOUR) {
    const place = paints.length;
    const drawn = samplePanelPaints(random, size, condition, {
      fill: () => textures.item(fills[place]!),
      background: () => textures.item(backgrounds[place]!),
    });
    const again = (role: keyof Paints) =>
      drawn[role].kind === 'colour' &&
      condition[role === 'fill' ? 'shape' : 'background'] === 'colour' &&
      paints.some(before => sameColour(before[role], drawn[role]));
    // Of colours that sRGB cannot show, many are clipped to the same one.
    if (!again('fill') && !again('background')) paints.push(drawn);
  }
  return paints;
}

function samplePanelPaints(
  random: Rng,
  size: number,
  { shape, background }: ShapeCondition,
  texture: { readonly [Role in keyof Paints]: () => ReturnType<Pool['item']> },
): Paints {
  if (shape === 'colour' && background === 'colour') {
    const [above, below] = sampleColourPair(random);
    return { fill: solid(above), background: solid(below) };
  }
  return {
    fill: samplePaint(random, shape, size, texture.fill),
    background: samplePaint(random, background, size, texture.background),
  };
}

function sameColour(a: Paint, b: Paint): boolean {
  return a.kind === 'colour' && b.kind === 'colour' && a.rgb.every((value, channel) => value === b.rgb[channel]);
}

/** Share of the smallest texture's shorter side that a window covers, so that windows of it can lie apart. */
const WINDOW_SHARE = 0.8;

/**
 * Panels of a texture test: the shape fills the panel and is not rotated; through it a window of the texture is seen, turned
 * by quarters. Windows have one size in texture pixels for all instances, so that crop and scale tell nothing of a texture.
 * Backgrounds come from four photos, none of them an instance's.
 * @param instances the three textures that are compared, as numbers of `textures`.
 * @returns undefined when there are too few photos.
 */
export function sampleTexturePanels(
  random: Rng,
  size: number,
  condition: TextureCondition,
  instances: readonly number[],
  shapes: Pool,
  textures: Pool,
): Panels<PanelScene2d> | undefined {
  const shown = condition.shape === 'same' ? repeated(drawApart(random, shapes, 1)) : drawApart(random, shapes, FOUR);
  const foreign = (i: number) => instances.every(instance => !textures.related(i, instance));
  const backgrounds = condition.background === 'texture' ? drawApart(random, textures, FOUR, foreign) : [];
  if (!shown || !backgrounds) return undefined;
  const shortest = Math.min(
    ...instances.map(i => textures.item(i)).map(({ width, height }) => Math.min(width, height)),
  );
  const window = Math.max(1, Math.min(size, Math.floor(WINDOW_SHARE * shortest)));
  return shown.map((shape, place) => ({
    size,
    shape: { id: shapes.item(shape).id },
    placement: { longSide: size, rotation: 0, center: [size / 2, size / 2] },
    fill: {
      kind: 'instance',
      window,
      place: [random.next(), random.next()],
      quarterTurns: integer(random, 0, 3),
    } satisfies TextureWindow,
    background: samplePaint(random, condition.background, size, () => textures.item(backgrounds[place]!)),
  }));
}

const repeated = (one: readonly number[] | undefined) => one && Array.from({ length: FOUR }, () => one[0]!);

/** The items of 3D panels. */
export interface Pools3d {
  readonly meshes: Pool;
  readonly materials: Pool;
  readonly environments: Pool;
}

/**
 * Whether a view shows enough of an object from outside it.
 * @param mesh number in the pool; null: the instance, so of all three meshes that are compared.
 */
export type AcceptsView = (mesh: number | null, view: View) => Promise<boolean>;

/** Views, and objects with them, that are tried for a panel before the instances are given up. */
const MAX_VIEWS = 60;

/**
 * Panels of a 3D test. What the condition varies is drawn for each panel, of other sources than the other panels'; the rest
 * is drawn once.
 * @param recipe ranges of the subset; what it says of varying does not matter.
 * @returns undefined when there are too few sources, or no view of the objects is accepted.
 */
export async function samplePanels3d(
  random: Rng,
  recipe: Scene3dRecipe,
  { subset, vary }: PanelCondition3d,
  pools: Pools3d,
  accepts: AcceptsView,
): Promise<Panels<PanelScene3d> | undefined> {
  const draw = (pool: Pool, varies: boolean) =>
    varies ? drawApart(random, pool, FOUR) : repeated(drawApart(random, pool, 1));
  const ofMaterials = subset === 'materials3d';
  const materials = ofMaterials ? [] : draw(pools.materials, vary.includes('material'));
  const environments = draw(pools.environments, vary.includes('environment'));
  if (!materials || !environments) return undefined;
  const panels: PanelScene3d[] = [];
  const seen: Seen[] = [];
  let material: Quantities['material'] | undefined;
  let environment: Quantities['environment'] | undefined;
  for (let place = 0; place < FOUR; place++) {
    const items: Draw3d = {
      mesh: () => '',
      material: () => (ofMaterials ? '' : pools.materials.item(materials[place]!).id),
      environment: () => pools.environments.item(environments[place]!).id,
    };
    if (!material || vary.includes('material')) material = DRAW_QUANTITY.material(random, recipe, items);
    if (!environment || vary.includes('environment')) environment = DRAW_QUANTITY.environment(random, recipe, items);
    const sight =
      seen[0] && !vary.includes('orientation')
        ? seen[0]
        : await drawSeen(random, recipe, items, ofMaterials ? pools.meshes : undefined, seen, accepts);
    if (!sight) return undefined;
    seen.push(sight);
    const object = { id: sight.mesh === null ? '' : pools.meshes.item(sight.mesh).id };
    const scene = composeScene(recipe, { orientation: sight.view, material, object, environment });
    panels.push({
      ...scene,
      object: { ...scene.object, id: ofMaterials ? object.id : null },
      material: { ...scene.material, id: ofMaterials ? null : material.id },
    });
  }
  return panels;
}

/** An object and how it is seen. */
interface Seen {
  /** Number in the pool; null: the instance. */
  readonly mesh: number | null;
  readonly view: View;
}

/** @param meshes to draw the object from; the object is the instance when left out. */
async function drawSeen(
  random: Rng,
  recipe: Scene3dRecipe,
  items: Draw3d,
  meshes: Pool | undefined,
  before: readonly Seen[],
  accepts: AcceptsView,
): Promise<Seen | undefined> {
  const fresh = (i: number) => before.every(({ mesh }) => mesh === null || !meshes!.related(i, mesh));
  for (let attempt = 0; attempt < MAX_VIEWS; attempt++) {
    const mesh = meshes ? drawApart(random, meshes, 1, fresh)?.[0] : null;
    if (mesh === undefined) return undefined;
    const view = DRAW_QUANTITY.orientation(random, recipe, items);
    if (await accepts(mesh, view)) return { mesh, view };
  }
  return undefined;
}
