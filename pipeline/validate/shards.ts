import { readdir } from 'node:fs/promises';
import glob from 'fast-glob';
import { BANK_KINDS } from '../bank-kinds.ts';
import { DamagedFile, unlessMissing } from '../faults.ts';
import { stagesOf } from '../generate.ts';
import { PhotoIndex } from '../photo-index.ts';
import { INDEX_NAMES } from '../stage.ts';
import { STAGES } from '../stages.ts';
import { UsageError } from '../usage-error.ts';
import type { Check, Place, Shard, ValidatedRun } from './check.ts';
import { filesOf, folderOf, PLACES, shardNumber } from './find-shards.ts';
import type { Tell } from './findings.ts';
import { askedSubsets, plannedShards } from './planned-shards.ts';

/** Shards are whole, what their sidecars say, and all there; nothing else lies among them. */
export const shards: Check = {
  name: 'shards',
  holds: 'tars are whole, as their sidecars say, and all there',

  async begin(run, tell) {
    await lookForRest(run, tell);
    const missing = new Set<string>();
    for (const place of PLACES) await lookAtNames(run, place, missing, tell);
    await lookAtBanks(run, tell);
    const stages = new Map<string, string>();
    const found = new Map<string, Shard>();
    return {
      shard(shard, scan) {
        const { path, number, place, sidecar } = shard;
        found.set(path, shard);
        const error = (kind: string, detail: string) => tell({ severity: 'error', kind, file: path, detail });
        if (scan.damage) error('not a whole tar', scan.damage);
        if (!sidecar) {
          error('its sidecar is gone, or none', path.replace(/tar$/, 'json'));
          return;
        }
        if (scan.bytes !== sidecar.bytes) {
          error('of another length than its sidecar says', `${scan.bytes} bytes, not ${sidecar.bytes}`);
        } else if (scan.sha256 !== sidecar.sha256) {
          error('other bytes than its sidecar says', `sha256 ${scan.sha256}, not ${sidecar.sha256}`);
        }
        if (scan.samples !== sidecar.samples) {
          error('other samples than its sidecar says', `${scan.samples} samples, not ${sidecar.samples}`);
        }
        const folder = 'bank' in place ? folderOf(place) : place.subset;
        const stage = stages.get(folder) ?? sidecar.stage;
        stages.set(folder, stage);
        const right =
          'bank' in place ? STAGES[sidecar.stage as keyof typeof STAGES]?.fills === place.bank : stage === place.subset;
        if (!right || stage !== sidecar.stage || ('bank' in place && sidecar.shard !== number)) {
          error('its sidecar is that of another shard', `stage ${sidecar.stage}, shard ${sidecar.shard}`);
        }
      },
      end: () => lookForPlanned(run, found, missing, tell),
    };
  },
};

/** What processes that ended early left behind. */
async function lookForRest({ folder }: ValidatedRun, tell: Tell): Promise<void> {
  const left = await glob('**/*.partial', {
    cwd: folder.path,
    onlyFiles: false,
    ignore: ['**/*.partial/*/**', 'locks/**'],
  });
  for (const file of left.sort()) {
    tell({ severity: 'error', kind: 'left by a process that did not finish (the same command continues it)', file });
  }
  for (const name of INDEX_NAMES) {
    const there = await readdir(folder.at(name)).catch(unlessMissing);
    if (there && !(await PhotoIndex.open(folder.at(name)))) {
      tell({ severity: 'error', kind: 'a list that was changed', file: `${name}/index.json` });
    }
  }
}

/** Gaps between the numbers of shards, sidecars that have no tar, and strangers. @param missing takes the paths of the gaps. */
async function lookAtNames({ folder }: ValidatedRun, place: Place, missing: Set<string>, tell: Tell): Promise<void> {
  const files = await filesOf(folder, place);
  const numbers = (extension: 'tar' | 'json') => files.flatMap(file => shardNumber(place, file, extension) ?? []);
  const tars = new Set(numbers('tar'));
  const last = [...tars, ...numbers('json')].reduce((a, b) => Math.max(a, b), -1);
  const stem = 'bank' in place ? place.bank : `${place.subset}-${place.split}`;
  for (let number = 0; number <= last; number++) {
    if (tars.has(number)) continue;
    const path = `${folderOf(place)}/${stem}-${String(number).padStart(6, '0')}.tar`;
    missing.add(path);
    tell({ severity: 'error', kind: 'missing, though others follow it or its sidecar is there', file: path });
  }
  for (const file of files) {
    const known = ['tar', 'json'].some(extension => shardNumber(place, file, extension as 'tar') !== undefined);
    const index = 'bank' in place && (file === 'index.bin' || file === 'index.json');
    if (known || index || file.endsWith('.partial')) continue;
    // Loaders take whatever ends like a shard.
    const severity = file.endsWith('.tar') ? 'error' : 'warning';
    tell({ severity, kind: 'no file of a run', file: `${folderOf(place)}/${file}` });
  }
}

/** The banks that the recipe needs are finished. */
async function lookAtBanks({ configuration, banks }: ValidatedRun, tell: Tell): Promise<void> {
  const names = await stagesOf(configuration).catch(error => {
    if (!(error instanceof UsageError)) throw error;
    tell({
      severity: 'error',
      kind: 'the recipe cannot be followed any more',
      file: 'run.json',
      detail: error.message,
    });
    return [];
  });
  const filled = new Set(names.flatMap(name => STAGES[name].fills ?? []));
  for (const kind of BANK_KINDS) {
    if (filled.has(kind) && !banks.has(kind)) {
      tell({ severity: 'error', kind: 'a bank that is not finished', file: `banks/${kind}/index.json` });
    }
  }
}

/** Every shard that the recipe asks for is there, and no other. */
async function lookForPlanned(
  run: ValidatedRun,
  found: ReadonlyMap<string, Shard>,
  missing: ReadonlySet<string>,
  tell: Tell,
): Promise<void> {
  const planned = new Set<string>();
  for (const subset of askedSubsets(run)) {
    try {
      for await (const { path, shard, variations } of plannedShards(run, subset)) {
        planned.add(path);
        const there = found.get(path);
        if (!there && !missing.has(path)) {
          const detail = subset === 'silhouettes' ? undefined : `${variations.reduce((a, b) => a + b, 0)} images`;
          tell({
            severity: 'error',
            kind: 'planned and not there: the run is not finished',
            file: path,
            ...(detail && { detail }),
          });
        } else if (there?.sidecar && there.sidecar.shard !== shard) {
          const detail = `shard ${there.sidecar.shard}, not ${shard}`;
          tell({ severity: 'error', kind: 'its sidecar is that of another shard', file: path, detail });
        }
      }
    } catch (error) {
      if (!(error instanceof DamagedFile || error instanceof UsageError)) throw error;
      tell({ severity: 'error', kind: 'a subset that cannot be planned', file: subset, detail: error.message });
      for (const path of found.keys()) if (path.startsWith(`${subset}/`)) planned.add(path);
    }
  }
  for (const [path, { place }] of found) {
    if ('subset' in place && !planned.has(path)) {
      tell({ severity: 'error', kind: 'a shard that the recipe does not ask for', file: path });
    }
  }
}
