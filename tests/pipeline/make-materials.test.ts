import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { DEFAULTS, type MaterialPlan } from '../../extractors/material-plan.ts';
import { MAP_NAMES, makeMaps } from '../../extractors/pbr-maps.ts';
import {
  type Bank,
  bankItemId,
  bankShardName,
  finalizeBank,
  itemSize,
  readItem,
  sameSource,
} from '../../pipeline/bank.ts';
import { BANK_FORMS, type BankKind } from '../../pipeline/bank-kinds.ts';
import { bankResult, type NewItem } from '../../pipeline/bank-stage.ts';
import { type Configuration, configure, type MaterialMapsRecipe } from '../../pipeline/configuration.ts';
import { encodeLabel, materialLabelSchema, textureLabelSchema } from '../../pipeline/labels.ts';
import { readMaps } from '../../pipeline/material-files.ts';
import type { BankItem } from '../../pipeline/shard-writer.ts';
import type { Split } from '../../pipeline/splits.ts';
import type { PlanContext, ShardPlan, TaskResult } from '../../pipeline/stage.ts';
import { makeMaterials } from '../../pipeline/stages/make-materials.ts';
import { TAR_END } from '../../pipeline/tar.ts';
import { rng } from '../../sampling/rng.ts';
import { scratchFolder } from '../runs/command.ts';

const scratch = scratchFolder();
const photo = (n: number) => n.toString(16).padStart(16, '0');

async function texture(n: number, rank: number, split: Split, side = 48, broken = false): Promise<NewItem> {
  const id = bankItemId('textures', photo(n), rank);
  const random = rng(1, 'test', id);
  const data = Uint8Array.from({ length: 3 * side * side }, (_, i) => 40 * (i % 3) + Math.floor(100 * random.next()));
  const jpeg = await sharp(data, { raw: { width: side, height: side, channels: 3 } })
    .jpeg({ quality: 95 })
    .toBuffer();
  const size = { width: side, height: side };
  const provenance = { pack: 'test', file: `${n}.jpg`, licence: 'CC0-1.0', author: 'somebody', url: null };
  return {
    id,
    files: { jpg: broken ? jpeg.subarray(0, 300) : jpeg },
    label: encodeLabel(textureLabelSchema, {
      id,
      split,
      ...size,
      found: null,
      photo: { id: photo(n), width: 500, height: 400 },
      provenance,
    }),
    facts: { source: photo(n), split, rank, ...size },
  };
}

/** Writes shards as a stage does, and indexes the bank. */
async function bankOf(name: string, kind: BankKind, shards: readonly TaskResult[]): Promise<Bank> {
  const folder = join(scratch, name, kind);
  await mkdir(folder, { recursive: true });
  for (const [shard, { bytes }] of shards.entries()) {
    await writeFile(join(folder, `${bankShardName(kind, shard)}.tar`), Buffer.concat([bytes, TAR_END]));
  }
  return finalizeBank(
    folder,
    kind,
    null,
    shards.map(({ items }, shard) => [shard, items as readonly BankItem[]]),
  );
}

const textureBank = async (name: string, items: Promise<NewItem>[]) =>
  bankOf(name, 'textures', [bankResult('textures', await Promise.all(items), { faults: [], counts: {} })]);

async function configuration(materials: number, changes: Partial<MaterialMapsRecipe> = {}): Promise<Configuration> {
  const configured = await configure({ materials, 'shard-samples': 4 });
  return { ...configured, materialMaps: { ...configured.materialMaps, ...changes } };
}

/** What the stage makes, shard by shard, each task by itself. */
async function make(configured: Configuration, textures: Bank): Promise<TaskResult[][]> {
  const banks = { textures };
  const shards: TaskResult[][] = [];
  const plans = makeMaterials.plan({ configuration: configured, banks } as unknown as PlanContext);
  for await (const { tasks } of plans as AsyncIterable<ShardPlan<unknown>>) {
    const results: TaskResult[] = [];
    for (const task of tasks)
      results.push(await makeMaterials.run(task as never, { configuration: configured, banks }));
    shards.push(results);
  }
  return shards;
}

