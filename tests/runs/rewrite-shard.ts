import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { sha256 } from './command.ts';
import { readShard, type ShardFile } from './shard-files.ts';

/**
 * Writes a shard anew with other files, by tar-stream, and a sidecar that fits, so that nothing but the files is wrong.
 * @param shard path of the tar. @param samples that the sidecar speaks of then, when it is another number.
 */
export async function rewriteShard(
  shard: string,
  change: (files: ShardFile[]) => ShardFile[] | Promise<ShardFile[]>,
  samples?: number,
): Promise<void> {
  await writeTar(shard, await change(await readShard(shard)));
  await fitSidecar(shard, samples === undefined ? {} : { samples });
}

/** Writes a tar. */
export async function writeTar(path: string, files: readonly ShardFile[]): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createWriteStream(path));
  for (const { name, data } of files) tar.entry({ name, mtime: new Date(0) }, data);
  tar.finalize();
  await written;
}

/** Makes a sidecar say of its tar what is true of it. */
export async function fitSidecar(shard: string, changes: Record<string, unknown> = {}): Promise<void> {
  const path = shard.replace(/tar$/, 'json');
  const bytes = await readFile(shard);
  const sidecar = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...sidecar, bytes: bytes.length, sha256: sha256(bytes), ...changes }));
}

/** Replaces the files of a shard that have a field; of a label its JSON. @param key of the sample; all when left out. */
export function changed(
  files: ShardFile[],
  field: string,
  change: (data: Buffer, name: string) => Buffer | Promise<Buffer>,
  key?: string,
): Promise<ShardFile[]> {
  return Promise.all(
    files.map(async file => {
      const dot = file.name.indexOf('.');
      const asked = file.name.slice(dot + 1) === field && (key === undefined || file.name.slice(0, dot) === key);
      return asked ? { ...file, data: await change(file.data, file.name) } : file;
    }),
  );
}

/** A label with some values changed. */
export function withValues<Label>(label: Buffer, change: (label: Label) => unknown): Buffer {
  const value: Label = JSON.parse(label.toString());
  change(value);
  return Buffer.from(JSON.stringify(value));
}

/** Changes one byte of a file. @param at offset; from the end when negative. */
export async function flipByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  await writeFile(path, bytes);
}
