import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FetchSettings } from '../../../pipeline/packs/fetcher.ts';
import { Fetcher } from '../../../pipeline/packs/fetcher.ts';
import { IndexFiles, readJson } from '../../../pipeline/packs/index-files.ts';
import type { SourceContext, SourceOptions } from '../../../pipeline/packs/pack-source.ts';
import type { Progress } from '../../../pipeline/progress.ts';

/** Answers a request; `count` is the how manieth it is for this path, from 1. */
export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A server on this machine that has a source's layout. */
export interface PackServer {
  /** Without a slash at its end. */
  readonly origin: string;
  /** Paths that were asked for, in order, with the Range header where there was one. */
  readonly asked: { readonly path: string; readonly range: string | undefined }[];
  /** What it serves, by path (with a slash at the beginning); may be changed while it runs. */
  readonly files: Map<string, Buffer | string | Handler>;
  close(): Promise<void>;
}

/** Serves files whole or in ranges, as static hosts do, and whatever else handlers do. */
export async function packServer(files: Readonly<Record<string, Buffer | string | Handler>> = {}): Promise<PackServer> {
  const served = new Map(Object.entries(files));
  const asked: PackServer['asked'] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    asked.push({ path, range: request.headers.range });
    const file = served.get(path);
    if (file === undefined) response.writeHead(404).end('no such file');
    else if (typeof file === 'function') file(request, response, count);
    else serve(file, request, response);
  });
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    files: served,
    close: () =>
      new Promise(done => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Answers as a static host does: ETag, Range, If-Range. @param most bytes of the body that are sent before the connection breaks. */
export function serve(
  file: Buffer | string,
  { headers }: IncomingMessage,
  response: ServerResponse,
  most = Number.POSITIVE_INFINITY,
): void {
  const body = Buffer.from(file);
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const part = from !== undefined && headers['if-range'] === etag && Number(from) < body.length;
  const start = part ? Number(from) : 0;
  const rest = body.subarray(start);
  response.writeHead(part ? 206 : 200, {
    etag,
    'accept-ranges': 'bytes',
    'content-length': rest.length,
    ...(part && { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` }),
  });
  if (most >= rest.length) response.end(rest);
  else response.write(rest.subarray(0, most), () => setTimeout(() => response.destroy(), 20));
}

/** Patience for tests: attempts as in earnest, waits of milliseconds. */
export const QUICK: FetchSettings = {
  perHost: 4,
  attempts: 4,
  backOff: 2,
  longestBackOff: 10,
  longestRetryAfter: 2000,
  answerTimeout: 5000,
  stallTimeout: 400,
  leastBytes: 100,
};

/** Progress that tells nobody, and keeps what it was told. */
export function silent(): Progress & { readonly told: string[] } {
  const told: string[] = [];
  const nothing = () => {};
  return {
    told,
    begin: nothing,
    found: nothing,
    advance: (_, faults) => void told.push(...faults.map(({ item, reason }) => `${item}: ${reason}`)),
    end: nothing,
    count: nothing,
    info: message => void told.push(message),
    warn: message => void told.push(message),
  };
}

/** What a source's `items` and `locate` need, with a folder of its own for what is fetched. */
export async function testContext(
  options: SourceOptions = {},
): Promise<{ context: SourceContext; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-source-'));
  const { signal } = new AbortController();
  const fetcher = new Fetcher(signal, QUICK);
  const index = new IndexFiles(folder, fetcher, silent());
  return {
    context: {
      options,
      signal,
      fetch: (remote, name) => index.fetch(remote, name),
      json: async (remote, name) => readJson(await index.fetch(remote, name)),
      note: () => {},
    },
    async close() {
      fetcher.close();
      await rm(folder, { recursive: true });
    },
  };
}