describe('make-materials', () => {
  const three = () => textureBank('three', [texture(1, 0, 'train'), texture(1, 1, 'train'), texture(2, 2, 'val', 60)]);

  it('gives every texture a first material, then every one a second, each with its own id', async () => {
    const textures = await three();
    const shards = await make(await configuration(7), textures);
    expect(shards.map(results => results.length)).toEqual([4, 3]);
    const bank = await bankOf('made', 'materials', shards.flat());
    const context = { configuration: await configuration(7), banks: { textures }, index: () => Promise.reject() };
    expect(await makeMaterials.shardCount!(context)).toBe(2);
    const items = shards.flat(2).flatMap(({ items }) => items ?? []);
    expect(items.map(({ rank }) => rank)).toEqual([0, 0, 0, 1, 1, 1, 2]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(7);
    for (const [i, { id, source, split }] of items.entries()) {
      const from = i % 3;
      expect(id).toMatch(/^[0-9a-f]{16}-m\d$/);
      expect([source, split]).toEqual(from === 2 ? [photo(2), 'val'] : [photo(1), 'train']);
      expect(itemSize(bank, i)).toEqual({ id, width: from === 2 ? 60 : 48, height: from === 2 ? 60 : 48 });
    }
    // Both of one photo, though of two textures.
    expect(sameSource(bank, 0, 1)).toBe(true);
    expect(sameSource(bank, 0, 2)).toBe(false);
  });

  it('stores the five maps, linear but for colour, and a label that tells how to make them again', async () => {
    const textures = await three();
    const bank = await bankOf('stored', 'materials', (await make(await configuration(3), textures)).flat());
    const { files, label } = await readMaps(bank, 2);
    expect(Object.keys(files)).toEqual([...BANK_FORMS.materials.fields]);
    expect(materialLabelSchema.parse(label)).toEqual(label);
    expect(label).toMatchObject({
      id: itemSize(bank, 2).id,
      split: 'val',
      width: 60,
      height: 60,
      normalConvention: '+Y',
      sources: [
        { texture: itemSize(textures, 2).id, photo: photo(2), provenance: { licence: 'CC0-1.0', author: 'somebody' } },
      ],
      made: { kind: 'from-textures', mix: null },
    });
    expect(label.maps.color).toEqual({ file: `${label.id}.color.jpg`, colorSpace: 'srgb' });
    expect(label.maps.normal).toEqual({ file: `${label.id}.normal.jpg`, colorSpace: 'linear' });
    for (const name of ['color', 'height', 'normal'] as const) {
      const { format, width, channels, chromaSubsampling } = await sharp(files[`${name}.jpg`]).metadata();
      expect([format, width, channels]).toEqual(['jpeg', 60, name === 'height' ? 1 : 3]);
      if (channels === 3) expect(chromaSubsampling).toBe('4:4:4');
    }
    // The plan and the texture give these maps again, but for what JPEG loses.
    const { data, info } = await sharp((await readItem(textures, 2)).image)
      .raw()
      .toBuffer({ resolveWithObject: true });
    const plan = label.made.kind === 'from-textures' ? (label.made.plans[0] as MaterialPlan) : undefined;
    const maps = makeMaps({ data, width: info.width, height: info.height }, plan!);
    for (const name of ['color', 'height', 'metallic', 'normal', 'roughness'] as const) {
      const space = maps[name].data.length === info.width * info.height ? 'b-w' : 'srgb';
      const decoded = await sharp(files[`${name}.jpg`]).toColourspace(space).raw().toBuffer();
      const differences = decoded.map((value, i) => Math.abs(value - maps[name].data[i]!));
      expect(differences.reduce((a, b) => a + b, 0) / decoded.length).toBeLessThan(4);
    }
  });

  it('makes the same bytes for the same seed, others for another', async () => {
    const textures = await three();
    const bytes = async (seed: number) =>
      (await make({ ...(await configuration(3)), seed }, textures)).flat().map(result => Buffer.from(result.bytes));
    const [first, again, other] = [await bytes(1), await bytes(1), await bytes(2)];
    expect(Buffer.concat(again).equals(Buffer.concat(first))).toBe(true);
    expect(Buffer.concat(other).equals(Buffer.concat(first))).toBe(false);
    // An item does not depend on how many there are, or in which shard it lies.
    const more = (await make({ ...(await configuration(9)), shardSamples: 2 }, textures)).flat();
    expect(Buffer.from(more[2]!.bytes).equals(first[2]!)).toBe(true);
  });

  it('shrinks what is larger than the recipe says, and nothing else', async () => {
    const textures = await three();
    const bank = await bankOf(
      'small',
      'materials',
      (await make(await configuration(3, { size: 50 }), textures)).flat(),
    );
    expect([0, 1, 2].map(i => itemSize(bank, i).width)).toEqual([48, 48, 50]);
    expect((await sharp((await readMaps(bank, 2)).files['normal.jpg']).metadata()).height).toBe(50);
  });

  it('adds the maps that a recipe asks for', async () => {
    const textures = await three();
    const asked = await configuration(1, { occlusion: true, opacityShare: 1, transmissionShare: 1 });
    const bank = await bankOf('optional', 'materials', (await make(asked, textures)).flat());
    const { files, label } = await readMaps(bank, 0);
    expect(Object.keys(files).sort()).toEqual(MAP_NAMES.map(name => `${name}.jpg`).sort());
    expect(Object.keys(label.maps).sort()).toEqual([...MAP_NAMES].sort());
  });

  it('mixes textures of one split, and names all their photos', async () => {
    const items = [1, 2, 3, 4].map(n => texture(n, 0, 'train', 40 + n)).concat(texture(5, 0, 'val'));
    const textures = await textureBank('mixed', items);
    const bank = await bankOf(
      'mixed',
      'materials',
      (await make(await configuration(5, { mixShare: 1 }), textures)).flat(),
    );
    for (let i = 0; i < 4; i++) {
      const { label, files } = await readMaps(bank, i);
      const photos = label.sources.map(source => source.photo);
      expect(photos.length).toBeGreaterThanOrEqual(2);
      expect(photos[0]).toBe(photo(i + 1));
      expect(photos).not.toContain(photo(5));
      expect(label.made).toMatchObject({ kind: 'from-textures', mix: expect.anything() });
      expect((await sharp(files['color.jpg']).metadata()).width).toBe(41 + i);
    }
    // Nothing to mix with.
    expect((await readMaps(bank, 4)).label.sources).toHaveLength(1);
  });

  it('loses the materials of a texture that cannot be decoded, and says so', async () => {
    const textures = await textureBank('broken', [texture(1, 0, 'train'), texture(2, 0, 'train', 48, true)]);
    const results = (await make(await configuration(4), textures)).flat();
    expect(results.map(({ samples }) => samples)).toEqual([1, 0, 1, 0]);
    expect(results[1]!.faults).toEqual([{ item: itemSize(textures, 1).id, reason: expect.stringMatching(/./) }]);
  });

  it('plans nothing without textures', async () => {
    const textures = await textureBank('none', []);
    expect(await make(await configuration(4), textures)).toEqual([]);
    const context = { configuration: await configuration(4), banks: { textures }, index: () => Promise.reject() };
    expect(await makeMaterials.shardCount!(context)).toBe(0);
  });

  it('has the published values as its recipe', async () => {
    expect((await configuration(1)).materialMaps).toMatchObject({ ...DEFAULTS, mixShare: 0, size: 512 });
  });
});
