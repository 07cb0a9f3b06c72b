import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openImages } from '../../../../pipeline/packs/sources/open-images.ts';
import { type PackServer, packServer } from '../pack-server.ts';
import { itemsOf } from './items-of.ts';

const HEADER =
  'ImageID,Subset,OriginalURL,OriginalLandingURL,License,AuthorProfileURL,Author,Title,OriginalSize,OriginalMD5,Thumbnail300KURL,Rotation';
const BY = 'https://creativecommons.org/licenses/by/2.0/';
const photo = Buffer.from('a photograph as its author published it');
const md5 = createHash('md5').update(photo).digest();

const line = (id: string, subset: string, { original = '', author = '', title = '', facts = ',' }) =>
  [id, subset, original, `https://www.flickr.com/photos/a/${id}`, BY, '', author, title, facts, '', '0.0'].join(',');

let server: PackServer;
let addresses: { lists: object[] };
beforeAll(async () => {
  server = await packServer();
  const original = `${server.origin}/flickr/1_o.jpg`;
  const facts = `${photo.length},${md5.toString('base64')}`;
  const train = [
    line('000002b66c9c498e', 'train', { original, author: '"Doe, Jane"', title: '"Said ""hi""\nand went"', facts }),
    line('000002b97e5471a0', 'train', { original: `${server.origin}/flickr/2_o.PNG`, author: 'Müller', facts }),
    line('', 'train', { original }),
  ];
  server.files.set('/train.csv', `${[HEADER, ...train].join('\n')}\n`);
  server.files.set('/test.csv', [HEADER, line('000026e7ee790996', 'test', { original })].join('\r\n'));
  server.files.set('/all.csv', [HEADER, ...train, line('0fff', 'train', { author: 'Gone' })].join('\n'));
  const list = (subset: string) => ({
    subset,
    url: `${server.origin}/${subset}.csv`,
    image: `${server.origin}/bucket/{Subset}/{ImageID}.jpg`,
    changes: 'scaled',
  });
  addresses = {
    lists: [
      list('train'),
      list('test'),
      { subset: 'originals', url: `${server.origin}/all.csv`, image: '{OriginalURL}', onlyIfAsked: true },
    ],
  };
});
afterAll(() => server.close());

it('has the images of the bucket with licence, author and address from the lists', async () => {
  const items = await itemsOf(openImages, addresses);
  expect(items.map(({ path }) => path)).toEqual([
    'train/000002b66c9c498e.jpg',
    'train/000002b97e5471a0.jpg',
    'test/000026e7ee790996.jpg',
  ]);
  expect(items[0]).toEqual({
    id: '000002b66c9c498e',
    path: 'train/000002b66c9c498e.jpg',
    origin: { url: `${server.origin}/bucket/train/000002b66c9c498e.jpg` },
    licence: 'CC-BY-2.0',
    author: 'Doe, Jane',
    url: 'https://www.flickr.com/photos/a/000002b66c9c498e',
    changes: 'scaled',
  });
  expect(items.map(({ author }) => author)).toEqual(['Doe, Jane', 'Müller', null]);
  expect(server.asked.map(({ path }) => path)).not.toContain('/all.csv');
});

it('has the originals with the size and MD5 that the lists tell, where they have an address', async () => {
  const items = await itemsOf(openImages, addresses, { subsets: ['originals'] });
  expect(items.map(({ path, origin }) => [path, origin])).toEqual([
    [
      'originals/000002b66c9c498e.jpg',
      { url: `${server.origin}/flickr/1_o.jpg`, bytes: photo.length, md5: md5.toString('hex') },
    ],
    [
      'originals/000002b97e5471a0.png',
      { url: `${server.origin}/flickr/2_o.PNG`, bytes: photo.length, md5: md5.toString('hex') },
    ],
  ]);
  expect(items.every(({ changes }) => changes === undefined)).toBe(true);
});

it('takes the subsets that are asked for, and refuses others', async () => {
  expect((await itemsOf(openImages, addresses, { subsets: ['test'] })).map(({ id }) => id)).toEqual([
    '000026e7ee790996',
  ]);
  await expect(itemsOf(openImages, addresses, { subsets: ['tests'] })).rejects.toThrow(
    '--subsets: expected some of train, test, originals, got "tests" (did you mean "test"?)',
  );
});

it('refuses a list without its columns', async () => {
  const url = `${server.origin}/odd.csv`;
  server.files.set('/odd.csv', 'ImageID,LabelName\n1,/m/01\n');
  await expect(itemsOf(openImages, { lists: [{ subset: 'a', url, image: '{OriginalURL}' }] })).rejects.toThrow(
    /expected the columns ImageID, Subset, .*found ImageID, LabelName/,
  );
});
