import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { coco } from '../../../pipeline/datasets/coco.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { permutation } from '../../../sampling/distributions.ts';
import { rng } from '../../../sampling/rng.ts';
import { jpeg, listImages, put, rowsOf, temporaryFolder } from './fixtures.ts';

const folder = temporaryFolder();
const at = (...names: string[]) => join(folder(), ...names);
afterEach(() => vi.unstubAllEnvs());

const LICENSES = [
  { id: 4, name: 'Attribution License', url: 'http://creativecommons.org/licenses/by/2.0/' },
  { id: 7, name: 'No known copyright restrictions', url: 'http://flickr.com/commons/usage/' },
];
const CATEGORIES = [
  { id: 1, name: 'person', supercategory: 'person' },
  { id: 37, name: 'sports ball', supercategory: 'sports' },
];
const rectangle = (left: number, top: number, right: number, bottom: number) => [
  ...[left, top, right, top],
  ...[right, bottom, left, bottom],
];
const picture = (id: number, file_name: string, more: object = {}) => ({
  id,
  file_name,
  width: 6,
  height: 5,
  license: 4,
  ...more,
});
let annotations = 0;
const annotation = (image_id: number, segmentation: unknown, more: object = {}) => ({
  id: ++annotations,
  image_id,
  category_id: 1,
  segmentation,
  iscrowd: 0,
  ...more,
});

/** A folder with one picture, and what is said of it. */
async function single(name: string, segmentation: unknown, more: object = {}, size: object = {}): Promise<string> {
  const content = {
    images: [picture(1, 'a.jpg', size)],
    annotations: [annotation(1, segmentation, { id: 77, ...more })],
    categories: CATEGORIES,
  };
  await put(at(name, 'images/a.jpg'), await jpeg(6, 5));
  await put(at(name, 'instances.json'), JSON.stringify(content));
  return at(name);
}
const objectsOf = async (name: string) => coco.read((await listImages(coco, name))[0]!);

