import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Bank,
  bankItemId,
  bankShardName,
  finalizeBank,
  itemSize,
  itemsOf,
  joinBanks,
  openBank,
  readItem,
  readLabel,
  readRange,
  sameSource,
  shapeSourceOf,
  sourcesIn,
} from '../../pipeline/bank.ts';
import { BANK_FORMS } from '../../pipeline/bank-kinds.ts';
import { bankResult, type NewItem } from '../../pipeline/bank-stage.ts';
import { DamagedFile } from '../../pipeline/faults.ts';
import type { BankItem } from '../../pipeline/shard-writer.ts';
import { SPLITS, type Split } from '../../pipeline/splits.ts';
import { TAR_END } from '../../pipeline/tar.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-bank-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

const photo = (n: number) => (0xfedc_ba98_0000 + n).toString(16).padStart(16, '0');
type Kind = 'shapes' | 'semantic-shapes' | 'projected-shapes' | 'textures';

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

describe('banks of shapes of several sources, joined', () => {
  const SOURCES = { shapes: 'natural', 'semantic-shapes': 'semantic', 'projected-shapes': 'projection' } as const;

  async function made(name: string, kind: keyof typeof SOURCES, items: readonly (readonly [number, Split])[]) {
    const folder = join(scratch, 'joined', name);
    const shard = items.map(([n, split]) => {
      const item = newItem(kind, n, 0, split);
      return { ...item, facts: { ...item.facts, kind: SOURCES[kind] } };
    });
    return finalizeBank(folder, kind, null, await writeShards(folder, kind, [shard.slice(0, 1), shard.slice(1)]));
  }

  const three = async () => [
    await made('n', 'shapes', [
      [1, 'train'],
      [2, 'test'],
      [3, 'train'],
    ]),
    // The same picture as one of the photos.
    await made('s', 'semantic-shapes', [
      [2, 'test'],
      [70, 'train'],
    ]),
    await made('p', 'projected-shapes', [
      [900, 'val'],
      [901, 'train'],
    ]),
  ];

  it('are one, in their order, with the items of each where they lie', async () => {
    const banks = await three();
    const bank = joinBanks('shapes', banks);
    expect(bank).toMatchObject({ kind: 'shapes', items: 7, asked: null, splits: { train: 4, val: 1, test: 2 } });
    expect(ids(bank)).toEqual(banks.flatMap(ids));
    let at = 0;
    for (const part of banks) {
      for (let i = 0; i < part.items; i++, at++) {
        expect(itemSize(bank, at)).toEqual(itemSize(part, i));
        expect(await readItem(bank, at)).toEqual(await readItem(part, i));
        expect(await readLabel(bank, at)).toEqual(await readLabel(part, i));
        expect(shapeSourceOf(bank, at)).toBe(shapeSourceOf(part, i));
      }
    }
    expect([sameSource(bank, 1, 3), sameSource(bank, 0, 3)]).toEqual([true, false]);
  });

  it('tell the items of each split and source', async () => {
    const bank = joinBanks('shapes', await three());
    const numbers = (split: Split, source?: Parameters<typeof itemsOf>[2]) => [...itemsOf(bank, split, source)];
    expect(SPLITS.map(split => numbers(split))).toEqual([[0, 2, 4, 6], [5], [1, 3]]);
    expect(SPLITS.map(split => numbers(split, 'natural'))).toEqual([[0, 2], [], [1]]);
    expect(SPLITS.map(split => numbers(split, 'semantic'))).toEqual([[4], [], [3]]);
    expect(SPLITS.map(split => numbers(split, 'projection'))).toEqual([[6], [5], []]);
    expect(sourcesIn(bank)).toEqual(['natural', 'semantic', 'projection']);
  });

  it('may be joined in any order, and with banks of nothing', async () => {
    const [natural, semantic, projected] = await three();
    const nothing = await made('0', 'semantic-shapes', []);
    const bank = joinBanks('shapes', [projected!, nothing, joinBanks('shapes', [semantic!, natural!]), nothing]);
    expect(ids(bank)).toEqual([projected!, semantic!, natural!].flatMap(ids));
    expect((await readItem(bank, 6)).label).toEqual((await readItem(natural!, 2)).label);
    // By source, whatever their order in the bank.
    expect([...bank.bySplit.train]).toEqual([4, 6, 3, 1]);
    expect([...itemsOf(bank, 'train', 'natural')]).toEqual([4, 6]);
    expect(joinBanks('shapes', [])).toMatchObject({ items: 0, splits: { train: 0, val: 0, test: 0 } });
  });

  it('are plain data over shared memory, and one alone is not copied', async () => {
    const [natural, semantic] = await three();
    const bank = joinBanks('shapes', [natural!, semantic!]);
    for (const column of Object.values(bank.columns)) expect(column.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(structuredClone(bank)).toEqual(bank);
    const alone = joinBanks('shapes', [semantic!]);
    expect(alone).toEqual({ ...semantic, kind: 'shapes' });
    expect(alone.columns).toBe(semantic!.columns);
    expect(ids(alone)).toEqual(ids(semantic!));
    expect((await readItem(alone, 0)).label).toEqual((await readItem(semantic!, 0)).label);
  });
});

describe.skipIf(process.platform !== 'linux')('tars that are read from', () => {
  it('are not all kept open, whatever is read at the same time', async () => {
    const folder = join(scratch, 'many');
    await mkdir(folder);
    const paths = Array.from({ length: 200 }, (_, i) => join(folder, `${i}.tar`));
    await Promise.all(paths.map(path => writeFile(path, path)));
    // Two and more readers of the same file, and of so many files that the oldest are closed on the way.
    const read = (path: string) => readRange(path, 0, path.length);
    for (const lap of [paths, [...paths].reverse(), paths]) {
      const bytes = await Promise.all(lap.flatMap(path => [read(path), read(path)]));
      expect(bytes.map(String)).toEqual(lap.flatMap(path => [path, path]));
    }
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(open.filter(path => path.startsWith(folder)).length).toBeLessThanOrEqual(64);
  });
});
