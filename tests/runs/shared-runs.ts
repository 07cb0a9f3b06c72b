import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { generate, shapemill } from './command.ts';
import { nameInSplit, smallPhoto, writePhotos, writeRecipe } from './photo-folder.ts';

/** A run that several test files look at, made by the first that asks for it. Nobody may change it: what is changed is a copy. */
export interface SharedRun {
  readonly run: string;
  readonly photos: string;
  readonly recipe: string;
  /** The options of `generate` that it was made with, but for `--out` and `--workers`. */
  readonly inputs: readonly string[];
}

/** Natural shapes, textures and their 2D images, of six small photos by the recipe `SMALL`, made with one worker. */
export function smallRun(): Promise<SharedRun> {
  return made('small', async folder => {
    const shared = sharedRun(folder, await writePhotos(folder), await writeRecipe(join(folder, 'small.json')));
    await generate([...shared.inputs, '--out', shared.run, '--workers', '1']);
    return shared;
  });
}

/** The like with silhouettes of the starter's cut-outs and six panel tests of textures. */
export function runWithPanels(): Promise<SharedRun> {
  return made('with-panels', async folder => {
    const photos = await writePhotos(folder);
    // Tests of panels need textures of three photos in the test split.
    for (const name of ['giant-panda.webp', 'moose.webp', 'tea-garden.webp']) {
      await smallPhoto(name)
        .jpeg({ quality: 90 })
        .toFile(join(photos, nameInSplit('photos', name.replace('.webp', ''), 'test')));
    }
    const subsets = ['shapes2d', 'textures2d', 'silhouettes'];
    const recipe = await writeRecipe(join(folder, 'with-panels.json'), { subsets, shapes: 10 });
    const shared = sharedRun(folder, photos, recipe);
    await generate([...shared.inputs, '--out', shared.run]);
    const panels = await shapemill(
      'panels',
      shared.run,
      '--per-condition',
      '6',
      '--conditions',
      'textures2d-black-same',
    );
    if (panels.code !== 0) throw new Error(panels.stderr);
    return shared;
  });
}

const sharedRun = (folder: string, photos: string, recipe: string): SharedRun => ({
  run: join(folder, 'run'),
  photos,
  recipe,
  inputs: ['--photos', photos, '--recipe', recipe],
});

/** What `make` makes in a folder, whoever of the files that run at the same time comes first; where it fails, the next one tries. */
async function made(name: string, make: (folder: string) => Promise<SharedRun>): Promise<SharedRun> {
  const folder = join(inject('sharedFolder'), name);
  const done = `${folder}.json`;
  while (!existsSync(done)) {
    // Whoever makes the folder makes what is in it.
    const mine = await mkdir(folder).then(
      () => true,
      () => false,
    );
    if (!mine) {
      await sleep(50);
      continue;
    }
    try {
      const shared = await make(folder);
      await writeFile(`${done}.partial`, JSON.stringify(shared));
      await rename(`${done}.partial`, done);
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
  }
  return JSON.parse(await readFile(done, 'utf8'));
}
