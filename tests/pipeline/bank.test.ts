import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Bank,
  bankItemId,
  bankShardName,
  finalizeBank,
  itemSize,
  openBank,
  readItem,
  sameSource,
  shapeSourceOf,
} from '../../pipeline/bank.ts';
import { BANK_FORMS } from '../../pipeline/bank-kinds.ts';
import { bankResult, type NewItem } from '../../pipeline/bank-stage.ts';
import { DamagedFile } from '../../pipeline/faults.ts';
import type { BankItem } from '../../pipeline/shard-writer.ts';
import type { Split } from '../../pipeline/splits.ts';
import { TAR_END } from '../../pipeline/tar.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-bank-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const photo = (n: number) => (0xfedc_ba98_0000 + n).toString(16).padStart(16, '0');
type Kind = 'shapes' | 'textures';

function newItem(kind: Kind, n: number, rank: number, split: Split = 'train'): NewItem {
  const id = bankItemId(kind, photo(n), rank);
  return {
    id,
    files: { [BANK_FORMS[kind].fields[0]!]: Buffer.from(`image of ${id}`.repeat(n + 1)) },
    label: Buffer.from(JSON.stringify({ id, text: 'ü' })),
    facts: { source: photo(n), split, rank, width: 100 + n, height: 200 + rank },
  };
}

/** Writes shards as a stage does, and tells their items. */
async function writeShards(folder: string, kind: Kind, shards: NewItem[][]): Promise<[number, BankItem[]][]> {
  await mkdir(folder, { recursive: true });
  return Promise.all(
    shards.map(async (items, shard): Promise<[number, BankItem[]]> => {
      const result = bankResult(kind, items, { faults: [], counts: {} });
      await writeFile(join(folder, `${bankShardName(kind, shard)}.tar`), Buffer.concat([result.bytes, TAR_END]));
      return [shard, [...result.items!]];
    }),
  );
}

const ids = (bank: Bank) => Array.from({ length: bank.items }, (_, i) => itemSize(bank, i).id);