describe('the layout of the archives', () => {
  const root = () => at('coco');
  beforeAll(async () => {
    const val = {
      // Annotations first, as no one promises their order.
      annotations: [
        annotation(12, [rectangle(0, 0, 2, 2)], { id: 501, category_id: 37 }),
        annotation(11, [rectangle(1, 1, 4, 3)], { id: 502 }),
        annotation(11, [rectangle(0, 0, 1, 1), rectangle(4, 3, 6, 5)], { id: 503, category_id: 37 }),
        // Pixels 14 and 15, down the columns: the last of column 2, the first of column 3.
        annotation(11, { size: [5, 6], counts: [14, 2, 14] }, { id: 504 }),
        // 6, 3, 2, 3 + 1, 2 + 13: pixels 6 to 8 and 11 to 14.
        annotation(11, { size: [5, 6], counts: '6321=' }, { id: 505 }),
        annotation(11, { size: [5, 6], counts: [0, 30] }, { id: 506, iscrowd: 1 }),
        annotation(11, [[0, 0, 3, 3]], { id: 507 }),
        annotation(11, [], { id: 508 }),
        { id: 509, image_id: 11, category_id: 1, bbox: [0, 0, 1, 1] },
        annotation(99, [rectangle(0, 0, 2, 2)], { id: 510 }),
        annotation(14, { size: [5, 6], counts: [0, 30] }, { id: 511, iscrowd: 1 }),
      ],
      info: { images: [{ id: 11 }] },
      licenses: LICENSES,
      categories: CATEGORIES,
      images: [
        picture(11, 'b.jpg', { flickr_url: 'http://flickr.example/b', coco_url: 'http://coco.example/b' }),
        picture(12, 'a.jpg', { license: 7, coco_url: 'http://coco.example/a' }),
        picture(13, 'without annotations.jpg'),
        picture(14, 'with a crowd only.jpg'),
      ],
    };
    const train = {
      images: [picture(11, 'b.jpg', { license: 5 }), picture(21, 'missing.jpg')],
      annotations: [annotation(21, [rectangle(0, 0, 1, 1)]), annotation(11, [rectangle(0, 0, 6, 5)], { id: 502 })],
      categories: CATEGORIES,
    };
    await put(join(root(), 'annotations/instances_val2017.json'), JSON.stringify(val, null, 2));
    await put(join(root(), 'annotations/instances_train2017.json'), JSON.stringify(train));
    await put(join(root(), 'annotations/captions_val2017.json'), '{}');
    for (const file of ['val2017/a.jpg', 'val2017/b.jpg', 'train2017/b.jpg']) {
      await put(join(root(), file), await jpeg(6, 5));
    }
  });

  it('gives the pictures with masks of every part, with their licences', async () => {
    const images = await listImages(coco, root());
    expect(images.map(({ entry: _, ...image }) => image)).toEqual([
      {
        path: join(root(), 'train2017/b.jpg'),
        file: 'train2017/b.jpg',
        part: 'train2017',
        licence: null,
        author: null,
        url: null,
      },
      {
        path: join(root(), 'train2017/missing.jpg'),
        file: 'train2017/missing.jpg',
        part: 'train2017',
        licence: null,
        author: null,
        url: null,
      },
      {
        path: join(root(), 'val2017/a.jpg'),
        file: 'val2017/a.jpg',
        part: 'val2017',
        licence: 'LicenseRef-no-known-copyright-restrictions',
        author: null,
        url: 'http://coco.example/a',
      },
      {
        path: join(root(), 'val2017/b.jpg'),
        file: 'val2017/b.jpg',
        part: 'val2017',
        licence: 'CC-BY-2.0',
        author: null,
        url: 'http://flickr.example/b',
      },
    ]);
    expect(await coco.open(root())).toMatchObject({ pack: 'coco', root: root() });
  });

  it('gives the objects in the order of the file: polygons, run lengths, compressed run lengths', async () => {
    const images = await listImages(coco, root());
    const objects = await coco.read(images.find(({ file }) => file === 'val2017/b.jpg')!);
    expect(objects.map(({ mask: _, ...object }) => object)).toEqual(
      [
        { id: '502', box: [1, 1, 3, 2], area: 6 },
        { id: '503', box: [0, 0, 6, 5], area: 5, ball: true },
        { id: '504', box: [2, 0, 2, 5], area: 2 },
        { id: '505', box: [1, 1, 2, 4], area: 7 },
      ].map(({ id, box: [left, top, width, height], area, ball }) => ({
        box: { left, top, width, height },
        area,
        width: 6,
        height: 5,
        label: ball ? 'sports ball' : 'person',
        category: ball ? '37' : '1',
        instance: id,
        taxonomy: { supercategory: ball ? 'sports' : 'person' },
      })),
    );
    expect(objects.map(rowsOf)).toEqual([
      ['###', '###'],
      ['#.....', '......', '......', '....##', '....##'],
      ['.#', '..', '..', '..', '#.'],
      ['##', '##', '##', '.#'],
    ]);
  });

  it('is found by an annotation file, too', async () => {
    const file = join(root(), 'annotations/instances_val2017.json');
    expect((await listImages(coco, file)).map(image => image.file)).toEqual(['val2017/a.jpg', 'val2017/b.jpg']);
    expect(await coco.open(file)).toMatchObject({ pack: 'coco', root: root() });
  });

  it('may have its pictures in images/, and be a link', async () => {
    await mkdir(at('elsewhere/annotations'), { recursive: true });
    await symlink(join(root(), 'val2017'), at('elsewhere/images'));
    const file = 'annotations/instances_val2017.json';
    await put(at('elsewhere', file), await readFile(join(root(), file)));
    await symlink(at('elsewhere'), at('link'));
    for (const name of ['elsewhere', 'link']) {
      expect(await coco.open(at(name))).toMatchObject({ pack: 'elsewhere', root: at('elsewhere') });
      expect((await listImages(coco, at(name))).map(image => [image.file, image.path])).toEqual([
        ['images/a.jpg', join(root(), 'val2017/a.jpg')],
        ['images/b.jpg', join(root(), 'val2017/b.jpg')],
      ]);
    }
  });
});

