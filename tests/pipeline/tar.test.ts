import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { afterAll, describe, expect, it } from 'vitest';
import { decodeTar, encodeTar, readTar, readTarFiles, TAR_END, type TarFile } from '../../pipeline/tar.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-tar-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Sizes about a block's border, and one that octal needs many digits for. */
const SIZES = [0, 1, 511, 512, 513, 1024, 300_000];
const FILES: TarFile[] = SIZES.map((size, i) => ({
  name: i === 0 ? 'k'.repeat(96).concat('.jpg') : `shapes2d-00000${i}-0.mask.png`,
  data: Uint8Array.from({ length: size }, (_, at) => (at * 31 + i) & 255),
}));

const whole = (files: readonly TarFile[]) => Buffer.concat([encodeTar(files).bytes, TAR_END]);

async function readByTarStream(tar: Buffer): Promise<{ header: Header; data: Buffer }[]> {
  const entries: { header: Header; data: Buffer }[] = [];
  const extraction = extract();
  extraction.on('entry', async (header, stream, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    entries.push({ header, data: Buffer.concat(chunks) });
    next();
  });
  await finished(Readable.from([tar]).pipe(extraction));
  return entries;
}

describe('encodeTar', () => {
  it('is read back by tar-stream: names, data, and fixed time, mode and owner', async () => {
    const entries = await readByTarStream(whole(FILES));
    expect(entries.map(({ header }) => header.name)).toEqual(FILES.map(({ name }) => name));
    for (const [i, { header, data }] of entries.entries()) {
      expect(data.equals(FILES[i]!.data)).toBe(true);
      expect(header).toMatchObject({ type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), pax: null });
    }
  });

  it('is read back by the tar of the system', async () => {
    const path = join(scratch, 'whole.tar');
    await writeFile(path, whole(FILES));
    execFileSync('tar', ['-xf', path, '-C', scratch]);
    for (const { name, data } of FILES) expect((await readFile(join(scratch, name))).equals(data)).toBe(true);
  });

  it('lays pieces out so that they can be put together', () => {
    const pieces = Buffer.concat([encodeTar(FILES.slice(0, 3)).bytes, encodeTar(FILES.slice(3)).bytes]);
    expect(pieces.equals(encodeTar(FILES).bytes)).toBe(true);
  });

  it('tells where the data of each file starts', () => {
    const { bytes, offsets } = encodeTar(FILES);
    for (const [i, { data }] of FILES.entries()) {
      expect(Buffer.compare(bytes.subarray(offsets[i], offsets[i]! + data.length), data)).toBe(0);
    }
  });

  it.each(['', 'k'.repeat(101), 'sp ace.jpg', 'ü.jpg', 'new\nline.jpg'])('refuses the name %j', name => {
    expect(() => encodeTar([{ name, data: new Uint8Array(1) }])).toThrow('expected a tar member name');
  });
});

describe('readTar', () => {
  const members = async (path: string) => {
    const found = [];
    for await (const member of readTar(path)) found.push(member);
    return found;
  };

  it('finds names, places and sizes', async () => {
    const path = join(scratch, 'members.tar');
    await writeFile(path, whole(FILES));
    const { offsets } = encodeTar(FILES);
    const expected = FILES.map(({ name, data }, i) => ({ name, offset: offsets[i], size: data.length }));
    expect(await members(path)).toEqual(expected);
  });

  it.each([
    ['is cut off in a header', (tar: Buffer) => tar.subarray(0, 700)],
    ['is cut off before its end', (tar: Buffer) => tar.subarray(0, -TAR_END.length)],
    ['is no tar', () => Buffer.alloc(2048, 'x')],
  ])('refuses a file that %s', async (what, spoil) => {
    const path = join(scratch, `${what}.tar`);
    await writeFile(path, spoil(whole(FILES)));
    await expect(members(path)).rejects.toThrow('the shard is damaged');
  });
});

describe('decodeTar', () => {
  const bytes = Buffer.from(encodeTar(FILES).bytes);

  it('gives back what was laid out', () => {
    const files = decodeTar(bytes, 'test');
    expect(files.map(({ name }) => name)).toEqual(FILES.map(({ name }) => name));
    for (const [i, { data }] of files.entries()) expect(Buffer.compare(data, FILES[i]!.data)).toBe(0);
    expect(decodeTar(Buffer.alloc(0), 'test')).toEqual([]);
  });

  it.each([
    ['ends within a header', bytes.subarray(0, 300)],
    ['ends within a file', bytes.subarray(0, bytes.length - 1024)],
    ['does not begin with a header', bytes.subarray(1)],
  ])('refuses a piece that %s', (_, piece) => {
    expect(() => decodeTar(piece, 'shard.tar')).toThrow(/shard\.tar.*damaged/);
  });
});

describe('readTarFiles', () => {
  const collect = async (path: string) => {
    const files: TarFile[] = [];
    for await (const batch of readTarFiles(path)) files.push(...batch);
    return files;
  };
  const written = async (name: string, bytes: Uint8Array) => {
    await writeFile(join(scratch, name), bytes);
    return join(scratch, name);
  };

  it('reads files of all sizes, also ones that are larger than what is read at a time', async () => {
    const large = [5 << 20, 1, (4 << 20) - 1024, 4 << 20, 9 << 20, 600].map((size, i) => ({
      name: `large-${i}.bin`,
      data: Buffer.alloc(size, i + 1),
    }));
    for (const files of [FILES, [...FILES, ...large, ...FILES], [...large].reverse()]) {
      const read = await collect(await written('read.tar', whole(files)));
      expect(read.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
      for (const [i, { data }] of read.entries()) expect(Buffer.from(files[i]!.data).equals(data)).toBe(true);
    }
  });

  it('reads many files, and none', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `${i}.txt`, data: Buffer.from(String(i)) }));
    const read = await collect(await written('many.tar', whole(many)));
    expect(read.map(({ name, data }) => [name, Buffer.from(data).toString()])).toEqual(
      many.map(({ name, data }) => [name, data.toString()]),
    );
    expect(await collect(await written('none.tar', whole([])))).toEqual([]);
  });

  it.each([
    ['cut within a header', 512 * 3 + 100],
    ['cut within a file', 512 * 7],
    ['cut at a border, without its end', 512 * 2],
    ['an empty file', 0],
  ])('refuses a tar that is damaged: %s', async (_, length) => {
    const path = await written('cut.tar', whole(FILES.slice(1)).subarray(0, length));
    await expect(collect(path)).rejects.toThrow(/expected a whole tar entry at byte \d+; the shard is damaged/);
  });

  it('refuses what is no tar', async () => {
    await expect(collect(await written('text.tar', Buffer.alloc(9000, 'x')))).rejects.toThrow('at byte 0');
  });

  it('may be left early', async () => {
    const path = await written('early.tar', whole([{ name: 'a', data: Buffer.alloc(9 << 20) }, ...FILES]));
    for await (const [first] of readTarFiles(path)) {
      expect(first!.name).toBe('a');
      break;
    }
  });
});
