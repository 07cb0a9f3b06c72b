import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import sharp from 'sharp';
import { InputFault } from '../faults.ts';
import type { PackKind } from './manifest.ts';
import { likenessOf } from './near-duplicates.ts';
import type { Obtained } from './pack-results.ts';

/** Meshes of one file: a glTF's other files may be on their way yet. */
const WHOLE_MESH = /\.(glb|obj)$/i;
const TSX = createRequire(import.meta.url).resolve('tsx/cjs');

/** Looks at files as they come: whether a run can use them, and what they are like. */
export class Examiner {
  readonly #kind: PackKind;
  readonly #likeness: boolean;
  #meshes: Piscina<string, string | null> | undefined;

  /** @param likeness of photos, whether near-duplicates are looked for. */
  constructor(kind: PackKind, likeness: boolean) {
    this.#kind = kind;
    this.#likeness = likeness;
    // Nothing is decoded twice, and a file may be another one under its name.
    if (likeness) sharp.cache(false);
  }

  async examine(path: string): Promise<Pick<Obtained, 'likeness' | 'unusable'>> {
    if (this.#kind === 'meshes' && WHOLE_MESH.test(path)) {
      const unusable = await this.#meshPool().run(path);
      return unusable === null ? {} : { unusable };
    }
    if (!this.#likeness) return {};
    try {
      return { likeness: await likenessOf(path) };
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      return { unusable: error.message };
    }
  }

  async close(): Promise<void> {
    await this.#meshes?.destroy();
  }

  #meshPool(): Piscina<string, string | null> {
    this.#meshes ??= new Piscina({
      filename: fileURLToPath(new URL('./mesh-check.ts', import.meta.url)),
      execArgv: ['--require', TSX],
      minThreads: 1,
      concurrentTasksPerWorker: 1,
    });
    return this.#meshes;
  }
}
