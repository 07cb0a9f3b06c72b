import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configure } from '../pipeline/configuration.ts';
import { resolveDatasets } from '../pipeline/datasets/datasets.ts';
import { generate } from '../pipeline/generate.ts';
import { type BenchSettings, runSettings } from './measure.ts';
import { MemoryWatch } from './soak.ts';

/**
 * Makes silhouettes of sprites and cut-outs, each in so many copies as it takes, through the whole pipeline and watches this
 * process's memory: it must not grow with their number.
 */
export async function soakSilhouettes({ count = 20_000 }: BenchSettings): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'shapemill-soak-'));
  try {
    const cutouts = await copiesOf(['sprites', 'starter-cutouts'], count, join(scratch, 'cut-outs'));
    const configuration = await configure({ subsets: ['silhouettes'], segmentation: [`cutouts:${cutouts}`] });
    const watch = new MemoryWatch(count, 1000);
    await generate(configuration, runSettings(join(scratch, 'run')), watch, new AbortController().signal);
    watch.tell('at the end');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Copies the pictures of datasets into a folder, over and over, until there are so many. */
async function copiesOf(datasets: readonly string[], count: number, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const sources = await resolveDatasets(datasets, null);
  for (let copied = 0; copied < count; ) {
    for (const source of sources) {
      for await (const { path } of source.files()) {
        if (copied < count) await copyFile(path, join(folder, `picture-${copied++}.png`));
      }
    }
  }
  return folder;
}
