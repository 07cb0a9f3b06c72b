import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { hashId } from '../../sampling/hash.ts';
import { unlessMissing } from '../faults.ts';
import { freeBytes } from '../free-bytes.ts';
import { FullDisk } from '../full-disk.ts';
import { bytesText, type Progress } from '../progress.ts';
import { UsageError } from '../usage-error.ts';
import { FetchFault } from './fetch-fault.ts';
import type { Fetcher } from './fetcher.ts';
import { relativePath } from './manifest.ts';
import type { RemoteFile } from './pack-source.ts';

/** A longer archive is none that is published. */
const MOST_BYTES = 1024 ** 4;
const MOST_JSON_BYTES = 512 * 1024 ** 2;

/** Files of a source's index (lists, archives), kept until the pack is complete: fetched once, continued after a kill. */
export class IndexFiles {
  readonly #folder: string;
  readonly #fetcher: Fetcher;
  readonly #progress: Progress;
  readonly #files = new Map<string, Promise<string>>();
  #bytes = 0;

  constructor(folder: string, fetcher: Fetcher, progress: Progress) {
    this.#folder = folder;
    this.#fetcher = fetcher;
    this.#progress = progress;
  }

  /** The path of a file; see {@link SourceContext}. */
  fetch(remote: RemoteFile, name: string): Promise<string> {
    // By its address: an index at another one is another index.
    const path = join(this.#folder, hashId(remote.url), relativePath.parse(name));
    let file = this.#files.get(path);
    if (!file) {
      file = this.#fetch(remote, path);
      this.#files.set(path, file);
    }
    return file;
  }

  async #fetch(remote: RemoteFile, path: string): Promise<string> {
    if (await stat(path).catch(unlessMissing)) return path;
    await expectRoom(this.#folder, remote.bytes ?? 0);
    const onBytes = (bytes: number) => {
      this.#bytes += bytes;
      this.#progress.count('MB of the index fetched', Math.round(this.#bytes / 1e6));
    };
    await this.#fetcher.fetch(remote, path, MOST_BYTES, onBytes).catch(error => {
      throw error instanceof FetchFault ? error.of(remote.url) : error;
    });
    return path;
  }
}

/** A JSON file, gzipped if its name ends so. @throws UsageError when it is none, or too large to be held. */
export async function readJson(path: string): Promise<unknown> {
  const name = basename(path);
  const { size } = await stat(path);
  if (size > MOST_JSON_BYTES)
    throw new UsageError(`${name}: expected JSON of at most ${MOST_JSON_BYTES} bytes, got ${size}`);
  const bytes = await readFile(path);
  try {
    const plain = path.endsWith('.gz') ? await promisify(gunzip)(bytes, { maxOutputLength: MOST_JSON_BYTES }) : bytes;
    return JSON.parse(plain.toString('utf8'));
  } catch (error) {
    throw new UsageError(`${name}: expected JSON: ${(error as Error).message}`);
  }
}

/** @throws FullDisk when so many bytes have no room in a folder. */
export async function expectRoom(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (bytes > free) throw new FullDisk(folder, `about ${bytesText(bytes)} are needed and ${bytesText(free)} free`);
}
