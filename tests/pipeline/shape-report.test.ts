import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ShapeStatistics } from '../../extractors/shape-statistics.ts';
import { bankItemId, bankShardName, finalizeBank } from '../../pipeline/bank.ts';
import type { BankKind } from '../../pipeline/bank-kinds.ts';
import { bankResult } from '../../pipeline/bank-stage.ts';
import { RunFolder } from '../../pipeline/run-folder.ts';
import {
  binsFor,
  compareDiversity,
  distribution,
  evenlySpread,
  FORM_STATISTICS,
  normalisedEntropy,
  quartiles,
} from '../../pipeline/shape-diversity.ts';
import { shapeStatisticsSection } from '../../pipeline/shape-report.ts';
import { encodeTar, TAR_END } from '../../pipeline/tar.ts';
import { rng } from '../../sampling/rng.ts';
import type { ShapeSource } from '../../scenes/conditions.ts';

const scratch = mkdtempSync(join(tmpdir(), 'shapemill-shape-report-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Made-up statistics; `spread` 0: all the same, 1: over the whole range. */
function madeUp(count: number, spread: number, size = 100): ShapeStatistics[] {
  return Array.from({ length: count }, (_, i) => {
    const random = rng(1, 'statistics', i);
    const share = () => 0.5 + (random.next() - 0.5) * spread;
    const holes = Math.floor(spread * 40 * random.next());
    return {
      area: size + i,
      perimeter: 40 + i,
      solidity: share(),
      convexity: share(),
      elongation: share(),
      thickness: share(),
      complexity: 2 * 10 ** (2 * share()),
      holes,
      eulerNumber: 1 - holes,
    };
  });
}

/** A finished bank whose labels hold no more than what the report reads. */
async function writeBank(
  folder: RunFolder,
  bank: BankKind,
  kind: ShapeSource,
  shapes: readonly unknown[],
): Promise<void> {
  const items = shapes.map((statistics, i) => {
    const source = i.toString(16).padStart(16, '0');
    return {
      id: bankItemId(bank, source, 0),
      files: { png: Buffer.from('no picture') },
      label: Buffer.from(JSON.stringify({ kind, statistics })),
      facts: { source, split: 'train' as const, kind, rank: 0, width: 10, height: 10 },
    };
  });
  const { bytes, items: stored } = bankResult(bank, items, { faults: [], counts: {} });
  await mkdir(folder.bank(bank), { recursive: true });
  await writeFile(join(folder.bank(bank), `${bankShardName(bank, 0)}.tar`), Buffer.concat([bytes, TAR_END]));
  await finalizeBank(folder.bank(bank), bank, null, [[0, [...stored!]]]);
}

/** Cells of the table's rows. */
const rowsOf = (html: string) =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell!),
  );

describe('the section of the report', () => {
  it('is empty while a run has no shapes', async () => {
    expect(await shapeStatisticsSection(new RunFolder(join(scratch, 'none')))).toBe('');
  });

  it('shows histograms alone of a single source', async () => {
    const folder = new RunFolder(join(scratch, 'single'));
    await writeBank(folder, 'shapes', 'natural', madeUp(50, 1));
    const html = await shapeStatisticsSection(folder);
    expect(html.match(/<figure>/g)!.length).toBe(9);
    expect(html.match(/<path class="natural"/g)!.length).toBe(10);
    expect(html).not.toContain('more diverse');
    expect(html).toContain('natural, 50');
  });

  it('lays the sources over each other and says which is more diverse', async () => {
    const folder = new RunFolder(join(scratch, 'several'));
    const [natural, semantic] = [madeUp(300, 1), madeUp(200, 0.2)];
    await writeBank(folder, 'shapes', 'natural', natural);
    await writeBank(folder, 'semantic-shapes', 'semantic', semantic);
    await mkdir(folder.at('silhouettes', 'val'), { recursive: true });
    await writeFile(
      folder.at('silhouettes', 'val', 'silhouettes-val-000000.tar'),
      Buffer.concat([
        encodeTar(
          madeUp(40, 1, 4000).map((statistics, i) => ({
            name: `silhouettes-${i}.json`,
            data: Buffer.from(JSON.stringify({ statistics })),
          })),
        ).bytes,
        TAR_END,
      ]),
    );
    const html = await shapeStatisticsSection(folder);
    for (const text of ['natural, 300', 'semantic, 200', 'silhouette, 40']) expect(html).toContain(text);
    expect(html).toContain(
      '<b>natural</b> shapes are more diverse than <b>semantic</b> ones (a histogram of higher entropy, by over two standard errors) in 6 ' +
        '(solidity, convexity, elongation, thickness, complexity, holes), less diverse in none, ' +
        'without a clear difference in none; 200 shapes of each were compared. Of 6',
    );
    expect(html).toMatch(
      /than <b>silhouette<\/b> ones .*; 40 shapes of each were compared, of 250 and 4020 pixels at the median/,
    );
    const rows = rowsOf(html);
    expect(rows[0]).toEqual(['statistic', 'source', 'shapes', 'median', 'quartiles', 'entropy']);
    expect(rows.length).toBe(1 + 9 * 3);
    const [lower, median, upper] = quartiles(natural.map(({ solidity }) => solidity)).map(value => value.toFixed(2));
    expect(rows[1]!.slice(0, 5)).toEqual(['solidity', 'natural', '300', median, `${lower} – ${upper}`]);
    expect(rows[2]!.slice(0, 2)).toEqual(['semantic', '200']);
    expect(rows[24]).toEqual(['silhouette', '40', '4020', '4010 – 4029', '0.00']);
  });

  it('says so when natural shapes are the less diverse', async () => {
    const folder = new RunFolder(join(scratch, 'less'));
    await writeBank(folder, 'shapes', 'natural', madeUp(200, 0.2));
    await writeBank(folder, 'projected-shapes', 'projection', madeUp(200, 1));
    expect(await shapeStatisticsSection(folder)).toContain('two standard errors) in none, less diverse in 6');
  });

  it('does not compare a handful', async () => {
    const folder = new RunFolder(join(scratch, 'few'));
    await writeBank(folder, 'shapes', 'natural', madeUp(200, 1));
    await writeBank(folder, 'semantic-shapes', 'semantic', madeUp(6, 0.1));
    const html = await shapeStatisticsSection(folder);
    expect(html).toContain('6 shapes of each are too few to compare <b>natural</b> with <b>semantic</b> ones.');
    expect(html).not.toContain('less diverse');
  });

  it('leaves out labels without statistics', async () => {
    const folder = new RunFolder(join(scratch, 'earlier'));
    await writeBank(folder, 'shapes', 'natural', [undefined, { area: 'large' }, ...madeUp(3, 1)]);
    expect(await shapeStatisticsSection(folder)).toContain('natural, 3');
  });
});