describe('a JSON file', () => {
  it.each([
    ['instances.json', 'images/a.jpg'],
    ['annotations.json', 'images/a.jpg'],
    ['instances.json', 'a.jpg'],
  ])('%s has pictures as %s', async (json, file) => {
    const root = at(`single-${json}-${file.replace('/', '-')}`);
    await put(join(root, file), await jpeg(6, 5));
    const content = {
      images: [picture(1, 'a.jpg')],
      annotations: [annotation(1, [rectangle(0, 0, 1, 1)])],
      categories: CATEGORIES,
    };
    await put(join(root, json), JSON.stringify(content));
    for (const name of [root, join(root, json)]) {
      expect(await listImages(coco, name)).toMatchObject([{ file, path: join(root, file), part: null }]);
    }
  });

  it('of other layouts may name pictures with their folder', async () => {
    const name = await single('prefixed', [rectangle(0, 0, 1, 1)], {}, { file_name: 'images/a.jpg' });
    expect(await listImages(coco, name)).toMatchObject([{ file: 'images/a.jpg', path: at('prefixed/images/a.jpg') }]);
  });
});

describe('an annotation that cannot be used', () => {
  it.each<[string, unknown, object, object, string]>([
    ['no such category', [rectangle(0, 0, 1, 1)], { category_id: 5 }, {}, 'annotation 77: the file has no category 5'],
    [
      'run lengths that do not fill',
      { size: [5, 6], counts: [3, 4] },
      {},
      {},
      'annotation 77: expected run lengths of 6 × 5 = 30 pixels, got 7',
    ],
    [
      'compressed ones that are none',
      { size: [5, 6], counts: '6321 ' },
      {},
      {},
      'annotation 77: expected compressed run lengths, got "6321 "',
    ],
    [
      'run lengths without size',
      { counts: [30] },
      {},
      {},
      'annotation 77: expected polygons of finite numbers, or run lengths',
    ],
    [
      'run lengths of a size beyond reason',
      { size: [1e6, 1e6], counts: [1e12] },
      {},
      {},
      'annotation 77: expected polygons',
    ],
    ['a number', 5, {}, {}, 'annotation 77: expected polygons'],
    ['points without a list', rectangle(0, 0, 1, 1), {}, {}, 'annotation 77: expected polygons'],
    [
      'a coordinate that is null',
      [[0, 0, null, 3, 4, 4]],
      {},
      {},
      'annotation 77: expected polygons of finite numbers',
    ],
    ['a coordinate that is text', [[0, 0, '3', 3, 4, 4]], {}, {}, 'annotation 77: expected polygons of finite numbers'],
    [
      'no width',
      [rectangle(0, 0, 1, 1)],
      {},
      { width: null },
      "expected the picture's width and height in pixels, got null × 5",
    ],
    ['a height of 0', [rectangle(0, 0, 1, 1)], {}, { height: 0 }, 'got 6 × 0'],
    [
      'a size beyond reason',
      [rectangle(0, 0, 1, 1)],
      {},
      { width: 1e9, height: 1e9 },
      '1000000000×1000000000 exceeds the limit of 268435456 pixels',
    ],
  ])('costs its picture: %s', async (what, segmentation, more, size, message) => {
    const name = await single(`fault ${what}`, segmentation, more, size);
    await expect(objectsOf(name)).rejects.toThrow(InputFault);
    await expect(objectsOf(name)).rejects.toThrow(message);
  });

  it('may hold NaN, as Python writes it', async () => {
    const name = await single('nan', [[0, 0, 'NaN', 3, 4, 4]]);
    await put(
      join(name, 'instances.json'),
      (await readFile(join(name, 'instances.json'), 'utf8')).replace('"NaN"', 'NaN'),
    );
    await expect(objectsOf(name)).rejects.toThrow('annotation 77: expected polygons of finite numbers');
  });

  it('is none that has only no id, or another size of run lengths', async () => {
    const name = await single('odd', { size: [10, 12], counts: [0, 120] }, { id: undefined });
    expect(await objectsOf(name)).toMatchObject([{ instance: null, width: 12, height: 10, area: 120 }]);
  });
});

