import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { expect, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../../extractors/kernel/', import.meta.url));

it('kernel.wasm is what the source compiles to (npm run kernel)', async () => {
  const written = new Map<string, Uint8Array | string>();
  const { error, stderr } = await asc.main(['--config', `${FOLDER}asconfig.json`], {
    writeFile: (name, contents) => void written.set(name, contents),
  });
  expect(error, stderr.toString()).toBeNull();
  expect(written.size).toBe(1);
  const [compiled] = written.values();
  expect(Buffer.compare(Buffer.from(compiled as Uint8Array), await readFile(`${FOLDER}kernel.wasm`))).toBe(0);
});
