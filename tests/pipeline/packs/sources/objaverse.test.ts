import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { objaverse } from '../../../../pipeline/packs/sources/objaverse.ts';
import { type PackServer, packServer } from '../pack-server.ts';
import { itemsOf } from './items-of.ts';

const gzip = (value: unknown) => gzipSync(JSON.stringify(value));
const [chair, mug, apple, other] = ['000074a334c541878360457c672b6c2e', 'aa11', 'bb22', 'cc33'] as const;

const metadata = (uid: string, license: string | null, displayName: string) => ({
  uri: `https://api.sketchfab.com/v3/models/${uid}`,
  uid,
  name: 'thing',
  viewerUrl: `https://sketchfab.com/3d-models/${uid}`,
  license,
  user: { username: 'nick', displayName, profileUrl: 'https://sketchfab.com/nick' },
  archives: { glb: { size: 12 } },
});

let server: PackServer;
let addresses: Record<string, string>;
beforeAll(async () => {
  const paths = {
    [chair]: `glbs/000-023/${chair}.glb`,
    [mug]: `glbs/000-023/${mug}.glb`,
    [apple]: `glbs/000-001/${apple}.glb`,
    [other]: `glbs/000-002/${other}.glb`,
  };
  server = await packServer({
    '/object-paths.json.gz': gzip(paths),
    '/lvis-annotations.json.gz': gzip({ chair: [chair, 'unknown'], mug: [mug, chair], apple: [apple] }),
    '/metadata/000-023.json.gz': gzip({
      [chair]: metadata(chair, 'by-nc-sa', 'Jane Doe'),
      [mug]: metadata(mug, 'cc0', ''),
    }),
    '/metadata/000-001.json.gz': gzip({ [apple]: { ...metadata(apple, 'st', 'A'), user: null, viewerUrl: 7 } }),
  });
  addresses = {
    paths: `${server.origin}/object-paths.json.gz`,
    categories: `${server.origin}/lvis-annotations.json.gz`,
    metadata: `${server.origin}/metadata/{folder}.json.gz`,
    object: `${server.origin}/{path}`,
  };
});
afterAll(() => server.close());

it('has the objects with a category, each once, with the rights that the metadata tells', async () => {
  const items = await itemsOf(objaverse, addresses);
  expect(items).toEqual([
    {
      id: chair,
      path: `glbs/000-023/${chair}.glb`,
      origin: { url: `${server.origin}/glbs/000-023/${chair}.glb` },
      category: 'chair',
      licence: 'CC-BY-NC-SA-4.0',
      author: 'Jane Doe',
      url: `https://sketchfab.com/3d-models/${chair}`,
    },
    expect.objectContaining({ id: mug, category: 'mug', licence: 'CC0-1.0', author: 'nick' }),
    expect.objectContaining({ id: apple, category: 'apple', licence: null, author: null, url: null }),
  ]);
  // Of folders without such objects nothing is asked.
  expect(server.asked.map(({ path }) => path)).not.toContain('/metadata/000-002.json.gz');
});

it.each([
  ['no JSON', Buffer.from('<html>'), /expected JSON/],
  ['another form', gzip({ chair: 'all' }), /lvis-annotations.json.gz: not as Objaverse 1.0 has it/],
])('refuses an index that is %s', async (_, body, message) => {
  const own = await packServer({
    '/lvis-annotations.json.gz': body,
    '/object-paths.json.gz': server.files.get('/object-paths.json.gz')!,
  });
  const moved = Object.fromEntries(
    Object.entries(addresses).map(([name, at]) => [name, at.replace(server.origin, own.origin)]),
  );
  await expect(itemsOf(objaverse, moved)).rejects.toThrow(message);
  await own.close();
});
