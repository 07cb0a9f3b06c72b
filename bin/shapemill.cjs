#!/usr/bin/env node
// The door. CommonJS, because libuv sizes its thread pool at the first asynchronous file operation, and loading an ES
// module is one. Images are decoded and encoded on that pool, one thread a worker; the rest is for file access.
const { availableParallelism } = require('node:os');

process.env.UV_THREADPOOL_SIZE ??= String(Math.max(8, 2 * availableParallelism()));

(async () => {
  const { register } = await import('tsx/esm/api');
  register();
  await import('../scripts/shapemill.ts');
})().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
