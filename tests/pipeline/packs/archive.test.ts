import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DamagedFile } from '../../../pipeline/faults.ts';
import { isArchiveName, readArchive } from '../../../pipeline/packs/archive.ts';
import { smallZip } from './small-zip.ts';

const hello = Buffer.from('hello hello hello hello');
const large = Buffer.alloc(200_000, 'abc');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-archive-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Entry = { name: string; data?: Buffer; type?: 'symlink' | 'link' | 'directory' | 'fifo' | 'character-device' };

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const pack = tar.pack();
  for (const { name, data, type } of entries) {
    if (data) pack.entry({ name }, data);
    else pack.entry({ name, type: type!, linkname: '/etc/passwd' });
  }
  pack.finalize();
  return buffer(pack);
}

/** What an archive under a name holds: names and bytes of its files. */
async function unpacked(name: string, archive: Buffer): Promise<[string, Buffer][]> {
  await writeFile(join(folder, name), archive);
  const files: [string, Buffer][] = [];
  for await (const { member, bytes, contents } of readArchive(join(folder, name))) {
    const data = await buffer(contents());
    expect(data.length).toBe(bytes);
    files.push([member, data]);
  }
  return files;
}

const FILES: Entry[] = [
  { name: './', type: 'directory' },
  { name: './sub/a.jpg', data: hello },
  { name: 'link', type: 'symlink' },
  { name: 'hard', type: 'link' },
  { name: 'device', type: 'character-device' },
  { name: 'pipe', type: 'fifo' },
  { name: 'b.bin', data: large },
  { name: 'empty', data: Buffer.alloc(0) },
];

describe('readArchive', () => {
  it.each(['a.tar', 'a.tar.gz', 'a.tgz'])(
    'reads the files of %s and passes over folders, links and devices',
    async name => {
      const bytes = await tarOf(FILES);
      const files = await unpacked(name, name === 'a.tar' ? bytes : gzipSync(bytes));
      expect(files.map(([member]) => member)).toEqual(['sub/a.jpg', 'b.bin', 'empty']);
      expect(files.map(([, data]) => data.length)).toEqual([hello.length, large.length, 0]);
      expect(files[1]![1].equals(large)).toBe(true);
    },
  );

  it('reads the files of a zip, stored and deflated, and passes over folders and links', async () => {
    const zip = smallZip([
      { path: 'folder/', bytes: Buffer.alloc(0), stored: true },
      { path: 'folder/a.obj', bytes: hello },
      { path: 'link', bytes: Buffer.from('/etc/passwd'), mode: 0o120777 },
      { path: 'b.txt', bytes: large, stored: true },
      { path: 'empty', bytes: Buffer.alloc(0) },
    ]);
    const files = await unpacked('a.zip', zip);
    expect(files.map(([member]) => member)).toEqual(['folder/a.obj', 'b.txt', 'empty']);
    expect(files.map(([, data]) => data.toString())).toEqual([hello.toString(), large.toString(), '']);
  });

  it('may be left early, and members may be passed over', async () => {
    const path = join(folder, 'early.tar');
    await writeFile(path, await tarOf([...FILES, { name: 'last', data: hello }]));
    for await (const { member } of readArchive(path)) if (member === 'b.bin') break;
    let last = '';
    for await (const { member, contents } of readArchive(path)) {
      if (member === 'last') last = (await buffer(contents())).toString();
    }
    expect(last).toBe(hello.toString());
  });

  it.each(['../a', '/a', 'a/../../b', '..', 'a\\..\\..\\b', 'C:\\a', 'a//b'])(
    'refuses an archive with the path %s',
    async path => {
      const outside = /refused, since it would write outside its folder|relative path|absolute path/;
      for (const [name, bytes] of [
        ['x.zip', smallZip([{ path, bytes: hello }])],
        ['x.tar', await tarOf([{ name: path, data: hello }])],
      ] as const) {
        const error = await unpacked(name, bytes).catch(thrown => thrown);
        expect(error).toBeInstanceOf(DamagedFile);
        expect(error.message).toMatch(outside);
      }
    },
  );

  it('says of truncated and broken archives that they are', async () => {
    const bytes = await tarOf(FILES);
    const zip = smallZip([{ path: 'a', bytes: large, stored: true }]);
    const flipped = Buffer.from(zip);
    flipped[100]! ^= 1;
    for (const [name, broken, message] of [
      ['t.tar', bytes.subarray(0, bytes.length / 2), /truncated or broken/],
      ['t.tar.gz', gzipSync(bytes).subarray(0, 200), /truncated or broken/],
      ['n.tar', Buffer.alloc(2000, 'no archive'), /truncated or broken/],
      ['n.tar.gz', Buffer.from('no archive'), /truncated or broken/],
      ['t.zip', zip.subarray(0, zip.length - 30), /truncated or broken/],
      ['n.zip', Buffer.from('no archive'), /truncated or broken/],
      ['f.zip', flipped, /the checksum of a is wrong/],
    ] as const) {
      const error = await unpacked(name, broken).catch(thrown => thrown);
      expect(error, name).toBeInstanceOf(DamagedFile);
      expect(error.message, name).toMatch(message);
    }
  });

  it('refuses a tar with a file that is stored with holes', async () => {
    const pack = tar.pack();
    pack.entry({ name: 'sparse.jpg', pax: { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0' } }, '1\n0\n5\nhello');
    pack.finalize();
    await expect(unpacked('sparse.tar', await buffer(pack))).rejects.toThrow(/"sparse.jpg" is stored with holes/);
  });

  it('leaves errors of the system what they are', async () => {
    await expect(readArchive(join(folder, 'none.zip')).next()).rejects.toThrow(/ENOENT/);
    await expect(readArchive(join(folder, 'none.tar')).next()).rejects.toThrow(/ENOENT/);
  });
});

it('knows archives by their names', () => {
  expect(['a.zip', 'a.TAR', 'b.tar.gz', 'b.tgz'].every(isArchiveName)).toBe(true);
  expect(['a.gz', 'tar', 'a.zip.txt'].some(isArchiveName)).toBe(false);
});