describe('licences', () => {
  it.each([
    ['http://creativecommons.org/licenses/by-nc-sa/2.0/', 'CC-BY-NC-SA-2.0'],
    ['http://creativecommons.org/licenses/by-nc/2.0/', 'CC-BY-NC-2.0'],
    ['http://creativecommons.org/licenses/by-nc-nd/2.0/', 'CC-BY-NC-ND-2.0'],
    ['http://creativecommons.org/licenses/by/2.0/', 'CC-BY-2.0'],
    ['http://creativecommons.org/licenses/by-sa/2.0/', 'CC-BY-SA-2.0'],
    ['http://creativecommons.org/licenses/by-nd/2.0/', 'CC-BY-ND-2.0'],
    ['http://flickr.com/commons/usage/', 'LicenseRef-no-known-copyright-restrictions'],
    ['http://www.usa.gov/copyright.shtml', 'LicenseRef-us-government-work'],
    ['https://creativecommons.org/licenses/by/4.0', 'CC-BY-4.0'],
    ['https://creativecommons.org/publicdomain/zero/1.0/', 'CC0-1.0'],
    // A port to a country's law is another licence.
    ['https://creativecommons.org/licenses/by/3.0/us/', null],
    ['https://example.org/licence', null],
    ['', null],
  ])('%s is %s', async (url, licence) => {
    const content = {
      licenses: [{ id: 1, url }],
      images: [picture(1, 'a.jpg', { license: 1 })],
      annotations: [annotation(1, [rectangle(0, 0, 1, 1)])],
      categories: CATEGORIES,
    };
    await put(at('licence/instances.json'), JSON.stringify(content));
    expect(await listImages(coco, at('licence'))).toMatchObject([{ licence }]);
  });
});

describe('what a file says of its pictures', () => {
  const putFile = (name: string, images: object[], masks: object[]) =>
    put(at(name, 'instances.json'), JSON.stringify({ images, annotations: masks, categories: CATEGORIES }));
  const reasons = async (name: string) =>
    Promise.all(
      (await listImages(coco, at(name))).map(async image => [
        image.file,
        await coco.read(image).then(
          objects => objects.length,
          (error: Error) => (error instanceof InputFault ? error.message : error),
        ),
      ]),
    );

  it('costs the pictures that share an id, and no others', async () => {
    const square = [rectangle(0, 0, 2, 2)];
    await putFile(
      'same-id',
      [picture(1, 'b.jpg'), picture(1, 'a.jpg'), picture(2, 'c.jpg'), picture(2, 'c.jpg')],
      [annotation(1, square), annotation(1, square), annotation(2, square)],
    );
    const fault = 'the id "1" stands for several pictures: b.jpg, a.jpg';
    expect(await reasons('same-id')).toEqual([
      ['a.jpg', fault],
      ['b.jpg', fault],
      ['c.jpg', 1],
    ]);
  });

  it('joins ids as numbers and as texts, of any length there', async () => {
    const long = '90071992547409931';
    const square = [rectangle(0, 0, 2, 2)];
    await putFile(
      'text-ids',
      [picture(1, 'a.jpg'), { ...picture(2, 'b.jpg'), id: long }, { ...picture(2, 'c.jpg'), id: `${long}0` }],
      [
        { ...annotation(1, square), image_id: '1' },
        { ...annotation(2, square), image_id: long },
      ],
    );
    expect(await reasons('text-ids')).toEqual([
      ['a.jpg', 1],
      ['b.jpg', 1],
    ]);
  });

  it('costs a picture that lies elsewhere', async () => {
    const square = [rectangle(0, 0, 2, 2)];
    await putFile(
      'outside',
      [picture(1, '../../a.jpg'), picture(2, '/etc/b.jpg'), picture(3, '..\\c.jpg')],
      [annotation(1, square), annotation(2, square), annotation(3, square)],
    );
    const fault = (name: string) => `expected a picture in ${at('outside')}, got file_name "${name}"`;
    expect(await reasons('outside')).toEqual([
      ['../../a.jpg', fault('../../a.jpg')],
      ['../c.jpg', fault('..\\c.jpg')],
      ['/etc/b.jpg', fault('/etc/b.jpg')],
    ]);
  });

  it('may have backslashes', async () => {
    const name = await single('backslashes', [rectangle(0, 0, 1, 1)], {}, { file_name: 'images\\a.jpg' });
    expect(await listImages(coco, name)).toMatchObject([{ file: 'images/a.jpg' }]);
  });

  it.each([
    [0, 1],
    ['0', 1],
    [false, 1],
    [null, 1],
    [1, 0],
    ['1', 0],
    [true, 0],
  ])('iscrowd %j', async (iscrowd, pictures) => {
    const name = await single(`crowd-${JSON.stringify(iscrowd)}`, [rectangle(0, 0, 1, 1)], { iscrowd });
    expect(await listImages(coco, name)).toHaveLength(pictures);
  });
});