describe('bins', () => {
  it('divide shares from 0 to 1', () => {
    const bins = binsFor('solidity', [0.5]);
    expect([0, 0.5, 0.999, 1].map(bins.of)).toEqual([0, bins.count / 2, bins.count - 1, bins.count - 1]);
  });

  it('divide sizes by their logarithm', () => {
    const bins = binsFor('area', [10, 1000, 100]);
    expect([10, 101, 1000].map(bins.of)).toEqual([0, bins.count / 2, bins.count - 1]);
    expect(bins.ticks.map(({ text }) => text)).toEqual(['10', '100', '1000']);
    expect(binsFor('area', [7, 7])).toMatchObject({ count: 1 });
  });

  it('take whole numbers by powers of 2', () => {
    const holes = binsFor('holes', [0, 9]);
    expect([0, 1, 2, 3, 4, 7, 8, 9].map(holes.of)).toEqual([0, 1, 2, 2, 3, 3, 4, 4]);
    expect(holes.ticks.map(({ text }) => text)).toEqual(['0', '1', '2', '4', '8']);
    const euler = binsFor('eulerNumber', [-5, 2]);
    expect([-5, -4, -3, -2, -1, 0, 1, 2].map(euler.of)).toEqual([0, 0, 1, 1, 2, 3, 4, 5]);
  });
});

describe('entropy', () => {
  const bins = binsFor('solidity', [0]);

  it('is 0 for one bin and 1 for all alike', () => {
    const everywhere = Array.from({ length: 10 * bins.count }, (_, i) => (i + 0.5) / (10 * bins.count));
    expect(normalisedEntropy([0.3, 0.3, 0.3], bins)).toEqual({ value: 0, error: 0 });
    expect(normalisedEntropy(everywhere, bins).value).toBeCloseTo(1, 12);
    expect(distribution(everywhere, bins).every(share => Math.abs(share - 1 / bins.count) < 1e-12)).toBe(true);
  });

  it('of two bins', () => {
    const values = [...new Array<number>(30).fill(0.1), ...new Array<number>(10).fill(0.9)];
    const expected = -(0.75 * Math.log(0.75) + 0.25 * Math.log(0.25)) / Math.log(bins.count);
    expect(normalisedEntropy(values, bins).value).toBeCloseTo(expected, 12);
  });

  it('has the standard error that repetition shows', () => {
    const draws = Array.from({ length: 400 }, (_, repetition) => {
      const random = rng(1, 'entropy', repetition);
      return normalisedEntropy(
        Array.from({ length: 500 }, () => random.next() ** 3),
        bins,
      );
    });
    const mean = draws.reduce((sum, { value }) => sum + value, 0) / draws.length;
    const deviation = Math.sqrt(draws.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / draws.length);
    expect(draws[0]!.error / deviation).toBeGreaterThan(0.8);
    expect(draws[0]!.error / deviation).toBeLessThan(1.25);
  });
});

describe('compareDiversity', () => {
  it('finds no difference between halves of one source', () => {
    const shapes = madeUp(400, 1);
    const { more, less, unclear } = compareDiversity(shapes.slice(0, 200), shapes.slice(200));
    expect(unclear.length).toBeGreaterThanOrEqual(FORM_STATISTICS.length - 1);
    expect(more.length + less.length + unclear.length).toBe(FORM_STATISTICS.length);
  });

  it('is the other way round from the other side', () => {
    const [wide, narrow] = [madeUp(150, 1), madeUp(90, 0.3)];
    const [one, other] = [compareDiversity(wide, narrow), compareDiversity(narrow, wide)];
    expect(one).toEqual({ more: other.less, less: other.more, unclear: other.unclear, shapes: 90 });
    expect(one.more.length).toBe(6);
  });
});

it('quartiles lie between neighbours', () => {
  expect(quartiles([4, 1, 3, 2])).toEqual([1.75, 2.5, 3.25]);
  expect(quartiles([5])).toEqual([5, 5, 5]);
});

it('evenly spread numbers', () => {
  expect(evenlySpread(10, 4)).toEqual([0, 2, 5, 7]);
  expect(evenlySpread(3, 10)).toEqual([0, 1, 2]);
});
