import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { DamagedFile, unlessMissing } from '../faults.ts';
import { TextFile } from '../text-file.ts';
import { packSchema, parseJson, relativePath } from './manifest.ts';

/**
 * The index of an added pack, `index.jsonl`: the first line is its header, each other line a file. It is read line by line, so that a pack may
 * have any number of files, and has its name only when it is complete.
 */
export const INDEX_NAME = 'index.jsonl';

/** A file of a pack: what it is, whose it is, and under which licence; null: not known. */
export const packEntrySchema = z.strictObject({
  /** The source's own name for it; its path, where it has no other. */
  id: z.string().min(1),
  /** Below the pack's folder. */
  path: relativePath,
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hexadecimal digits'),
  licence: z.string().nullable(),
  author: z.string().nullable(),
  /** Where the file or its licence is published. */
  url: z.string().nullable(),
  category: z.string().optional(),
  /** Files of one group are parts of one thing. */
  group: z.string().optional(),
  /** What was done to the author's file; left out when nothing was. */
  changes: z.string().optional(),
  /** Where it lies, when that is not in the pack's folder: files of a folder that was added stay where they are. */
  local: z.string().optional(),
  /** Why no run uses it; left out when all is well. */
  unusable: z.string().optional(),
  /** 64 bits of a perceptual hash, hexadecimal, where near-duplicates were looked for. */
  likeness: z.string().optional(),
});
export type PackEntry = z.infer<typeof packEntrySchema>;

export const packHeaderSchema = z.strictObject({
  pack: packSchema,
  /** What decided which files are in it: another order makes another pack of the same name. */
  order: z.record(z.string(), z.unknown()),
  files: z.int().min(0),
  bytes: z.int().min(0),
  unusable: z.int().min(0),
  /** Chosen files that could not be had; `failures.jsonl` says why. */
  failed: z.int().min(0),
  /** How many of those may be had by trying again. */
  passing: z.int().min(0),
});
export type PackHeader = z.infer<typeof packHeaderSchema>;

/** An index that is not as it was written. */
class BadIndex extends DamagedFile {
  constructor(what: string) {
    super(`${what}. Remove this file and add the pack again`);
  }
}

/** The header of a pack in a folder; undefined when there is no index. @throws DamagedFile when it is not as expected. */
export async function readPackHeader(folder: string): Promise<PackHeader | undefined> {
  const path = join(folder, INDEX_NAME);
  const file = await open(path).catch(unlessMissing);
  if (!file) return undefined;
  try {
    for await (const line of file.readLines()) return parseJson(packHeaderSchema, line, path, BadIndex);
  } finally {
    await file.close();
  }
  throw new BadIndex(`${path}: expected the header of a pack, got an empty file`);
}

/** The files of a pack in a folder, in their order. @throws DamagedFile when a line is not as expected or some are missing. */
export async function* readPackEntries(folder: string): AsyncGenerator<PackEntry> {
  const path = join(folder, INDEX_NAME);
  let header: PackHeader | undefined;
  let files = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (header) {
      files++;
      yield parseJson(packEntrySchema, line, path, BadIndex);
    } else header = parseJson(packHeaderSchema, line, path, BadIndex);
  }
  if (header && files === header.files) return;
  throw new BadIndex(`${path}: expected ${header?.files ?? 'a header and'} files, found ${files}`);
}

/** Writes an index, a line at a time. */
export async function writePackIndex(
  folder: string,
  header: PackHeader,
  entries: Iterable<PackEntry> | AsyncIterable<PackEntry>,
): Promise<void> {
  const file = new TextFile(join(folder, INDEX_NAME));
  file.append(`${JSON.stringify(packHeaderSchema.parse(header))}\n`);
  for await (const entry of entries) file.append(`${JSON.stringify(packEntrySchema.parse(entry))}\n`);
  file.finish();
}
