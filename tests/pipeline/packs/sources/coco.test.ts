import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resolveDatasets } from '../../../../pipeline/datasets/datasets.ts';
import { addPack } from '../../../../pipeline/packs/add-pack.ts';
import { readPackEntries } from '../../../../pipeline/packs/pack-index.ts';
import { coco } from '../../../../pipeline/packs/sources/coco.ts';
import { type PackServer, packServer, QUICK, silent } from '../pack-server.ts';
import { smallZip } from '../small-zip.ts';
import { itemsOf } from './items-of.ts';

const licences = [
  {
    url: 'http://creativecommons.org/licenses/by-nc-sa/2.0/',
    id: 1,
    name: 'Attribution-NonCommercial-ShareAlike License',
  },
  { url: 'http://creativecommons.org/licenses/by/2.0/', id: 4, name: 'Attribution License' },
  { url: 'http://flickr.com/commons/usage/', id: 7, name: 'No known copyright restrictions' },
];
const picture = (id: number, license: number) => ({
  license,
  file_name: `${String(id).padStart(12, '0')}.jpg`,
  coco_url: `http://images.cocodataset.org/val2017/${id}.jpg`,
  height: 4,
  width: 4,
  date_captured: '2013-11-14 17:02:52',
  flickr_url: `http://farm7.staticflickr.com/${id}_z.jpg`,
  id,
});
const annotation = (id: number) => ({
  segmentation: [[0, 0, 3, 0, 3, 3]],
  area: 4.5,
  iscrowd: 0,
  image_id: id,
  bbox: [0, 0, 3, 3],
  category_id: 18,
  id: id * 10,
});
const instances = JSON.stringify({
  info: { description: 'COCO 2017 Dataset', year: 2017 },
  licenses: licences,
  images: [picture(139, 1), picture(285, 4), picture(632, 7)],
  annotations: [139, 285, 632].map(annotation),
  categories: [{ supercategory: 'animal', id: 18, name: 'dog' }],
});
const jpeg = (id: number) => Buffer.from(`picture ${id}`);

let server: PackServer;
let addresses: { annotations: object; pictures: object[] };
beforeAll(async () => {
  const annotations = smallZip([
    { path: 'annotations/captions_val2017.json', bytes: Buffer.from('{}') },
    { path: 'annotations/instances_val2017.json', bytes: Buffer.from(instances) },
  ]);
  const val = smallZip(
    [139, 285, 632, 999].map(id => ({
      path: `val2017/${String(id).padStart(12, '0')}.jpg`,
      bytes: jpeg(id),
      stored: true,
    })),
  );
  server = await packServer({ '/ann.zip': annotations, '/zips/val2017.zip': val, '/zips/train2017.zip': smallZip([]) });
  const remote = (path: string, bytes: Buffer) => ({
    url: `${server.origin}${path}`,
    bytes: bytes.length,
    md5: createHash('md5').update(bytes).digest('hex'),
  });
  addresses = {
    annotations: {
      ...remote('/ann.zip', annotations),
      licence: 'CC-BY-4.0',
      author: 'COCO Consortium',
      page: 'https://cocodataset.org/#termsofuse',
    },
    pictures: [
      { subset: 'train2017', url: `${server.origin}/zips/train2017.zip` },
      { subset: 'val2017', ...remote('/zips/val2017.zip', val) },
    ],
  };
});
afterAll(() => server.close());

it('has pictures with the licence and address that the annotations tell, and the annotations', async () => {
  const items = await itemsOf(coco, addresses, { subsets: ['val2017'] });
  expect(items.map(({ path, licence, url }) => [path, licence, url])).toEqual([
    ['annotations/instances_val2017.json', 'CC-BY-4.0', 'https://cocodataset.org/#termsofuse'],
    ['val2017/000000000139.jpg', 'CC-BY-NC-SA-2.0', 'http://farm7.staticflickr.com/139_z.jpg'],
    ['val2017/000000000285.jpg', 'CC-BY-2.0', 'http://farm7.staticflickr.com/285_z.jpg'],
    [
      'val2017/000000000632.jpg',
      'LicenseRef-no-known-copyright-restrictions',
      'http://farm7.staticflickr.com/632_z.jpg',
    ],
    ['val2017/000000000999.jpg', null, null],
  ]);
  expect(items[0]).toMatchObject({ supplement: true, author: 'COCO Consortium' });
  expect(server.asked.map(({ path }) => path)).toEqual(['/ann.zip', '/zips/val2017.zip']);
});

it('refuses annotations without those of a subset', async () => {
  await expect(itemsOf(coco, addresses)).rejects.toThrow(
    'ann.zip: expected annotations/instances_train2017.json in it, found none',
  );
});

it('becomes a pack whose folder is a segmentation dataset of the pictures that were chosen', async () => {
  const data = await mkdtemp(join(tmpdir(), 'shapemill-coco-'));
  const folder = join(data, 'packs', 'coco');
  const pack = {
    id: 'coco',
    kind: 'photos',
    title: 'T',
    licence: 'CC-BY-2.0',
    attribution: 'A',
    source: 'S',
    obtained: { via: 'coco', addresses },
  } as const;
  const order = { count: 2, perCategory: null, seed: 1, licences: null, nearDuplicates: null };
  const { signal } = new AbortController();
  const source = { subsets: ['val2017'] };
  const settings = { folder, progress: silent(), signal, fetch: QUICK };
  const { header } = await addPack(pack, { ...order, source }, settings);
  expect(header).toMatchObject({ files: 3, failed: 0 });
  for await (const { id, path } of readPackEntries(folder)) {
    const bytes = await readFile(join(folder, path));
    expect(bytes).toEqual(id.endsWith('.json') ? Buffer.from(instances) : jpeg(Number.parseInt(id.slice(8), 10)));
  }
  const pictures = async (licences: string[] | null) => {
    const [dataset] = await resolveDatasets([`coco:${folder}`], licences);
    const found: unknown[] = [];
    for await (const { file, licence, url } of dataset!.files()) found.push([file, licence, url]);
    return found;
  };
  const free = ['val2017/000000000285.jpg', 'CC-BY-2.0', 'http://farm7.staticflickr.com/285_z.jpg'];
  // Elsewhere it is a folder as any other.
  expect(await pictures(null)).toHaveLength(3);
  vi.stubEnv('SHAPEMILL_DATA', data);
  try {
    expect(await pictures(null)).toHaveLength(2);
    expect(await pictures(['CC-BY-2.0'])).toEqual([free]);
  } finally {
    vi.unstubAllEnvs();
  }
  await rm(data, { recursive: true });
});
