import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole runs first, then what starts browsers: a long file that begins last leaves cores idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      ['/tests/runs/', '/tests/renderers/3d/', ''].findIndex(folder => moduleId.includes(folder));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: 'tests/shared-folder.ts',
    // Whole runs of the command line are part of the suite; nothing asserts a time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // Files that run in one process share what they import: loading it for each took a third of the time of those that start nothing.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Not the user's own; kept from one run to the next, since prefiltered light takes a second each.
    env: { SHAPEMILL_CACHE: join(tmpdir(), 'shapemill-test-cache') },
  },
});
