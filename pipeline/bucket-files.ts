import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fullDisk } from './full-disk.ts';

/** What is gathered before it is written, characters. */
const PIECE = 65_536;

/**
 * Lines of text on disk in so many buckets, each to be taken back whole, for what does not fit into memory at once. Their files
 * lose their names as soon as they are open: however the process ends, nothing of them stays.
 */
export class BucketFiles {
  readonly count: number;
  readonly #folder: string;
  readonly #files = new Map<number, FileHandle>();
  readonly #pending: string[];

  /** @param folder in which the files are made. */
  constructor(count: number, folder: string) {
    this.count = count;
    this.#folder = folder;
    this.#pending = new Array(count).fill('');
  }

  /** Adds a line, in which there is no line end. @throws FullDisk when there is no room. */
  async append(bucket: number, line: string): Promise<void> {
    this.#pending[bucket] += `${line}\n`;
    if (this.#pending[bucket]!.length >= PIECE) await this.#flush(bucket);
  }

  /** The lines of a bucket in the order they came; they are then gone from the disk. @throws FullDisk likewise. */
  async take(bucket: number): Promise<string[]> {
    await this.#flush(bucket);
    const file = this.#files.get(bucket);
    if (!file) return [];
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
    if (bytesRead !== size) throw new Error(`expected ${size} bytes in a temporary file, got ${bytesRead}`);
    this.#files.delete(bucket);
    await file.close();
    return buffer.toString('utf8').split('\n').slice(0, -1);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(file => file.close()));
  }

  async #flush(bucket: number): Promise<void> {
    const text = this.#pending[bucket]!;
    this.#pending[bucket] = '';
    if (text === '') return;
    try {
      const file = this.#files.get(bucket) ?? (await this.#open());
      this.#files.set(bucket, file);
      await file.appendFile(text);
    } catch (error) {
      throw fullDisk(error, this.#folder);
    }
  }

  async #open(): Promise<FileHandle> {
    const path = join(this.#folder, `shapemill-${randomUUID()}.partial`);
    const file = await open(path, 'wx+');
    await rm(path);
    return file;
  }
}
