import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: 'tests/shared-folder.ts',
    // Whole runs of the command line are part of the suite; nothing asserts a time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // Not the user's own; kept from one run to the next, since prefiltered light takes a second each.
    env: { SHAPEMILL_CACHE: join(tmpdir(), 'shapemill-test-cache') },
  },
});
