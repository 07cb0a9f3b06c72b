import { readFile, stat } from 'node:fs/promises';
import { type Bank, itemSize, openBank, readStored } from '../bank.ts';
import { BANK_KINDS, type BankKind } from '../bank-kinds.ts';
import { DamagedFile, unlessMissing } from '../faults.ts';
import type { BankItem, Sidecar } from '../shard-writer.ts';
import { SPLITS } from '../splits.ts';
import type { Check, ValidatedRun } from './check.ts';
import type { Tell } from './findings.ts';

/** A bank's index finds every item of its shards, and every item is what was written. */
export const bankIndex: Check = {
  name: 'bank index',
  holds: 'banks are as their indexes and sidecars say',

  async begin(run, tell) {
    await openAll(run, tell);
    const found = new Map<BankKind, { path: string; number: number; sidecar: Sidecar }[]>();
    return {
      shard({ path, number, place, sidecar }) {
        if (!('bank' in place) || !sidecar) return;
        const own = found.get(place.bank) ?? [];
        found.set(place.bank, own);
        own.push({ path, number, sidecar });
      },
      async end(progress) {
        for (const [kind, shards] of found) {
          const total = shards.reduce((sum, { sidecar }) => sum + sidecar.samples, 0);
          progress.begin({ name: `index of ${kind}`, title: `index of ${kind}`, unit: 'items', total });
          for (const { path, sidecar } of shards) {
            for (const item of sidecar.items ?? []) {
              await readAgain(run, path, item, tell);
              progress.advance(1, []);
            }
          }
          progress.end();
          const bank = run.own.has(kind) ? run.banks.get(kind) : undefined;
          if (bank) compare(bank, kind, shards, tell);
        }
      },
    };
  },
};

/** Indexes that cannot be opened, or are half there. */
async function openAll({ folder }: ValidatedRun, tell: Tell): Promise<void> {
  for (const kind of BANK_KINDS) {
    const there = async (name: string) =>
      (await stat(`${folder.bank(kind)}/${name}`).catch(unlessMissing)) !== undefined;
    const error = (file: string, problem: string, detail?: string) =>
      tell({ severity: 'error', kind: problem, file: `banks/${kind}/${file}`, ...(detail && { detail }) });
    if ((await there('index.bin')) && !(await there('index.json'))) error('index.json', 'missing beside index.bin');
    try {
      await openBank(folder.bank(kind));
    } catch (cause) {
      if (!(cause instanceof DamagedFile)) throw cause;
      const index = await readFile(`${folder.bank(kind)}/index.bin`).catch(unlessMissing);
      error('index.bin', 'an index that was changed', index ? `${index.length} bytes` : 'it is gone');
    }
  }
}

/** Reads an item by its place, as scenes do. */
async function readAgain({ folder }: ValidatedRun, path: string, item: BankItem, tell: Tell): Promise<void> {
  const error = (kind: string, detail?: string) =>
    tell({ severity: 'error', kind, file: path, key: item.id, ...(detail && { detail }) });
  try {
    const { label } = await readStored(folder.at(path), item);
    const { id, split } = label as { id?: unknown; split?: unknown };
    if (id !== item.id) error('another item than its sidecar says', `${id}`);
    else if (split !== item.split) error('of another split than its sidecar says', `${split}, not ${item.split}`);
  } catch (cause) {
    if (!(cause instanceof DamagedFile || cause instanceof SyntaxError)) throw cause;
    error('other bytes than were written (CRC-32)');
  }
}

/** The index against the items of the shards: by rank, then shard, then place, as many as were asked for. */
function compare(
  bank: Bank,
  kind: BankKind,
  shards: readonly { number: number; sidecar: Sidecar }[],
  tell: Tell,
): void {
  const file = `banks/${kind}/index.bin`;
  const items = [...shards]
    .sort((a, b) => a.number - b.number)
    .flatMap(({ number, sidecar }) => (sidecar.items ?? []).map(item => ({ shard: number, item })))
    .sort((a, b) => a.item.rank - b.item.rank);
  const expected = Math.min(items.length, bank.asked ?? items.length);
  if (bank.items !== expected) {
    const detail = `${bank.items} items, not ${expected}`;
    tell({ severity: 'error', kind: 'another number of items than the shards hold', file, detail });
  }
  const { shard, imageBlock, imageBytes, labelBlock, labelBytes, crc, flags } = bank.columns;
  for (let i = 0; i < Math.min(bank.items, expected); i++) {
    const { item, shard: where } = items[i]!;
    const found = {
      ...itemSize(bank, i),
      shard: shard[i],
      image: [imageBlock[i]! * 512, imageBytes[i]],
      label: [labelBlock[i]! * 512, labelBytes[i]],
      crc: crc[i],
      split: SPLITS[flags[i]! & 3],
    };
    const { id, width, height, image, label, split } = item;
    const wanted = { id, width, height, shard: where, image, label, crc: item.crc, split };
    const odd = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
      name => JSON.stringify(wanted[name]) !== JSON.stringify(found[name]),
    );
    if (odd.length > 0) {
      tell({
        severity: 'error',
        kind: 'an item that is not as its sidecar says',
        file,
        key: id,
        detail: odd.join(', '),
      });
    }
  }
}