describe('a size that is beyond the picture', () => {
  it.each<[string, unknown, object]>([
    ['of the record', [rectangle(0, 0, 16_384, 16_384)], { width: 16_384, height: 16_384 }],
    ['of run lengths', { size: [16_384, 16_384], counts: [0, 2 ** 28] }, {}],
  ])('%s costs it before a mask is made', async (name, segmentation, size) => {
    const root = await single(`beyond-${name}`, segmentation, {}, size);
    await expect(objectsOf(root)).rejects.toThrow(
      new InputFault('mask of 16384×16384 does not fit its picture of 6×5'),
    );
  });

  it('costs it where masks together are beyond reason', async () => {
    // Of the picture's shape, but much larger.
    const [width, height] = [12_000, 10_000];
    const full = { size: [height, width], counts: [0, width * height] };
    const content = {
      images: [picture(1, 'a.jpg', { width, height })],
      annotations: [full, full, full].map((mask, id) => annotation(1, mask, { id })),
      categories: CATEGORIES,
    };
    await put(at('together/a.jpg'), await jpeg(120, 100));
    await put(at('together/instances.json'), JSON.stringify(content));
    await expect(objectsOf(at('together'))).rejects.toThrow(
      new InputFault('annotation 2: its masks together exceed 268435456 pixels'),
    );
  });
});

describe('a file of many buckets', () => {
  const PICTURES = 900;
  it('is joined, whatever the order, and leaves nothing behind', async () => {
    const random = rng(1, 'coco', 'order');
    // Pictures with 0, 1, 2 annotations in turn; padding makes the file 17 MB, so that it has three buckets.
    const note = 'x'.repeat(19_000);
    const images = Array.from(permutation(random, PICTURES), id => picture(id, `${id}.jpg`));
    const all = Array.from({ length: PICTURES }, (_, id) =>
      Array.from({ length: id % 3 }, (_, k) => annotation(id, [rectangle(k, 0, k + 1, 1)], { id: `${id}-${k}`, note })),
    ).flat();
    const shuffled = Array.from(permutation(random, all.length), i => all[i]!);
    const content = { categories: CATEGORIES, annotations: shuffled, images };
    const file = await put(at('many/instances.json'), JSON.stringify(content));
    await mkdir(at('temporary'));
    vi.stubEnv('TMPDIR', at('temporary'));

    const found = new Map<string, (string | null)[]>();
    for await (const image of (await coco.open(file)).images()) {
      found.set(
        image.file,
        (await coco.read(image)).map(({ instance }) => instance),
      );
      if (found.size % 100 === 1) expect(await readdir(at('temporary'))).toEqual([]);
    }
    const expected = new Map<string, (string | null)[]>();
    for (const { image_id, id } of shuffled) {
      const name = `${image_id}.jpg`;
      expected.set(name, [...(expected.get(name) ?? []), String(id)]);
    }
    expect(found).toEqual(expected);
    for await (const _ of (await coco.open(file)).images()) break;
    expect(await readdir(at('temporary'))).toEqual([]);
  });
});

