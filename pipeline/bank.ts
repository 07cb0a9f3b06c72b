import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { SHAPE_SOURCES, type ShapeSource } from '../scenes/conditions.ts';
import type { ItemSize } from '../scenes/scene2d.ts';
import { BANK_FORMS, BANK_KINDS, type BankKind } from './bank-kinds.ts';
import { DamagedFile, unlessMissing } from './faults.ts';
import { sha256Of } from './sha256.ts';
import { type BankItem, jsonFrom, writeDurably } from './shard-writer.ts';
import { SPLITS, type Split } from './splits.ts';

/** The columns of a bank index and the element type of each: 47 bytes an item. */
const COLUMNS = {
  shard: Uint32Array,
  /** Where image and label start in their shard's tar, in blocks of 512 bytes, and their lengths in bytes. */
  imageBlock: Uint32Array,
  imageBytes: Uint32Array,
  labelBlock: Uint32Array,
  labelBytes: Uint32Array,
  /** The 64 bits that the id starts with, and the 64 of the source (photo) it was cut from. */
  idHigh: Uint32Array,
  idLow: Uint32Array,
  sourceHigh: Uint32Array,
  sourceLow: Uint32Array,
  /** CRC-32 of image and label. */
  crc: Uint32Array,
  rank: Uint16Array,
  width: Uint16Array,
  height: Uint16Array,
  /** Index into SPLITS in the low two bits, into SHAPE_SOURCES above. */
  flags: Uint8Array,
} as const;
type ColumnName = keyof typeof COLUMNS;
type Columns = { readonly [K in ColumnName]: InstanceType<(typeof COLUMNS)[K]> };

const bankFacts = z.strictObject({
  kind: z.enum(BANK_KINDS),
  items: z.int().min(0),
  asked: z
    .int()
    .min(0)
    .nullable()
    .describe('items asked for; null: all there are. Fewer were found when `items` is smaller'),
  splits: z.record(z.enum(SPLITS), z.int()),
  digest: z.string().describe('sha256 of index.bin'),
});
export type BankFacts = z.infer<typeof bankFacts>;

/**
 * A finished bank: the items that scenes draw from, as typed columns over shared memory, so that 350,000 items cost
 * 15 MB however many workers look at them. Plain data: it can be posted to a worker as it is.
 */
export interface Bank extends BankFacts {
  /** Where the items lie: in one folder, those of joined banks in one after the other. */
  readonly parts: readonly BankPart[];
  readonly columns: Columns;
  /** Item numbers of each split: by the source of the shapes, in the order of SHAPE_SOURCES, then in bank order. */
  readonly bySplit: Readonly<Record<Split, Uint32Array>>;
}

/** The items from `first` on, up to the next part's, and the folder that has their shards. */
interface BankPart {
  readonly folder: string;
  readonly kind: BankKind;
  readonly first: number;
}

/** Id of a bank item: the id of the photo (or file) it comes from, and which of that photo's items it is. */
export function bankItemId(kind: BankKind, photo: string, rank: number): string {
  return `${photo}-${BANK_FORMS[kind].letter}${rank}`;
}

/** Path of a bank shard within its bank's folder, without extension. */
export function bankShardName(kind: BankKind, shard: number): string {
  return `${kind}-${String(shard).padStart(6, '0')}`;
}

/**
 * Finishes a bank: orders the items of its shards by rank, then shard, then place, cuts to the number asked for, and
 * writes the index. A function of the shards alone, so that several processes may do it at once.
 * @param shards the items of each shard, in shard order.
 */
export async function finalizeBank(
  folder: string,
  kind: BankKind,
  asked: number | null,
  shards: Iterable<readonly [shard: number, items: readonly BankItem[]]>,
): Promise<Bank> {
  const all: [number, BankItem][] = [];
  for (const [shard, items] of shards) for (const item of items) all.push([shard, item]);
  // Array.prototype.sort is stable: within a rank the order of shards and places stays.
  all.sort(([, a], [, b]) => a.rank - b.rank);
  const kept = asked === null ? all : all.slice(0, asked);
  const columns = makeColumns(new SharedArrayBuffer(columnBytes(kept.length)), kept.length);
  for (const [i, [shard, item]] of kept.entries()) setItem(columns, i, shard, item);
  const bytes = new Uint8Array(columns.shard.buffer);
  const splits = { train: 0, val: 0, test: 0 };
  for (const [, { split }] of kept) splits[split]++;
  const digest = sha256Of(bytes);
  const facts: BankFacts = { kind, items: kept.length, asked, splits, digest };
  await writeDurably(join(folder, 'index.bin'), bytes);
  await writeDurably(join(folder, 'index.json'), JSON.stringify(facts));
  return bankOf([{ folder, kind, first: 0 }], facts, columns);
}

