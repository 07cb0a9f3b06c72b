import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { polyHaven } from '../../../../pipeline/packs/sources/poly-haven.ts';
import { type Handler, type PackServer, packServer, serve, testContext } from '../pack-server.ts';
import { itemsOf } from './items-of.ts';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const asset = (authors: string[], categories: string[]) => ({
  name: 'Thing',
  type: 0,
  authors: Object.fromEntries(authors.map(author => [author, 'All'])),
  categories,
  tags: [],
  max_resolution: [16384, 8192],
});

let server: PackServer;
let addresses: Record<string, string>;
const agents: unknown[] = [];
beforeAll(async () => {
  server = await packServer();
  const file = (path: string) => ({ size: path.length, md5: md5(path).toUpperCase(), url: `${server.origin}${path}` });
  const assets = JSON.stringify({
    abandoned_church: asset(['Greg Zaal', 'Sergej Majboroda'], ['indoor', 'artificial light']),
    alps_field: asset([], []),
  });
  const answer: Handler = (request, response) => {
    agents.push(request.headers['user-agent']);
    serve(assets, request, response);
  };
  server.files.set('/assets?type=hdris', answer);
  server.files.set('/assets?type=textures', JSON.stringify({ oak_bark: asset(['Rob Tuytel'], ['bark']) }));
  server.files.set(
    '/files/abandoned_church',
    JSON.stringify({
      hdri: {
        '1k': { hdr: file('/ph/hdr/1k/abandoned_church_1k.hdr'), exr: file('/ph/exr/1k/abandoned_church_1k.exr') },
        '2k': { hdr: file('/ph/hdr/2k/abandoned_church_2k.hdr') },
      },
      tonemapped: file('/ph/abandoned_church.jpg'),
      backplates: { one: { jpg_pretty: file('/ph/plate.jpg') } },
    }),
  );
  server.files.set('/files/alps_field', '[]');
  const map = (kind: string) => ({
    '1k': { jpg: file(`/ph/jpg/1k/oak_bark_${kind}_1k.jpg`), png: file(`/ph/png/1k/oak_bark_${kind}_1k.png`) },
    '4k': { jpg: file(`/ph/jpg/4k/oak_bark_${kind}_4k.jpg`) },
  });
  server.files.set(
    '/files/oak_bark',
    JSON.stringify({
      Diffuse: map('diff'),
      nor_gl: map('nor_gl'),
      Rough: map('rough'),
      arm: map('arm'),
      blend: { '1k': { blend: { ...file('/ph/oak_bark_1k.blend'), include: {} } } },
    }),
  );
  addresses = {
    assets: `${server.origin}/assets?type=hdris`,
    files: `${server.origin}/files/{id}`,
    page: 'https://polyhaven.com/a/{id}',
    format: 'hdr',
  };
});
afterAll(() => server.close());

it('lists panoramas in one request, under a name of its own', async () => {
  expect(await itemsOf(polyHaven, addresses)).toEqual([
    {
      id: 'abandoned_church',
      path: 'abandoned_church_2k.hdr',
      origin: { lookup: 'abandoned_church' },
      licence: 'CC0-1.0',
      author: 'Greg Zaal, Sergej Majboroda',
      url: 'https://polyhaven.com/a/abandoned_church',
      category: 'indoor',
    },
    expect.objectContaining({ id: 'alps_field', author: null, category: undefined }),
  ]);
  expect(server.asked.map(({ path }) => path)).toEqual(['/assets?type=hdris']);
  expect(agents).toEqual([expect.stringMatching(/^shapemill\//)]);
});

it('finds the file of a panorama by resolution, with its size and MD5', async () => {
  const { context, close } = await testContext({ resolution: '1k' });
  const where = polyHaven.addresses.parse(addresses);
  const path = '/ph/hdr/1k/abandoned_church_1k.hdr';
  expect(await polyHaven.locate!('abandoned_church', where, context)).toEqual({
    url: `${server.origin}${path}`,
    bytes: path.length,
    md5: md5(path),
  });
  const large = { ...context, options: { resolution: '8k' } };
  await expect(polyHaven.locate!('abandoned_church', where, large)).rejects.toThrow(
    'no panorama of 8k; there are 1k, 2k',
  );
  await expect(polyHaven.locate!('alps_field', where, context)).rejects.toThrow('the API tells no files of it');
  await close();
});

it('has the maps of a texture as one material', async () => {
  const textures = {
    ...addresses,
    assets: `${server.origin}/assets?type=textures`,
    format: 'jpg',
    maps: ['Diffuse', 'nor_gl', 'Rough', 'Metal'],
  };
  const items = await itemsOf(polyHaven, textures, { resolution: '4k' });
  expect(items.map(({ id, path, group, category }) => [id, path, group, category])).toEqual([
    ['oak_bark/Diffuse', 'oak_bark/oak_bark_diff_4k.jpg', 'oak_bark', 'bark'],
    ['oak_bark/nor_gl', 'oak_bark/oak_bark_nor_gl_4k.jpg', 'oak_bark', 'bark'],
    ['oak_bark/Rough', 'oak_bark/oak_bark_rough_4k.jpg', 'oak_bark', 'bark'],
  ]);
  const diffuse = '/ph/jpg/4k/oak_bark_diff_4k.jpg';
  expect(items[0]!.origin).toEqual({ url: server.origin + diffuse, bytes: diffuse.length, md5: md5(diffuse) });
});

it('refuses an answer that is no list of assets', async () => {
  const files = { ...addresses, assets: `${server.origin}/files/alps_field` };
  await expect(itemsOf(polyHaven, files)).rejects.toThrow(/not as the API of Poly Haven has it/);
});
