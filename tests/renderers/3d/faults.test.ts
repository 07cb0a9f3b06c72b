import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { AssetSource } from '../../../renderers/asset-server.ts';
import { RenderHost } from '../../../renderers/render-host.ts';
import type { RenderJob } from '../../../renderers/render-job.ts';
import { browserProcesses, browserProcessesBelow, drawingPages, killPages } from './browser-processes.ts';
import { cube, material, panorama, Shelf, scene } from './still-life.ts';

/** What breaks while images are drawn: a real browser, whose real processes are killed, stopped or sent round in circles. */
let host: RenderHost | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
});

const shelf = new Shelf();
const items = shelf.put(
  cube(),
  material({ color: [200, 80, 40] }),
  panorama(([, y]) => [0.4 + 0.3 * y, 0.5, 0.6], 64),
);
// Large, so that something can happen while they are drawn.
const turns = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
const jobs = turns.map((angle): RenderJob => {
  const rotation: [number, number, number, number] = [0, Math.sin(angle), 0, Math.cos(angle)];
  return { scene: scene({ size: 256, object: { id: `turned by ${angle}`, rotation } }), items, output: 'picture' };
});

async function drawAll(host: RenderHost): Promise<Uint8Array[]> {
  const frames = await Promise.all(jobs.map(job => host.render(job, shelf)));
  return frames.map(({ pixels }) => pixels);
}

/** Draws everything while something happens after the first image: the pictures are those of before. */
async function undisturbedBy(happening: (host: RenderHost) => Promise<void>, before: readonly Uint8Array[]) {
  const disturbed = drawAll(host!);
  await happening(host!);
  for (const [i, pixels] of (await disturbed).entries()) expect(Buffer.compare(before[i]!, pixels)).toBe(0);
}

describe.skipIf(process.platform !== 'linux')('a fault of the environment costs no image', () => {
  it('when a page, the GPU process or the whole browser is killed', async () => {
    host = await RenderHost.start({ pages: 2 });
    const before = await drawAll(host);
    const pages = await drawingPages(host);
    await undisturbedBy(killPages, before);
    expect((await drawingPages(host)).some(page => !pages.includes(page))).toBe(true);
    await undisturbedBy(async host => {
      const processes = await browserProcesses(host, 'gpu-process');
      expect(processes.length).toBeGreaterThan(0);
      for (const pid of processes) process.kill(pid, 'SIGKILL');
    }, before);
    await undisturbedBy(async host => {
      (await host.browser()).process()!.kill('SIGKILL');
    }, before);
    await undisturbedBy(async () => {}, before);
  });

  it('when a page loops for ever, or the GPU process hangs', async () => {
    host = await RenderHost.start({ pages: 1, timeLimit: 12_000 });
    const before = await drawAll(host);
    await undisturbedBy(async host => {
      const pages = await (await host.browser()).pages();
      pages
        .at(-1)!
        .evaluate('for (;;);')
        .catch(() => {});
    }, before);
    await undisturbedBy(async host => {
      for (const pid of await browserProcesses(host, 'gpu-process')) process.kill(pid, 'SIGSTOP');
    }, before);
    await undisturbedBy(async () => {}, before);
  });

  it('and one that is killed while the browser is asked what draws changes nothing of that', async () => {
    host = await RenderHost.start({ pages: 1 });
    const { webglRenderer } = host.facts;
    await host.close();
    let over = false;
    const killed = (async () => {
      while (!over) {
        for (const pid of await browserProcessesBelow(process.pid, 'gpu-process')) {
          process.kill(pid, 'SIGKILL');
          return true;
        }
      }
      return false;
    })();
    host = await RenderHost.start({ pages: 1 });
    over = true;
    expect(await killed).toBe(true);
    expect(host.facts.webglRenderer).toBe(webglRenderer);
    await host.render(jobs[0]!, shelf);
  });

  it('and a page that hangs does not outlive the host', async () => {
    host = await RenderHost.start({ pages: 1 });
    await host.render(jobs[0]!, shelf);
    const pages = await browserProcesses(host, 'renderer');
    for (const page of pages) process.kill(page, 'SIGSTOP');
    await host.close();
    // Gone, or dead and not yet buried by whoever inherited it.
    const state = (page: number) =>
      readFile(`/proc/${page}/stat`, 'latin1').then(
        stat => /\) (.)/.exec(stat)![1],
        () => 'gone',
      );
    for (const page of pages) await expect.poll(() => state(page)).toMatch(/gone|Z|X/);
  });
});

describe('what cannot be drawn', () => {
  it('fails after a second try on a fresh page, and says why; other images go on', async () => {
    host = await RenderHost.start({ pages: 1 });
    const broken: AssetSource = {
      get: async (kind, number) => (kind === 'meshes' ? Uint8Array.of(1, 2, 3) : shelf.get(kind, number)),
      keep: async () => {},
    };
    const unreadable: AssetSource = {
      get: () => Promise.reject(new Error('the disk is gone')),
      keep: async () => {},
    };
    const job = { ...jobs[0]!, items: { ...items, mesh: 1_000 } };
    await expect(host.render(job, broken)).rejects.toThrow(/drawing failed 2 times: .*expected a mesh, got 3 bytes/s);
    await expect(host.render({ ...job, items: { ...items, mesh: 1_001 } }, unreadable)).rejects.toThrow(
      /drawing failed 2 times: .*the disk is gone/s,
    );
    await expect(host.render(jobs[1]!, shelf)).resolves.toBeDefined();
  });

  it('is refused when there is no such browser', async () => {
    await expect(RenderHost.start({ browser: '/nowhere/chrome' })).rejects.toThrow(
      'expected a Chrome or Chromium that can be run, got "/nowhere/chrome"',
    );
    // A folder, and a program that is something else.
    for (const browser of ['/', process.execPath]) {
      await expect(RenderHost.start({ browser })).rejects.toThrow(
        `expected a Chrome or Chromium that can be run, got "${browser}" (`,
      );
    }
  });
});

describe('the asset server', () => {
  it('gives nothing without the token, nothing but numbered assets with it, and takes no foreign pixels', async () => {
    host = await RenderHost.start({ pages: 1 });
    await host.render(jobs[0]!, shelf);
    const [page] = await (await host.browser()).pages().then(pages => pages.filter(p => p.url().startsWith('http')));
    const url = new URL(page!.url());
    const status = async (path: string, init?: RequestInit) => (await fetch(new URL(path, url.origin), init)).status;
    const token = url.pathname;
    expect(url.hostname).toBe('127.0.0.1');
    expect(await status(token)).toBe(200);
    for (const path of [
      '/',
      '/page.js',
      '/00000000000000000000000000000000/',
      `${token}meshes/0`, // on whose behalf?
      `${token}meshes/0?for=99`,
      `${token}../../etc/passwd`,
      `${token}meshes/..%2f..%2fetc%2fpasswd?for=0`,
      `${token}meshes/-1?for=0`,
      `${token}package.json`,
    ]) {
      expect(await status(path), path).toBe(404);
    }
    expect(await status(`${token}frames/0`, { method: 'POST', body: new Uint8Array(4) })).toBe(404);
  });
});
