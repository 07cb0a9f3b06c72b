import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from './faults.ts';
import { makeFolder } from './make-folder.ts';
import { TAR_END } from './tar.ts';

/** What a bank's sidecar keeps of an item, so that the bank can be indexed without opening its tars. */
export const bankItemSchema = z.strictObject({
  id: z.string(),
  source: z.string().regex(/^[0-9a-f]{16}$/),
  split: z.enum(['train', 'val', 'test']),
  kind: z.enum(['natural', 'semantic', 'projection']).optional(),
  /** Round (shapes) or rank within its photo (textures): the bank's first order. */
  rank: z.int().min(0),
  /** In pixels; 0 for what has none. */
  width: z.int().min(0),
  height: z.int().min(0),
  /** Offset and length in the tar, bytes: of the item's file, or where it has several, of all its tar entries. */
  image: z.tuple([z.int(), z.int()]),
  label: z.tuple([z.int(), z.int()]),
  /** CRC-32 of the image, then the label: cheap enough to be looked at whenever the item is read. */
  crc: z.int().min(0).max(0xffff_ffff),
});
export type BankItem = z.infer<typeof bankItemSchema>;

/** The JSON beside each shard. Everything but `seconds` is a function of recipe, seed and assets. */
export const sidecarSchema = z.strictObject({
  stage: z.string(),
  shard: z.int().min(0),
  samples: z.int().min(0),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  seconds: z.number().min(0).describe('wall-clock time from the first to the last sample'),
  faults: z.array(z.strictObject({ item: z.string(), reason: z.string() })),
  counts: z.record(z.string(), z.int().min(0)).describe("a stage's own tallies: items looked at, rejections by reason"),
  items: z.array(bankItemSchema).optional(),
});
export type Sidecar = z.infer<typeof sidecarSchema>;

/**
 * Writes one shard. Bytes go to `<path>.tar.partial`; `finish` writes the sidecar, then gives the tar its final name, each
 * synced before it is renamed: a tar with its final name is complete, whatever happened before.
 */
export class ShardWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** @param path of the shard without its extension. */
  static async create(path: string): Promise<ShardWriter> {
    await makeFolder(dirname(path));
    return new ShardWriter(path, await open(`${path}.tar.partial`, 'w'));
  }

  /** Bytes written so far: the offset of the next piece. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a piece made by `encodeTar`. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#file.write(bytes, done)).bytesWritten;
    }
    this.#bytes += bytes.length;
  }

  async finish(facts: Omit<Sidecar, 'bytes' | 'sha256'>): Promise<Sidecar> {
    await this.append(TAR_END);
    await this.#file.sync();
    await this.#file.close();
    const sidecar = sidecarSchema.parse({ ...facts, bytes: this.#bytes, sha256: this.#hash.digest('hex') });
    await writeDurably(`${this.#path}.json`, JSON.stringify(sidecar));
    await rename(`${this.#path}.tar.partial`, `${this.#path}.tar`);
    await syncFolder(dirname(this.#path));
    return sidecar;
  }

  /** Gives up: nothing of the shard stays. */
  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(`${this.#path}.tar.partial`, { force: true });
  }
}

/**
 * The sidecar of a complete shard; undefined while the shard is not complete, and when somebody was at it: a tar without
 * its sidecar, of another length than that says, or a sidecar of another shard. Such a shard is made again.
 * @param path without extension.
 */
export async function readSidecar(path: string, stage: string, shard: number): Promise<Sidecar | undefined> {
  const tar = await stat(`${path}.tar`).catch(unlessMissing);
  if (!tar) return undefined;
  const text = await readFile(`${path}.json`, 'utf8').catch(unlessMissing);
  const sidecar = sidecarSchema.safeParse(text === undefined ? undefined : jsonFrom(text)).data;
  const whole = sidecar?.stage === stage && sidecar.shard === shard && sidecar.bytes === tar.size;
  return whole ? sidecar : undefined;
}

/** What a text says as JSON; undefined when it is none. */
export function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes a whole file so that its name never stands for half of it: `.partial`, sync, rename. */
export async function writeDurably(path: string, data: string | Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const partial = `${path}.${process.pid}.partial`;
  const file = await open(partial, 'w');
  try {
    await file.writeFile(data);
    await file.sync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(partial, path);
  await syncFolder(dirname(path));
}

/** A rename is on disk when its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
