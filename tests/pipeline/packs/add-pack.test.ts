import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import tar from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addPack, type PackOrder } from '../../../pipeline/packs/add-pack.ts';
import type { PackKind } from '../../../pipeline/packs/manifest.ts';
import { ownPack } from '../../../pipeline/packs/own-pack.ts';
import { attributionLines } from '../../../pipeline/packs/pack-attribution.ts';
import { type PackEntry, readPackEntries } from '../../../pipeline/packs/pack-index.ts';
import { listPacks, verifyPack } from '../../../pipeline/packs/pack-store.ts';
import { prunePack } from '../../../pipeline/packs/prune-packs.ts';
import { resolveSources } from '../../../pipeline/photo-sources.ts';
import { sha256Of } from '../../../pipeline/sha256.ts';
import { type Handler, type PackServer, packServer, QUICK, serve, silent } from './pack-server.ts';
import { smallZip } from './small-zip.ts';

const DOOR = fileURLToPath(new URL('../../../bin/shapemill.cjs', import.meta.url));
const photo = (i: number) => Buffer.from(`photo ${i} `.repeat(20 + i));

let server: PackServer;
let dataFolder: string;
let folder: string;
beforeEach(async () => {
  server = await packServer();
  dataFolder = await mkdtemp(join(tmpdir(), 'shapemill-add-'));
  folder = join(dataFolder, 'packs', 'photos');
});
afterEach(async () => {
  await server.close();
  await rm(dataFolder, { recursive: true });
});

const ORDER: Omit<PackOrder, 'source'> = {
  count: null,
  perCategory: null,
  seed: 1,
  licences: null,
  nearDuplicates: null,
};

/** Writes a list of addresses of the server; what is served is up to the test. */
async function list(names: readonly string[], rights: (name: string) => string = () => ',,'): Promise<string> {
  const path = join(dataFolder, 'photos.csv');
  const lines = names.map(name => `${server.origin}${name},${rights(name)}`);
  await writeFile(path, ['url,licence,author,source', ...lines].join('\n'));
  return path;
}

function servePhotos(count: number): string[] {
  const names = Array.from({ length: count }, (_, i) => `/${i}.jpg`);
  for (const [i, name] of names.entries()) server.files.set(name, photo(i));
  return names;
}

interface Asked extends Partial<PackOrder> {
  readonly via?: 'url' | 'dir';
  readonly kind?: PackKind;
}

async function add(
  from: string,
  { via = 'url', kind = 'photos', source = {}, ...order }: Asked = {},
  signal = new AbortController().signal,
) {
  const { pack, from: place } = await ownPack(via, from, { as: 'photos', kind }, new Set());
  const progress = silent();
  const settings = { folder, progress, signal, fetch: QUICK };
  const added = await addPack(pack, { ...ORDER, ...order, source: { ...source, kind, from: place } }, settings);
  return { ...added, told: progress.told };
}

async function entries(): Promise<PackEntry[]> {
  const all: PackEntry[] = [];
  for await (const entry of readPackEntries(folder)) all.push(entry);
  return all;
}

