import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { dirname } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../faults.ts';
import { fullDisk } from '../full-disk.ts';
import { makeFolder } from '../make-folder.ts';
import { jsonFrom } from '../shard-writer.ts';
import { VERSION } from '../version.ts';
import { FetchFault } from './fetch-fault.ts';
import type { RemoteFile } from './pack-source.ts';

/** A file that is here and as its publisher tells. */
export interface FetchedFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** How a transfer is made: who sends the requests, and what is waited for. */
export interface TransferSettings {
  readonly agent: http.Agent;
  /** Milliseconds from the request to the answer's first line. */
  readonly answerTimeout: number;
  /** Milliseconds in which at least `leastBytes` of a body have to come: one that drips is as bad as one that stands still. */
  readonly stallTimeout: number;
  readonly leastBytes: number;
}

/** From so many bytes on, a partial file is continued by a later process: below, asking again costs less than a note of what it is. */
const NOTED_FROM = 8 << 20;
const MOST_REDIRECTS = 5;

/** What a partial file is a part of, beside it as `.partial.json`. A server is asked for the rest of exactly this file. */
const noteSchema = z.strictObject({
  url: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
});
type Note = z.infer<typeof noteSchema>;

/**
 * One file on its way: keeps what came between attempts, and between processes. The file has another name, `<path>.partial`,
 * until it is complete, checked and synced.
 */
export class Transfer {
  readonly #remote: RemoteFile;
  readonly #path: string;
  readonly #partial: string;
  readonly #mostBytes: number;
  readonly #onBytes: (bytes: number) => void;
  #sha256: Hash = createHash('sha256');
  #md5: Hash = createHash('md5');
  /** That came and are in the partial file. */
  #bytes = 0;
  /** Of what they are a part; undefined: nothing to be continued. */
  #note: Note | undefined;
  #looked = false;

  /**
   * @param mostBytes a longer file is given up.
   * @param onBytes called with the bytes that came, and with a negative number when some are thrown away.
   */
  constructor(remote: RemoteFile, path: string, mostBytes: number, onBytes: (bytes: number) => void) {
    this.#remote = remote;
    this.#path = path;
    this.#partial = `${path}.partial`;
    this.#mostBytes = remote.bytes ?? mostBytes;
    this.#onBytes = onBytes;
  }

