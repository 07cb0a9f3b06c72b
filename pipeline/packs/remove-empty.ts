import { rmdir } from 'node:fs/promises';

/** Removes folders, inner ones first, as long as nothing is in them. */
export async function removeEmpty(...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
