import { describe, expect, it } from 'vitest';
import { uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { rotationMatrix } from '../../sampling/rotation.ts';
import type { View } from '../../scenes/object-scene.ts';
import { PANEL_CONDITION_NAMES, PANEL_CONDITIONS, type PanelConditionName } from '../../scenes/panel-conditions.ts';
import { instancesOf, type PlannedTest, planTests, type Triple } from '../../scenes/panel-plan.ts';
import type { Pool } from '../../scenes/panel-pool.ts';
import { panelPrompts } from '../../scenes/panel-questions.ts';
import {
  CHOICES,
  PANELS,
  type PanelScene2d,
  type PanelScene3d,
  panelScene2dSchema,
  panelScene3dSchema,
  type TextureWindow,
  toScene2d,
  toScene3d,
} from '../../scenes/panel-scene.ts';
import { samplePanels3d, sampleShapePanels, sampleTexturePanels } from '../../scenes/panel-test.ts';
import { LAST_SHAPES2D } from '../../scenes/recipe.ts';
import { LAST_MATERIALS3D, LAST_SHAPES3D, QUANTITIES } from '../../scenes/recipe3d.ts';
import { scene2dSchema } from '../../scenes/scene2d.ts';
import { scene3dSchema } from '../../scenes/scene3d.ts';
import { sampleShapeScene, turnedBox } from '../../scenes/shape-scene.ts';
import { cheat, type Glimpse, numbersIn } from './cheater.ts';
import { correlation, worstBin, worstNumber } from './statistics.ts';

const TESTS = 2000;
/**
 * Standard deviations that a strategy's score may be from chance. All conditions together are asked by about 4,400 strategies,
 * so of tests without any leak one in four suites would have one beyond 4 (4,400 × 6.3e-5 = 0.28); seeds are fixed, and
 * these have none. A leak of 5 % in the score of any strategy is beyond.
 */
const LIMIT = 4;

/** Items of very different sizes and aspects, several of each source. */
class SyntheticPool implements Pool {
  readonly count: number;
  readonly #name: string;
  readonly #ofEach: number;

  constructor(name: string, sources: number, ofEach = 2) {
    this.#name = name;
    this.#ofEach = ofEach;
    this.count = sources * ofEach;
  }

  item(i: number) {
    const random = rng(7, 'tests', `${this.#name}/${i}`);
    const width = Math.round(2 ** uniform(random, 6, 11.5));
    const aspect = i % 5 === 0 ? 12 : uniform(random, 1, 3); // every fifth is a needle
    const height = Math.max(8, Math.round(i % 2 === 0 ? width * aspect : width / aspect));
    return { id: `${this.#name}-${i}`, width, height };
  }

  source(i: number): number {
    return Math.floor(i / this.#ofEach);
  }

  sourceOf(id: string): number {
    return this.source(Number(id.split('-').at(-1)));
  }

  related = (i: number, j: number) => this.source(i) === this.source(j);
}

interface Pools {
  readonly shapes: SyntheticPool;
  readonly textures: SyntheticPool;
  readonly meshes: SyntheticPool;
  readonly materials: SyntheticPool;
  readonly environments: SyntheticPool;
}

/** As many sources of everything; or hardly more than the conditions need. */
const poolsOf = (sources: number): Pools => ({
  shapes: new SyntheticPool('shape', sources),
  textures: new SyntheticPool('texture', sources),
  meshes: new SyntheticPool('mesh', sources, 1),
  materials: new SyntheticPool('material', sources, 3),
  environments: new SyntheticPool('environment', sources, 1),
});
const MANY = poolsOf(40);
const FEW = poolsOf(8);

/** Boxes: cubes, plates and needles. Seen are boxes whose projected area is large enough, from far enough away. */
function accepts(mesh: number, { rotation, camera }: View): boolean {
  const sides = [1, mesh % 2 === 0 ? 0.06 : 0.8, mesh % 3 === 0 ? 0.05 : 0.7];
  const [, , , , , , x, y, z] = rotationMatrix(rotation).map(Math.abs) as number[];
  const area = sides[1]! * sides[2]! * x! + sides[0]! * sides[2]! * y! + sides[0]! * sides[1]! * z!;
  const near = (sides[0]! * x! + sides[1]! * y! + sides[2]! * z!) / 2;
  return near < camera.distance - 0.2 && area / camera.distance ** 2 > 0.06;
}

type Panel = PanelScene2d | PanelScene3d;
interface Sampled {
  readonly plan: PlannedTest;
  readonly panels: readonly Panel[];
}

/** @param order in which the sampler is told the instances. */
async function sample(
  name: PanelConditionName,
  pools: Pools,
  wanted: number,
  order: (triple: Triple) => Triple = triple => triple,
): Promise<Sampled[]> {
  const condition = PANEL_CONDITIONS[name];
  const instances = instancePool(name, pools);
  const sampled: Sampled[] = [];
  for (const plan of planTests(1, name, instances, wanted)) {
    const draw = (random: Rng, triple: Triple): Promise<readonly Panel[] | undefined> | readonly Panel[] => {
      switch (condition.subset) {
        case 'shapes2d':
          return sampleShapePanels(random, LAST_SHAPES2D, condition.values, pools.textures)!;
        case 'textures2d':
          return sampleTexturePanels(random, 512, condition.values, triple, pools.shapes, pools.textures)!;
        case 'shapes3d':
        case 'materials3d': {
          const recipe = condition.subset === 'shapes3d' ? LAST_SHAPES3D : LAST_MATERIALS3D;
          return samplePanels3d(random, recipe, condition, pools, async (mesh, view) =>
            (mesh === null ? triple : [mesh]).every(one => accepts(one, view)),
          );
        }
      }
    };
    for (const [attempt, triple] of plan.triples.entries()) {
      const panels = await draw(rng(1, 'panels', `${name}/${plan.number}`, attempt), order(triple));
      if (!panels) continue;
      sampled.push({ plan: { ...plan, triples: [triple] }, panels });
      break;
    }
  }
  return sampled;
}

function instancePool(name: PanelConditionName, pools: Pools): SyntheticPool {
  const { subset } = PANEL_CONDITIONS[name];
  const pool = { shapes2d: 'shapes', textures2d: 'textures', shapes3d: 'meshes', materials3d: 'materials' } as const;
  return pools[pool[subset]];
}

const glimpse = ({ plan, panels }: Sampled): Glimpse => ({
  values: panels.map(panel => numbersIn(panel).map(([, value]) => value)),
  answer: plan.answer,
});

/** Strategies that do better or worse than chance. */
const beyond = (scores: Record<string, number>) => Object.entries(scores).filter(([, z]) => Math.abs(z) > LIMIT);

it('the conditions are those of the tables', () => {
  const count = (subset: string) => PANEL_CONDITION_NAMES.filter(name => name.startsWith(`${subset}-`)).length;
  expect([count('shapes2d'), count('shapes3d'), count('textures2d'), count('materials3d')]).toEqual([9, 4, 4, 3]);
  expect(PANEL_CONDITION_NAMES).toHaveLength(20);
});

const sampledTests = new Map<string, Promise<Sampled[]>>();
/** The tests that most of this file looks at: sampled once. */
function testsOf(name: PanelConditionName): Promise<Sampled[]> {
  let sampled = sampledTests.get(name);
  if (!sampled) {
    sampled = sample(name, MANY, TESTS);
    sampledTests.set(name, sampled);
  }
  return sampled;
}

describe('a cheater who is told all values but the instances', () => {
  it.each(PANEL_CONDITION_NAMES)('learns nothing from tests of %s', async name => {
    const sampled = await testsOf(name);
    expect(sampled.length).toBeGreaterThan(0.98 * TESTS);
    const names = numbersIn(sampled[0]!.panels[0]).map(([at], i) => `${i} ${at}`);
    expect({ beyond: beyond(cheat(sampled.map(glimpse), rng(1, 'tests', name))), names }).toEqual({
      beyond: [],
      names,
    });
  });

  it.each(PANEL_CONDITION_NAMES)('learns nothing from tests of %s of few items', async name => {
    const sampled = await sample(name, FEW, TESTS / 4);
    expect(sampled.length).toBeGreaterThan(50);
    expect(beyond(cheat(sampled.map(glimpse), rng(1, 'tests', name)))).toEqual([]);
  });

  it('finds the answer where shapes are placed as in training images', () => {
    const tests = planTests(1, 'published rule', MANY.shapes, TESTS).map(({ number, answer, triples }): Glimpse => {
      const shown = instancesOf(triples[0]!, answer);
      const random = rng(1, 'tests', number);
      const condition = PANEL_CONDITIONS['shapes2d-natural-black-white-unrotated'];
      if (condition.subset !== 'shapes2d') throw new Error('expected shapes');
      const values = PANELS.map(panel => {
        const shape = MANY.shapes.item(shown[panel]);
        const { placement } = sampleShapeScene(random, LAST_SHAPES2D, condition.values, shape, () => shape);
        return [placement.scale, ...placement.center];
      });
      return { values, answer };
    });
    const scores = cheat(tests, rng(1, 'tests', 'published rule'));
    expect(scores['nearest 0']).toBeGreaterThan(20);
    expect(scores['nearest in all']).toBeGreaterThan(10);
    expect(scores['learned weights']).toBeGreaterThan(10);
  });
});

describe('the panels of', () => {
  it.each(PANEL_CONDITION_NAMES)('%s are the same whichever of the three instances is the answer', async name => {
    const pools = FEW;
    const tests = await sample(name, pools, 60);
    const swapped = await sample(name, pools, 60, ([a, b, c]) => [c, a, b]);
    expect(swapped.map(({ panels }) => panels)).toEqual(tests.map(({ panels }) => panels));
  });

  it.each(PANEL_CONDITION_NAMES)('%s match their schema, with and without their instances', async name => {
    const { subset } = PANEL_CONDITIONS[name];
    for (const { plan, panels } of (await testsOf(name)).slice(0, 100)) {
      const shown = instancesOf(plan.triples[0]!, plan.answer);
      for (const [place, panel] of PANELS.entries()) {
        const instance = instancePool(name, MANY).item(shown[panel]);
        const free = panels[place]!;
        if ('placement' in free) {
          expect(panelScene2dSchema.parse(free)).toEqual(free);
          const shape = free.shape ? MANY.shapes.item(Number(free.shape.id.split('-')[1])) : instance;
          const scene = toScene2d(free, instance, shape);
          expect(scene2dSchema.parse(scene)).toEqual(scene);
          expect(subset === 'shapes2d' ? scene.shape.id : 'id' in scene.fill && scene.fill.id).toBe(instance.id);
          expectInside(scene, shape);
          for (const paint of [scene.fill, scene.background]) {
            if (paint.kind !== 'texture') continue;
            const { width, height } = MANY.textures.item(Number(paint.id.split('-')[1]));
            expect(paint.left + 512).toBeLessThanOrEqual(Math.round(width * paint.scale));
            expect(paint.top + 512).toBeLessThanOrEqual(Math.round(height * paint.scale));
          }
        } else {
          expect(panelScene3dSchema.parse(free)).toEqual(free);
          const scene = toScene3d(free, instance.id);
          expect(scene3dSchema.parse(scene)).toEqual(scene);
          expect((subset === 'shapes3d' ? scene.object : scene.material).id).toBe(instance.id);
          expect((subset === 'shapes3d' ? scene.material : scene.object).id).not.toBe(instance.id);
        }
      }
    }
  });
});

function expectInside({ size, placement }: ReturnType<typeof toScene2d>, shape: { width: number; height: number }) {
  const [width, height] = turnedBox(shape, placement.rotation).map(side => (side * placement.scale) / 2);
  expect(placement.center[0] - width!).toBeGreaterThan(-1e-6);
  expect(placement.center[1] - height!).toBeGreaterThan(-1e-6);
  expect(placement.center[0] + width!).toBeLessThan(size + 1e-6);
  expect(placement.center[1] + height!).toBeLessThan(size + 1e-6);
}

/** The parts of a panel, as a reader of the tables would name them. */
const PARTS = {
  fill: (panel: Panel) => (panel as PanelScene2d).fill,
  background: (panel: Panel) => (panel as PanelScene2d).background,
  shape: (panel: Panel) => (panel as PanelScene2d).shape,
  rotation: (panel: Panel) => (panel as PanelScene2d).placement.rotation,
  place: (panel: Panel) => (panel as PanelScene2d).placement,
  window: (panel: Panel) => ((panel as PanelScene2d).fill as { window: number }).window,
  view: (panel: Panel) => [(panel as PanelScene3d).camera, (panel as PanelScene3d).object.rotation],
  object: (panel: Panel) => (panel as PanelScene3d).object.id,
  material: (panel: Panel) => (panel as PanelScene3d).material.id,
  mapping: (panel: Panel) => (panel as PanelScene3d).material.mapping,
  panorama: (panel: Panel) => (panel as PanelScene3d).environment.id,
  light: (panel: Panel) => (panel as PanelScene3d).environment,
} as const;
type Part = keyof typeof PARTS;

/** What is the same in all panels, and what differs in every one, written down from the tables. */
const RULES: Readonly<Record<PanelConditionName, readonly [same: readonly Part[], differ: readonly Part[]]>> = {
  'shapes2d-natural-coloured-coloured-rotated': [['shape'], ['fill', 'background', 'rotation', 'place']],
  'shapes2d-semantic-coloured-coloured-rotated': [['shape'], ['fill', 'background', 'rotation', 'place']],
  'shapes2d-natural-textured-textured-rotated': [['shape'], ['fill', 'background', 'rotation', 'place']],
  'shapes2d-semantic-textured-textured-rotated': [['shape'], ['fill', 'background', 'rotation', 'place']],
  'shapes2d-natural-coloured-coloured-unrotated': [
    ['shape', 'rotation'],
    ['fill', 'background', 'place'],
  ],
  'shapes2d-natural-black-white-rotated': [
    ['shape', 'fill', 'background'],
    ['rotation', 'place'],
  ],
  'shapes2d-natural-black-white-unrotated': [['shape', 'fill', 'background', 'rotation'], ['place']],
  'shapes2d-natural-textured-black-unrotated': [
    ['shape', 'fill', 'rotation'],
    ['background', 'place'],
  ],
  'shapes2d-natural-textured-textured-unrotated': [
    ['shape', 'rotation'],
    ['fill', 'background', 'place'],
  ],
  'shapes3d-orientation': [['object', 'material', 'mapping', 'light'], ['view']],
  'shapes3d-material': [
    ['object', 'view', 'light'],
    ['material', 'mapping'],
  ],
  'shapes3d-orientation-material': [
    ['object', 'light'],
    ['view', 'material', 'mapping'],
  ],
  'shapes3d-all': [['object'], ['view', 'material', 'mapping', 'panorama']],
  'textures2d-textured-different': [
    ['place', 'window'],
    ['shape', 'fill', 'background'],
  ],
  'textures2d-textured-same': [
    ['place', 'window', 'shape'],
    ['fill', 'background'],
  ],
  'textures2d-black-different': [
    ['place', 'window', 'background'],
    ['shape', 'fill'],
  ],
  'textures2d-black-same': [['place', 'window', 'background', 'shape'], ['fill']],
  'materials3d-object': [
    ['material', 'mapping', 'light'],
    ['object', 'view'],
  ],
  'materials3d-environment': [['material', 'mapping', 'object', 'view'], ['panorama']],
  'materials3d-object-environment': [
    ['material', 'mapping'],
    ['object', 'view', 'panorama'],
  ],
};

describe.each(Object.entries(RULES))('%s', (key, [same, differ]) => {
  const name = key as PanelConditionName;

  it(`holds ${same.join(', ')} and varies ${differ.join(', ')}`, async () => {
    for (const { panels } of await testsOf(name)) {
      const kinds = (part: Part) => new Set(panels.map(panel => JSON.stringify(PARTS[part](panel)))).size;
      expect(same.map(part => [part, kinds(part)])).toEqual(same.map(part => [part, 1]));
      expect(differ.map(part => [part, kinds(part)])).toEqual(differ.map(part => [part, 4]));
    }
  });

  it('compares three instances of three sources, and shows other things of four', async () => {
    const pool = instancePool(name, MANY);
    for (const { plan, panels } of (await testsOf(name)).slice(0, 400)) {
      const compared = plan.triples[0]!.map(i => pool.source(i));
      expect(new Set(compared).size).toBe(3);
      const sources = (of: SyntheticPool, ids: readonly (string | null | undefined)[]) =>
        ids.filter(id => typeof id === 'string').map(id => of.sourceOf(id));
      const distinct = (shown: number[]) => expect([1, shown.length]).toContain(new Set(shown).size);
      if ('placement' in panels[0]!) {
        const scenes = panels as readonly PanelScene2d[];
        const textureOf = (paint: object) => ('id' in paint ? (paint.id as string) : undefined);
        const fills = sources(
          MANY.textures,
          scenes.map(({ fill }) => textureOf(fill)),
        );
        const backgrounds = sources(
          MANY.textures,
          scenes.map(({ background }) => textureOf(background)),
        );
        for (const shown of [fills, backgrounds]) expect(new Set(shown).size).toBe(shown.length);
        if (fills.length > 0) for (const [i, fill] of fills.entries()) expect(backgrounds[i]).not.toBe(fill);
        // A background of a compared texture's photo would tell which panels do not show that texture.
        if (name.startsWith('textures2d')) for (const source of compared) expect(backgrounds).not.toContain(source);
        distinct(
          sources(
            MANY.shapes,
            scenes.map(({ shape }) => shape?.id),
          ),
        );
      } else {
        const scenes = panels as readonly PanelScene3d[];
        distinct(
          sources(
            MANY.meshes,
            scenes.map(({ object }) => object.id),
          ),
        );
        distinct(
          sources(
            MANY.materials,
            scenes.map(({ material }) => material.id),
          ),
        );
        distinct(
          sources(
            MANY.environments,
            scenes.map(({ environment }) => environment.id),
          ),
        );
      }
    }
  });
});

describe('what is drawn for panels has the laws of LAS&T:', () => {
  const scenesOf = async (name: PanelConditionName) =>
    (await testsOf(name)).flatMap(({ panels }) => panels as readonly PanelScene2d[]);

  it('places of shapes', async () => {
    const turned = (await scenesOf('shapes2d-natural-black-white-rotated')).map(({ placement }) => placement);
    expect(
      worstNumber(
        turned.map(({ rotation }) => rotation),
        0,
        359,
      ),
    ).toBeLessThan(4.5);
    const upright = (await scenesOf('shapes2d-natural-black-white-unrotated')).map(({ placement }) => placement);
    const longSides = upright.map(({ longSide }) => longSide / 512);
    expect(worstBin(longSides, 0.32, 1, 20)).toBeLessThan(4);
    for (const axis of [0, 1] as const) {
      // Of what room a square of the long side leaves, a shape is anywhere, whatever its size.
      const shares = upright.map(({ center, longSide }) => (center[axis] - longSide / 2) / (512 - longSide));
      expect(worstBin(shares, 0, 1, 20)).toBeLessThan(4);
      expect(correlation(shares, longSides)).toBeLessThan(4);
    }
    // Turned, its square is shrunk so that it fits, and no further.
    for (const { rotation, longSide, center } of turned) {
      const [extent] = turnedBox({ width: longSide, height: longSide }, rotation);
      expect(extent).toBeLessThanOrEqual(512 + 1e-9);
      for (const c of center) expect(Math.abs(c - 256) <= 256 - extent / 2 + 1e-9).toBe(true);
    }
    const largest = Math.max(...turned.filter(({ rotation }) => rotation === 45).map(({ longSide }) => longSide));
    expect(largest).toBeCloseTo(512 / Math.SQRT2, 6);
  });

  it('windows of textures', async () => {
    const scenes = await scenesOf('textures2d-black-different');
    const windows = scenes.map(({ fill }) => fill as TextureWindow);
    for (const axis of [0, 1] as const) {
      const shares = windows.map(({ place }) => place[axis]);
      expect(worstBin(shares, 0, 1, 20)).toBeLessThan(4);
    }
    const turns = windows.map(({ quarterTurns }) => quarterTurns);
    expect(worstNumber(turns, 0, 3)).toBeLessThan(4);
    for (const { placement } of scenes) expect(placement).toEqual({ longSide: 512, rotation: 0, center: [256, 256] });
    for (const [test, { plan }] of (await testsOf('textures2d-black-different')).entries()) {
      const sides = plan.triples[0]!.map(i => MANY.textures.item(i)).flatMap(({ width, height }) => [width, height]);
      expect(windows[4 * test]!.window).toBe(Math.min(512, Math.max(1, Math.floor(0.8 * Math.min(...sides)))));
    }
  });
});

it('3D conditions vary known quantities', () => {
  for (const condition of Object.values(PANEL_CONDITIONS)) {
    if ('vary' in condition) expect(QUANTITIES).toEqual(expect.arrayContaining([...condition.vary]));
  }
});

describe('panels cannot be sampled', () => {
  const random = rng(1, 'tests', 'too few');
  const textured = PANEL_CONDITIONS['shapes2d-natural-textured-textured-rotated'];

  it('of too few photos', () => {
    if (textured.subset !== 'shapes2d') throw new Error('expected shapes');
    const three = new SyntheticPool('texture', 3, 20);
    expect(sampleShapePanels(random, LAST_SHAPES2D, textured.values, three)).toBeUndefined();
    const four = new SyntheticPool('texture', 4, 20);
    for (let i = 0; i < 50; i++) {
      expect(sampleShapePanels(random, LAST_SHAPES2D, textured.values, four)).toHaveLength(4);
    }
  });

  it('without a view that is accepted', async () => {
    const condition = PANEL_CONDITIONS['shapes3d-all'];
    if (!('vary' in condition)) throw new Error('expected 3D');
    expect(await samplePanels3d(random, LAST_SHAPES3D, condition, FEW, async () => false)).toBeUndefined();
  });
});

it.each(['shapes2d', 'textures2d', 'shapes3d', 'materials3d', 'real'] as const)(
  'prompts for %s ask for one letter',
  kind => {
    const prompts = panelPrompts(kind);
    expect(prompts.length).toBeGreaterThanOrEqual(4);
    expect(new Set(prompts).size).toBe(prompts.length);
    for (const prompt of prompts) {
      expect(prompt).toMatch(/panel A/);
      expect(prompt).toMatch(/\bB, C (and|or) D\b/);
      expect(prompt).toMatch(/\bletter\b/);
      // One cell of a table.
      expect(prompt).not.toMatch(/[\t\n"]/);
    }
  },
);

describe('a plan', () => {
  const plain = (count: number): Pick<Pool, 'count' | 'related'> => ({ count, related: (a, b) => a === b });
  const roles = ([answer, ...others]: readonly number[]) => `${answer}/${others.sort((a, b) => a - b)}`;

  it.each([1, 2, 3, 100, 500])('of %d tests has balanced answers in no order', wanted => {
    const answers = planTests(3, 'any', plain(60), wanted).map(({ answer }) => answer);
    const counts = CHOICES.map(choice => answers.filter(answer => answer === choice).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(answers).toHaveLength(wanted);
    if (wanted < 100) return;
    // Each answer follows each other one about equally often.
    for (const first of CHOICES) {
      for (const second of CHOICES) {
        const follows = answers.filter((answer, i) => answer === first && answers[i + 1] === second).length;
        expect(Math.abs(follows - wanted / 9)).toBeLessThan(4 * Math.sqrt(wanted / 9));
      }
    }
  });

  it('has no two tests that compare the same instances in the same roles, substitutes included', () => {
    const tests = planTests(1, 'any', plain(12), 200);
    const all = tests.flatMap(({ triples }) => triples.map(roles));
    expect(tests).toHaveLength(200);
    expect(new Set(all).size).toBe(all.length);
    for (const { triples } of tests) for (const triple of triples) expect(new Set(triple).size).toBe(3);
  });

  it('asks for all instances equally often', () => {
    const asked = new Map<number, number>();
    for (const { triples } of planTests(1, 'any', plain(50), 500)) {
      asked.set(triples[0]![0], (asked.get(triples[0]![0]) ?? 0) + 1);
    }
    expect([...asked.values()]).toEqual(new Array(50).fill(10));
  });

  it.each([
    [0, 0],
    [2, 0],
    [3, 3], // each of three, beside the two others
    [4, 4 * 3], // … and C(3, 2) pairs of others
    [6, 6 * 10],
  ])('of %d instances has %d different tests', (count, tests) => {
    expect(planTests(1, 'any', plain(count), 1000)).toHaveLength(tests);
  });

  it('compares no two items of one source, also where one source has nearly all', () => {
    const skewed = { count: 3000, related: (a: number, b: number) => a === b || (a > 1 && b > 1) };
    const tests = planTests(1, 'any', skewed, 500);
    expect(tests).toHaveLength(500);
    for (const { triples } of tests) {
      for (const triple of triples) expect(triple.filter(i => i > 1)).toHaveLength(1);
    }
  });

  it('of more tests begins with those of fewer; what is added has answers of its own order', () => {
    const [few, more] = [planTests(1, 'any', plain(40), 31), planTests(1, 'any', plain(40), 400, [10, 31, 900])];
    expect(more.slice(0, 31).map(({ triples }) => triples[0])).toEqual(few.map(({ triples }) => triples[0]));
    const answers = more.map(({ answer }) => answer);
    const ten = planTests(1, 'any', plain(40), 10).map(({ answer }) => answer);
    const thirtyOne = planTests(1, 'any', plain(40), 31, [10]).map(({ answer }) => answer);
    expect(answers.slice(0, 31)).toEqual(thirtyOne);
    expect(thirtyOne.slice(0, 10)).toEqual(ten);
    for (const end of [10, 31, 400]) {
      const counts = CHOICES.map(choice => answers.slice(0, end).filter(answer => answer === choice).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
  });

  it('is another one for another seed and condition, and the same for the same', () => {
    const plan = (seed: number, name: string) => planTests(seed, name, plain(30), 50);
    expect(plan(1, 'a')).toEqual(plan(1, 'a'));
    expect(plan(2, 'a')).not.toEqual(plan(1, 'a'));
    expect(plan(1, 'b')).not.toEqual(plan(1, 'a'));
  });

  it('shows the first instance in A and the answer', () => {
    expect(instancesOf(['x', 'y', 'z'], 'B')).toEqual({ A: 'x', B: 'x', C: 'y', D: 'z' });
    expect(instancesOf(['x', 'y', 'z'], 'D')).toEqual({ A: 'x', B: 'y', C: 'z', D: 'x' });
  });
});