  /**
   * One attempt: asks for the file, or for what is missing of it.
   * @throws FetchFault, or the system's error when it cannot be written; the signal's reason.
   */
  async attempt(settings: TransferSettings, signal: AbortSignal): Promise<FetchedFile> {
    if (!this.#looked) await this.#findPartial();
    const watch = new Watch(settings, signal);
    try {
      const answer = await ask(this.#remote.url, this.#wanted(), settings.agent, watch);
      await this.#take(answer, watch);
    } catch (error) {
      signal.throwIfAborted();
      throw watch.fault ?? error;
    } finally {
      watch.end();
    }
    await this.#finish();
    return { bytes: this.#bytes, sha256: this.#sha256.digest('hex') };
  }

  /** Gives up: nothing of it stays. */
  async discard(): Promise<void> {
    this.#startOver();
    await rm(this.#partial, { force: true });
    await rm(`${this.#partial}.json`, { force: true });
  }

  /** Takes up what another process left, when it is known what it is a part of. */
  async #findPartial(): Promise<void> {
    this.#looked = true;
    await makeFolder(dirname(this.#path));
    const text = await readFile(`${this.#partial}.json`, 'utf8').catch(unlessMissing);
    const note = noteSchema.safeParse(text === undefined ? undefined : jsonFrom(text)).data;
    const facts = await stat(this.#partial).catch(unlessMissing);
    if (!facts || note?.url !== this.#remote.url) return;
    for await (const chunk of createReadStream(this.#partial)) this.#count(chunk as Buffer);
    this.#onBytes(this.#bytes);
    this.#note = note;
  }

  /** Headers that ask for the rest, and for it only if the file is still the same (RFC 9110, section 13.1.5: strong validators only). */
  #wanted(): Record<string, string> {
    const { etag, lastModified } = this.#note ?? {};
    const same = etag?.startsWith('W/') ? lastModified : (etag ?? lastModified);
    if (this.#bytes === 0 || same === undefined) return {};
    return { range: `bytes=${this.#bytes}-`, 'if-range': same };
  }

  async #take(answer: http.IncomingMessage, watch: Watch): Promise<void> {
    const { statusCode, headers } = answer;
    const part = statusCode === 206 ? contentRange(headers) : undefined;
    const note: Note = {
      url: this.#remote.url,
      ...(typeof headers.etag === 'string' && { etag: headers.etag }),
      ...(typeof headers['last-modified'] === 'string' && { lastModified: headers['last-modified'] }),
    };
    const continues = part?.start === this.#bytes && this.#note?.etag === note.etag;
    if (!continues) {
      this.#startOver();
      if (statusCode === 206 || statusCode === 416) {
        answer.destroy();
        throw new FetchFault('sent another part than was asked for', 'passing');
      }
    }
    this.#note = note;
    const total = continues ? part.total : lengthOf(headers);
    if (total !== undefined) this.#checkLength(total, answer);
    const file = await open(this.#partial, continues ? 'a' : 'w');
    try {
      if ((total ?? NOTED_FROM) >= NOTED_FROM) await writeFile(`${this.#partial}.json`, JSON.stringify(note));
      for await (const chunk of chunksOf(answer)) {
        watch.came(chunk.length);
        if (this.#bytes + chunk.length > this.#mostBytes) throw this.#tooLong();
        await writeWhole(file, chunk);
        this.#count(chunk);
        this.#onBytes(chunk.length);
      }
      await file.datasync();
    } catch (error) {
      throw fullDisk(error, dirname(this.#path));
    } finally {
      await file.close();
    }
  }

  #checkLength(total: number, answer: http.IncomingMessage): void {
    const { bytes } = this.#remote;
    if (total > this.#mostBytes || (bytes !== undefined && total !== bytes)) {
      answer.destroy();
      this.#startOver();
      if (bytes !== undefined) throw new FetchFault(`expected ${bytes} bytes, the server has ${total}`, 'wrong');
      throw this.#tooLong();
    }
  }

  #tooLong(): FetchFault {
    const { bytes } = this.#remote;
    this.#startOver();
    return bytes === undefined
      ? new FetchFault(`longer than ${this.#mostBytes} bytes`, 'lasting')
      : new FetchFault(`expected ${bytes} bytes, more came`, 'wrong');
  }

  /** Compares with what the publisher tells, and gives the file its name. */
  async #finish(): Promise<void> {
    const { bytes, sha256, md5 } = this.#remote;
    const wrong = (what: string) => {
      this.#startOver();
      return new FetchFault(what, 'wrong');
    };
    if (this.#bytes === 0) throw wrong('it is empty');
    if (bytes !== undefined && this.#bytes !== bytes) throw wrong(`expected ${bytes} bytes, got ${this.#bytes}`);
    const got = { sha256: this.#sha256.copy().digest('hex'), md5: this.#md5.copy().digest('hex') };
    if (sha256 !== undefined && got.sha256 !== sha256) throw wrong(`expected sha256 ${sha256}, got ${got.sha256}`);
    if (md5 !== undefined && got.md5 !== md5) throw wrong(`expected MD5 ${md5}, got ${got.md5}`);
    await rename(this.#partial, this.#path);
    await rm(`${this.#partial}.json`, { force: true });
  }

  #count(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#sha256.update(chunk);
    if (this.#remote.md5 !== undefined) this.#md5.update(chunk);
  }

  /** Nothing that came counts any more; the file is cut when the next attempt opens it. */
  #startOver(): void {
    if (this.#bytes > 0) this.#onBytes(-this.#bytes);
    this.#bytes = 0;
    this.#note = undefined;
    this.#sha256 = createHash('sha256');
    this.#md5 = createHash('md5');
  }
}

/** Ends an attempt at the user's signal, when no answer comes, and when too little of a body does. */
class Watch {
  readonly #settings: TransferSettings;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #interrupt = () => this.#controller.abort(this.#outer.reason);
  #timer: NodeJS.Timeout;
  #came = 0;
  fault: FetchFault | undefined;

  constructor(settings: TransferSettings, outer: AbortSignal) {
    this.#settings = settings;
    this.#outer = outer;
    outer.addEventListener('abort', this.#interrupt, { once: true });
    if (outer.aborted) this.#interrupt();
    const { answerTimeout } = settings;
    this.#timer = setTimeout(() => this.#giveUp(`no answer in ${answerTimeout / 1000} s`), answerTimeout);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The body begins. */
  answered(): void {
    const { stallTimeout, leastBytes } = this.#settings;
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => {
      if (this.#came < leastBytes) this.#giveUp(`only ${this.#came} bytes came in ${stallTimeout / 1000} s`);
      this.#came = 0;
    }, stallTimeout);
  }

  came(bytes: number): void {
    this.#came += bytes;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#interrupt);
  }

  #giveUp(what: string): void {
    this.fault = new FetchFault(what, 'passing');
    this.#controller.abort(this.fault);
  }
}

/** Sends the request and follows where it is sent to. @returns an answer with a body to read. @throws FetchFault for any other. */
async function ask(
  address: string,
  wanted: Record<string, string>,
  agent: http.Agent,
  watch: Watch,
): Promise<http.IncomingMessage> {
  // What is sent is the file, byte by byte as published: nothing is packed for the way.
  const headers = { 'user-agent': `shapemill/${VERSION}`, 'accept-encoding': 'identity', ...wanted };
  let url = webAddress(address);
  for (let redirects = 0; ; redirects++) {
    const answer = await send(url, { agent, headers, signal: watch.signal });
    const { statusCode = 0, headers: told } = answer;
    if (statusCode === 200 || statusCode === 206 || (statusCode === 416 && wanted.range)) {
      watch.answered();
      const wrong = wrongKind(told);
      if (!wrong) return answer;
      answer.destroy();
      throw wrong;
    }
    letGo(answer);
    if (![301, 302, 303, 307, 308].includes(statusCode)) throw refusal(statusCode, told);
    if (redirects === MOST_REDIRECTS) throw new FetchFault(`sent on more than ${MOST_REDIRECTS} times`, 'lasting');
    url = redirected(url, told.location);
  }
}

/** Why an answer is none of the file's bytes. */
function wrongKind(told: http.IncomingHttpHeaders): FetchFault | undefined {
  const packed = told['content-encoding'];
  if (packed !== undefined && packed !== 'identity') {
    return new FetchFault(`sent it packed (${packed}), which was not asked for`, 'lasting');
  }
  // Hosts that want a login, or have the file no more, say so with a page; no list, archive or file of a pack is one.
  if (/^text\/html\b/i.test(told['content-type'] ?? '')) {
    return new FetchFault('sent a web page instead of the file', 'wrong');
  }
  return undefined;
}

function send(url: string, options: http.RequestOptions): Promise<http.IncomingMessage> {
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    request(url, options, resolve)
      .on('error', error => reject(onTheWay(error)))
      .end();
  });
}

/** An answer that nobody reads: short ones are read over, so that the connection serves again. */
function letGo(answer: http.IncomingMessage): void {
  answer.on('error', () => {});
  const length = lengthOf(answer.headers);
  if (length !== undefined && length < 65_536) answer.resume();
  else answer.destroy();
}

function webAddress(text: string): string {
  if (/^https?:/i.test(text) && URL.canParse(text)) return text;
  throw new FetchFault(`expected an address that begins with https://, got "${text}"`, 'lasting');
}

/** Redirects lead to https only; on this machine itself, where nobody listens on the way, http to the same host is the same. */
function redirected(from: string, location: unknown): string {
  if (typeof location !== 'string' || !URL.canParse(location, from)) {
    throw new FetchFault('sent on to nowhere', 'lasting');
  }
  const [here, to] = [new URL(from), new URL(location, from)];
  const local = here.protocol === 'http:' && isLoopback(here.hostname) && to.hostname === here.hostname;
  if (to.protocol === 'https:' || (to.protocol === 'http:' && local)) return to.href;
  throw new FetchFault(`sent on to ${to.protocol}//${to.host}; only https is followed`, 'lasting');
}

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Statuses that may be others later: time-outs, too many requests, servers that are not well. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

function refusal(status: number, { 'retry-after': retryAfter }: http.IncomingHttpHeaders): FetchFault {
  const kind = PASSING.has(status) ? 'passing' : 'lasting';
  return new FetchFault(`HTTP ${status}`, kind, typeof retryAfter === 'string' ? waitOf(retryAfter) : undefined);
}

/** `Retry-After` is seconds or a date (RFC 9110, section 10.2.3). @returns milliseconds; undefined when it is neither. */
export function waitOf(retryAfter: string, now = Date.now()): number | undefined {
  if (/^\s*\d+\s*$/.test(retryAfter)) return 1000 * Number(retryAfter);
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function contentRange(headers: http.IncomingHttpHeaders): { start: number; total: number | undefined } | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers['content-range'])) ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === '*' ? undefined : Number(total) };
}

function lengthOf(headers: http.IncomingHttpHeaders): number | undefined {
  const length = headers['content-length'];
  return typeof length === 'string' && /^\d+$/.test(length) ? Number(length) : undefined;
}

/** A body's bytes; what ends it early is a fault of the way. */
async function* chunksOf(answer: http.IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw onTheWay(error);
  }
}

function onTheWay(error: unknown): FetchFault {
  return new FetchFault(`no answer, or one that was cut off (${(error as Error).message})`, 'passing');
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await file.write(bytes, done)).bytesWritten;
}
