import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { itemSize, openBank } from '../../pipeline/bank.ts';
import { type PanelTest, panelTestSchema } from '../../pipeline/labels.ts';
import { isAccepted, readMesh } from '../../pipeline/scenes3d.ts';
import { letterBox } from '../../renderers/letters.ts';
import { PANEL_SIZE, PANELS, panelBox } from '../../scenes/panel-scene.ts';
import { LAST_SHAPES3D } from '../../scenes/recipe3d.ts';
import { generate, scratchFolder, shapemill } from './command.ts';
import { writeTextures } from './panel-inputs.ts';
import { writeRecipe } from './photo-folder.ts';

/** Panel tests of 3D scenes, drawn from the starter meshes and panoramas in a real browser. */
type Test3d = Extract<PanelTest, { subset: 'shapes3d' | 'materials3d' }>;

const CONDITIONS = ['shapes3d-orientation', 'shapes3d-all', 'materials3d-environment', 'materials3d-object'];
const TESTS = 3;
const scratch = scratchFolder();
const run = join(scratch, 'run');
let tests: Record<string, Test3d[]>;

async function testsOf(condition: string): Promise<Test3d[]> {
  const list = await readFile(join(run, 'panels', condition, 'panels.jsonl'), 'utf8');
  return list
    .trimEnd()
    .split('\n')
    .map(line => panelTestSchema.parse(JSON.parse(line)) as Test3d);
}

async function panels(...args: string[]) {
  const ending = await shapemill('panels', run, '--per-condition', String(TESTS), ...args);
  expect(ending.code, ending.stderr).toBe(0);
  return ending;
}

beforeAll(async () => {
  const recipe = await writeRecipe(join(scratch, 'banks.json'), {
    subsets: ['shapes3d', 'materials3d'],
    textures: 12,
    materials: 12,
    'shapes3d-images': 0,
    'materials3d-images': 0,
    'material-maps': { size: 128 },
    'environment-preparation': { width: 256 },
  });
  await generate(['--recipe', recipe, '--texture-bank', await writeTextures(scratch, 12), '--out', run]);
  await panels('--conditions', ...CONDITIONS);
  tests = Object.fromEntries(await Promise.all(CONDITIONS.map(async name => [name, await testsOf(name)] as const)));
}, 400_000);

describe.each(CONDITIONS)('%s', condition => {
  it('shows one instance in A and the answer, and others of other files or photos beside', () => {
    expect(tests[condition]).toHaveLength(TESTS);
    expect(tests[condition]!.map(({ answer }) => answer).sort()).toEqual(['B', 'C', 'D']);
    for (const { subset, panels, answer, sources } of tests[condition]!) {
      expect(panels.A.instance).toBe(panels[answer].instance);
      expect(new Set(PANELS.map(panel => panels[panel].instance)).size).toBe(3);
      const role = subset === 'shapes3d' ? 'object' : 'material';
      for (const panel of PANELS) {
        expect(panels[panel].scene[role].id).toBe(panels[panel].instance);
        expect(panels[panel].free[role].id).toBeNull();
        for (const part of ['object', 'material', 'environment']) {
          expect(sources.some(source => source.role === part && source.panels.includes(panel))).toBe(true);
        }
      }
      const shown = sources.filter(source => source.role === role);
      const from = shown.map(({ file }) => file);
      expect(new Set(from).size).toBe(from.length);
    }
  });

  it('shows enough of every object', () => {
    for (const { subset, panels } of tests[condition]!) {
      // What is accepted on the CPU, less what the renderer draws otherwise at edges.
      for (const panel of PANELS)
        expect(panels[panel].facts.coverage).toBeGreaterThan(subset === 'shapes3d' ? 0.02 : 0.03);
    }
  });

  it('has pictures of four panels that are not blank', async () => {
    for (const { image } of tests[condition]!) {
      const path = join(run, 'panels', condition, image);
      const { width, height } = await sharp(path).metadata();
      expect([width, height]).toEqual([1024, 1024]);
      for (const panel of PANELS) {
        const { channels } = await sharp(await sharp(path).extract(panelBox(panel)).png().toBuffer()).stats();
        expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(8);
      }
    }
  });
});

it('what a condition holds looks the same: the surroundings of the object', async () => {
  const condition = 'shapes3d-orientation';
  for (const test of tests[condition]!) {
    const { data } = await sharp(join(run, 'panels', condition, test.image))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const boxes = PANELS.map(panelBox);
    const at = (panel: number, x: number, y: number) => 3 * ((boxes[panel]!.top + y) * 1024 + boxes[panel]!.left + x);
    const covered = (x: number, y: number) =>
      PANELS.some(panel => {
        const { left, top, width, height } = test.panels[panel].facts.box;
        return x > left - 20 && x < left + width + 20 && y > top - 20 && y < top + height + 20;
      });
    const { left, top, width, height } = letterBox(test.letters.corner, PANEL_SIZE);
    const inLetter = (x: number, y: number) =>
      x > left - 16 && x < left + width + 16 && y > top - 16 && y < top + height + 16;
    let [sum, count] = [0, 0];
    for (let y = 0; y < PANEL_SIZE; y += 5) {
      for (let x = 0; x < PANEL_SIZE; x += 5) {
        if (covered(x, y) || inLetter(x, y)) continue;
        for (let panel = 1; panel < 4; panel++) {
          for (let c = 0; c < 3; c++) sum += Math.abs(data[at(panel, x, y) + c]! - data[at(0, x, y) + c]!);
          count += 3;
        }
      }
    }
    if (count > 0) expect(sum / count).toBeLessThan(4);
  }
});

it('a view is one that shows enough of all three shapes, so that it does not tell which one is seen', async () => {
  const bank = (await openBank(join(run, 'banks', 'meshes')))!;
  const numberOf = (id: string) => Array.from(bank.bySplit.test).find(i => itemSize(bank, i).id === id)!;
  for (const condition of CONDITIONS.filter(name => name.startsWith('shapes3d'))) {
    for (const { panels } of tests[condition]!) {
      for (const instance of new Set(PANELS.map(panel => panels[panel].instance))) {
        const mesh = await readMesh(bank, numberOf(instance));
        for (const panel of PANELS) {
          const { camera, object, material } = panels[panel].free;
          const { minCoverage } = LAST_SHAPES3D;
          expect(isAccepted(mesh, { camera, rotation: object.rotation }, material.displacement, minCoverage)).toBe(
            true,
          );
        }
      }
    }
  }
});

it('scenes are the same on one worker and one page', async () => {
  const before = tests['shapes3d-all']!.map(({ id, panels, answer }) => ({ id, answer, scenes: panels.D.scene }));
  await rm(join(run, 'panels', 'shapes3d-all'), { recursive: true });
  await panels('--conditions', 'shapes3d-all', '--workers', '1', '--pages', '1');
  const after = await testsOf('shapes3d-all');
  expect(after.map(({ id, panels, answer }) => ({ id, answer, scenes: panels.D.scene }))).toEqual(before);
});
