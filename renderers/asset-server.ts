import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ASSET_KINDS, type AssetKind, KEPT_KINDS, type KeptKind } from './render-job.ts';

/** Gives the page what it asks for on behalf of an image, and takes what it made. */
export interface AssetSource {
  /** Undefined for what is kept and nobody made yet. */
  get(kind: AssetKind, number: number): Promise<Uint8Array | undefined>;
  /** Keeps what a page made of an asset of that number. */
  keep(kind: KeptKind, number: number, bytes: Uint8Array): Promise<void>;
}

/** What the server needs from its owner. */
export interface ServedJobs {
  /** Who ordered an image; undefined for one that is not in work. */
  source(job: number): AssetSource | undefined;
  /** Bytes of an image that is in work; undefined for any other. */
  frameBytes(job: number): number | undefined;
  /** The page is at work on an image that takes long. */
  alive(job: number): void;
  /** An image has arrived. */
  frame(job: number, pixels: Uint8Array<ArrayBuffer>): void;
}

/** Prefiltered lights with faces of 1,024 px have 67 MB, trees of five million triangles some 90; nothing larger is taken. */
const MAX_KEPT_BYTES = 128_000_000;

/**
 * Serves page and assets to the browser of this machine and takes its pixels. Listens on the loopback only, on a port the
 * system picks, below a path nobody can guess; paths are never turned into file names.
 */
export class AssetServer {
  readonly #token = randomBytes(16).toString('hex');
  readonly #script: Uint8Array;
  readonly #jobs: ServedJobs;
  readonly #server: Server;

  private constructor(script: Uint8Array, jobs: ServedJobs) {
    this.#script = script;
    this.#jobs = jobs;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @param script the page's program. */
  static async start(script: Uint8Array, jobs: ServedJobs): Promise<AssetServer> {
    const server = new AssetServer(script, jobs);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  /** Where the page is. */
  get pageUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.#token}/`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { status, type, body } = await this.#reply(request);
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    } catch (error) {
      // The page puts it into the error of the image that needed it.
      response.writeHead(500, { 'content-type': 'text/plain' }).end((error as Error).message);
    }
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://loopback');
    const [, token = '', kind = '', name] = pathname.split('/');
    if (!sameText(token, this.#token)) return NOT_FOUND;
    if (request.method === 'GET' && kind === '') return { status: 200, type: 'text/html', body: HTML };
    if (request.method === 'GET' && kind === 'page.js') {
      return { status: 200, type: 'text/javascript', body: this.#script };
    }
    const number = wholeNumber(name);
    if (number === undefined) return NOT_FOUND;
    if (request.method === 'POST' && kind === 'frames') return this.#takeFrame(number, request);
    if (request.method === 'POST' && kind === 'alive') {
      this.#jobs.alive(number);
      return { status: 200, type: 'text/plain', body: '' };
    }
    const source = this.#jobs.source(wholeNumber(searchParams.get('for')) ?? -1);
    if (!source || !isAssetKind(kind)) return NOT_FOUND;
    if (request.method === 'POST') {
      if (!isKeptKind(kind)) return NOT_FOUND;
      await source.keep(kind, number, await readBody(request, MAX_KEPT_BYTES));
      return { status: 200, type: 'text/plain', body: '' };
    }
    const bytes = await source.get(kind, number);
    return bytes ? { status: 200, type: 'application/octet-stream', body: bytes } : NOT_FOUND;
  }

  async #takeFrame(job: number, request: IncomingMessage): Promise<Reply> {
    const expected = this.#jobs.frameBytes(job);
    if (expected === undefined) return NOT_FOUND;
    const pixels = await readBody(request, expected);
    if (pixels.length !== expected) throw new Error(`expected ${expected} bytes of pixels, got ${pixels.length}`);
    this.#jobs.frame(job, pixels);
    return { status: 200, type: 'text/plain', body: '' };
  }
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
}
const NOT_FOUND: Reply = { status: 404, type: 'text/plain', body: 'not found' };

const HTML =
  '<!doctype html><meta charset="utf-8"><title>shapemill</title><script type="module" src="page.js"></script>';

const isKeptKind = (kind: string): kind is KeptKind => (KEPT_KINDS as readonly string[]).includes(kind);
const isAssetKind = (kind: string): kind is AssetKind => (ASSET_KINDS as readonly string[]).includes(kind);

function wholeNumber(text: string | null | undefined): number | undefined {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** A request's body in memory of its own, which can be handed to another thread. */
async function readBody(request: IncomingMessage, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const length = Number(request.headers['content-length']);
  if (!(length <= most)) throw new Error(`expected at most ${most} bytes, got ${length}`);
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
