import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing. Node's own recursive `mkdir` does not return where the folder above
 * is there and the system yet says "no such file" of a new one in it, as /proc does.
 * @throws the system's error.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await makeOne(path);
  }
}

/** One that is there already will do; that it is a file shows when something is put into it. */
async function makeOne(path: string): Promise<void> {
  await mkdir(path).catch(error => {
    if (error.code !== 'EEXIST') throw error;
  });
}
