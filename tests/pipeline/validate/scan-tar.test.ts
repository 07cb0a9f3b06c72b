import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeTar, TAR_END } from '../../../pipeline/tar.ts';
import { TarScan } from '../../../pipeline/validate/scan-tar.ts';
import { sha256 } from '../../runs/command.ts';
import { writeTar } from '../../runs/rewrite-shard.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-scan-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));
const path = join(scratch, 'a.tar');

/** Files around the size of a chunk, and an empty one. */
const FILES = [3, 0, 512, 1_500_000, (1 << 20) - 512, 700].map((length, i) => ({
  name: `key-${i}.bin`,
  data: Buffer.alloc(length, i + 1),
}));
const OURS = Buffer.concat([encodeTar(FILES).bytes, TAR_END]);

async function scanned(bytes: Uint8Array) {
  await writeFile(path, bytes);
  const scan = new TarScan(path);
  const names: string[] = [];
  for await (const { name, data } of scan.members()) {
    names.push(name);
    expect(data.equals(FILES.find(file => file.name === name)!.data)).toBe(true);
  }
  return { names, ...scan.result };
}

describe('a tar', () => {
  it('is read whole, with its checksum, whoever wrote it', async () => {
    const names = FILES.map(({ name }) => name);
    expect(await scanned(OURS)).toEqual({ names, bytes: OURS.length, sha256: sha256(OURS), damage: undefined });
    await writeTar(path, FILES);
    const scan = new TarScan(path);
    const found: string[] = [];
    for await (const { name } of scan.members()) found.push(name);
    expect([found, scan.result.damage]).toEqual([names, undefined]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(0), /cut off/],
    ['its first half', OURS.subarray(0, OURS.length >> 1), /cut off within the entry at byte \d+/],
    ['without its end', OURS.subarray(0, OURS.length - 1024), /cut off/],
    ['with half of its end', OURS.subarray(0, OURS.length - 512), /does not end in two blocks of zeros/],
    ['with more behind it', Buffer.concat([OURS, Buffer.from('more')]), /something behind its end/],
    ['with another name in a header', OURS.map((byte, i) => (i === 2 ? byte ^ 1 : byte)), /byte 0: the checksum/],
    ['no tar', Buffer.alloc(5000, 7), /byte 0: expected a USTAR header/],
  ])('is no whole one: %s', async (_, bytes, damage) => {
    const result = await scanned(bytes);
    expect(result.damage).toMatch(damage);
    expect([result.bytes, result.sha256]).toEqual([bytes.length, sha256(bytes)]);
  });
});
