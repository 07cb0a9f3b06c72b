import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FetchFault } from '../../../pipeline/packs/fetch-fault.ts';
import { Fetcher } from '../../../pipeline/packs/fetcher.ts';
import { waitOf } from '../../../pipeline/packs/transfer.ts';
import { type Handler, type PackServer, packServer, QUICK, serve } from './pack-server.ts';

const MB = 1024 * 1024;
/** Bytes without a period, so that parts put together wrongly show. */
const body = (length: number, seed = 1) =>
  Buffer.from(Uint32Array.from({ length: length / 4 }, (_, i) => Math.imul(i + seed, 0x9e3779b1)).buffer);
const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex');

let server: PackServer;
let folder: string;
let path: string;
let controller: AbortController;
let fetcher: Fetcher;
beforeEach(async () => {
  server = await packServer();
  folder = await mkdtemp(join(tmpdir(), 'shapemill-fetch-'));
  path = join(folder, 'sub', 'a.jpg');
  controller = new AbortController();
  fetcher = new Fetcher(controller.signal, QUICK);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  fetcher.close();
  await server.close();
  await rm(folder, { recursive: true });
});

/** Serves something at /a and fetches it. */
async function get(
  file: Buffer | Handler,
  told: { bytes?: number; sha256?: string; md5?: string } = {},
  most = 64 * MB,
) {
  server.files.set('/a', file);
  return fetcher.fetch({ url: `${server.origin}/a`, ...told }, path, most);
}

/** Compared at once: a matcher that goes through bytes takes minutes for megabytes. */
async function expectFile(bytes: Buffer): Promise<void> {
  expect((await readFile(path)).equals(bytes)).toBe(true);
}

/** The reason why it cannot be had; then nothing may lie there but a partial file. */
async function reason(file: Buffer | Handler, told = {}, most = 64 * MB): Promise<FetchFault> {
  const fault = await get(file, told, most).catch(error => error);
  expect(fault).toBeInstanceOf(FetchFault);
  expect(await readdir(join(folder, 'sub'))).not.toContain('a.jpg');
  return fault;
}

