import { DamagedFile } from '../faults.ts';
import type { Subset } from '../generate-options.ts';
import { UsageError } from '../usage-error.ts';
import type { Check, ValidatedRun } from './check.ts';
import type { Tell } from './findings.ts';
import { askedSubsets, plannedShards } from './planned-shards.ts';

/** The images of an instance. */
interface Instance {
  readonly id: string;
  /** Shard that they lie in. */
  readonly path: string;
  images: number;
}

/** All images of an instance lie next to each other in one shard, counted from 0, and there are as many as were planned. */
export const instances: Check = {
  name: 'instances',
  holds: "an instance's images are adjacent, counted and complete",

  begin(run, tell) {
    const found = new Map<Subset, Map<number, Instance>>();
    /** Number of the instance that shows a bank item, by subset and item. */
    const numbers = new Map<string, number>();
    const lost = new Map<string, number>();
    let last: Instance | undefined;
    return {
      sample({ key, label }, { path }) {
        if (!label || !('instance' in label.value)) return;
        const { subset, instance, variation } = label.value;
        const error = (kind: string, detail: string) => tell({ severity: 'error', kind, file: path, key, detail });
        const own = found.get(subset) ?? new Map<number, Instance>();
        found.set(subset, own);
        let known = own.get(instance.number);
        if (!known) {
          known = { id: instance.id, path, images: 0 };
          own.set(instance.number, known);
          const item = `${subset} ${instance.id}`;
          const other = numbers.get(item);
          if (other !== undefined) error('an item that is two instances', `${instance.id} is instance ${other}, too`);
          numbers.set(item, instance.number);
        } else if (known.path !== path)
          error('an instance in several shards', `instance ${instance.number} is in ${known.path}, too`);
        else if (known !== last) error('images of an instance that are not adjacent', `instance ${instance.number}`);
        // The objects of a picture are instances of their own.
        if (known.id !== instance.id && subset !== 'silhouettes') {
          error('an instance of two items', `${instance.id} and ${known.id}`);
        }
        if (variation !== known.images)
          error('variations that are not counted from 0', `${variation}, not ${known.images}`);
        known.images++;
        last = known;
      },
      shard({ path, sidecar }) {
        last = undefined;
        lost.set(path, sidecar?.counts['instances-lost'] ?? 0);
      },
      end: () => compareWithPlan(run, found, lost, tell),
    };
  },
};

async function compareWithPlan(
  run: ValidatedRun,
  found: ReadonlyMap<Subset, ReadonlyMap<number, Instance>>,
  lost: ReadonlyMap<string, number>,
  tell: Tell,
): Promise<void> {
  for (const subset of askedSubsets(run)) {
    try {
      for await (const { path, first, variations } of plannedShards(run, subset)) {
        // A shard that is not there at all is told elsewhere.
        if (!lost.has(path)) continue;
        let missing = 0;
        for (const [i, planned] of variations.entries()) {
          const images = found.get(subset)?.get(first + i)?.images ?? 0;
          if (images === 0) missing++;
          else if (images !== planned) {
            const detail = `instance ${first + i}: ${images} images, not ${planned}`;
            tell({ severity: 'error', kind: 'another number of images than planned', file: path, detail });
          }
        }
        if (missing > lost.get(path)!) {
          const detail = `${missing} instances are not there, and ${lost.get(path)} could not be drawn`;
          tell({ severity: 'error', kind: 'instances that were planned are missing', file: path, detail });
        }
      }
    } catch (error) {
      // That there is no plan is told elsewhere.
      if (!(error instanceof DamagedFile || error instanceof UsageError)) throw error;
    }
  }
}
