import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DamagedFile, unlessMissing } from '../faults.ts';
import { type PanelTest, panelTestSchema } from '../labels.ts';
import type { RunFolder } from '../run-folder.ts';
import { sha256Of } from '../sha256.ts';
import { jsonFrom } from '../shard-writer.ts';
import type { ExportPart } from './exporter.ts';

/** The tests of a condition. */
export interface PanelPart extends ExportPart {
  readonly subset: PanelTest['subset'];
  readonly condition: string;
  readonly folder: string;
  /** Tests of the conditions before it. */
  readonly first: number;
}

const LIST = 'panels.jsonl';

/** The conditions whose tests are all there, in alphabetical order. */
export async function panelParts(run: RunFolder): Promise<PanelPart[]> {
  const parts: PanelPart[] = [];
  let first = 0;
  for (const condition of ((await readdir(run.at('panels')).catch(unlessMissing)) ?? []).sort()) {
    const folder = run.at('panels', condition);
    const list = await readFile(join(folder, LIST)).catch(unlessMissing);
    if (!list) continue;
    const samples = list.reduce((lines, byte) => lines + (byte === 0x0a ? 1 : 0), 0);
    if (samples === 0) continue;
    const { subset } = testFrom(list.toString('utf8', 0, list.indexOf('\n')), folder);
    parts.push({ name: condition, condition, folder, subset, place: 'panels', samples, sha256: sha256Of(list), first });
    first += samples;
  }
  return parts;
}

/** The tests of a condition, each with the bytes of its picture (JPEG). @throws DamagedFile */
export async function* readTests({ folder }: PanelPart): AsyncGenerator<{ test: PanelTest; image: Buffer }> {
  for await (const line of createInterface({ input: createReadStream(join(folder, LIST)) })) {
    const test = testFrom(line, folder);
    const image = await readFile(join(folder, test.image)).catch(unlessMissing);
    if (!image) throw new DamagedFile(`${join(folder, test.image)} is gone; give the command that made it again`);
    yield { test, image };
  }
}

function testFrom(line: string, folder: string): PanelTest {
  const test = panelTestSchema.safeParse(jsonFrom(line)).data;
  if (!test) throw new DamagedFile(`${join(folder, LIST)}: expected a test a line; delete it and give "panels" again`);
  return test;
}