const failures = async () =>
  (await readFile(join(folder, 'failures.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));

describe('addPack', () => {
  it('fetches what a list names, with the rights it tells, and says why what is missing is', async () => {
    const names = servePhotos(30);
    server.files.delete('/7.jpg');
    const from = await list(names, name => `CC-BY-2.0,"Author of ${name}",https://example.org${name}`);
    const { header, wasThere, told } = await add(from);
    expect(wasThere).toBe(false);
    expect(header).toMatchObject({ files: 29, failed: 1, passing: 0, unusable: 0 });
    expect(told).toEqual([`${server.origin}/7.jpg: HTTP 404`]);
    expect(await failures()).toMatchObject([{ id: `${server.origin}/7.jpg`, reason: 'HTTP 404', lasting: true }]);
    for (const { path, bytes, sha256, licence, author, url } of await entries()) {
      const i = Number.parseInt(path.slice('127.0.0.1/'.length), 10);
      expect(await readFile(join(folder, path))).toEqual(photo(i));
      expect([bytes, sha256]).toEqual([photo(i).length, sha256Of(photo(i))]);
      expect([licence, author, url]).toEqual(['CC-BY-2.0', `Author of /${i}.jpg`, `https://example.org/${i}.jpg`]);
    }
    const [summary] = (await listPacks({ dataFolder })).filter(({ pack }) => pack.id === 'photos');
    expect(summary).toMatchObject({ state: 'added', files: 29, bytes: header.bytes });
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(['127.0.0.1', 'failures.jsonl', 'index.jsonl']);
  });

  it('fetches nothing twice, brings what passing faults cost, and follows another choice', async () => {
    const names = servePhotos(40);
    const down: Handler = (_, response) => response.writeHead(503).end();
    server.files.set('/3.jpg', down);
    const from = await list(names, name => `${Number.parseInt(name.slice(1), 10) % 2 ? 'CC0-1.0' : 'CC-BY-2.0'},,`);
    expect((await add(from)).header).toMatchObject({ files: 39, failed: 1, passing: 1 });
    server.files.set('/3.jpg', photo(3));
    server.asked.length = 0;
    expect((await add(from)).header).toMatchObject({ files: 40, failed: 0, passing: 0 });
    expect(server.asked).toEqual([{ path: '/3.jpg', range: undefined }]);
    const all = await entries();

    server.asked.length = 0;
    expect((await add(from, { count: 10 })).header.files).toBe(10);
    expect(await entries()).toEqual(all.slice(0, 10));
    expect((await add(from, { licences: ['CC0-1.0'] })).header.files).toBe(20);
    const kept = await entries();
    expect(new Set(kept.map(({ licence }) => licence))).toEqual(new Set(['CC0-1.0']));
    // Ten of them were not in the pack of ten, and came again.
    expect(server.asked.length).toBeLessThan(20);

    await writeFile(join(folder, 'something.partial'), 'left behind');
    const { files, bytes } = await prunePack(folder, 'photos', false);
    expect(files).toBe(21);
    expect(bytes).toBeGreaterThan(1000);
    expect((await readdir(join(folder, '127.0.0.1'))).length).toBe(20);
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
  });

  it('goes on after an interruption where it was', async () => {
    const names = servePhotos(100);
    const controller = new AbortController();
    const last: Handler = () => controller.abort(new Error('Ctrl-C'));
    server.files.set('/50.jpg', last);
    const from = await list(names);
    await expect(add(from, {}, controller.signal)).rejects.toThrow('Ctrl-C');
    const before = new Set(server.asked.map(({ path }) => path));
    server.files.set('/50.jpg', photo(50));
    server.asked.length = 0;
    const { header } = await add(from);
    expect(header).toMatchObject({ files: 100, failed: 0 });
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
    // But for those that were on their way, each was asked for once.
    const twice = server.asked.filter(({ path }) => before.has(path));
    expect(twice.length).toBeLessThanOrEqual(64);
    expect(server.asked.length).toBeLessThan(100);
  });

  it('killed, it goes on and ends as if it had not been', async () => {
    const names = servePhotos(60);
    const from = await list(names);
    let held = () => {};
    const isHeld = new Promise<void>(resolve => {
      held = resolve;
    });
    // 30 files in, the server falls silent.
    let answered = 0;
    for (const [i, name] of names.entries()) {
      server.files.set(name, (request, response) => {
        if (answered++ < 30) serve(photo(i), request, response);
        else held();
      });
    }
    const args = [DOOR, 'assets', 'add', 'url', from];
    const env = { ...process.env, SHAPEMILL_DATA: dataFolder };
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    await isHeld;
    const ended = new Promise(done => child.on('close', done));
    child.kill('SIGKILL');
    await ended;
    expect((await listPacks({ dataFolder })).map(({ pack }) => pack.id)).not.toContain('photos');

    servePhotos(60);
    server.asked.length = 0;
    expect((await add(from, { source: {} })).header).toMatchObject({ files: 60, failed: 0 });
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
    const broken = await readFile(join(folder, 'index.jsonl'), 'utf8');
    await rm(folder, { recursive: true });
    await add(from);
    expect(await readFile(join(folder, 'index.jsonl'), 'utf8')).toBe(broken);
    expect((await readdir(folder)).sort()).toEqual(['127.0.0.1', 'failures.jsonl', 'index.jsonl']);
  });

  it('gives up when nothing answers any more, and goes on later', async () => {
    const names = servePhotos(220);
    const from = await list(names);
    for (const name of names)
      server.files.set(name, (_, response) => response.writeHead(429, { 'retry-after': '9999' }).end());
    await expect(add(from)).rejects.toThrow(/200 files in a row got no answer \(HTTP 429\).*it continues/);
    servePhotos(220);
    expect((await add(from)).header).toMatchObject({ files: 220, failed: 0 });
  });

  it('has no pack when nothing of it can be had', async () => {
    const from = await list(['/a.jpg', '/b.jpg']);
    await expect(add(from)).rejects.toThrow('photos: none of 2 files could be had (HTTP 404)');
    expect((await listPacks({ dataFolder })).map(({ pack }) => pack.id)).not.toContain('photos');
    // Whatever was wrong may be mended.
    server.files.set('/a.jpg', 'a').set('/b.jpg', 'b');
    expect((await add(from)).header.files).toBe(2);
  });

  it.each([
    ['#\n\n', 'expected files to add, found none'],
    ['ftp://example.org/a.jpg', 'line 1: expected an address that begins with https:// and has no blanks'],
    ['https://example.org/a.jpg of a chair', 'has no blanks, got "https://example.org/a.jpg of a chair"'],
    [`\0${'x'.repeat(1000)}`, 'x…"'],
  ])('of a list that is none (%j) is refused, and nothing is left of it', async (text, message) => {
    const path = join(dataFolder, 'photos.txt');
    await writeFile(path, text);
    await expect(add(path)).rejects.toThrow(message);
    expect(await readdir(dirname(folder)).catch(() => [])).toEqual([]);
  });

  it('under a licence that nothing has is refused, and the list that was fetched serves the next choice', async () => {
    server.files.set('/all.csv', `url,licence\n${server.origin}/a.jpg,CC0-1.0\n`).set('/a.jpg', 'a');
    const from = `${server.origin}/all.csv`;
    await expect(add(from, { licences: ['CC-BY-4.0'] })).rejects.toThrow('the 1 there are are under CC0-1.0');
    expect((await add(from)).header.files).toBe(1);
    expect(server.asked.map(({ path }) => path)).toEqual(['/all.csv', '/a.jpg']);
  });

  it('of a list with digests that are none is refused', async () => {
    const path = join(dataFolder, 'photos.csv');
    await writeFile(path, `url,sha256,md5\n${server.origin}/a.jpg,,abc\n`);
    await expect(add(path)).rejects.toThrow('a.jpg: expected md5 of 32 hexadecimal digits, got "abc"');
  });

  it('loses a file whose name another needs as a folder, and no more', async () => {
    server.files.set('/a.jpg', 'a').set('/a.jpg/b.jpg', 'b').set('/c.jpg', 'c');
    const { header } = await add(await list(['/a.jpg', '/a.jpg/b.jpg', '/c.jpg']));
    expect(header).toMatchObject({ files: 2, failed: 1 });
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
  });

  it('is done by one process at a time', async () => {
    const from = await list(servePhotos(2));
    await mkdir(join(folder, '.adding'), { recursive: true });
    await writeFile(join(folder, '.adding', 'lock'), JSON.stringify({ pid: process.ppid, host: hostname() }));
    await expect(add(from)).rejects.toThrow(/photos is being added or pruned by process \d+/);
    await writeFile(join(folder, '.adding', 'lock'), 'torn');
    expect((await add(from)).header.files).toBe(2);
  });

  it('needs room for what it is to fetch', async () => {
    const path = join(dataFolder, 'photos.csv');
    await writeFile(path, `url,bytes\n${server.origin}/a.jpg,${2 ** 52}\n`);
    await expect(add(path)).rejects.toThrow(/about 4503.6 TB are needed and .* free/);
    expect(server.asked).toEqual([]);
  });
});

describe('an archive', () => {
  const tarOf = async (files: Readonly<Record<string, string>>) => {
    const pack = tar.pack();
    for (const [name, text] of Object.entries(files)) pack.entry({ name }, text);
    pack.entry({ name: 'x/link.jpg', type: 'symlink', linkname: '/etc/passwd' });
    pack.finalize();
    return buffer(pack);
  };

  it.each(['a.zip', 'a.tar', 'a.tar.gz'])('%s gives the files of its kind', async name => {
    const files = { 'x/one.jpg': 'one', 'x/readme.txt': 'no photo', 'x/two file.PNG': 'two' };
    const tarred = await tarOf(files);
    const zip = smallZip(Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) })));
    server.files.set(`/${name}`, { 'a.zip': zip, 'a.tar': tarred, 'a.tar.gz': gzipSync(tarred) }[name]!);
    const { header } = await add(`${server.origin}/${name}`, { source: { licence: 'CC0-1.0' } });
    expect(header).toMatchObject({ files: 2, bytes: 6, failed: 0 });
    const found = await entries();
    expect(found.map(({ id }) => id).sort()).toEqual(
      ['x/one.jpg', 'x/two file.PNG'].map(m => `${server.origin}/${name}#${m}`),
    );
    expect(found.every(({ licence, url }) => licence === 'CC0-1.0' && url === `${server.origin}/${name}`)).toBe(true);
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
  });

  it('that is truncated, or would write elsewhere, makes no pack, and is fetched anew by the next attempt', async () => {
    const tarred = await tarOf({ 'x/one.jpg': 'one'.repeat(1000), 'x/two.jpg': 'two'.repeat(1000) });
    const outside = dirname(dataFolder);
    const escaped = 'escaped-from-a-pack.jpg';
    for (const [bytes, message] of [
      [gzipSync(tarred).subarray(0, 60), /truncated or broken/],
      [gzipSync(await tarOf({ [`../../../../${escaped}`]: 'out' })), /would write outside/],
      [gzipSync(await tarOf({ [join(outside, escaped)]: 'out' })), /would write outside/],
    ] as const) {
      server.files.set('/a.tgz', bytes);
      await expect(add(`${server.origin}/a.tgz`)).rejects.toThrow(message);
      expect((await listPacks({ dataFolder })).map(({ pack }) => pack.id)).not.toContain('photos');
    }
    expect(await stat(join(outside, escaped)).catch(() => 'none')).toBe('none');
    server.files.set('/a.tgz', gzipSync(tarred));
    expect((await add(`${server.origin}/a.tgz`)).header.files).toBe(2);
  });

  it('with a member of another checksum makes no pack until it is whole', async () => {
    const [one, two] = [Buffer.from('one'.repeat(100)), Buffer.from('two'.repeat(100))];
    const zip = smallZip([
      { path: 'one.jpg', bytes: one, stored: true },
      { path: 'two.jpg', bytes: two, stored: true },
    ]);
    const flipped = Buffer.from(zip);
    flipped[flipped.lastIndexOf('twotwo')]! ^= 1;
    server.files.set('/a.zip', flipped);
    await expect(add(`${server.origin}/a.zip`)).rejects.toThrow(/the checksum of two.jpg is wrong/);
    server.files.set('/a.zip', zip);
    expect((await add(`${server.origin}/a.zip`)).header.files).toBe(2);
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);
  });
});

