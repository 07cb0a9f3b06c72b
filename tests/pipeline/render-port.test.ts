import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { RenderPort, serveRenderPort } from '../../pipeline/render-port.ts';
import type { AssetSource } from '../../renderers/asset-server.ts';
import type { RenderedFrame, RenderHost } from '../../renderers/render-host.ts';
import type { RenderJob } from '../../renderers/render-job.ts';

/** A task's end, whose images are drawn by `render`, and the port of the other end. */
function connected(render: (job: RenderJob, source: AssetSource) => Promise<RenderedFrame>) {
  const { port1, port2 } = new MessageChannel();
  serveRenderPort(port1, { render } as RenderHost);
  const source: AssetSource = {
    get: async (kind, number) => (kind === 'meshes' ? Uint8Array.of(number) : undefined),
    keep: () => Promise.reject(new Error('no room')),
  };
  const port = new RenderPort(port2, source);
  ends.push(() => port1.close());
  return { port, port1 };
}
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A job that is told from others by a number. */
const job = (number: number) => ({ items: { mesh: number } }) as unknown as RenderJob;
const frame = (byte: number) => ({ pixels: Uint8Array.of(byte) }) as RenderedFrame;

describe('orders of a worker', () => {
  it('are answered each by its own image, whichever is drawn first, with what the worker has', async () => {
    const { port } = connected(async ({ items }, source) => {
      const mesh = (await source.get('meshes', items.mesh))!;
      if (mesh[0] === 1) await new Promise(resolve => setTimeout(resolve, 30));
      if (mesh[0] === 3) throw new Error('drawing failed');
      return frame(10 * mesh[0]!);
    });
    const [first, second, third] = await Promise.allSettled([1, 2, 3].map(number => port.render(job(number))));
    expect(first).toMatchObject({ value: { pixels: Uint8Array.of(10) } });
    expect(second).toMatchObject({ value: { pixels: Uint8Array.of(20) } });
    expect(third).toMatchObject({ reason: { message: 'drawing failed' } });
  });

  it('end with an error when nobody waits for them any more, those that come later too', async () => {
    const { port, port1 } = connected(() => new Promise(() => {}));
    const waiting = port.render(job(1));
    port1.close();
    await expect(waiting).rejects.toThrow('nobody waits for the image');
    await expect(port.render(job(2))).rejects.toThrow('nobody waits for the image');
  });

  it('fail where the worker fails', async () => {
    const { port } = connected(async (_, source) => {
      await source.keep('lights', 1, Uint8Array.of(1));
      return frame(0);
    });
    await expect(port.render(job(1))).rejects.toThrow('no room');
  });
});
