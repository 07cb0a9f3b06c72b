import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFile } from 'stream-json/file/parser.js';
import { pick } from 'stream-json/filters/pick.js';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { pipe } from 'stream-json/utils/pipe.js';
import { coco } from '../pipeline/datasets/coco.ts';
import { jsonArrays } from '../pipeline/datasets/json-arrays.ts';
import { uniform } from '../sampling/distributions.ts';
import { rng } from '../sampling/rng.ts';
import { type BenchSettings, cpuSeconds, printRows } from './measure.ts';

/** As many annotations a picture and points an outline as in COCO. */
const [PER_PICTURE, POINTS] = [7, 32];

/** Listing an annotation file in COCO's form; `count` is of its pictures, of which COCO 2017 has 118,287. */
export async function annotations({ count = 20_000 }: BenchSettings): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  const path = join(folder, 'instances.json');
  try {
    await writeFile(path, annotationFile(count));
    const megabytes = (await stat(path)).size / 1e6;
    const measured = async (name: string, what: string, things: AsyncIterable<unknown>) => {
      const { seconds, result } = await cpuSeconds(() => numberOf(things));
      return { name, count: megabytes, seconds, note: `${result} ${what}` };
    };
    const listed = await measured('ours', 'pictures listed', (await coco.open(path)).images());
    console.log(`${megabytes.toFixed(0)} MB; peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
    const parsed = await measured('scanner', 'pieces of 1 MB parsed', jsonArrays(path, ['images', 'annotations'], []));
    const stages = [parseFile({ streamValues: false }), pick({ filter: 'annotations' }), streamArray()] as const;
    const tokens = await measured('tokens', 'annotations by stream-json', pipe(stages)(path));
    printRows('MB', [listed, parsed, tokens, await measured('floor', 'pieces read', createReadStream(path))]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function numberOf(things: AsyncIterable<unknown>): Promise<number> {
  let number = 0;
  for await (const _ of things) number++;
  return number;
}

function* annotationFile(pictures: number): Generator<string> {
  const random = rng(1, 'bench', 'annotations');
  const outline = () => Array.from({ length: 2 * POINTS }, () => uniform(random, 0, 480).toFixed(2)).join(', ');
  yield '{"categories": [{"id": 1, "name": "person", "supercategory": "person"}], "images": [{"id": 0}';
  for (let id = 1; id <= pictures; id++) yield `, {"id": ${id}, "file_name": "${id}.jpg", "width": 640, "height": 480}`;
  yield '], "annotations": [{"id": 0}';
  for (let id = 1; id <= pictures * PER_PICTURE; id++) {
    const image = Math.ceil(uniform(random, 0, pictures));
    yield `, {"id": ${id}, "image_id": ${image}, "category_id": 1, "iscrowd": 0, "segmentation": [[${outline()}]]}`;
  }
  yield ']}';
}
