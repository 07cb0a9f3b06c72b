import { describe, expect, it } from 'vitest';
import type { Progress } from '../../../pipeline/progress.ts';
import { balance } from '../../../pipeline/validate/balance.ts';
import { blank } from '../../../pipeline/validate/blank.ts';
import type { Check, Picture, Sample, Shard, ValidatedRun, ValidLabel } from '../../../pipeline/validate/check.ts';
import { type Finding, Findings } from '../../../pipeline/validate/findings.ts';

const SHARD: Shard = {
  path: 'shapes3d/train/shapes3d-train-000000.tar',
  number: 0,
  place: { subset: 'shapes3d', split: 'train' },
  sidecar: undefined,
};

const silent: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };

/** Shows samples to one check, which needs no run. */
async function found(check: Check, samples: readonly Partial<Sample>[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const visitor = await check.begin({} as ValidatedRun, finding => findings.push(finding));
  const rest = {
    key: 'k',
    files: new Map(),
    members: [],
    label: undefined,
    labelFault: undefined,
    pictures: new Map(),
  };
  for (const sample of samples) visitor.sample?.({ ...rest, ...sample }, SHARD);
  await visitor.end?.(silent);
  return findings;
}

const grey = (side: number, value: (i: number) => number): Picture => ({
  width: side,
  height: side,
  channels: 1,
  bits: 8,
  pixels: { grey: { width: side, height: side, data: Uint8Array.from({ length: side * side }, (_, i) => value(i)) } },
});
const colour = (side: number, value: (i: number) => number): Picture => ({
  width: side,
  height: side,
  channels: 3,
  bits: 8,
  pixels: {
    colour: { width: side, height: side, data: Uint8Array.from({ length: 3 * side * side }, (_, i) => value(i)) },
  },
});

describe('blank', () => {
  const label = { form: 'shapes3d-sample', value: {} } as ValidLabel;
  const left = grey(16, i => (i % 16 < 8 ? 255 : 0));
  const kinds = async (jpg: Picture, mask = left) =>
    (
      await found(blank, [
        {
          label,
          pictures: new Map([
            ['jpg', jpg],
            ['mask.png', mask],
          ]),
        },
      ])
    ).map(({ kind }) => kind);

  it('tells an object that is black, as one without light or of NaN is', async () => {
    const noise = (i: number) => (i * 37) % 200;
    expect(await kinds(colour(8, noise))).toEqual([]);
    expect(await kinds(colour(8, i => (Math.floor(i / 3) % 8 < 4 ? 0 : noise(i))))).toEqual(['a black object']);
    expect(await kinds(colour(8, i => (Math.floor(i / 3) % 8 < 4 ? (i % 5 === 0 ? 40 : 0) : noise(i))))).toEqual([]);
  });

  it('tells pictures of one colour, and masks of nothing', async () => {
    expect(await kinds(colour(8, () => 90))).toEqual(['a blank picture']);
    expect(await kinds(colour(8, i => [90, 91, 200][i % 3]!))).toEqual(['a blank picture']);
    expect(
      await kinds(
        colour(8, i => i % 250),
        grey(16, () => 127),
      ),
    ).toEqual(['an empty mask']);
  });
});

describe('balance', () => {
  const silhouette = (name: string, split: string) => ({
    label: { form: 'silhouettes-sample', value: { split, annotated: { label: name } } } as ValidLabel,
  });
  const image = (number: number) => ({
    label: {
      form: 'shapes2d-sample',
      value: { subset: 'shapes2d', split: 'train', instance: { number }, scene: {} },
    } as ValidLabel,
  });

  it('warns of a class of far more than the median', async () => {
    const few = ['a', 'b', 'c'].map(name => silhouette(name, 'train'));
    const many = Array.from({ length: 11 }, () => silhouette('d', 'train'));
    expect(await found(balance, [...few, ...many.slice(1)])).toEqual([]);
    expect(await found(balance, [...few, ...many])).toMatchObject([
      { severity: 'warning', file: 'silhouettes/train', detail: 'd: 11, the median is 1' },
    ]);
  });

  it('warns of classes that cannot be learnt', async () => {
    const twice = [silhouette('a', 'train'), silhouette('a', 'train')];
    expect(await found(balance, [...twice, silhouette('b', 'test')])).toMatchObject([
      { severity: 'warning', file: 'silhouettes/test', detail: '1 of 1: b' },
    ]);
    // One picture of each: these are names.
    expect(await found(balance, [silhouette('a', 'train'), silhouette('c', 'train'), silhouette('b', 'test')])).toEqual(
      [],
    );
  });

  it('warns of instances of very different numbers of images', async () => {
    expect(await found(balance, [image(0), image(1), image(1), image(1)])).toEqual([]);
    expect(await found(balance, [image(0), image(1), image(1), image(1), image(1)])).toMatchObject([
      { severity: 'warning', file: 'shapes2d/train', detail: '1 to 4' },
    ]);
  });
});

describe('findings', () => {
  it('are counted, and kept as far as asked, errors of a check first', () => {
    const findings = new Findings(2);
    const tell = findings.of('b');
    tell({ severity: 'warning', kind: 'odd', file: 'f' });
    for (const key of ['1', '2', '3']) tell({ severity: 'error', kind: 'wrong', file: 'f', key });
    findings.of('a')({ severity: 'error', kind: 'wrong', file: 'g' });
    const groups = findings
      .groups(['a', 'b'])
      .map(({ check, severity, kind, count, examples }) => [check, severity, kind, count, examples.length]);
    expect(groups).toEqual([
      ['a', 'error', 'wrong', 1, 1],
      ['b', 'error', 'wrong', 3, 2],
      ['b', 'warning', 'odd', 1, 1],
    ]);
  });
});
