import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { LABEL_SCHEMAS } from '../pipeline/labels.ts';

/** The published JSON Schemas by file name, as text. */
export function schemaFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, schema] of Object.entries(LABEL_SCHEMAS)) {
    const content = { title: `shapemill ${name}`, ...z.toJSONSchema(schema) };
    files.set(`${name}.schema.json`, `${JSON.stringify(content, null, 2)}\n`);
  }
  return files;
}

export const SCHEMA_FOLDER = fileURLToPath(new URL('../docs/schema/', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(SCHEMA_FOLDER, { recursive: true });
  for (const [name, text] of schemaFiles()) await writeFile(`${SCHEMA_FOLDER}/${name}`, text);
}
