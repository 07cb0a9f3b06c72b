import { type Bank, itemSize } from '../bank.ts';
import type { BankKind } from '../bank-kinds.ts';
import type { Sample2dLabel, Sample3dLabel } from '../labels.ts';
import { SPLITS } from '../splits.ts';
import type { Check, ValidatedRun } from './check.ts';

/** Scenes show items that the banks have, of their own split, and name them all as sources. */
export const scenes: Check = {
  name: 'scenes',
  holds: 'scenes show bank items of their own split',

  begin(run, tell) {
    const splits = itemSplits(run);
    return {
      sample({ key, label }, { path: file }) {
        if (!label || !('scene' in label.value)) return;
        const { value } = label;
        const error = (kind: string, detail: string) => tell({ severity: 'error', kind, file, key, detail });
        const shown = shownItems(value);
        for (const { role, id, group } of shown) {
          // That a bank is not finished is told elsewhere, and once.
          if (splits[group].size === 0) continue;
          const split = splits[group].get(id);
          if (split === undefined) error('an item that no bank has', `${role} ${id}`);
          else if (SPLITS[split] !== value.split)
            error('an item of another split', `${role} ${id} is of ${SPLITS[split]}`);
        }
        const named = new Set(value.sources.map(({ role, id }) => `${role} ${id}`));
        const odd = shown
          .filter(({ role, id }) => !named.delete(`${role} ${id}`))
          .map(({ role, id }) => `${role} ${id}`);
        if (odd.length + named.size > 0) error('sources that are not what is shown', [...odd, ...named].join(', '));
        const instance = shown.find(({ role }) => role === INSTANCE_ROLES[value.subset]);
        if (instance?.id !== value.instance.id) {
          error('an instance that is not what is shown', `${value.instance.id}, shown is ${instance?.id ?? 'none'}`);
        }
      },
    };
  },
};

/** Banks whose items may stand for each other: shapes come from several. */
export type ItemGroup = 'shapes' | 'textures' | 'materials' | 'meshes' | 'environments';

/** An item that a scene shows, and what as. */
interface ShownItem {
  readonly role: 'shape' | 'fill' | 'background' | 'object' | 'material' | 'environment';
  readonly id: string;
  readonly group: ItemGroup;
}

/** What shows the instance. */
const INSTANCE_ROLES = { shapes2d: 'shape', textures2d: 'fill', shapes3d: 'object', materials3d: 'material' } as const;

function shownItems({ scene }: Sample2dLabel | Sample3dLabel): ShownItem[] {
  if ('object' in scene) {
    return [
      { role: 'object', id: scene.object.id, group: 'meshes' },
      { role: 'material', id: scene.material.id, group: 'materials' },
      { role: 'environment', id: scene.environment.id, group: 'environments' },
    ];
  }
  const items: ShownItem[] = [{ role: 'shape', id: scene.shape.id, group: 'shapes' }];
  for (const role of ['fill', 'background'] as const) {
    const paint = scene[role];
    if (paint.kind === 'texture') items.push({ role, id: paint.id, group: 'textures' });
  }
  return items;
}

/** The split of every bank item, as its number in SPLITS, by id; none of a group that has banks which are not finished. */
export function itemSplits({ banks, unfinished }: ValidatedRun): Record<ItemGroup, Map<string, number>> {
  const all = (...kinds: BankKind[]) => {
    const found = new Map<string, number>();
    if (kinds.some(kind => unfinished.has(kind))) return found;
    for (const bank of kinds.flatMap(kind => banks.get(kind) ?? [])) {
      for (let i = 0; i < bank.items; i++) found.set(itemSize(bank, i).id, splitNumber(bank, i));
    }
    return found;
  };
  return {
    shapes: all('shapes', 'semantic-shapes', 'projected-shapes'),
    textures: all('textures'),
    materials: all('materials'),
    meshes: all('meshes'),
    environments: all('environments'),
  };
}

const splitNumber = ({ columns }: Bank, i: number) => columns.flags[i]! & 3;
