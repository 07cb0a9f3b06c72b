import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bank, finalizeBank } from '../../pipeline/bank.ts';
import { configure } from '../../pipeline/configuration.ts';
import { RunFolder } from '../../pipeline/run-folder.ts';
import type { BankItem } from '../../pipeline/shard-writer.ts';
import type { Split } from '../../pipeline/splits.ts';
import type { PlanContext } from '../../pipeline/stage.ts';
import { plan2d } from '../../pipeline/subset2d-plan.ts';
import type { ShapeSource } from '../../scenes/conditions.ts';

let folder: string;
let shapes: Bank;
let textures: Bank;

/** Bank items, one a photo, in these splits. */
function items(letter: string, splits: readonly Split[]): BankItem[] {
  return splits.map((split, i) => {
    const source = i.toString(16).padStart(16, '0');
    const place = { image: [512, 9] as [number, number], label: [1024, 9] as [number, number], crc: 0 };
    return { id: `${source}-${letter}0`, source, split, rank: 0, width: 600, height: 600, ...place };
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-plan-'));
  const ofShapes = items('r', ['train', 'train', 'val', 'test']);
  shapes = await finalizeBank(join(folder, 'shapes'), 'shapes', 9, [[0, ofShapes]]);
  // Two photos in train, one in val, none in test.
  const ofTextures = items('t', ['train', 'train', 'val']);
  textures = await finalizeBank(join(folder, 'textures'), 'textures', 9, [[0, ofTextures]]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function splitsPlanned(texturesShown: 0 | 1 | 2, sources: (ShapeSource | undefined)[] = ['natural']) {
  const warnings: string[] = [];
  const context: PlanContext = {
    configuration: await configure({}),
    folder: new RunFolder(folder),
    banks: { shapes, textures },
    index: () => Promise.reject(new Error('not asked for')),
    warn: message => warnings.push(message),
    written: () => Promise.reject(new Error('not asked for')),
  };
  const size = { subset: 'shapes2d', images: 40, variations: 5, instanceBank: 'shapes' } as const;
  const wanted = { ...size, texturesShown, sources: new Set(sources) };
  const splits = [...plan2d(context, wanted)].map(({ path }) => path.split('/')[1]);
  return { splits, warnings };
}

describe('a split that lacks the textures its images would show', () => {
  it('gets images when they show none', async () => {
    expect(await splitsPlanned(0)).toEqual({ splits: ['train', 'val', 'test'], warnings: [] });
  });

  it('gets none when they show one, and there is none', async () => {
    const { splits, warnings } = await splitsPlanned(1);
    expect(splits).toEqual(['train', 'val']);
    expect(warnings).toEqual(['shapes2d: split test has no textures, so it gets no images']);
  });

  it('gets none when they show two, and all come from one photo', async () => {
    const { splits, warnings } = await splitsPlanned(2);
    expect(splits).toEqual(['train']);
    expect(warnings).toContain('shapes2d: split val has no textures of two photos, so it gets no images');
  });
});

describe('conditions', () => {
  it('that name a source which the bank has no shapes of are told, and get no images', async () => {
    const warnings = ['shapes2d: conditions name semantic shapes, of which the shape bank holds none'];
    expect(await splitsPlanned(0, ['semantic'])).toEqual({ splits: [], warnings });
    expect(await splitsPlanned(0, ['semantic', 'natural'])).toEqual({ splits: ['train', 'val', 'test'], warnings });
  });

  it('that name none take any', async () => {
    expect(await splitsPlanned(0, [undefined])).toEqual({ splits: ['train', 'val', 'test'], warnings: [] });
  });
});
