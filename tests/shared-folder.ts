import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for what several test files look at; it goes away after the last of them. */
    readonly sharedFolder: string;
  }
}

export default async function makeSharedFolder(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-tests-'));
  project.provide('sharedFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
