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

/** The main thread's end: passes orders on to the host, and the page's questions back. */
export function serveRenderPort(port: MessagePort, host: RenderHost): void {
  const answers = new Map<number, { resolve(bytes: Uint8Array | undefined): void; reject(error: Error): void }>();
  let questions = 0;
  const ask = (message: Record<string, unknown>, transfer: ArrayBuffer[] = []) =>
    new Promise<Uint8Array | undefined>((resolve, reject) => {
      const question = questions++;
      answers.set(question, { resolve, reject });
      port.postMessage({ ...message, question }, transfer);
    });
  const source: AssetSource = {
    get: (asset, number) => ask({ kind: 'get', asset, number }),
    async keep(asset, number, bytes) {
      await ask({ kind: 'keep', asset, number, bytes });
    },
  };
  port.on('message', (message: FromWorker) => {
    if (message.kind === 'answer') {
      const answer = answers.get(message.question);
      answers.delete(message.question);
      if (message.error !== undefined) answer?.reject(new Error(message.error));
      else answer?.resolve(message.bytes);
      return;
    }
    const { order, job } = message;
    host.render(job, source).then(
      frame => port.postMessage({ kind: 'frame', order, frame } satisfies FromHost, [frame.pixels.buffer]),
      error => port.postMessage({ kind: 'failed', order, message: (error as Error).message } satisfies FromHost),
    );
  });
  port.on('close', () => {
    for (const { reject } of answers.values()) reject(new Error('the worker that ordered the image is gone'));
  });
}

/** A worker's end, for the images of one task. */
export class RenderPort {
  readonly #port: MessagePort;
  readonly #source: AssetSource;
  readonly #orders = new Map<number, { resolve(frame: RenderedFrame): void; reject(error: Error): void }>();
  #numbers = 0;

  constructor(port: MessagePort, source: AssetSource) {
    this.#port = port;
    this.#source = source;
    port.on('message', (message: FromHost) => this.#receive(message));
    // Nobody waits for the task any more: it ends here, or its thread would never have room for another.
    port.on('close', () => {
      for (const { reject } of this.#orders.values()) reject(new Error('nobody waits for the image any more'));
    });
  }

  /** Draws an image. @throws Error for a fault of the environment. */
  render(job: RenderJob): Promise<RenderedFrame> {
    return new Promise((resolve, reject) => {
      const order = this.#numbers++;
      this.#orders.set(order, { resolve, reject });
      this.#port.postMessage({ kind: 'render', order, job } satisfies FromWorker);
    });
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
    } else {
      const order = this.#orders.get(message.order);
      this.#orders.delete(message.order);
      if (message.kind === 'frame') order?.resolve(message.frame);
      else order?.reject(new Error(message.message));
    }
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
