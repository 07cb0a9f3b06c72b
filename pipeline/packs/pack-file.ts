import { createHash } from 'node:crypto';
import { open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asInputFault, DamagedFile, InputFault } from '../faults.ts';
import { makeFolder } from '../make-folder.ts';
import { sha256OfFile } from '../sha256.ts';
import type { FetchedFile } from './transfer.ts';

/** Facts of a file of this machine. @throws InputFault when it cannot be read, or is empty. */
export async function factsOf(path: string): Promise<FetchedFile> {
  try {
    const { size } = await stat(path);
    if (size === 0) throw new InputFault('it is empty');
    return { bytes: size, sha256: await sha256OfFile(path) };
  } catch (error) {
    throw asInputFault(error, 'cannot read');
  }
}

/**
 * Writes an archive's member under its name in the pack; it has it when it is complete and synced.
 * @throws InputFault when it is empty or longer than `mostBytes`; DamagedFile when it has not the bytes that the archive says.
 */
export async function writeMember(
  path: string,
  bytes: number,
  contents: () => AsyncIterable<Buffer>,
  mostBytes: number,
): Promise<FetchedFile> {
  if (bytes === 0) throw new InputFault('it is empty');
  if (bytes > mostBytes) throw new InputFault(`longer than ${mostBytes} bytes`);
  await makeFolder(dirname(path));
  const partial = `${path}.partial`;
  const hash = createHash('sha256');
  const file = await open(partial, 'w');
  let written = 0;
  try {
    for await (const chunk of contents()) {
      if (written + chunk.length > bytes) break;
      hash.update(chunk);
      await file.writeFile(chunk);
      written += chunk.length;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  if (written !== bytes) throw new DamagedFile(`${path}: expected ${bytes} bytes of its archive, got ${written}`);
  await rename(partial, path);
  return { bytes, sha256: hash.digest('hex') };
}
