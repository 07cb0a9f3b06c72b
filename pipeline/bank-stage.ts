import { basename, extname } from 'node:path';
import { hashId } from '../sampling/hash.ts';
import { SHAPE_SOURCES, type ShapeSource } from '../scenes/conditions.ts';
import { bankShardName } from './bank.ts';
import { BANK_FORMS, type BankKind } from './bank-kinds.ts';
import { InputFault } from './faults.ts';
import { type IndexedFile, splitOf } from './photo-index.ts';
import type { BankItem, Sidecar } from './shard-writer.ts';
import type { Split } from './splits.ts';
import type { PlanContext, ShardPlan, TaskResult } from './stage.ts';
import { encodeTar, TAR_BLOCK } from './tar.ts';

/** What all stages that fill a bank share: where a shard lies, and how an item is laid into it. */
export interface NewItem {
  readonly id: string;
  /** By field, as BANK_FORMS names them; others may be added. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly label: Uint8Array;
  readonly facts: Omit<BankItem, 'id' | 'image' | 'label'>;
}

/** A bank shard's plan. */
export function bankShard<Task>(kind: BankKind, shard: number, tasks: readonly Task[]): ShardPlan<Task> {
  return { shard, path: `banks/${kind}/${bankShardName(kind, shard)}`, tasks };
}

/** Lays items out as a piece of a bank shard. */
export function bankResult(
  kind: BankKind,
  items: readonly NewItem[],
  rest: Pick<TaskResult, 'faults' | 'counts'>,
): TaskResult {
  const single = BANK_FORMS[kind].fields.length === 1;
  const laid = items.map(({ id, files, label }) =>
    // Fields of a sample stand in alphabetical order: `jpg` before `json`, `json` before `png`.
    Object.entries({ ...files, json: label })
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, data]) => ({ name: `${id}.${field}`, field, data })),
  );
  const { bytes, offsets } = encodeTar(laid.flat());
  let next = 0;
  const placed = items.map(({ id, facts }, i): BankItem => {
    const places = laid[i]!.map(({ field, data }) => ({ field, at: offsets[next++]!, length: data.length }));
    const label = places.find(({ field }) => field === 'json')!;
    const file = places.find(({ field }) => field !== 'json')!;
    const whole: [number, number] = [
      places[0]!.at - TAR_BLOCK,
      (offsets[next] ?? bytes.length + TAR_BLOCK) - places[0]!.at,
    ];
    return { id, ...facts, image: single ? [file.at, file.length] : whole, label: [label.at, label.length] };
  });
  return { bytes, samples: items.length, items: placed, ...rest };
}

/** Where an item of the same photo lies that an earlier round found: its tar, and image and label in it. */
export interface EarlierItem extends Pick<BankItem, 'image' | 'label'> {
  readonly tar: string;
}

/** What the rounds before `round` found in the photos of a block, by photo id. Waits for their shards. */
export async function earlierItems(
  context: PlanContext,
  kind: BankKind,
  round: number,
  block: number,
  blocks: number,
): Promise<Map<string, EarlierItem[]>> {
  const found = new Map<string, EarlierItem[]>();
  for (let r = 0; r < round; r++) {
    const { shard, items } = await context.written(r * blocks + block);
    const tar = `${context.folder.bank(kind)}/${bankShardName(kind, shard)}.tar`;
    for (const { source, image, label } of items ?? []) {
      found.set(source, [...(found.get(source) ?? []), { tar, image, label }]);
    }
  }
  return found;
}

/**
 * Warns, once the first shard is written, when the photos will not give what was asked for.
 * @param gain items that the whole stage gives for one that the first look at its photos gives.
 */
export function warnOfShortage(
  context: PlanContext,
  photos: number,
  asked: number,
  gain: (first: Sidecar) => number,
): void {
  const look = (first: Sidecar) => {
    const { samples } = first;
    const looks = first.counts.looks ?? 0;
    const expected = Math.round((samples / looks) * photos * gain(first));
    if (looks === 0 || expected >= asked) return;
    context.warn(
      `the first ${looks} photos gave ${samples}: expect about ${expected} in all, not the ${asked} that were asked for. ` +
        'More photos help (--photos)',
    );
  };
  // Not waited for: planning goes on meanwhile. When it ends first there is nothing left to warn of.
  context.written(0).then(look, () => {});
}

/** A file of a folder that is used as a bank. */
export interface ImportTask {
  readonly file: IndexedFile;
}

/** Runs an import; a file that cannot be used is a fault and no item. */
export async function importFile(
  kind: BankKind,
  file: IndexedFile,
  makeItem: () => Promise<NewItem>,
): Promise<TaskResult> {
  const counts = { looks: 1 };
  try {
    return bankResult(kind, [await makeItem()], { faults: [], counts });
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    return bankResult(kind, [], { faults: [{ item: file.path, reason: error.message }], counts });
  }
}

/** The photo that a published file comes from (its name up to the first `_`, as LAS&T and VasTextures write), and its split. */
export function photoOf({ provenance: { pack, file } }: IndexedFile): { source: string; split: Split } {
  const name = basename(file, extname(file)).split('_')[0]!;
  const source = hashId(`${pack}/${name}`);
  return { source, split: splitOf(source) };
}

/** What `--shape-bank` and `--texture-bank` name: a path, with the kind of its shapes before a colon. */
export function parseBankSource(value: string): { kind: ShapeSource; path: string } {
  const kind = SHAPE_SOURCES.find(source => value.startsWith(`${source}:`));
  return kind ? { kind, path: value.slice(kind.length + 1) } : { kind: 'natural', path: value };
}
