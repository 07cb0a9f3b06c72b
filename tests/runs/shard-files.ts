import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import type { Sample2dLabel, ShapeLabel, TextureLabel } from '../../pipeline/labels.ts';
import { filesIn } from './command.ts';

/** A file of a shard as tar-stream reads it. */
export interface ShardFile {
  readonly name: string;
  readonly data: Buffer;
}

/** The files of a tar, in order. */
export async function readShard(path: string): Promise<ShardFile[]> {
  const files: ShardFile[] = [];
  const entries = extract();
  entries.on('entry', async (header, stream, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    files.push({ name: header.name, data: Buffer.concat(chunks) });
    next();
  });
  await pipeline(createReadStream(path), entries);
  return files;
}

/** The labels of all shards of a run whose path begins with `prefix`, in order. */
export async function labelsIn<Label>(run: string, prefix: string): Promise<Label[]> {
  const labels: Label[] = [];
  for (const file of await filesIn(run)) {
    if (!file.startsWith(prefix) || !file.endsWith('.tar')) continue;
    for (const { name, data } of await readShard(join(run, file))) {
      if (name.endsWith('.json')) labels.push(JSON.parse(data.toString()));
    }
  }
  return labels;
}

/** The labels of a bank's shards: also of items that the finished bank was cut by. */
export function bankLabels(run: string, kind: 'shapes'): Promise<ShapeLabel[]>;
export function bankLabels(run: string, kind: 'textures'): Promise<TextureLabel[]>;
export function bankLabels(run: string, kind: 'shapes' | 'textures'): Promise<(ShapeLabel | TextureLabel)[]>;
export function bankLabels(run: string, kind: string): Promise<unknown[]> {
  return labelsIn(run, `banks/${kind}/`);
}

/** The labels of a subset's samples, over all splits or of one. */
export function sampleLabels(run: string, subset: Sample2dLabel['subset'], split = ''): Promise<Sample2dLabel[]> {
  return labelsIn(run, `${subset}/${split}`);
}
