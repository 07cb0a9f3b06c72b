import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSidecar as readSidecarOf, ShardWriter, writeDurably } from '../../pipeline/shard-writer.ts';
import { encodeTar, TAR_END } from '../../pipeline/tar.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-shards-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const facts = { stage: 'shapes2d', shard: 3, samples: 2, seconds: 0.5, faults: [], counts: { looks: 2 } };
const readSidecar = (path: string) => readSidecarOf(path, facts.stage, facts.shard);
const pieces = [1, 2].map(i => encodeTar([{ name: `k${i}.txt`, data: Buffer.alloc(700, i) }]).bytes);

describe('a shard', () => {
  it('has no name before it is finished, and then a sidecar with its size and sha256', async () => {
    const folder = join(scratch, 'new', 'folder');
    const path = join(folder, 'shard-000003');
    const writer = await ShardWriter.create(path);
    for (const piece of pieces) await writer.append(piece);
    expect(writer.bytes).toBe(2 * 3 * 512);
    expect(await readdir(folder)).toEqual(['shard-000003.tar.partial']);
    expect(await readSidecar(path)).toBeUndefined();

    const sidecar = await writer.finish(facts);
    expect((await readdir(folder)).sort()).toEqual(['shard-000003.json', 'shard-000003.tar']);
    const bytes = await readFile(`${path}.tar`);
    expect(bytes.equals(Buffer.concat([...pieces, TAR_END]))).toBe(true);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(sidecar).toEqual({ ...facts, bytes: bytes.length, sha256 });
    expect(await readSidecar(path)).toEqual(sidecar);
  });

  it('that is given up leaves nothing', async () => {
    const folder = join(scratch, 'given-up');
    const writer = await ShardWriter.create(join(folder, 'shard-000000'));
    await writer.append(pieces[0]!);
    await writer.abandon();
    expect(await readdir(folder)).toEqual([]);
  });

  it('with facts that are no sidecar gets no name', async () => {
    const path = join(scratch, 'wrong', 'shard-000000');
    const writer = await ShardWriter.create(path);
    await expect(writer.finish({ ...facts, samples: -1 })).rejects.toThrow();
    await writer.abandon();
    expect(await readSidecar(path)).toBeUndefined();
    expect(await readdir(join(scratch, 'wrong'))).toEqual([]);
  });

  it('gets its name after its sidecar has got one', async () => {
    const path = join(scratch, 'order', 'shard-000000');
    // A sidecar cannot be written where a folder is in the way.
    await mkdir(`${path}.json`, { recursive: true });
    const writer = await ShardWriter.create(path);
    await writer.append(pieces[0]!);
    await expect(writer.finish(facts)).rejects.toThrow();
    expect(await readdir(join(scratch, 'order'))).not.toContain('shard-000000.tar');
  });

  it('is not finished when only its sidecar or a partial tar is there', async () => {
    const path = join(scratch, 'partial');
    await writeFile(`${path}.json`, JSON.stringify({ ...facts, bytes: 0, sha256: '0'.repeat(64) }));
    await writeFile(`${path}.tar.partial`, 'half');
    expect(await readSidecar(path)).toBeUndefined();
  });

  it('starts anew over what a killed process left', async () => {
    const path = join(scratch, 'again');
    await writeFile(`${path}.tar.partial`, Buffer.alloc(99_999, 1));
    const writer = await ShardWriter.create(path);
    await writer.append(pieces[0]!);
    await writer.finish(facts);
    expect((await readFile(`${path}.tar`)).equals(Buffer.concat([pieces[0]!, TAR_END]))).toBe(true);
  });
});

describe('writeDurably', () => {
  it('makes folders, replaces what was there, and leaves no partial file', async () => {
    const path = join(scratch, 'deep', 'down', 'facts.json');
    await writeDurably(path, 'first, and longer');
    await writeDurably(path, 'second');
    expect(await readFile(path, 'utf8')).toBe('second');
    expect(await readdir(join(scratch, 'deep', 'down'))).toEqual(['facts.json']);
  });

  it('leaves the old file when the new one cannot be written', async () => {
    const folder = join(scratch, 'kept');
    await mkdir(folder);
    await writeDurably(join(folder, 'facts.json'), 'old');
    await expect(writeDurably(join(folder, 'facts.json'), {} as never)).rejects.toThrow();
    expect(await readFile(join(folder, 'facts.json'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['facts.json']);
  });
});
