import { type FoundBrowser, findBrowser } from '../renderers/browser.ts';
import { RenderHost, type RenderSettings } from '../renderers/render-host.ts';
import type { Progress } from './progress.ts';
import type { RunFolder } from './run-folder.ts';
import { UsageError } from './usage-error.ts';

/** How 3D scenes are drawn. */
export interface DrawingSettings extends RenderSettings {
  /** Whether software may not draw. */
  readonly requireGpu: boolean;
}

/** The browser of a run: looked for at the start, started when the first stage needs it. */
export class Drawing {
  readonly #settings: DrawingSettings;
  readonly #folder: RunFolder;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  readonly #without3d: string;
  #found: FoundBrowser | undefined;
  #host: Promise<RenderHost> | undefined;

  /**
   * @param signal ends the browser.
   * @param without3d the option that leaves 3D out, for who has no browser.
   */
  constructor(
    settings: DrawingSettings,
    folder: RunFolder,
    progress: Progress,
    signal: AbortSignal,
    without3d = '--subsets shapes2d textures2d silhouettes',
  ) {
    this.#settings = settings;
    this.#folder = folder;
    this.#progress = progress;
    this.#signal = signal;
    this.#without3d = without3d;
  }

  /** Whether scenes can be drawn, before hours are spent on what they show. @throws UsageError when not. */
  async check(): Promise<void> {
    this.#found = await findBrowser(this.#settings.browser).catch(error => {
      throw new UsageError(`${(error as Error).message}; or leave 3D out with ${this.#without3d}`);
    });
    // Who asks for something special learns at once whether it is there.
    const { requireGpu, gl = 'auto' } = this.#settings;
    if (requireGpu || gl !== 'auto') await this.host();
  }

  /** @throws UsageError when no browser draws, or only in software where a GPU is required. */
  host(): Promise<RenderHost> {
    this.#host ??= this.#start();
    return this.#host;
  }

  async close(): Promise<void> {
    const host = await this.#host?.catch(() => undefined);
    await host?.close();
  }

  /** Records what draws. A run of several machines, or one that is continued elsewhere, has pictures of several renderers. */
  async #note(renderer: string): Promise<void> {
    const before = await this.#folder.noteRenderer(renderer);
    if (before.length > 0 && !before.includes(renderer)) {
      this.#progress.warn(
        `3D images of this run were drawn by ${before.join('; ')}, now by ${renderer}: its pictures of a scene differ a little`,
      );
    }
  }

  async #start(): Promise<RenderHost> {
    const host = await RenderHost.start(this.#settings, this.#signal, this.#found).catch(error => {
      this.#signal.throwIfAborted();
      throw new UsageError(`${(error as Error).message}; "shapemill doctor" looks at browser and graphics card`);
    });
    const { webglRenderer, software, version } = host.facts;
    if (software && this.#settings.requireGpu) {
      await host.close();
      throw new UsageError(
        `--require-gpu: expected a graphics card, got ${webglRenderer}; "shapemill doctor" says what was tried`,
      );
    }
    if (software)
      this.#progress.warn(`3D scenes are drawn in software (${webglRenderer}): slow, and otherwise the same`);
    await this.#note(`${webglRenderer}, ${version}`);
    return host;
  }
}
