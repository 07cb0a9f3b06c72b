import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Sample3dLabel, sample3dLabelSchema } from '../../pipeline/labels.ts';
import { browserProcessesBelow } from '../renderers/3d/browser-processes.ts';
import { filesIn, generate, scratchFolder, start, until } from './command.ts';
import { nameInSplit, writePhotos, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { labelsIn } from './shard-files.ts';

/** Whole runs that draw 3D scenes from the starter meshes and some of its panoramas, in a real browser. */
const scratch = scratchFolder();
let inputs: string[];
let whole: string;

const SMALL_3D = {
  subsets: ['shapes3d', 'materials3d'],
  shapes: 4,
  textures: 30,
  materials: 24,
  'shapes3d-images': 12,
  'materials3d-images': 12,
  shapes3d: { variations: 2, size: 64 },
  materials3d: { variations: 2, size: 64 },
};

beforeAll(async () => {
  const recipe = await writeRecipe(join(scratch, 'three-d.json'), SMALL_3D);
  const photos = ['--photos', await writePhotos(scratch), '--environments', await copyPanoramas()];
  const banks = join(scratch, 'banks');
  await generate([...photos, '--recipe', recipe, '--out', banks, '--stage', 'extract-textures', 'make-materials']);
  inputs = [...photos, '--texture-bank', banks, '--material-bank', banks, '--recipe', recipe];
  whole = join(scratch, 'whole');
  await generate([...inputs, '--out', whole]);
});

/** A few of the starter's panoramas, in all splits: for each renderer light is made of every one. */
async function copyPanoramas(): Promise<string> {
  const folder = join(scratch, 'panoramas');
  await mkdir(folder);
  const splits = { lobby: 'train', night: 'train', sky: 'val', studio: 'test' } as const;
  for (const [name, split] of Object.entries(splits)) {
    const file = nameInSplit('panoramas', name, split, 'exr');
    await copyFile(join('assets/starter/environments', `${name}.exr`), join(folder, file));
  }
  return folder;
}

/** Labels of all 3D samples of a run, each checked against its schema. */
async function labels(run: string): Promise<Sample3dLabel[]> {
  const all = [...(await labelsIn(run, 'shapes3d/')), ...(await labelsIn(run, 'materials3d/'))];
  return all.map(label => sample3dLabelSchema.parse(label));
}

const scenesOf = (all: Sample3dLabel[]) => all.map(({ key, scene, split }) => ({ key, scene, split }));

describe('a run with 3D scenes', () => {
  it('makes whole instances in all splits, each with picture, mask and label', async () => {
    const all = await labels(whole);
    expect(all).toHaveLength(24);
    expect(new Set(all.map(({ split }) => split))).toEqual(new Set(['train', 'val', 'test']));
    for (const { facts, sources, subset, instance, scene } of all) {
      expect(facts.coverage).toBeGreaterThan(subset === 'shapes3d' ? 0.02 : 0.03);
      expect(sources.map(({ role }) => role)).toEqual(expect.arrayContaining(['object', 'material', 'environment']));
      expect(instance.id).toBe(subset === 'shapes3d' ? scene.object.id : scene.material.id);
    }
    const { renderers } = JSON.parse(await readFile(join(whole, 'run.json'), 'utf8'));
    expect(renderers).toHaveLength(1);
  });

  it('has the same scenes on one worker and one page, with another renderer', async () => {
    const run = join(scratch, 'one');
    await generate([...inputs, '--out', run, '--workers', '1', '--pages', '1', '--gl', 'swiftshader']);
    expect(scenesOf(await labels(run))).toEqual(scenesOf(await labels(whole)));
  });

  it('shows different objects where nothing else varies', async () => {
    const recipe = await writeRecipe(join(scratch, 'objects.json'), {
      ...SMALL_3D,
      'shapes3d-images': 0,
      'materials3d-images': 12,
      materials3d: { variations: 4, size: 64, vary: ['object'] },
    });
    const run = join(scratch, 'objects');
    await generate([...inputs.slice(0, -2), '--recipe', recipe, '--out', run]);
    const objects = new Map<number, string[]>();
    for (const { instance, split, scene } of await labelsIn<Sample3dLabel>(run, 'materials3d/')) {
      if (split !== 'train') continue; // the others have two meshes
      objects.set(instance.number, [...(objects.get(instance.number) ?? []), scene.object.id]);
    }
    expect(objects.size).toBeGreaterThan(0);
    for (const shown of objects.values()) expect(new Set(shown).size).toBe(4);
  });

  it('needs no browser for subsets of no images', async () => {
    const none = ['--shapes3d-images', '0', '--materials3d-images', '0', '--browser', '/nowhere/chrome'];
    await generate([...inputs, '--out', join(scratch, 'none'), ...none]);
  });

  it('continues after kill -9 to the same scenes', async () => {
    const run = join(scratch, 'killed');
    const { child, ended } = start(['generate', ...inputs, '--out', run]);
    const drawn = async () => (await filesIn(join(run, 'shapes3d'))).some(file => file.endsWith('.tar'));
    await until(drawn, ended);
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    await generate([...inputs, '--out', run]);
    expect(scenesOf(await labels(run))).toEqual(scenesOf(await labels(whole)));
  });

  it.skipIf(process.platform !== 'linux')('loses nothing when the GPU process is killed meanwhile', async () => {
    const run = join(scratch, 'gpu-killed');
    const { child, ended } = start(['generate', ...inputs, '--out', run]);
    let killed = 0;
    let running = true;
    void ended.then(() => {
      running = false;
    });
    // Once: an image that two of them die of counts as undrawable.
    while (running && killed === 0) {
      await sleep(200);
      for (const pid of await browserProcessesBelow(child.pid!, 'gpu-process')) {
        await sleep(1500); // let it draw
        try {
          process.kill(pid, 'SIGKILL');
          killed++;
        } catch {
          // It was that of a browser that was only tried.
        }
      }
    }
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(killed).toBeGreaterThan(0);
    expect(scenesOf(await labels(run))).toEqual(scenesOf(await labels(whole)));
  });

  it('refuses a software renderer where a graphics card is required, and a browser that is none', async () => {
    const run = join(scratch, 'refused');
    const said = await refusal('generate', ...inputs, '--out', run, '--browser', '/nowhere/chrome');
    expect(said).toContain('expected a Chrome or Chromium that can be run, got "/nowhere/chrome"');
    const { renderers } = JSON.parse(await readFile(join(whole, 'run.json'), 'utf8'));
    if (!/SwiftShader|llvmpipe/.test(renderers[0])) return;
    expect(await refusal('generate', ...inputs, '--out', join(scratch, 'strict'), '--require-gpu')).toMatch(
      /--require-gpu: expected a graphics card, got ANGLE/,
    );
  });
});
