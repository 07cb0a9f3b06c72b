import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addPack } from '../../../../pipeline/packs/add-pack.ts';
import { readPackEntries } from '../../../../pipeline/packs/pack-index.ts';
import { zenodo } from '../../../../pipeline/packs/sources/zenodo.ts';
import { type PackServer, packServer, QUICK, silent } from '../pack-server.ts';
import { smallZip } from '../small-zip.ts';
import { itemsOf } from './items-of.ts';

const file = (path: string) => ({ path, bytes: Buffer.from(`bytes of ${path}`) });
const archives = {
  'Textures 1.zip': smallZip([file('tex/1_0.png'), file('tex/1_1.jpg'), file('readme.txt')]),
  'PBR.zip': smallZip([file('1/Color.png'), file('1/Normal.png')]),
};

let server: PackServer;
let record: string;
let addresses: { record: string };
beforeAll(async () => {
  server = await packServer();
  addresses = { record: `${server.origin}/api/records/12629301` };
  const files = Object.entries({ ...archives, 'Paper.pdf': Buffer.from('%PDF') }).map(([key, bytes]) => {
    const path = `/api/records/12629301/files/${encodeURIComponent(key)}/content`;
    server.files.set(path, bytes);
    const checksum = `md5:${createHash('md5').update(bytes).digest('hex')}`;
    return { id: 'f', key, size: bytes.length, checksum, links: { self: `${server.origin}${path}` } };
  });
  const creators = [{ name: 'Doe, Jane', affiliation: 'X' }, { name: 'Roe, Richard' }];
  const metadata = { title: 'Textures', license: { id: 'cc-by-4.0' }, creators };
  record = JSON.stringify({ id: 12629301, doi: '10.5281/zenodo.12629301', metadata, files });
  server.files.set('/api/records/12629301', record);
});
afterAll(() => server.close());

it('has the images of the archives, with the licence and the authors of the record', async () => {
  const items = await itemsOf(zenodo, addresses);
  expect(items.map(({ id }) => id)).toEqual([
    'Textures 1.zip#tex/1_0.png',
    'Textures 1.zip#tex/1_1.jpg',
    'PBR.zip#1/Color.png',
    'PBR.zip#1/Normal.png',
  ]);
  expect(items[0]).toMatchObject({
    path: expect.stringMatching(/^Textures_1\/tex\/1_0-[0-9a-f]{8}\.png$/),
    licence: 'CC-BY-4.0',
    author: 'Doe, Jane; Roe, Richard',
    url: 'https://doi.org/10.5281/zenodo.12629301',
  });
  expect(items[2]!.path).toBe('PBR/1/Color.png');
});

it('fetches only the archives that are asked for, and refuses names of none', async () => {
  server.asked.length = 0;
  expect((await itemsOf(zenodo, addresses, { subsets: ['PBR'] })).map(({ path }) => path)).toEqual([
    'PBR/1/Color.png',
    'PBR/1/Normal.png',
  ]);
  expect(server.asked).toHaveLength(2);
  await expect(itemsOf(zenodo, addresses, { subsets: ['pbr'] })).rejects.toThrow(
    /--subsets: expected some of Textures 1, PBR, got "pbr"/,
  );
});

it.each([
  ['cc-zero', 'CC0-1.0'],
  ['cc0-1.0', 'CC0-1.0'],
  ['mit', 'mit'],
])('knows the licence %s', async (id, licence) => {
  server.files.set('/api/records/1', record.replace('cc-by-4.0', id));
  const [item] = await itemsOf(zenodo, { record: `${server.origin}/api/records/1` }, { subsets: ['PBR'] });
  expect(item!.licence).toBe(licence);
});

it('refuses what is no record, and an archive with another checksum', async () => {
  server.files.set('/api/records/2', '{"message": "PID does not exist"}');
  await expect(itemsOf(zenodo, { record: `${server.origin}/api/records/2` })).rejects.toThrow(/not a record of Zenodo/);
  server.files.set('/api/records/3', record.replace(/md5:[0-9a-f]/g, 'md5:g').replaceAll('md5:g', 'md5:0'));
  await expect(itemsOf(zenodo, { record: `${server.origin}/api/records/3` })).rejects.toThrow(/md5|checksum/i);
});

it('becomes a pack', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-zenodo-'));
  const pack = {
    id: 'vastextures',
    kind: 'textures',
    title: 'T',
    licence: 'CC-BY-4.0',
    attribution: 'A',
    source: 'S',
    obtained: { via: 'zenodo', addresses },
  } as const;
  const order = { count: 3, perCategory: null, seed: 1, licences: ['CC-BY-4.0'], nearDuplicates: null, source: {} };
  const { signal } = new AbortController();
  const { header } = await addPack(pack, order, { folder, progress: silent(), signal, fetch: QUICK });
  expect(header).toMatchObject({ files: 3, failed: 0 });
  for await (const { id, path } of readPackEntries(folder)) {
    expect(await readFile(join(folder, path), 'utf8')).toBe(`bytes of ${id.split('#')[1]}`);
  }
  await rm(folder, { recursive: true });
});
