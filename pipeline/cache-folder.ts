import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defaultCacheFolder } from '../renderers/cache-place.ts';
import { makeFolder } from './make-folder.ts';

/**
 * What is dear to make and depends on nothing but known bytes, kept for later runs. An entry is the SHA-256 of its content,
 * then the content; one that is damaged counts as missing. Deleting the folder costs time and nothing else.
 */
export class CacheFolder {
  readonly #folder: string;

  constructor(folder = defaultCacheFolder()) {
    this.#folder = folder;
  }

  /** The content of an entry; undefined when there is none, or none that can be read. */
  async get(key: string): Promise<Buffer | undefined> {
    const bytes = await readFile(this.#path(key)).catch(() => undefined);
    if (!bytes || bytes.length < HASH_BYTES) return undefined;
    const content = bytes.subarray(HASH_BYTES);
    return sha256(content).equals(bytes.subarray(0, HASH_BYTES)) ? content : undefined;
  }

  /**
   * Keeps an entry. Processes may do so at the same time: it is written under another name and renamed. A folder that cannot
   * be written to (read-only, full) is no fault of a run.
   */
  async put(key: string, content: Uint8Array): Promise<void> {
    const path = this.#path(key);
    const partial = `${path}.${randomUUID()}.partial`;
    try {
      await makeFolder(dirname(path));
      await writeFile(partial, [sha256(content), content]);
      await rename(partial, path);
    } catch {
      await rm(partial, { force: true }).catch(() => {});
    }
  }

  #path(key: string): string {
    return join(this.#folder, key);
  }
}

const HASH_BYTES = 32;

/**
 * Key of what is made from some bytes in one way: a folder for its kind, and a hash of the bytes and of all that decides
 * how it is made (the version of that code too).
 */
export function cacheKey(kind: string, bytes: Uint8Array, way: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(way)).update('\0').update(bytes);
  return `${kind}/${hash.digest('hex')}`;
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