/** Opens a finished bank; undefined while it has no index. @throws DamagedFile when the index's two files do not fit. */
export async function openBank(folder: string): Promise<Bank | undefined> {
  const text = await readFile(join(folder, 'index.json'), 'utf8').catch(unlessMissing);
  if (text === undefined) return undefined;
  const facts = bankFacts.safeParse(jsonFrom(text)).data;
  const bytes = await readFile(join(folder, 'index.bin')).catch(unlessMissing);
  if (!facts || bytes?.length !== columnBytes(facts.items) || sha256Of(bytes) !== facts.digest) {
    throw new DamagedFile(`${join(folder, 'index.json')}: the bank's index was changed; run the bank's stage again`);
  }
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return bankOf([{ folder, kind: facts.kind, first: 0 }], facts, makeColumns(buffer, facts.items));
}

/** One bank of the items of several, in their order; a bank alone is not copied. @param kind what its readers call it. */
export function joinBanks(kind: BankKind, banks: readonly Bank[]): Bank {
  if (banks.length === 1) return { ...banks[0]!, kind };
  const items = banks.reduce((sum, bank) => sum + bank.items, 0);
  const columns = makeColumns(new SharedArrayBuffer(columnBytes(items)), items);
  const splits = { train: 0, val: 0, test: 0 };
  const parts: BankPart[] = [];
  let first = 0;
  for (const bank of banks) {
    for (const name of Object.keys(COLUMNS) as ColumnName[]) columns[name].set(bank.columns[name], first);
    for (const split of SPLITS) splits[split] += bank.splits[split];
    for (const part of bank.parts) parts.push({ ...part, first: first + part.first });
    first += bank.items;
  }
  const digest = sha256Of(new Uint8Array(columns.shard.buffer));
  return bankOf(parts, { kind, items, asked: null, splits, digest }, columns);
}

function bankOf(parts: readonly BankPart[], facts: BankFacts, columns: Columns): Bank {
  const numbers = (split: number) => {
    const list: number[] = [];
    for (let source = 0; source < SHAPE_SOURCES.length; source++) {
      for (let i = 0; i < facts.items; i++) if (columns.flags[i] === flagsOf(split, source)) list.push(i);
    }
    const shared = new Uint32Array(new SharedArrayBuffer(list.length * 4));
    shared.set(list);
    return shared;
  };
  return { ...facts, parts, columns, bySplit: { train: numbers(0), val: numbers(1), test: numbers(2) } };
}

function columnBytes(items: number): number {
  return Object.values(COLUMNS).reduce((sum, type) => sum + type.BYTES_PER_ELEMENT, 0) * items;
}

/** Lays the columns over one buffer; the widest elements come first, so that each column is aligned. */
function makeColumns(buffer: SharedArrayBuffer, items: number): Columns {
  let at = 0;
  const columns = Object.entries(COLUMNS).map(([name, Type]) => {
    const column = new (Type as new (buffer: SharedArrayBuffer, at: number, length: number) => Columns[ColumnName])(
      buffer,
      at,
      items,
    );
    at += column.byteLength;
    return [name, column];
  });
  return Object.fromEntries(columns) as Columns;
}

function setItem(columns: Columns, i: number, shard: number, item: BankItem): void {
  columns.shard[i] = shard;
  columns.imageBlock[i] = item.image[0] / 512;
  columns.imageBytes[i] = item.image[1];
  columns.labelBlock[i] = item.label[0] / 512;
  columns.labelBytes[i] = item.label[1];
  [columns.idHigh[i], columns.idLow[i]] = words(item.id.slice(0, 16));
  [columns.sourceHigh[i], columns.sourceLow[i]] = words(item.source);
  columns.crc[i] = item.crc;
  columns.rank[i] = item.rank;
  columns.width[i] = item.width;
  columns.height[i] = item.height;
  columns.flags[i] = flagsOf(SPLITS.indexOf(item.split), SHAPE_SOURCES.indexOf(item.kind ?? 'natural'));
}

const flagsOf = (split: number, source: number) => split | (source << 2);

const words = (hex: string): [number, number] => [
  Number.parseInt(hex.slice(0, 8), 16),
  Number.parseInt(hex.slice(8), 16),
];
const hex = (high: number, low: number) => high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');

/** Id and size of item `i`. */
export function itemSize(bank: Bank, i: number): ItemSize {
  const { idHigh, idLow, rank, width, height } = bank.columns;
  const { kind } = partOf(bank, i);
  return { id: bankItemId(kind, hex(idHigh[i]!, idLow[i]!), rank[i]!), width: width[i]!, height: height[i]! };
}

/** Whether two items were cut from the same photo. */
export function sameSource(bank: Bank, i: number, j: number): boolean {
  const { sourceHigh, sourceLow } = bank.columns;
  return sourceHigh[i] === sourceHigh[j] && sourceLow[i] === sourceLow[j];
}