describe('a file', () => {
  it('comes whole, checked against all that its publisher tells, and leaves nothing else', async () => {
    const bytes = body(3 * MB);
    const told = { bytes: bytes.length, sha256: digest('sha256', bytes), md5: digest('md5', bytes) };
    expect(await get(bytes, told)).toEqual({ bytes: bytes.length, sha256: told.sha256 });
    await expectFile(bytes);
    expect(await readdir(join(folder, 'sub'))).toEqual(['a.jpg']);
  });

  it.each([
    ['sha256', { sha256: 'a'.repeat(64) }, /expected sha256 a+, got/],
    ['MD5', { md5: 'b'.repeat(32) }, /expected MD5 b+, got/],
    ['size', { bytes: 999 }, /expected 999 bytes, the server has 1000/],
  ])('with another %s is tried three times and given up', async (_, told, message) => {
    const fault = await reason(body(1000), told);
    expect(fault.message).toMatch(message);
    expect(fault.kind).toBe('wrong');
    expect(server.asked).toHaveLength(3);
    expect(await readdir(join(folder, 'sub'))).toEqual([]);
  });

  it('with a wrong checksum once is had the second time', async () => {
    const bytes = body(1000);
    const result = await get(
      (request, response, count) => serve(count === 1 ? body(1000, 7) : bytes, request, response),
      {
        sha256: digest('sha256', bytes),
      },
    );
    expect(result.bytes).toBe(1000);
    await expectFile(bytes);
  });

  it.each([404, 403, 410])('that a server refuses with %i is not asked for again', async status => {
    const fault = await reason((_, response) => response.writeHead(status).end());
    expect([fault.message, fault.kind]).toEqual([`HTTP ${status}`, 'lasting']);
    expect(server.asked).toHaveLength(1);
  });

  it('that is empty, packed for the way, a web page, or no address is refused', async () => {
    expect((await reason(Buffer.alloc(0))).message).toBe('it is empty');
    expect((await reason((_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'))).message).toMatch(
      /packed/,
    );
    const page = await reason((_, r) => r.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'));
    expect(page).toMatchObject({ message: 'sent a web page instead of the file', kind: 'wrong' });
    await expect(fetcher.fetch({ url: 'ftp://example.org/a' }, path, MB)).rejects.toThrow(/begins with https/);
  });
});

describe('what is on its way', () => {
  it('goes on where a connection broke, and is whole', async () => {
    const bytes = body(4 * MB);
    await get((request, response, count) => serve(bytes, request, response, count < 3 ? 1.5 * MB : undefined));
    await expectFile(bytes);
    const ranges = server.asked.map(({ range }) => range);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.slice(1).every(range => /^bytes=[1-9]\d+-$/.test(range ?? ''))).toBe(true);
  });

  it('starts over when the file has changed in between', async () => {
    const [old, now] = [body(2 * MB, 1), body(2 * MB, 2)];
    const bytes: number[] = [];
    server.files.set('/a', (request, response, count) =>
      count === 1 ? serve(old, request, response, MB) : serve(now, request, response),
    );
    await fetcher.fetch({ url: `${server.origin}/a` }, path, 64 * MB, came => bytes.push(came));
    await expectFile(now);
    // What was thrown away is taken back.
    expect(bytes.reduce((sum, came) => sum + came, 0)).toBe(now.length);
  });

  it('starts over when a server sends a part of another file, or another part', async () => {
    const [old, now] = [body(2 * MB, 1), body(2 * MB, 2)];
    const careless: Handler = (request, response, count) => {
      if (count === 1) return serve(old, request, response, MB);
      if (!request.headers.range) return serve(now, request, response);
      const start = Number(/\d+/.exec(request.headers.range)![0]);
      const range = { 'content-range': `bytes ${start}-${now.length - 1}/${now.length}`, etag: '"another"' };
      response.writeHead(206, range).end(now.subarray(start));
    };
    await get(careless);
    await expectFile(now);
  });

  it('is continued by another process, if the server still has the same file', async () => {
    const bytes = body(12 * MB);
    let stop = () => {};
    server.files.set('/a', (request, response, count) => {
      if (count === 1) serve(bytes, request, response, 9 * MB);
      else if (count === 2) stop();
      else serve(bytes, request, response);
    });
    const first = fetcher.fetch({ url: `${server.origin}/a` }, path, 64 * MB);
    stop = () => controller.abort(new Error('killed'));
    await expect(first).rejects.toThrow('killed');
    expect((await readdir(join(folder, 'sub'))).sort()).toEqual(['a.jpg.partial', 'a.jpg.partial.json']);

    const another = new Fetcher(new AbortController().signal, QUICK);
    const { sha256 } = await another.fetch({ url: `${server.origin}/a` }, path, 64 * MB);
    another.close();
    expect(server.asked.at(-1)!.range).toMatch(/^bytes=[1-9]\d+-$/);
    expect(sha256).toBe(digest('sha256', bytes));
    expect(await readdir(join(folder, 'sub'))).toEqual(['a.jpg']);
  });

  it('does not continue what another address left, or nobody knows', async () => {
    await mkdir(join(folder, 'sub'));
    await writeFile(`${path}.partial`, 'something');
    await writeFile(`${path}.partial.json`, JSON.stringify({ url: 'https://example.org/b', etag: '"x"' }));
    const bytes = body(1000);
    await get(bytes);
    await expectFile(bytes);
    expect(server.asked[0]!.range).toBeUndefined();
  });
});

describe('a server', () => {
  it('that is not well is asked again, so many times', async () => {
    const bytes = body(1000);
    await get((request, response, count) =>
      count < 4 ? response.writeHead(503).end() : serve(bytes, request, response),
    );
    expect(server.asked).toHaveLength(4);
    await rm(path);
    const fault = await reason((_, response) => response.writeHead(500).end());
    expect([fault.message, fault.kind]).toEqual(['HTTP 500', 'passing']);
  });

  it('that asks for patience gets it, unless it asks for too much', async () => {
    const bytes = body(1000);
    await get((request, response, count) =>
      count === 1 ? response.writeHead(429, { 'retry-after': '0' }).end() : serve(bytes, request, response),
    );
    expect(server.asked).toHaveLength(2);
    await rm(path);
    const fault = await reason((_, response) => response.writeHead(429, { 'retry-after': '9999' }).end());
    expect([fault.message, fault.kind, fault.retryAfter]).toEqual(['HTTP 429', 'passing', 9_999_000]);
  });

  it('that says nothing, stands still or drips is given up', async () => {
    const slow = new Fetcher(controller.signal, { ...QUICK, answerTimeout: 200, stallTimeout: 200, attempts: 1 });
    const at = (name: string, handler: Handler) => {
      server.files.set(name, handler);
      return slow.fetch({ url: server.origin + name }, path, MB);
    };
    const timers: NodeJS.Timeout[] = [];
    await expect(at('/silent', () => {})).rejects.toThrow('no answer in 0.2 s');
    await expect(at('/still', (_, response) => response.write('x'))).rejects.toThrow('only 1 bytes came in 0.2 s');
    await expect(
      at('/drips', (_, response) => {
        response.write('x');
        timers.push(setInterval(() => response.write('x'), 20));
      }),
    ).rejects.toThrow(/only \d+ bytes came/);
    for (const timer of timers) clearInterval(timer);
    slow.close();
  });

  it('that never ends is cut off, whether it says so or not', async () => {
    const endless: Handler = (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(body(65_536)));
        response.once('drain', more);
      };
      more();
    };
    expect((await reason(endless, {}, 2 * MB)).message).toBe(`longer than ${2 * MB} bytes`);
    expect((await reason(endless, { bytes: 1000 })).message).toBe('expected 1000 bytes, more came');
    expect((await reason(body(3 * MB), {}, 2 * MB)).message).toBe(`longer than ${2 * MB} bytes`);
  });

  it('that sends on is followed to https, and to http on this machine only', async () => {
    const bytes = body(1000);
    server.files.set('/there', bytes);
    const to =
      (location: string): Handler =>
      (_, response) =>
        response.writeHead(302, { location }).end();
    await get(to('/there'));
    await expectFile(bytes);
    await rm(path);
    const port = server.origin.split(':')[2];
    expect((await reason(to(`http://localhost:${port}/there`))).message).toMatch(/sent on to http:.*only https/);
    expect((await reason(to('http://example.org/a'))).message).toBe(
      'sent on to http://example.org; only https is followed',
    );
    expect((await reason(to('file:///etc/passwd'))).message).toMatch(/only https/);
    expect((await reason(to('/a'))).message).toMatch(/more than 5 times/);
    expect((await reason((_, response) => response.writeHead(301).end())).message).toBe('sent on to nowhere');
  });

  it('is asked for so many files at a time', async () => {
    let [now, most] = [0, 0];
    const handler: Handler = (_, response) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        response.end('x');
      }, 20);
    };
    const names = Array.from({ length: 20 }, (_, i) => `/${i}`);
    for (const name of names) server.files.set(name, handler);
    await Promise.all(names.map(name => fetcher.fetch({ url: server.origin + name }, join(folder, name), MB)));
    expect(most).toBe(QUICK.perHost);
  });

  it('is reached through the proxy that the environment names', async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(request.url!);
      response.end('through the proxy');
    });
    await new Promise<void>(ready => proxy.listen(0, '127.0.0.1', ready));
    vi.stubEnv('http_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv('no_proxy', '127.0.0.1');
    await get(body(1000));
    expect(seen).toEqual([]);
    await fetcher.fetch({ url: 'http://photos.example/b.jpg' }, path, MB);
    expect(seen).toEqual(['http://photos.example/b.jpg']);
    expect(await readFile(path, 'utf8')).toBe('through the proxy');
    fetcher.close();
    await new Promise(done => {
      proxy.close(done);
      proxy.closeAllConnections();
    });
  });
});

describe('waitOf', () => {
  it('reads seconds and dates', () => {
    expect(waitOf('120')).toBe(120_000);
    expect(waitOf('Wed, 21 Oct 2015 07:28:30 GMT', Date.UTC(2015, 9, 21, 7, 28, 0))).toBe(30_000);
    expect(waitOf('Wed, 21 Oct 2015 07:28:30 GMT', Date.UTC(2020, 0, 1))).toBe(0);
    expect(waitOf('soon')).toBeUndefined();
  });
});
