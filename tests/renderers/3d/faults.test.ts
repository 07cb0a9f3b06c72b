import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { AssetSource } from '../../../renderers/asset-server.ts';
import { RenderHost } from '../../../renderers/render-host.ts';
import type { RenderJob } from '../../../renderers/render-job.ts';
import { browserProcesses } from './browser-processes.ts';
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
const turns = [0, 0.1, 0.2, 0.3, 0.4, 0.5];
const jobs = turns.map((angle): RenderJob => {
  const rotation: [number, number, number, number] = [0, Math.sin(angle), 0, Math.cos(angle)];
  return { scene: scene({ size: 64, object: { id: `turned by ${angle}`, rotation } }), items, output: 'picture' };
});

async function drawAll(host: RenderHost): Promise<Uint8Array[]> {
  const frames = await Promise.all(jobs.map(job => host.render(job, shelf)));
  return frames.map(({ pixels }) => pixels);
}

/** Draws everything while something happens after the first image; the pictures must be those of an undisturbed host. */
async function undisturbedBy(host: RenderHost, happening: () => Promise<void>): Promise<void> {
  const before = await drawAll(host);
  const disturbed = drawAll(host);
  await happening();
  const after = await disturbed;
  const again = await drawAll(host);
  for (const [i, pixels] of before.entries()) {
    expect(Buffer.compare(pixels, after[i]!)).toBe(0);
    expect(Buffer.compare(pixels, again[i]!)).toBe(0);
  }
}

describe.skipIf(process.platform !== 'linux')('a fault of the environment costs no image', () => {
  it('when the GPU process is killed', async () => {
    host = await RenderHost.start({ pages: 2 });
    await undisturbedBy(host, async () => {
      const processes = await browserProcesses(host!, 'gpu-process');
      expect(processes.length).toBeGreaterThan(0);
      for (const pid of processes) process.kill(pid, 'SIGKILL');
    });
  });

  it('when a page is killed', async () => {
    host = await RenderHost.start({ pages: 2 });
    await undisturbedBy(host, async () => {
      const [page] = await browserProcesses(host!, 'renderer');
      process.kill(page!, 'SIGKILL');
    });
  });

  it('when the whole browser is killed', async () => {
    host = await RenderHost.start({ pages: 2 });
    await undisturbedBy(host, async () => {
      (await host!.browser()).process()!.kill('SIGKILL');
    });
  });

  it('when a page loops for ever', async () => {
    host = await RenderHost.start({ pages: 1, timeLimit: 30_000 });
    await undisturbedBy(host, async () => {
      const pages = await (await host!.browser()).pages();
      pages
        .at(-1)!
        .evaluate('for (;;);')
        .catch(() => {});
    });
  });
});

describe.skipIf(process.platform !== 'linux')('what hangs', () => {
  it('costs no image when it is the GPU process', async () => {
    host = await RenderHost.start({ pages: 1, timeLimit: 20_000 });
    await undisturbedBy(host, async () => {
      for (const pid of await browserProcesses(host!, 'gpu-process')) process.kill(pid, 'SIGSTOP');
    });
  });

  it('does not outlive the host', async () => {
    host = await RenderHost.start({ pages: 1 });
    await host.render(jobs[0]!, shelf);
    const [page] = await browserProcesses(host, 'renderer');
    process.kill(page!, 'SIGSTOP');
    await host.close();
    // Gone, or dead and not yet buried by whoever inherited it.
    const state = () =>
      readFile(`/proc/${page}/stat`, 'latin1').then(
        stat => /\) (.)/.exec(stat)![1],
        () => 'gone',
      );
    await expect.poll(state).toMatch(/gone|Z|X/);
  });
});

describe('what cannot be drawn', () => {
  it('fails after a second try on a fresh page, and says why; other images go on', async () => {
    host = await RenderHost.start({ pages: 1 });
    const broken: AssetSource = {
      get: async (kind, number) => (kind === 'meshes' ? Uint8Array.of(1, 2, 3) : shelf.get(kind, number)),
      keepLight: async () => {},
    };
    const unreadable: AssetSource = {
      get: () => Promise.reject(new Error('the disk is gone')),
      keepLight: async () => {},
    };
    const job = { ...jobs[0]!, items: { ...items, mesh: 1_000 } };
    await expect(host.render(job, broken)).rejects.toThrow(/drawing failed twice: .*expected a mesh, got 3 bytes/s);
    await expect(host.render({ ...job, items: { ...items, mesh: 1_001 } }, unreadable)).rejects.toThrow(
      /drawing failed twice: .*the disk is gone/s,
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