/** Where the shapes of a bank come from, as recorded with the item. */
export function shapeSourceOf(bank: Bank, i: number): ShapeSource {
  return SHAPE_SOURCES[bank.columns.flags[i]! >> 2]!;
}

/** The items of a split, in the order of `bySplit`: all, or the shapes of one source. */
export function itemsOf({ bySplit, columns }: Bank, split: Split, source?: ShapeSource): Uint32Array {
  const items = bySplit[split];
  if (source === undefined) return items;
  const number = SHAPE_SOURCES.indexOf(source);
  // Items of a source lie together: the first of a source that is not before `from` is found by halving.
  const start = (from: number) => {
    let [low, high] = [0, items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (columns.flags[items[middle]!]! >> 2 < from) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return items.subarray(start(number), start(number + 1));
}

/** The sources that a bank has shapes of. */
export function sourcesIn(bank: Bank): ShapeSource[] {
  return SHAPE_SOURCES.filter(source => SPLITS.some(split => itemsOf(bank, split, source).length > 0));
}

/** The file (of a material: the tar entries of all its files) and the label of item `i`, read by offset from its shard. */
export async function readItem(bank: Bank, i: number): Promise<{ image: Buffer; label: unknown }> {
  const { shard, imageBlock, imageBytes, labelBlock, labelBytes, crc } = bank.columns;
  return readStored(tarOf(bank, i, shard[i]!), {
    image: [imageBlock[i]! * 512, imageBytes[i]!],
    label: [labelBlock[i]! * 512, labelBytes[i]!],
    crc: crc[i]!,
  });
}

/** The label of item `i` alone. Whether it is what was written is told when its file is read. */
export async function readLabel(bank: Bank, i: number): Promise<unknown> {
  const { shard, labelBlock, labelBytes } = bank.columns;
  const tar = tarOf(bank, i, shard[i]!);
  return JSON.parse((await readRange(tar, labelBlock[i]! * 512, labelBytes[i]!)).toString('utf8'));
}

function tarOf(bank: Bank, i: number, shard: number): string {
  const { folder, kind } = partOf(bank, i);
  return join(folder, `${bankShardName(kind, shard)}.tar`);
}

const partOf = ({ parts }: Bank, i: number): BankPart => parts.findLast(({ first }) => first <= i)!;

/** What has to be known of an item to read it from its tar. */
export type StoredItem = Pick<BankItem, 'image' | 'label' | 'crc'>;

/**
 * Image and label of an item, as they were written. Bytes that changed since are damage, whatever they decode to: never a
 * fault of the data, which would drop the item and change what is made from the bank.
 * @throws DamagedFile naming the tar and what to do.
 */
export async function readStored(tar: string, item: StoredItem): Promise<{ image: Buffer; label: unknown }> {
  const image = await readRange(tar, ...item.image);
  const label = await readRange(tar, ...item.label);
  if (crc32(label, crc32(image)) !== item.crc) {
    throw new DamagedFile(
      `${tar}: the item at byte ${item.image[0]} is not what was written. Delete this file and give the command that made it ` +
        'again: it makes the same once more',
    );
  }
  return { image, label: JSON.parse(label.toString('utf8')) };
}

/** Tars that this thread has open: a shard's samples draw from a window of the bank that lies in few files. */
const openTars = new Map<string, Promise<FileHandle>>();
const MAX_OPEN_TARS = 64;

/** Bytes of a tar by offset. */
export async function readRange(path: string, offset: number, length: number): Promise<Buffer> {
  let file = openTars.get(path);
  if (!file) {
    file = open(path, 'r').catch(error => {
      openTars.delete(path);
      throw error.code === 'ENOENT' ? new DamagedFile(`${path} is gone; run its stage again`) : error;
    });
    // Known before anything is waited for: another task of this thread may want the same.
    openTars.set(path, file);
  }
  // Whoever has found a file waits for it before it can be the oldest and closed: then its read has begun, and is waited for.
  const closing = openTars.size > MAX_OPEN_TARS ? closeOldestTar() : undefined;
  const bytes = Buffer.allocUnsafe(length);
  const whole = await readFully(await file, bytes, offset);
  await closing;
  if (!whole) {
    throw new DamagedFile(
      `${path}: expected ${length} bytes at byte ${offset}, the file ends before; run its stage again`,
    );
  }
  return bytes;
}

async function closeOldestTar(): Promise<void> {
  const [path, file] = openTars.entries().next().value!;
  openTars.delete(path);
  // One that could not be opened is the affair of whoever wanted it.
  await file.then(
    opened => opened.close(),
    () => {},
  );
}

/** Whether the file had so many bytes. */
async function readFully(file: FileHandle, bytes: Uint8Array, offset: number): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
