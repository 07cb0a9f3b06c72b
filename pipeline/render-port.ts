import type { MessagePort } from 'node:worker_threads';
import type { AssetSource } from '../renderers/asset-server.ts';
import type { RenderedFrame, RenderHost } from '../renderers/render-host.ts';
import type { AssetKind, KeptKind, RenderJob } from '../renderers/render-job.ts';

/**
 * Between a worker thread, which knows what a scene is made of, and the main thread, which has the browser. The worker
 * orders images; while one is drawn, the page asks for meshes, materials and panoramas, and the worker that ordered it reads
 * and decodes them. Bytes are handed over, not copied.
 */
type FromWorker =
  | { readonly kind: 'render'; readonly order: number; readonly job: RenderJob }
  | { readonly kind: 'answer'; readonly question: number; readonly bytes?: Uint8Array; readonly error?: string };

type FromHost =
  | { readonly kind: 'frame'; readonly order: number; readonly frame: RenderedFrame }
  | { readonly kind: 'failed'; readonly order: number; readonly message: string }
  | { readonly kind: 'get'; readonly question: number; readonly asset: AssetKind; readonly number: number }
  | {
      readonly kind: 'keep';
      readonly question: number;
      readonly asset: KeptKind;
      readonly number: number;
      readonly bytes: Uint8Array;
    };

/** What one end has asked the other for, by number. */
class Awaiting<T> {
  readonly #asked = new Map<number, { resolve(value: T): void; reject(error: Error): void }>();
  #numbers = 0;
  #over: string | undefined;

  /** @param post asks for it by its number. */
  wait(post: (number: number) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#over !== undefined) throw new Error(this.#over);
      const number = this.#numbers++;
      this.#asked.set(number, { resolve, reject });
      post(number);
    });
  }

  come(number: number, value: T): void {
    this.#asked.get(number)?.resolve(value);
    this.#asked.delete(number);
  }

  fail(number: number, message: string): void {
    this.#asked.get(number)?.reject(new Error(message));
    this.#asked.delete(number);
  }

  /** Nothing will come any more, for what is asked now or later. */
  giveUp(message: string): void {
    this.#over = message;
    for (const number of [...this.#asked.keys()]) this.fail(number, message);
  }
}

/** The main thread's end: passes orders on to the host, and the page's questions back. */
export function serveRenderPort(port: MessagePort, host: RenderHost): void {
  const answers = new Awaiting<Uint8Array | undefined>();
  const ask = (message: Record<string, unknown>, transfer: ArrayBuffer[] = []) =>
    answers.wait(question => port.postMessage({ ...message, question }, transfer));
  const source: AssetSource = {
    get: (asset, number) => ask({ kind: 'get', asset, number }),
    async keep(asset, number, bytes) {
      await ask({ kind: 'keep', asset, number, bytes });
    },
  };
  port.on('message', (message: FromWorker) => {
    if (message.kind === 'answer') {
      if (message.error !== undefined) answers.fail(message.question, message.error);
      else answers.come(message.question, message.bytes);
      return;
    }
    const { order, job } = message;
    host.render(job, source).then(
      frame => port.postMessage({ kind: 'frame', order, frame } satisfies FromHost, [frame.pixels.buffer]),
      error => port.postMessage({ kind: 'failed', order, message: (error as Error).message } satisfies FromHost),
    );
  });
  port.on('close', () => answers.giveUp('the worker that ordered the image is gone'));
}

/** A worker's end, for the images of one task. */
export class RenderPort {
  readonly #port: MessagePort;
  readonly #source: AssetSource;
  readonly #frames = new Awaiting<RenderedFrame>();

  constructor(port: MessagePort, source: AssetSource) {
    this.#port = port;
    this.#source = source;
    port.on('message', (message: FromHost) => this.#receive(message));
    // Its task ends here, or the thread would never have room for another.
    port.on('close', () => this.#frames.giveUp('nobody waits for the image any more'));
  }

  /** Draws an image. @throws Error for a fault of the environment. */
  render(job: RenderJob): Promise<RenderedFrame> {
    return this.#frames.wait(order => this.#port.postMessage({ kind: 'render', order, job } satisfies FromWorker));
  }

  close(): void {
    this.#port.close();
  }

  #receive(message: FromHost): void {
    if (message.kind === 'get') {
      void this.#answer(message.question, this.#source.get(message.asset, message.number));
    } else if (message.kind === 'keep') {
      const kept = this.#source.keep(message.asset, message.number, message.bytes).then(() => undefined);
      void this.#answer(message.question, kept);
    } else if (message.kind === 'frame') this.#frames.come(message.order, message.frame);
    else this.#frames.fail(message.order, message.message);
  }

  async #answer(question: number, work: Promise<Uint8Array | undefined>): Promise<void> {
    try {
      const bytes = await work;
      this.#port.postMessage({ kind: 'answer', question, ...(bytes && { bytes }) } satisfies FromWorker);
    } catch (error) {
      this.#port.postMessage({ kind: 'answer', question, error: (error as Error).message } satisfies FromWorker);
    }
  }
}
