import { basename, extname } from 'node:path';
import { crc32 } from 'node:zlib';
import { hashId } from '../sampling/hash.ts';
import { SHAPE_SOURCES, type ShapeSource } from '../scenes/conditions.ts';
import { bankShardName, type StoredItem } from './bank.ts';
import { BANK_FORMS, type BankKind } from './bank-kinds.ts';
import { InputFault } from './faults.ts';
import { type IndexedFile, splitOf } from './photo-index.ts';
import type { BankItem } from './shard-writer.ts';
import type { Split } from './splits.ts';
import { addCounts, type Counts, type Estimate, type PlanContext, type ShardPlan, type TaskResult } from './stage.ts';
import { encodeTar, TAR_BLOCK } from './tar.ts';

/** What all stages that fill a bank share: where a shard lies, and how an item is laid into it. */
export interface NewItem {
  readonly id: string;
  /** By field, as BANK_FORMS names them; others may be added. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly label: Uint8Array;
  readonly facts: Omit<BankItem, 'id' | keyof StoredItem>;
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
    const places = laid[i]!.map(({ field, data }) => ({ field, data, at: offsets[next++]!, length: data.length }));
    const label = places.find(({ field }) => field === 'json')!;
    const file = places.find(({ field }) => field !== 'json')!;
    const whole: [number, number] = [
      places[0]!.at - TAR_BLOCK,
      (offsets[next] ?? bytes.length + TAR_BLOCK) - places[0]!.at,
    ];
    const image: [number, number] = single ? [file.at, file.length] : whole;
    const crc = crc32(label.data, crc32(bytes.subarray(image[0], image[0] + image[1])));
    return { id, ...facts, image, label: [label.at, label.length], crc };
  });
  return { bytes, samples: items.length, items: placed, ...rest };
}

/** Where an item of the same photo lies that an earlier round found: its tar, and its place in it. */
export interface EarlierItem extends StoredItem {
  readonly tar: string;
}

/** One look at one photo, in one round. */
export interface PhotoLook {
  readonly file: IndexedFile;
  readonly round: number;
  /** What earlier rounds found in this photo. */
  readonly earlier: readonly EarlierItem[];
}

/**
 * The looks of a bank stage that goes over all photos once a round: shard `round × blocks + block` holds what the block's
 * photos gave in that round. A photo that proved broken is not looked at again: that is a fault of the file, told once. Waits
 * for the shards of earlier rounds.
 */
export async function* lookInRounds(
  context: PlanContext,
  kind: BankKind,
  rounds: number,
  blockSize: number,
): AsyncGenerator<ShardPlan<PhotoLook>> {
  const photos = await context.index('photos');
  const blocks = photos.blocks(blockSize);
  for (let round = 0; round < rounds; round++) {
    for (let block = 0; block < blocks; block++) {
      const files = await photos.block(block, blockSize);
      const found = new Map<string, EarlierItem[]>();
      const broken = new Set<string>();
      for (let r = 0; r < round; r++) {
        const { shard, items, faults } = await context.written(r * blocks + block);
        const tar = `${context.folder.bank(kind)}/${bankShardName(kind, shard)}.tar`;
        for (const { source, image, label, crc } of items ?? []) {
          found.set(source, [...(found.get(source) ?? []), { tar, image, label, crc }]);
        }
        for (const { item } of faults) broken.add(item);
      }
      const looks = files
        .filter(({ path }) => !broken.has(path))
        .map(file => ({ file, round, earlier: found.get(file.id) ?? [] }));
      yield bankShard(kind, round * blocks + block, looks);
    }
  }
}

/** What one round of looks costs and gives, on average over all photos. */
export interface Round {
  /** Items a photo. */
  readonly gives: number;
  /** Seconds of one core a photo. */
  readonly seconds: number;
}

/** What {@link lookInRounds} will take until `asked` items are there, or until the rounds are over. */
export function estimateRounds(
  asked: number,
  photos: number,
  blockSize: number,
  rounds: readonly Round[],
  bytesPerSample: number,
): Estimate {
  let [shards, found, seconds] = [0, 0, 0];
  for (const { gives, seconds: each } of rounds) {
    if (found >= asked) break;
    const blocks = Math.ceil(Math.min(photos, (asked - found) / gives) / blockSize);
    const looks = Math.min(photos, blocks * blockSize);
    shards += blocks;
    found += looks * gives;
    seconds += looks * each;
  }
  const samples = Math.min(asked, Math.round(found));
  return {
    samples,
    shards,
    bytesPerSample,
    secondsPerSample: seconds / Math.max(1, samples),
    ...(samples < asked && { warning: outOfReach(samples, asked) }),
  };
}

/** Items that all rounds give for one that the first gives. */
export function gainOf(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { gives }) => sum + gives, 0) / rounds[0]!.gives;
}

function outOfReach(expected: number, asked: number): string {
  return `expect about ${expected} in all, not the ${asked} that were asked for. More photos help (--photos)`;
}

/** Fewer photos say little about the others. */
const FEWEST_LOOKS = 30;

/**
 * Warns, as soon as enough photos were looked at, when they will not give what was asked for.
 * @param gain items that the whole stage gives for one that the first looks at its photos give, by what these counted.
 */
export async function warnOfShortage(
  context: PlanContext,
  asked: number,
  gain: (counts: Counts) => number,
): Promise<void> {
  const photos = (await context.index('photos')).facts.files;
  const enough = Math.min(photos, FEWEST_LOOKS);
  const look = async () => {
    const counts: Counts = { looks: 0 };
    let samples = 0;
    for (let shard = 0; counts.looks! < enough; shard++) {
      // When planning ends first there is nothing left to warn of.
      const first = await context.written(shard).catch(() => undefined);
      if (!first) return;
      addCounts(counts, first.counts);
      samples += first.samples;
    }
    const expected = Math.round((samples / counts.looks!) * photos * gain(counts));
    if (expected >= asked) return;
    context.warn(`the first ${counts.looks} photos gave ${samples}: ${outOfReach(expected, asked)}`);
  };
  // Not waited for: planning goes on meanwhile.
  void look();
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

/** What `--shape-bank` and `--texture-bank` name: a path (or a pack), with the kind of its shapes before a colon. */
export function parseBankSource(value: string): { kind: ShapeSource; path: string } {
  const kind = SHAPE_SOURCES.find(source => value.startsWith(`${source}:`));
  return kind ? { kind, path: value.slice(kind.length + 1) } : { kind: 'natural', path: value };
}
