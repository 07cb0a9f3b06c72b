import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { csvRecords, frontMatter, jsonLines, tsvRows } from '../readers/plain-readers.ts';
import { complaint, filesIn, scratchFolder, sha256, shapemill, start, until } from './command.ts';
import { smallPhoto } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { bankLabels, labelsIn, sampleLabels } from './shard-files.ts';
import { runWithPanels } from './shared-runs.ts';

const scratch = scratchFolder();
const run = join(scratch, 'run');

beforeAll(async () => {
  const shared = await runWithPanels();
  await cp(shared.run, run, { recursive: true, filter: path => basename(path) !== 'panels' });
});

async function contentOf(folder: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const file of await filesIn(folder)) content[file] = sha256(await readFile(join(folder, file)));
  return content;
}

describe('the card that generate writes', () => {
  it('counts what the shards hold, and names each source of a label', async () => {
    const { header, body } = frontMatter(await readFile(join(run, 'README.md'), 'utf8'));
    expect(parse(header).configs).toHaveLength(3);
    for (const subset of ['shapes2d', 'textures2d'] as const) {
      const labels = await sampleLabels(run, subset);
      const counts = ['train', 'val', 'test'].map(split => labels.filter(label => label.split === split).length);
      expect(body).toContain(`| ${subset} | ${counts.join(' | ')} | ${labels.length} |`);
    }
    const named = new Set<string>();
    for (const kind of ['shapes', 'textures'] as const) {
      for (const { provenance } of await bankLabels(run, kind)) named.add(`${provenance.pack} ${provenance.file}`);
    }
    for (const subset of ['shapes2d', 'textures2d', 'silhouettes']) {
      const labels = await labelsIn<{ sources: { pack: string; file: string }[] }>(run, `${subset}/`);
      for (const { sources } of labels) for (const { pack, file } of sources) named.add(`${pack} ${file}`);
    }
    const rows = csvRecords(await readFile(join(run, 'attribution.csv'), 'utf8'));
    expect(rows.map(({ pack, file }) => `${pack} ${file}`).sort()).toEqual([...named].sort());
    // A folder of photographs states no licence; the cut-outs do.
    expect(new Set(rows.map(({ licence }) => licence)).has('')).toBe(true);
    expect(body).toContain('that nobody stated');
  });

  it('describes each shard to machines by its sha256', async () => {
    const { distribution } = JSON.parse(await readFile(join(run, 'croissant.json'), 'utf8'));
    const tars = (await filesIn(run)).filter(file => file.endsWith('.tar'));
    for (const tar of tars) {
      const object = distribution.find(({ contentUrl }: { contentUrl: string }) => contentUrl === tar);
      expect([tar, object?.sha256]).toEqual([tar, sha256(await readFile(join(run, tar)))]);
    }
  });
});

describe('export', () => {
  it('lies beside the run by default, and is found complete when it is given again', async () => {
    const first = await shapemill('export', run, '--format', 'barebones');
    expect([first.code, complaint(first)]).toEqual([0, '']);
    const before = await contentOf(`${run}-barebones`);
    expect(Object.keys(before)).toContain('cutouts/metadata.csv');
    const again = await shapemill('export', run, '--format', 'barebones');
    expect(again.stdout).toContain('all written before');
    expect(await contentOf(`${run}-barebones`)).toEqual(before);
  });

  it.each(['imagefolder', 'coco'])('to %s goes on after kill -9 and ends with the same bytes', async format => {
    const args = (out: string) => ['export', run, '--format', format, '--out', join(scratch, out)];
    expect(await shapemill(...args(format))).toMatchObject({ code: 0 });
    const whole = await contentOf(join(scratch, format));
    const random = rng(1, 'tests', `kill -9 of ${format}`);
    const out = `killed-${format}`;
    for (let i = 0; i < 2; i++) {
      const moment = integer(random, 1, Object.keys(whole).length);
      const { child, ended } = start(args(out));
      await until(async () => (await filesIn(join(scratch, out))).length >= moment, ended);
      child.kill('SIGKILL');
      await ended;
    }
    expect(await shapemill(...args(out))).toMatchObject({ code: 0 });
    expect(await contentOf(join(scratch, out))).toEqual(whole);
  });

  it('stops at Ctrl-C with exit code 130 and goes on later', async () => {
    const args = ['export', run, '--format', 'coco', '--out', join(scratch, 'stopped')];
    const { child, ended } = start(args);
    await until(async () => (await filesIn(join(scratch, 'stopped'))).length > 0, ended);
    child.kill('SIGINT');
    const { code } = await ended;
    // Where it was done before the signal came, it was done.
    expect(code).toBeOneOf([0, 130]);
    expect(await shapemill(...args)).toMatchObject({ code: 0 });
    await rm(join(scratch, 'stopped'), { recursive: true });
  });

  it.each([
    [['--format', 'imagefolders'], 'did you mean "imagefolder"?'],
    [[], '--format: expected one of folders'],
    [['--format', 'folders', '--subsets', 'shapes3d'], '--subsets shapes3d'],
    [['--format', 'inspect'], 'expected panel tests'],
    [['--format', 'folders', '--out', join(run, 'x')], 'outside of the run'],
  ])('refuses %j', async (args, said) => {
    expect(await refusal('export', run, ...args)).toContain(said);
  });
});

describe('panel tests', () => {
  it('come into the card and into the forms of model testers', async () => {
    const photographs = join(scratch, 'photographs');
    for (const [i, name] of ['fig-in-bowl.webp', 'cork.webp', 'otter.webp'].entries()) {
      const folder = join(photographs, `object-${i}`);
      await mkdir(folder, { recursive: true });
      for (let n = 0; n < 2; n++)
        await smallPhoto(name)
          .rotate(90 * n)
          .jpeg()
          .toFile(join(folder, `${n}.jpg`));
    }
    const args = ['panels', run, '--conditions', 'real', '--real', photographs, '--per-condition', '3'];
    const made = await shapemill(...args);
    expect([made.code, complaint(made)]).toEqual([0, '']);
    expect(await shapemill('card', run)).toMatchObject({ code: 0 });
    expect(await readFile(join(run, 'README.md'), 'utf8')).toContain('| real | 3 |');
    const tests = jsonLines(await readFile(join(run, 'panels/real/panels.jsonl'), 'utf8'));
    for (const format of ['vlmevalkit', 'inspect']) {
      expect(await shapemill('export', run, '--format', format)).toMatchObject({ code: 0 });
    }
    const rows = tsvRows(await readFile(join(`${run}-vlmevalkit`, 'real.tsv'), 'utf8'));
    expect(rows.map(({ answer }) => answer)).toEqual(tests.map(({ answer }) => answer));
    const samples = jsonLines(await readFile(join(`${run}-inspect`, 'real.jsonl'), 'utf8'));
    expect(samples.map(({ id, target }) => [id, target])).toEqual(tests.map(({ id, answer }) => [id, answer]));
  });
});