describe('what is no COCO', () => {
  it('is told with what was expected and what was found', async () => {
    await put(at('wrong/JPEGImages/a.jpg'), '');
    const refused = coco.open(at('wrong'));
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(
      /^coco: expected COCO instances: a folder with annotations\/instances_\*\.json .*; found JPEGImages\/ in .*wrong$/,
    );
    await expect(coco.open(at('nowhere'))).rejects.toThrow(/found nothing at .*nowhere/);
    await expect(coco.open(null)).rejects.toThrow(/expected a folder after "coco:"/);
  });

  it.each([
    ['cut short', '{"images": [{"id": 1', /cut\.json: expected JSON, but the file is cut short/],
    ['broken', '{"images": [{"id": }]}', /cut\.json: expected JSON, but it is broken/],
    ['results', '[{"image_id": 1}]', /cut\.json: expected JSON, but it is broken before byte 1: expected an object/],
    [
      'captions',
      '{"images": [], "annotations": []}',
      /cut\.json: expected the arrays images, annotations, categories, found images, annotations/,
    ],
    [
      'with an id that is rounded',
      '{"images": [{"id": 9007199254740993, "file_name": "a.jpg"}], "annotations": [], "categories": []}',
      /cut\.json: id of a picture: expected a whole number up to 9007199254740991, .* write larger ids as texts$/,
    ],
    [
      'with an annotation of a picture whose id is rounded',
      '{"images": [], "annotations": [{"image_id": 1e16, "category_id": 1, "segmentation": [[0]]}], "categories": []}',
      /cut\.json: image_id of an annotation: expected a whole number up to 9007199254740991/,
    ],
    [
      'without ids',
      '{"images": [{"file_name": "a.jpg"}], "annotations": [], "categories": []}',
      /cut\.json: id of a picture: expected a number or a text, got nothing/,
    ],
  ])('is told of a file: %s', async (_, text, message) => {
    const file = await put(at('broken/cut.json'), text);
    await mkdir(at('temporary-broken'), { recursive: true });
    vi.stubEnv('TMPDIR', at('temporary-broken'));
    await expect(listImages(coco, file)).rejects.toThrow(UsageError);
    await expect(listImages(coco, file)).rejects.toThrow(message);
    expect(await readdir(at('temporary-broken'))).toEqual([]);
  });
});

const REAL = fileURLToPath(new URL('../../../../shared/data/coco-ccby', import.meta.url));

describe.skipIf(!existsSync(REAL))('real annotations (../shared/data/coco-ccby)', () => {
  interface Annotation {
    readonly id: number;
    readonly area: number;
    readonly bbox: readonly [number, number, number, number];
    readonly iscrowd: number;
  }

  it('have the areas and boxes that the file says of them', async () => {
    const content: { annotations: Annotation[] } = JSON.parse(await readFile(join(REAL, 'instances.json'), 'utf8'));
    const wanted = new Map(content.annotations.filter(({ iscrowd }) => !iscrowd).map(each => [String(each.id), each]));
    for (const image of await listImages(coco, REAL)) {
      expect(['CC-BY-2.0', 'CC-BY-SA-2.0']).toContain(image.licence);
      for (const { instance, area, box } of await coco.read(image)) {
        const { bbox, area: outlined } = wanted.get(instance!)!;
        wanted.delete(instance!);
        // The file's area is that of the outline, which runs through the pixels at the edge: up to half a pixel a step.
        const rim = box.width + box.height;
        expect(Math.abs(area - outlined), `${instance}: ${area} for ${outlined}`).toBeLessThanOrEqual(rim);
        const sides = [box.left, box.top, box.left + box.width, box.top + box.height];
        const [x, y, w, h] = bbox;
        // A tip that is thinner than a pixel is lost.
        for (const [i, side] of [x, y, x + w, y + h].entries()) {
          expect(Math.abs(sides[i]! - side)).toBeLessThanOrEqual(2);
        }
      }
    }
    expect([...wanted.keys()]).toEqual([]);
  });
});
