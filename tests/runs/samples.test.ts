import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sample2dLabel } from '../../pipeline/labels.ts';
import { SPLITS } from '../../pipeline/splits.ts';
import { filesIn } from './command.ts';
import { SMALL } from './photo-folder.ts';
import { bankLabels, readShard, sampleLabels } from './shard-files.ts';
import { smallRun } from './shared-runs.ts';

const SUBSETS = ['shapes2d', 'textures2d'] as const;
let run: string;
const samples: Record<(typeof SUBSETS)[number], Sample2dLabel[]> = { shapes2d: [], textures2d: [] };

beforeAll(async () => {
  ({ run } = await smallRun());
  for (const subset of SUBSETS) samples[subset] = await sampleLabels(run, subset);
});

async function schemaCheck(name: string) {
  const path = fileURLToPath(new URL(`../../docs/schema/${name}.schema.json`, import.meta.url));
  return new Ajv2020({ allErrors: true }).compile(JSON.parse(await readFile(path, 'utf8')));
}

describe('every label that a run writes', () => {
  it.each([
    ['shape-bank-item', () => bankLabels(run, 'shapes')],
    ['texture-bank-item', () => bankLabels(run, 'textures')],
    ['shapes2d-sample', async () => samples.shapes2d],
    ['textures2d-sample', async () => samples.textures2d],
  ] as const)('matches the published schema %s, which refuses others', async (name, labels) => {
    const matches = await schemaCheck(name);
    const written = await labels();
    expect(written.length).toBeGreaterThan(6);
    for (const label of written) expect([matches(label), matches.errors]).toEqual([true, null]);
    const { split, ...rest } = written[0]!;
    expect(split).toBeOneOf([...SPLITS]);
    expect(matches(rest)).toBe(false);
    expect(matches({ ...written[0], split: 'training' })).toBe(false);
    expect(matches({ ...written[0], surprise: 1 })).toBe(false);
  });
});

describe.each(SUBSETS)('%s', subset => {
  it('has as many images as were asked for, in all three splits', () => {
    expect(samples[subset]).toHaveLength(SMALL[`${subset}-images`]);
    expect(new Set(samples[subset].map(({ split }) => split))).toEqual(new Set(SPLITS));
  });

  it('has nothing of one photo in two splits', () => {
    const splits = new Map<string, Set<string>>();
    for (const { split, sources } of samples[subset]) {
      for (const { photo, file } of sources) {
        for (const name of [photo, file]) splits.set(name, (splits.get(name) ?? new Set()).add(split));
      }
    }
    expect(splits.size).toBeGreaterThan(6);
    for (const [photo, used] of splits) expect([photo, used.size]).toEqual([photo, 1]);
  });

  it('covers shape and ground by textures of different photos', () => {
    for (const { sources } of samples[subset]) {
      const of = (role: string) => sources.find(source => source.role === role)!;
      expect(of('fill').photo).not.toBe(of('background').photo);
    }
  });

  it('takes bank items as instances, each once, and keeps it in all its images', () => {
    const instances = new Map(samples[subset].map(({ instance }) => [instance.number, instance.id]));
    expect(new Set(instances.values()).size).toBe(instances.size);
    for (const { instance, scene } of samples[subset]) {
      expect(instance.id).toBe(instances.get(instance.number));
      const shown = subset === 'shapes2d' ? scene.shape.id : 'id' in scene.fill && scene.fill.id;
      expect(shown).toBe(instance.id);
    }
  });

  it('has all variations of an instance next to each other in one shard, counted from 0, no two alike', async () => {
    let instances = 0;
    const seen = new Set<number>();
    for (const file of (await filesIn(join(run, subset))).filter(name => name.endsWith('.tar'))) {
      let before: Sample2dLabel | undefined;
      for (const { name, data } of await readShard(join(run, subset, file))) {
        if (!name.endsWith('.json')) continue;
        const label: Sample2dLabel = JSON.parse(data.toString());
        if (label.instance.number === before?.instance.number) expect(label.variation).toBe(before.variation + 1);
        else {
          expect(label.variation).toBe(0);
          expect(seen).not.toContain(label.instance.number);
          seen.add(label.instance.number);
          instances++;
        }
        before = label;
      }
    }
    expect(instances).toBe(new Set(samples[subset].map(({ instance }) => instance.number)).size);
    const scenes = samples[subset].map(({ scene }) => JSON.stringify(scene));
    expect(new Set(scenes).size).toBe(scenes.length);
  });
});

describe('a subset of more instances than its bank has items', () => {
  it('gives instances more variations', () => {
    const { shapes, 'shapes2d-images': images, shapes2d } = SMALL;
    expect(shapes).toBeLessThan(images / shapes2d.variations);
    const used = new Set(samples.shapes2d.map(({ instance }) => instance.number));
    expect(used.size).toBeLessThanOrEqual(shapes);
    expect(Math.max(...samples.shapes2d.map(({ variation }) => variation))).toBeGreaterThanOrEqual(shapes2d.variations);
  });
});