describe('a finished bank', () => {
  it('takes every photo’s best first, then in the order of shards and places, cut to the number asked for', async () => {
    const shards = await writeShards(join(scratch, 'order'), 'textures', [
      [newItem('textures', 1, 0), newItem('textures', 1, 1), newItem('textures', 1, 2), newItem('textures', 2, 0)],
      [],
      [newItem('textures', 3, 0), newItem('textures', 3, 1)],
    ]);
    const expected = [
      [1, 0],
      [2, 0],
      [3, 0],
      [1, 1],
      [3, 1],
    ].map(([n, rank]) => bankItemId('textures', photo(n!), rank!));
    const bank = await finalizeBank(join(scratch, 'order'), 'textures', 5, shards);
    expect(ids(bank)).toEqual(expected);
    expect(bank).toMatchObject({ items: 5, asked: 5 });
    const short = await finalizeBank(join(scratch, 'order'), 'textures', 50, shards);
    expect(short).toMatchObject({ items: 6, asked: 50 });
  });

  it('knows the items of each split, and where two come from the same photo', async () => {
    const shards = await writeShards(join(scratch, 'splits'), 'shapes', [
      [newItem('shapes', 1, 0), newItem('shapes', 2, 0, 'test'), newItem('shapes', 3, 0, 'val')],
      [newItem('shapes', 1, 1), newItem('shapes', 4, 1)],
    ]);
    const bank = await finalizeBank(join(scratch, 'splits'), 'shapes', 9, shards);
    expect(bank.splits).toEqual({ train: 3, val: 1, test: 1 });
    expect([...bank.bySplit.train]).toEqual([0, 3, 4]);
    expect([...bank.bySplit.val]).toEqual([2]);
    expect([...bank.bySplit.test]).toEqual([1]);
    expect(sameSource(bank, 0, 3)).toBe(true);
    expect(sameSource(bank, 0, 4)).toBe(false);
  });

  it.each(['shapes', 'textures'] as const)(
    'is the same when it is opened again, and gives image and label: %s',
    async kind => {
      const folder = join(scratch, `again-${kind}`);
      const made = [newItem(kind, 1, 0), newItem(kind, 65_000, 3, 'val'), newItem(kind, 7, 240, 'test')];
      const bank = await finalizeBank(
        folder,
        kind,
        9,
        await writeShards(folder, kind, [made.slice(0, 2), made.slice(2)]),
      );
      const again = await openBank(folder);
      expect(again).toEqual(bank);
      for (const [i, { id, files, label, facts }] of made.entries()) {
        expect(itemSize(again!, i)).toEqual({ id, width: facts.width, height: facts.height });
        const item = await readItem(again!, i);
        expect(item.image.equals(Object.values(files)[0]!)).toBe(true);
        expect(item.label).toEqual(JSON.parse(label.toString()));
      }
    },
  );

  it('gives no item of which a single byte has changed', async () => {
    const folder = join(scratch, 'changed');
    const bank = await finalizeBank(
      folder,
      'shapes',
      1,
      await writeShards(folder, 'shapes', [[newItem('shapes', 1, 0)]]),
    );
    const { imageBlock, imageBytes, labelBlock, labelBytes } = bank.columns;
    const tar = join(folder, `${bankShardName('shapes', 0)}.tar`);
    const bytes = await readFile(tar);
    for (const at of [
      imageBlock[0]! * 512,
      imageBlock[0]! * 512 + imageBytes[0]! - 1,
      // A letter of the label: still JSON.
      labelBlock[0]! * 512 + 8,
      labelBlock[0]! * 512 + labelBytes[0]! - 1,
    ]) {
      await writeFile(
        tar,
        bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)),
      );
      await expect(readItem(bank, 0)).rejects.toThrow(DamagedFile);
      await expect(readItem(bank, 0)).rejects.toThrow(tar);
    }
    await writeFile(tar, bytes);
    expect((await readItem(bank, 0)).label).toMatchObject({ text: 'ü' });
  });

  it('remembers where shapes come from', async () => {
    const items = (['natural', 'semantic', 'projection'] as const).map((kind, n) => {
      const item = newItem('shapes', n, 0, 'test');
      return { ...item, facts: { ...item.facts, kind } };
    });
    const folder = join(scratch, 'kinds');
    const bank = await finalizeBank(folder, 'shapes', 9, await writeShards(folder, 'shapes', [items]));
    expect([0, 1, 2].map(i => shapeSourceOf(bank, i))).toEqual(['natural', 'semantic', 'projection']);
    expect([...bank.bySplit.test]).toEqual([0, 1, 2]);
  });

  it('costs at most 64 bytes an item, shared with the workers', async () => {
    const items = Array.from({ length: 50 }, (_, n) => newItem('shapes', n, 0));
    const folder = join(scratch, 'size');
    const bank = await finalizeBank(folder, 'shapes', 50, await writeShards(folder, 'shapes', [items]));
    expect((await readFile(join(folder, 'index.bin'))).length).toBeLessThanOrEqual(64 * 50);
    for (const column of Object.values(bank.columns)) expect(column.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it('of nothing is a bank of nothing', async () => {
    const bank = await finalizeBank(join(scratch, 'nothing'), 'shapes', 4, []);
    expect(bank).toMatchObject({ items: 0, splits: { train: 0, val: 0, test: 0 } });
    expect(await openBank(join(scratch, 'nothing'))).toEqual(bank);
  });

  it('is none without an index', async () => {
    expect(await openBank(join(scratch, 'nowhere'))).toBeUndefined();
  });

  it('has another digest when an item is another', async () => {
    const folder = join(scratch, 'digest');
    const shards = await writeShards(folder, 'shapes', [[newItem('shapes', 1, 0), newItem('shapes', 2, 0)]]);
    const { digest } = await finalizeBank(folder, 'shapes', 2, shards);
    expect((await finalizeBank(folder, 'shapes', 2, shards)).digest).toBe(digest);
    expect((await finalizeBank(folder, 'shapes', 1, shards)).digest).not.toBe(digest);
  });
});
