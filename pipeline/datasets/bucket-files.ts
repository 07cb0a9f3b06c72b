import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fullDisk } from '../full-disk.ts';

/** What is gathered before it is written, characters. */
const PIECE = 65_536;

/**
 * Lines of text on disk in so many buckets, each to be read back whole, for what does not fit into memory at once. The files
 * lie where the system keeps temporary ones (TMPDIR names another place) and have no name from the start: however
 * the process ends, nothing of them stays. @throws FullDisk when there is no room.
 */
export class BucketFiles {
  readonly count: number;
  readonly #files: readonly FileHandle[];
  readonly #pending: string[];

  private constructor(files: readonly FileHandle[]) {
    this.count = files.length;
    this.#files = files;
    this.#pending = new Array(files.length).fill('');
  }

  static async open(count: number): Promise<BucketFiles> {
    const folder = await mkdtemp(join(tmpdir(), 'shapemill-buckets-')).catch(full);
    try {
      const names = Array.from({ length: count }, (_, bucket) => join(folder, `${bucket}`));
      return new BucketFiles(await Promise.all(names.map(name => open(name, 'wx+').catch(full))));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Adds a line, in which there is no line end. */
  async append(bucket: number, line: string): Promise<void> {
    this.#pending[bucket] += `${line}\n`;
    if (this.#pending[bucket]!.length >= PIECE) await this.#flush(bucket);
  }

  /** The lines of a bucket in the order they came. */
  async lines(bucket: number): Promise<string[]> {
    await this.#flush(bucket);
    const file = this.#files[bucket]!;
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
    if (bytesRead !== size) throw new Error(`expected ${size} bytes in a temporary file, got ${bytesRead}`);
    return buffer.toString('utf8').split('\n').slice(0, -1);
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map(file => file.close()));
  }

  async #flush(bucket: number): Promise<void> {
    const text = this.#pending[bucket]!;
    this.#pending[bucket] = '';
    if (text !== '') await this.#files[bucket]!.appendFile(text).catch(full);
  }
}

function full(error: unknown): never {
  throw fullDisk(error, tmpdir());
}
