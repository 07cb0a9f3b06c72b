import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configure } from '../pipeline/configuration.ts';
import { generate } from '../pipeline/generate.ts';
import type { Progress } from '../pipeline/progress.ts';
import { type BenchSettings, runSettings } from './measure.ts';

/** Makes 2D samples through the whole pipeline and watches this process's memory: it must not grow with their number. */
export async function soak({ photos, count = 10_000 }: BenchSettings): Promise<void> {
  const out = await mkdtemp(join(tmpdir(), 'shapemill-soak-'));
  const configuration = await configure({
    shapes: 40,
    subsets: ['shapes2d', 'textures2d'],
    'shapes2d-images': count / 2,
    'textures2d-images': count / 2,
    ...(photos !== undefined && { photos: [photos] }),
  });
  const watch = new MemoryWatch(count);
  try {
    await generate(configuration, runSettings(out), watch, new AbortController().signal);
    watch.tell('at the end');
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Prints resident memory after the first images and every tenth of the way. */
export class MemoryWatch implements Progress {
  readonly #step: number;
  readonly #firstStep: number;
  #images = 0;
  #counting = false;
  #first = 0;

  /** @param firstStep images after which memory is looked at for the first time. */
  constructor(count: number, firstStep = count / 10) {
    this.#step = count / 10;
    this.#firstStep = firstStep;
  }

  begin({ unit }: { unit: string }): void {
    this.#counting = unit === 'images';
  }

  found(): void {}

  advance(samples: number): void {
    if (!this.#counting) return;
    const before = this.#images;
    this.#images += samples;
    const passes = (step: number) => Math.floor(before / step) !== Math.floor(this.#images / step);
    if (passes(this.#step) || (before < this.#firstStep && passes(this.#firstStep)))
      this.tell(`after ${this.#images} images`);
  }

  tell(when: string): void {
    const rss = process.memoryUsage.rss();
    if (this.#first === 0) this.#first = rss;
    console.log(
      `${when.padEnd(22)} RSS ${(rss / 1e6).toFixed(0).padStart(5)} MB  ${(rss / this.#first).toFixed(2)} × the first`,
    );
  }

  end(): void {}
  count(): void {}
  info(): void {}
  warn(message: string): void {
    console.log(message);
  }
}
