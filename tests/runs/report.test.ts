import { cp, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { panelSection } from '../../pipeline/report/panel-section.ts';
import { RunFolder } from '../../pipeline/run-folder.ts';
import { filesIn, scratchFolder, shapemill, sidecarsOf } from './command.ts';
import { runWithPanels } from './shared-runs.ts';

const scratch = scratchFolder();
const run = join(scratch, 'run');
let withPanels: string;
let page: string;

beforeAll(async () => {
  const shared = await runWithPanels();
  withPanels = shared.run;
  await cp(shared.run, run, { recursive: true, filter: path => basename(path) !== 'panels' });
  page = await readFile(join(run, 'report/index.html'), 'utf8');
});

/** The cells of a table's row by its head. */
const row = (html: string, head: string) =>
  [
    ...(new RegExp(`<tr><th scope="row">${head}</th>(.*?)</tr>`).exec(html)?.[1] ?? '').matchAll(
      /<td[^>]*>(.*?)<\/td>/g,
    ),
  ].map(([, text]) => text);

describe('the report of a run', () => {
  it('has a part for everything, in the order of its links', () => {
    const ids = [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([
      'made',
      'sheets',
      'yields',
      'time',
      'colours',
      'scales',
      'rotations',
      'shapes',
      'duplicates',
      'licences',
      'faults',
    ]);
    expect([...page.matchAll(/<a href="#([^"]+)"/g)].map(([, id]) => id)).toEqual(ids);
  });

  it('counts what the sidecars say', async () => {
    const sidecars = Object.entries(await sidecarsOf(run));
    for (const [title, stage] of [
      ['natural shapes', 'extract-shapes'],
      ['shapes2d images', 'shapes2d'],
      ['silhouettes', 'silhouettes'],
    ] as const) {
      const own = sidecars.filter(([, sidecar]) => sidecar.stage === stage);
      const samples = own.reduce((sum, [, sidecar]) => sum + sidecar.samples, 0);
      const cells = row(page, title);
      expect([cells[0], cells[4]]).toEqual([String(samples), String(own.length)]);
      expect(cells.slice(1, 4).reduce((sum, text) => sum + Number(text), 0)).toBe(samples);
    }
  });

  it('opens from disk: its pictures lie beside it, and nothing is fetched', async () => {
    const there = await filesIn(join(run, 'report'));
    const named = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(10);
    for (const name of named) expect(there).toContain(name);
    expect(page).not.toMatch(/<script|@import|url\(/);
  });

  it('says of how many images its charts are', async () => {
    const sidecars = Object.values(await sidecarsOf(run)).filter(({ stage }) => stage === 'shapes2d');
    const images = sidecars.reduce((sum, { samples }) => sum + samples, 0);
    const [, looked] = new RegExp(`<b>shapes2d</b> (\\d+) of ${images} images`).exec(page)!;
    expect(Number(looked)).toBeLessThanOrEqual(images);
    expect(page).toContain(`shapes2d ${images} of ${images} images`);
  });

  it('shows panel tests where there are some, each picture scaled down and in the page', async () => {
    expect(page).not.toContain('id="panels"');
    expect(await panelSection(new RunFolder(run))).toBe('');
    const part = await panelSection(new RunFolder(withPanels));
    expect(row(part, 'textures2d-black-same')).toEqual(['6', '33.3 %']);
    const [, picture] = /src="data:image\/jpeg;base64,([^"]+)"/.exec(part)!;
    const shown = await sharp(Buffer.from(picture!, 'base64')).metadata();
    expect([shown.format, shown.width, shown.height]).toEqual(['jpeg', 400, 400]);
    // Before the list is there, a condition has tests and no end.
    const half = join(scratch, 'half');
    await cp(join(withPanels, 'panels'), join(half, 'panels'), { recursive: true });
    await rm(join(half, 'panels/textures2d-black-same/panels.jsonl'));
    expect(row(await panelSection(new RunFolder(half)), 'textures2d-black-same')).toEqual(['6', 'not finished']);
  });

  it('names the command, the machine and that nothing drew 3D scenes', async () => {
    const { platform, machine } = JSON.parse(await readFile(join(run, 'run.json'), 'utf8'));
    for (const text of [platform.libvips, machine.node, 'shapemill generate', 'there are no 3D images']) {
      expect(page).toContain(text);
    }
  });

  it('is what preview writes, and tells of what is there so far', async () => {
    expect((await shapemill('preview', run)).code).toBe(0);
    expect(await readFile(join(run, 'report/index.html'), 'utf8')).toBe(page);
    for (const subset of ['shapes2d', 'textures2d', 'silhouettes']) await rm(join(run, subset), { recursive: true });
    expect((await shapemill('preview', run)).code).toBe(0);
    const less = await readFile(join(run, 'report/index.html'), 'utf8');
    expect(row(less, 'natural shapes')).toEqual(row(page, 'natural shapes'));
    expect(less).not.toContain('id="rotations"');
  });
});
