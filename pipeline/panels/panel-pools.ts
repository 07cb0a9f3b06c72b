import type { PanelCondition } from '../../scenes/panel-conditions.ts';
import { type Pool, unrelatedItems } from '../../scenes/panel-pool.ts';
import { PANELS } from '../../scenes/panel-scene.ts';
import type { ItemSize } from '../../scenes/scene2d.ts';
import { type Bank, itemSize, itemsOf, readLabel, sameSource } from '../bank.ts';
import type { MaterialLabel } from '../labels.ts';
import type { Split } from '../splits.ts';
import type { Banks } from '../stage.ts';

/** Tests are made of items that no training image shows. */
export const PANEL_SPLIT: Split = 'test';

/** The panel items of a bank; remembers those it was asked for by id. */
export class BankPool implements Pool {
  readonly count: number;
  readonly bank: Bank;
  readonly #items: Uint32Array;
  readonly #photos: readonly ReadonlySet<string>[] | undefined;
  readonly #places = new Map<string, number>();

  /** @param photos of each item, where it can be from several; else related is what the bank says has one source. */
  constructor(bank: Bank, items: Uint32Array, photos?: readonly ReadonlySet<string>[]) {
    this.bank = bank;
    this.count = items.length;
    this.#items = items;
    this.#photos = photos;
  }

  item(place: number): ItemSize {
    const item = itemSize(this.bank, this.#items[place]!);
    this.#places.set(item.id, place);
    return item;
  }

  related = (a: number, b: number): boolean => {
    if (!this.#photos) return sameSource(this.bank, this.#items[a]!, this.#items[b]!);
    const photos = this.#photos[b]!;
    return [...this.#photos[a]!].some(photo => photos.has(photo));
  };

  /** The number in the bank of an item that was given out. */
  find(id: string): number {
    return this.#items[this.#places.get(id)!]!;
  }

  /** The size of an item that was given out. */
  sizeOf(id: string): ItemSize {
    return itemSize(this.bank, this.find(id));
  }

  /** The number in the bank of the item at a place. */
  number(place: number): number {
    return this.#items[place]!;
  }
}

/** The pools that a condition draws from, by bank; `instances` is one of them. */
export interface PanelPools {
  readonly instances: BankPool;
  readonly shapes?: BankPool;
  readonly textures?: BankPool;
  readonly materials?: BankPool;
  readonly meshes?: BankPool;
  readonly environments?: BankPool;
}
type PoolName = Exclude<keyof PanelPools, 'instances'>;

/** What a condition needs of a pool: so many items of different sources. */
export interface PanelNeed {
  readonly pool: PoolName;
  /** "natural shapes", "textures" … */
  readonly items: string;
  /** What they come from. */
  readonly sources: 'photos' | 'files';
  readonly needed: number;
}

const INSTANCE_POOL = {
  shapes2d: 'shapes',
  textures2d: 'textures',
  shapes3d: 'meshes',
  materials3d: 'materials',
} as const satisfies Record<PanelCondition['subset'], PoolName>;

/** Instances that a test compares. */
const COMPARED = 3;

/** What a condition needs, its instances first. */
export function needsOf(condition: PanelCondition): PanelNeed[] {
  const each = (varies: boolean) => (varies ? PANELS.length : 1);
  switch (condition.subset) {
    case 'shapes2d': {
      const { source, background, shape } = condition.values;
      const textured = background === 'texture' || shape === 'texture';
      return [
        { pool: 'shapes', items: `${source} shapes`, sources: 'photos', needed: COMPARED },
        ...(textured ? [{ pool: 'textures', items: 'textures', sources: 'photos', needed: each(true) } as const] : []),
      ];
    }
    case 'textures2d': {
      const { background, shape } = condition.values;
      const behind = background === 'texture' ? PANELS.length : 0;
      return [
        { pool: 'textures', items: 'textures', sources: 'photos', needed: COMPARED + behind },
        { pool: 'shapes', items: 'shapes', sources: 'photos', needed: each(shape === 'different') },
      ];
    }
    case 'shapes3d':
    case 'materials3d': {
      const ofMaterials = condition.subset === 'materials3d';
      const { vary } = condition;
      const need = (pool: 'meshes' | 'materials' | 'environments', needed: number): PanelNeed => ({
        pool,
        items: pool === 'environments' ? 'panoramas' : pool,
        sources: pool === 'materials' ? 'photos' : 'files',
        needed,
      });
      const meshes = need('meshes', ofMaterials ? each(vary.includes('object')) : COMPARED);
      const materials = need('materials', ofMaterials ? COMPARED : each(vary.includes('material')));
      const environments = need('environments', each(vary.includes('environment')));
      return ofMaterials ? [materials, meshes, environments] : [meshes, materials, environments];
    }
  }
}

/** How many unrelated items there are of what a condition needs, as far as that is too few. */
export interface Shortage extends PanelNeed {
  readonly there: number;
}

/** @returns what there is too little of; undefined where tests can be made. */
export function shortageOf(needs: readonly PanelNeed[], pools: Partial<PanelPools>): Shortage | undefined {
  for (const need of needs) {
    const pool = pools[need.pool];
    const there = pool ? unrelatedItems(pool, need.needed) : 0;
    if (there < need.needed) return { ...need, there };
  }
  return undefined;
}

/** The pools that a condition draws from; those are left out whose bank the run does not have. */
export async function poolsOf(condition: PanelCondition, banks: Banks): Promise<Partial<PanelPools>> {
  const pools: { -readonly [K in PoolName]?: BankPool } = {};
  for (const { pool: name } of needsOf(condition)) {
    const bank = banks[name];
    if (bank) pools[name] = await poolOf(bank, name, condition);
  }
  const instances = pools[INSTANCE_POOL[condition.subset]];
  return { ...pools, ...(instances && { instances }) };
}

async function poolOf(bank: Bank, name: PoolName, condition: PanelCondition): Promise<BankPool> {
  const source = name === 'shapes' && 'values' in condition ? condition.values.source : undefined;
  const items = itemsOf(bank, PANEL_SPLIT, source);
  return new BankPool(bank, items, name === 'materials' ? await photosOf(bank, items) : undefined);
}

/** Photos of the materials of a bank, as read by this thread, by the bank's digest. */
const knownPhotos = new Map<string, Promise<ReadonlySet<string>[]>>();

/** The photos that each material's textures were cut from: of mixed ones several. */
function photosOf(bank: Bank, items: Uint32Array): Promise<ReadonlySet<string>[]> {
  let photos = knownPhotos.get(bank.digest);
  if (!photos) {
    photos = Promise.all(
      Array.from(items, async item => {
        const { sources } = (await readLabel(bank, item)) as MaterialLabel;
        return new Set(sources.map(({ photo }) => photo));
      }),
    );
    knownPhotos.set(bank.digest, photos);
  }
  return photos;
}