describe('a folder', () => {
  it('is a pack whose files stay where they are, with the rights that a list beside them tells', async () => {
    const own = join(dataFolder, 'mine');
    await mkdir(join(own, 'sub'), { recursive: true });
    await writeFile(join(own, 'a.jpg'), 'aaa');
    await writeFile(join(own, 'sub', 'b.png'), 'bb');
    await writeFile(join(own, 'empty.jpg'), '');
    await writeFile(join(own, 'notes.txt'), 'no photo');
    await writeFile(
      join(own, 'attribution.csv'),
      'file,licence,author,url\nsub/b.png,CC-BY-4.0,B,https://example.org/b\n',
    );
    const { header } = await add(own, { via: 'dir', source: { licence: 'CC0-1.0', author: 'Me' } });
    expect(header).toMatchObject({ files: 2, bytes: 5 });
    const found = (await entries()).sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(found).toMatchObject([
      { path: 'a.jpg', local: join(own, 'a.jpg'), licence: 'CC0-1.0', author: 'Me', url: null },
      {
        path: 'sub/b.png',
        local: join(own, 'sub', 'b.png'),
        licence: 'CC-BY-4.0',
        author: 'B',
        url: 'https://example.org/b',
      },
    ]);
    expect(await readdir(folder)).not.toContain('a.jpg');
    expect(await verifyPack('photos', { dataFolder })).toEqual([]);

    // What has grown since is seen, and what is pruned is the pack's alone.
    await writeFile(join(own, 'c.jpg'), 'c');
    await rm(join(own, 'a.jpg'));
    expect((await add(own, { via: 'dir' })).header.files).toBe(2);
    await prunePack(folder, 'photos', false);
    expect((await readdir(own)).sort()).toEqual(['attribution.csv', 'c.jpg', 'empty.jpg', 'notes.txt', 'sub']);
  });

  it('is no pack of addresses, and the other way round', async () => {
    await add(await list(servePhotos(1)));
    await mkdir(join(dataFolder, 'mine'));
    await expect(add(join(dataFolder, 'mine'), { via: 'dir' })).rejects.toThrow(
      /there is a pack photos of url already: --as/,
    );
    await expect(ownPack('dir', join(dataFolder, 'none'), {}, new Set())).rejects.toThrow(/expected a folder, got/);
    await expect(ownPack('url', join(dataFolder, 'Ä'), {}, new Set())).rejects.toThrow(
      /expected an address, or a list/,
    );
    await expect(ownPack('url', 'https://example.org/%%', {}, new Set())).rejects.toThrow(/--as: expected an id/);
    await expect(ownPack('url', 'https://example.org/coco.txt', {}, new Set(['coco']))).rejects.toThrow(
      /"coco" is a pack of shapemill's/,
    );
    await expect(add(await list(['/0.jpg']), { source: { resolution: '2k' } })).rejects.toThrow(
      '--resolution: photos takes --kind, --licence, --author',
    );
  });
});

