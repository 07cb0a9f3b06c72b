import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { configure } from '../pipeline/configuration.ts';
import { plan } from '../pipeline/generate.ts';
import { buildPhotoIndex } from '../pipeline/photo-index.ts';
import { resolveSources } from '../pipeline/photo-sources.ts';
import { makeProgress } from '../pipeline/progress.ts';
import { type BenchSettings, cpuSeconds, runSettings } from './measure.ts';

/** Indexes, splits and plans a list of nine million photo paths (no files behind them), and says what memory that takes. */
export async function scale({ count = 9_000_000 }: BenchSettings): Promise<void> {
  const out = await mkdtemp(join(tmpdir(), 'shapemill-scale-'));
  try {
    const list = join(out, 'photos.txt');
    await pipeline(paths(count), createWriteStream(list));
    const sources = await resolveSources([list], null);
    const indexed = await cpuSeconds(() => buildPhotoIndex(join(out, 'photos'), sources, 1));
    const { files, splits } = indexed.result.facts;
    console.log(
      `indexed ${files} paths: train ${splits.train}, val ${splits.val}, test ${splits.test}; ${indexed.seconds.toFixed(0)} s of one core`,
    );
    tellMemory('after indexing');

    const configuration = await configure({ shapes: 350_000, photos: [list] });
    const planned = await cpuSeconds(() => plan(configuration, runSettings(out), makeProgress()));
    const shards = planned.result.reduce((sum, { estimate }) => sum + estimate.shards, 0);
    console.log(`planned ${shards} shards from the existing index; ${planned.seconds.toFixed(2)} s of one core`);
    tellMemory('after planning');
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

function* paths(count: number): Generator<string> {
  const piece = 10_000;
  for (let first = 0; first < count; first += piece) {
    let text = '';
    for (let i = first; i < Math.min(first + piece, count); i++) {
      text += `/data/open-images/train_${(i % 16).toString(16)}/${i.toString(16).padStart(16, '0')}.jpg\n`;
    }
    yield text;
  }
}

function tellMemory(when: string): void {
  // Linux tells it in kibibytes.
  console.log(`largest resident memory ${when}: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
}
