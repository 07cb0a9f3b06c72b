#!/usr/bin/env node
// The door. CommonJS, because libuv sizes its thread pool at the first asynchronous file operation, and loading an ES
// module is one. Images are decoded and encoded on that pool, two a worker; the rest is for file access.
const { availableParallelism } = require('node:os');

process.env.UV_THREADPOOL_SIZE ??= String(Math.max(8, 3 * availableParallelism()));

// TypeScript by `require`, too: as ES modules, each file would be asked for through a thread of the loader, which takes as
// long again as everything else that a command needs to start.
require('tsx/cjs/api').register();
require('../scripts/shapemill.ts');