describe('prunePack', () => {
  it('leaves alone what is no pack, and an unfinished add unless it is named', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'mine.jpg'), 'not of a pack');
    expect(await prunePack(folder, 'photos', true)).toEqual({ files: 0, bytes: 0, unfinished: false });
    await mkdir(join(folder, '.adding', 'downloads'), { recursive: true });
    await writeFile(join(folder, '.adding', 'downloads', 'a.zip'), 'archive');
    expect(await prunePack(folder, 'photos', false)).toEqual({ files: 0, bytes: 0, unfinished: true });
    expect(await readdir(folder)).toEqual(['.adding', 'mine.jpg']);
    expect(await prunePack(folder, 'photos', true)).toMatchObject({ unfinished: false });
    expect(await readdir(dirname(folder))).toEqual([]);
  });
});

describe('what a run gets of a pack', () => {
  it('is not what cannot be used: broken and flat meshes, near-duplicates', async () => {
    const cube = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n';
    server.files.set('/good.obj', cube);
    server.files.set('/flat.obj', 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n');
    server.files.set('/empty.obj', '# nothing\n');
    server.files.set('/broken.glb', 'glTF and no more');
    const { header } = await add(await list(['/good.obj', '/flat.obj', '/empty.obj', '/broken.glb']), {
      kind: 'meshes',
    });
    expect(header).toMatchObject({ files: 4, unusable: 3 });
    const found = new Map((await entries()).map(({ path, unusable }) => [path.slice('127.0.0.1/'.length), unusable]));
    expect(found.get('good.obj')).toBeUndefined();
    for (const name of ['flat.obj', 'empty.obj', 'broken.glb']) expect(found.get(name), name).toBeTypeOf('string');
    const lines: string[] = [];
    process.env.SHAPEMILL_DATA = dataFolder;
    try {
      const packs = (await listPacks()).filter(({ pack }) => pack.id === 'photos');
      for await (const line of attributionLines(packs)) lines.push(line);
      expect(lines).toHaveLength(2);
      const names = async (kind: RegExp, licences: string[] | null = null) => {
        const [source] = await resolveSources(['photos'], licences, {
          packs: 'meshes',
          files: kind,
          expects: 'meshes',
        });
        const files: string[] = [];
        for await (const { file } of source!.files()) files.push(file);
        return files;
      };
      expect(await names(/\.(obj|glb)$/)).toEqual(['127.0.0.1/good.obj']);
      expect(await names(/\.(obj|glb)$/, ['CC0-1.0'])).toEqual([]);
    } finally {
      delete process.env.SHAPEMILL_DATA;
    }
  });

  it('is one of several near-duplicates, and all of them when they are asked for', async () => {
    const original = await readFile('assets/starter/photos/chair.jpg');
    server.files.set('/a.jpg', original);
    server.files.set('/b.jpg', await sharp(original).resize(300).jpeg({ quality: 50 }).toBuffer());
    server.files.set('/c.jpg', await readFile('assets/starter/photos/goldfish.jpg'));
    server.files.set('/d.jpg', 'no photo');
    const from = await list(['/a.jpg', '/b.jpg', '/c.jpg', '/d.jpg']);
    expect((await add(from, { nearDuplicates: 6 })).header).toMatchObject({ files: 4, unusable: 2 });
    const marked = (await entries()).flatMap(({ path, unusable }) =>
      unusable ? [`${path.slice(10)}: ${unusable}`] : [],
    );
    expect(marked.sort()[marked.length - 1]).toMatch(/^d.jpg: cannot be decoded/);
    expect(marked.sort()[0]).toMatch(/^[ab]\.jpg: near-duplicate of http:.*\/[ab]\.jpg$/);
    server.asked.length = 0;
    expect((await add(from)).header).toMatchObject({ files: 4, unusable: 1 });
    expect(server.asked).toEqual([]);
  });
});
