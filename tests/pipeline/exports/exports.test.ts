import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeCard } from '../../../pipeline/card/write-card.ts';
import { decodePng } from '../../../pipeline/datasets/png.ts';
import { ExportFolder } from '../../../pipeline/exports/export-folder.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../../pipeline/exports/exporter.ts';
import { EXPORTERS, exportRun } from '../../../pipeline/exports/exports.ts';
import type { SamplePart } from '../../../pipeline/exports/sample-parts.ts';
import { DamagedFile } from '../../../pipeline/faults.ts';
import type { Progress } from '../../../pipeline/progress.ts';
import { RunFolder } from '../../../pipeline/run-folder.ts';
import { ShardWriter } from '../../../pipeline/shard-writer.ts';
import { encodeTar } from '../../../pipeline/tar.ts';
import { UsageError } from '../../../pipeline/usage-error.ts';
import { cocoMask, csvRecords, frontMatter, jsonLines, tsvRows } from '../../readers/plain-readers.ts';
import { filesIn, scratchFolder, sha256 } from '../../runs/command.ts';
import { OBJECTS, type SmallRun, writePanels, writeSmallRun } from './small-run.ts';

const scratch = scratchFolder();
let run: SmallRun;
const PANELS = { alpha: 4, beta: 3 };

beforeAll(async () => {
  run = await writeSmallRun(join(scratch, 'run'));
  for (const [condition, tests] of Object.entries(PANELS)) await writePanels(run.path, condition, tests);
});

const silent: Progress = {
  begin() {},
  found() {},
  advance() {},
  end() {},
  count() {},
  info() {},
  warn() {},
};

function exported(format: ExportFormat, out: string, subsets?: string[], signal = new AbortController().signal) {
  return exportRun(run.path, { format, out: join(scratch, out), subsets }, silent, signal);
}

const read = (...path: string[]) => readFile(join(scratch, ...path));
const text = async (...path: string[]) => (await read(...path)).toString('utf8');

/** Files of an export beside what every export has. */
async function ownFiles(out: string): Promise<string[]> {
  return (await filesIn(join(scratch, out))).filter(file => !/^(README\.md|attribution\.csv|export\.json)$/.test(file));
}

/** Every file of an export by its sha256. */
async function contentOf(out: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const file of await filesIn(join(scratch, out))) content[file] = sha256(await read(out, file));
  return content;
}

describe('folders', () => {
  it('are one an instance, with the bytes of the shards; masks and shapes lie apart', async () => {
    await exported('folders', 'folders');
    const expected: Record<string, Uint8Array> = {};
    for (const { label, files } of run.shapes2d) {
      const place = `shapes2d/${label.split}/${label.key.slice(9, 15)}/${label.variation}`;
      expected[`${place}.jpg`] = files.jpg!;
      expected[`masks/${place}.png`] = files['mask.png']!;
    }
    for (const [id, png] of run.shapes) expected[`shapes/${id}.png`] = png;
    expect(await ownFiles('folders')).toEqual(Object.keys(expected).sort());
    for (const [file, bytes] of Object.entries(expected))
      expect([file, sha256(await read('folders', file))]).toEqual([file, sha256(bytes)]);
    // As LAS&T reads them: folders of folders of JPEGs, nothing else in them.
    for (const split of ['train', 'val', 'test']) {
      for (const instance of await readdir(join(scratch, 'folders/shapes2d', split))) {
        const images = await readdir(join(scratch, 'folders/shapes2d', split, instance));
        expect(images.every(name => /^\d+\.jpg$/.test(name))).toBe(true);
        expect(images.length).toBeGreaterThan(1);
      }
    }
    // 8-bit grey PNGs.
    for (const png of run.shapes.values())
      expect(decodePng(Buffer.from(png), 1e6)).toMatchObject({ channels: 1, depth: 8 });
  });
});

describe('imagefolder', () => {
  it('has a line a sample that names images beside it, and a card that names its splits', async () => {
    await exported('imagefolder', 'imagefolder');
    const named: string[] = [];
    for (const [subset, samples] of [
      ['shapes2d', run.shapes2d],
      ['silhouettes', run.silhouettes],
    ] as const) {
      for (const split of ['train', 'val', 'test']) {
        const folder = `${subset}/${split}`;
        const lines = jsonLines(await text('imagefolder', folder, 'metadata.jsonl'));
        const mine = samples.filter(({ label }) => label.split === split);
        expect(lines.map(({ key }) => key)).toEqual(mine.map(({ label }) => label.key));
        const columns = new Map<string, string>();
        for (const [i, line] of lines.entries()) {
          const images = Object.entries(line).filter(([name]) => name.endsWith('file_name'));
          expect(images).toHaveLength(subset === 'shapes2d' ? 2 : 4);
          for (const [column, name] of images) {
            const field = String(name).slice(String(name).indexOf('.') + 1);
            expect(column).toBe(field === 'jpg' ? 'file_name' : `${field.split('.')[0]}_file_name`);
            expect((await read('imagefolder', folder, String(name))).equals(mine[i]!.files[field]!)).toBe(true);
            named.push(`${folder}/${name}`);
          }
          // A column has one type throughout, as a table needs.
          for (const [name, value] of Object.entries(line)) {
            const type = Array.isArray(value) ? `array of ${typeof value[0]}` : typeof value;
            expect([name, columns.get(name) ?? type]).toEqual([name, type]);
            expect(value).not.toBeNull();
            columns.set(name, type);
          }
        }
        named.push(`${folder}/metadata.jsonl`);
      }
    }
    for (const condition of Object.keys(PANELS)) {
      const folder = `panels/${condition}`;
      const lines = jsonLines(await text('imagefolder', folder, 'metadata.jsonl'));
      const tests = jsonLines(await readFile(join(run.path, folder, 'panels.jsonl'), 'utf8'));
      for (const name of ['id', 'question', 'choices', 'answer', 'chance'])
        expect(lines.map(line => line[name])).toEqual(tests.map(test => test[name]));
      for (const [i, { file_name }] of lines.entries()) {
        const picture = await readFile(join(run.path, folder, String(tests[i]!.image)));
        expect((await read('imagefolder', folder, String(file_name))).equals(picture)).toBe(true);
        named.push(`${folder}/${file_name}`);
      }
      named.push(`${folder}/metadata.jsonl`);
    }
    expect(await ownFiles('imagefolder')).toEqual(named.sort());
    const { header, body } = frontMatter(await text('imagefolder', 'README.md'));
    const card = parse(header);
    expect(card.configs.map(({ config_name }: { config_name: string }) => config_name)).toEqual([
      'shapes2d',
      'silhouettes',
      'panels-alpha',
      'panels-beta',
    ]);
    for (const { data_files } of card.configs.slice(2))
      expect(data_files).toEqual([{ split: 'test', path: expect.stringMatching(/^panels\/\w+\/\*\*$/) }]);
    for (const { data_files } of card.configs.slice(0, 2)) {
      expect(data_files.map(({ split }: { split: string }) => split)).toEqual(['train', 'validation', 'test']);
      for (const { path } of data_files) await stat(join(scratch, 'imagefolder', path.replace('**', 'metadata.jsonl')));
    }
    expect(body).toContain('load_dataset');
  });
});

interface CocoFile {
  readonly images: {
    id: number;
    file_name: string;
    width: number;
    height: number;
    split: string;
    license: number;
    sources: string[];
  }[];
  readonly annotations: {
    id: number;
    image_id: number;
    category_id: number;
    bbox: number[];
    area: number;
    iscrowd: number;
    segmentation: { size: [number, number]; counts: string };
  }[];
  readonly categories: { id: number; name: string; supercategory: string }[];
  readonly licenses: { id: number; name: string; url: string; licenses?: number[] }[];
}

/** What an export of the small run is called. */
const TITLES: Readonly<Record<ExportFormat, string>> = {
  folders: '2D shapes and shapes',
  imagefolder: '2D shapes, silhouettes of objects and panel tests',
  coco: '2D shapes and silhouettes of objects',
  barebones: 'Silhouettes of objects',
  vlmevalkit: 'Panel tests',
  inspect: 'Panel tests',
};

const unique = (values: readonly unknown[]) => new Set(values).size === values.length;

describe('coco', () => {
  it('has masks, boxes and areas of the masks’ pixels, and ids that are unique', async () => {
    await exported('coco', 'coco');
    const coco: CocoFile = JSON.parse(await text('coco/shapes2d/coco.json'));
    expect(coco.images).toHaveLength(run.shapes2d.length);
    expect(coco.annotations).toHaveLength(run.shapes2d.length);
    for (const list of [coco.images, coco.annotations, coco.categories])
      expect(unique(list.map(({ id }) => id))).toBe(true);
    expect(coco.categories.map(({ name }) => name)).toEqual(['shape']);
    expect(coco.licenses).toEqual([{ id: 1, name: 'CC0-1.0', url: 'https://spdx.org/licenses/CC0-1.0.html' }]);
    for (const [i, image] of coco.images.entries()) {
      const { label, files } = run.shapes2d[i]!;
      expect(image).toMatchObject({ width: 24, height: 24, split: label.split, license: 1 });
      expect(image.file_name).toContain(label.key);
      expect((await read('coco/shapes2d', image.file_name)).equals(files.jpg!)).toBe(true);
      const annotation = coco.annotations[i]!;
      expect(annotation).toMatchObject({
        image_id: image.id,
        category_id: 1,
        iscrowd: 0,
        instance: label.instance.number,
      });
      const pixels = Array.from(decodePng(Buffer.from(files['mask.png']!), 1e6).data, value => (value >= 128 ? 1 : 0));
      expect(cocoMask(annotation.segmentation)).toEqual(pixels);
      const set = pixels.flatMap((value, at) => (value ? [[at % 24, Math.floor(at / 24)] as const] : []));
      const [xs, ys] = [set.map(([x]) => x), set.map(([, y]) => y)];
      const [left, top] = [Math.min(...xs), Math.min(...ys)];
      expect(annotation.bbox).toEqual([left, top, Math.max(...xs) - left + 1, Math.max(...ys) - top + 1]);
      expect(annotation.area).toBe(set.length);
    }
  });

  it('names sources as the list of sources does, and each licence of several with its address', async () => {
    const path = join(scratch, 'licensed', 'run');
    const { shapes2d } = await writeSmallRun(path, { licences: ['CC-BY-4.0', 'CC-BY-SA-3.0', null] });
    const settings = { format: 'coco', out: join(scratch, 'licensed/coco'), subsets: ['shapes2d'] } as const;
    await exportRun(path, settings, silent, new AbortController().signal);
    const coco: CocoFile = JSON.parse(await text('licensed/coco/shapes2d/coco.json'));
    const listed = csvRecords(await text('licensed/coco/attribution.csv'));
    expect(unique(coco.licenses.map(({ id }) => id))).toBe(true);
    expect(coco.licenses.find(({ name }) => name === 'CC-BY-SA-3.0')?.url).toMatch(/^https:.*by-sa/);
    for (const [i, { license, sources }] of coco.images.entries()) {
      const named = new Set(shapes2d[i]!.label.sources.map(({ licence }) => licence ?? 'LicenseRef-unknown'));
      const entry = coco.licenses.find(({ id }) => id === license)!;
      const each = entry.licenses?.map(number => coco.licenses.find(({ id }) => id === number)!.name) ?? [entry.name];
      expect(new Set(each)).toEqual(named);
      const files = sources.map(source => listed.find(({ id }) => id === source)?.file);
      expect(new Set(files)).toEqual(new Set(shapes2d[i]!.label.sources.map(({ file }) => file)));
    }
  });

  it('has the same of each split in a file of its own', async () => {
    const whole: CocoFile = JSON.parse(await text('coco/shapes2d/coco.json'));
    for (const split of ['train', 'val', 'test']) {
      const part: CocoFile = JSON.parse(await text(`coco/shapes2d/coco-${split}.json`));
      const images = whole.images.filter(image => image.split === split);
      const ids = images.map(({ id }) => id);
      expect(part).toEqual({
        ...whole,
        images,
        annotations: whole.annotations.filter(({ image_id }) => ids.includes(image_id)),
      });
    }
  });

  it('has the classes of silhouettes as categories, and masks in what the picture shows', async () => {
    const coco: CocoFile = JSON.parse(await text('coco/silhouettes/coco.json'));
    const names = OBJECTS.map(({ label }) => label).sort();
    expect(coco.categories.map(({ name }) => name)).toEqual(names);
    const [first, second] = coco.annotations;
    expect(coco.images[0]).toMatchObject({ width: 4, height: 3 });
    expect(cocoMask(first!.segmentation)).toEqual([0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]);
    expect(first).toMatchObject({ bbox: [1, 0, 2, 3], area: 6 });
    expect(coco.images[1]).toMatchObject({ width: 6, height: 4 });
    expect(second).toMatchObject({ bbox: [2, 1, 2, 3], area: 6, segmentation: { size: [4, 6], counts: '93107' } });
    for (const [i, { category_id }] of coco.annotations.entries()) {
      expect(coco.categories.find(({ id }) => id === category_id)!.name).toBe(OBJECTS[i]!.label);
    }
  });
});

describe('barebones', () => {
  it('has both modes and a table for each dataset, quoted as CSV is', async () => {
    await exported('barebones', 'barebones');
    const files: string[] = [];
    for (const dataset of ['cutouts', 'sprites']) {
      const rows = csvRecords(await text('barebones', dataset, 'metadata.csv'));
      const mine = run.silhouettes.filter(({ label }) => label.annotated.dataset === dataset);
      expect(rows.map(({ label }) => label)).toEqual(mine.map(({ label }) => label.annotated.label));
      for (const [i, row] of rows.entries()) {
        expect((await read('barebones', dataset, row.image_path!)).equals(mine[i]!.files['hq.jpg']!)).toBe(true);
        expect((await read('barebones', dataset, row.silhouette_path!)).equals(mine[i]!.files['silhouette.png']!)).toBe(
          true,
        );
        expect(row.image_path).toMatch(/^hq\//);
        expect(row.silhouette_path).toMatch(/^silhouette\//);
        files.push(`${dataset}/${row.image_path}`, `${dataset}/${row.silhouette_path}`);
      }
      files.push(`${dataset}/metadata.csv`);
    }
    expect(await ownFiles('barebones')).toEqual(files.sort());
    const [cutOut] = csvRecords(await text('barebones/cutouts/metadata.csv'));
    expect(Object.keys(cutOut!)).toEqual(['image_path', 'silhouette_path', 'label', 'split']);
    const sprites = csvRecords(await text('barebones/sprites/metadata.csv'));
    expect(sprites.map(({ gen, form, base_id, base_name }) => [gen, form, base_id, base_name])).toEqual([
      ['1', 'galar', '83', "Farfetch'd"],
      ['1', '', '122', 'Mr. Mime'],
    ]);
  });
});

describe('vlmevalkit', () => {
  it('has a table a condition, with a unique index over all of them and pictures in base64', async () => {
    await exported('vlmevalkit', 'vlmevalkit');
    expect(await ownFiles('vlmevalkit')).toEqual(['alpha.tsv', 'beta.tsv']);
    const all: Record<string, string>[] = [];
    for (const [condition, tests] of Object.entries(PANELS)) {
      const rows = tsvRows(await text('vlmevalkit', `${condition}.tsv`));
      expect(rows).toHaveLength(tests);
      for (const [i, row] of rows.entries()) {
        const picture = await readFile(join(run.path, 'panels', condition, `00000${i}.jpg`));
        expect(Buffer.from(row.image!, 'base64').equals(picture)).toBe(true);
        expect(row.image).toMatch(/^\/9j\/[A-Za-z0-9+/]+=*$/);
        expect(row.question).toBe('Which of the panels shows the same?');
        expect(row[row.answer!]).toBe(`panel ${row.answer}`);
        expect(Object.keys(row).filter(name => /^[A-Z]$/.test(name))).toEqual(['A', 'B', 'C', 'D']);
        expect(row.A).toBe('');
        expect([row.category, row['l2-category']]).toEqual(['real', 'real']);
      }
      all.push(...rows);
    }
    expect(all.map(({ index }) => index)).toEqual(all.map((_, i) => String(i)));
  });
});

describe('inspect', () => {
  it('has a sample a line, whose letters are the places of its choices', async () => {
    await exported('inspect', 'inspect');
    const ids: unknown[] = [];
    for (const [condition, tests] of Object.entries(PANELS)) {
      const lines = jsonLines(await text('inspect', `${condition}.jsonl`));
      expect(lines).toHaveLength(tests);
      for (const [i, line] of lines.entries()) {
        const { id, input, choices, target, metadata } = line as {
          id: string;
          input: { role: string; content: { type: string; text?: string; image?: string }[] }[];
          choices: string[];
          target: string;
          metadata: Record<string, unknown>;
        };
        ids.push(`${condition} ${id}`);
        expect(target).toBe('BCD'[i % 3]);
        expect(choices['ABCD'.indexOf(target)]).toBe(`panel ${target}`);
        expect(input).toHaveLength(1);
        const [question, picture] = input[0]!.content;
        expect([input[0]!.role, question!.type, picture!.type]).toEqual(['user', 'text', 'image']);
        expect(
          (await read('inspect', picture!.image!)).equals(await readFile(join(run.path, 'panels', picture!.image!))),
        ).toBe(true);
        expect(metadata.do_not_shuffle).toContain('do not shuffle the choices');
      }
    }
    expect(unique(ids)).toBe(true);
  });
});

describe.each(EXPORT_FORMATS)('an export to %s', format => {
  it('says how it is read, under which licences, and from what it was made; nothing half-made is left', async () => {
    await exported(format, `whole-${format}`);
    const { header, body } = frontMatter(await text(`whole-${format}`, 'README.md'));
    // Nobody stated a licence for the photographs of the panel tests, and the others have none of them.
    const license = ['imagefolder', 'vlmevalkit', 'inspect'].includes(format) ? 'other' : 'cc0-1.0';
    expect(parse(header)).toMatchObject({ license, pretty_name: `${TITLES[format]} (${format})` });
    expect(body).toContain(`# ${TITLES[format]} (${format})\n`);
    // What a README says of rights is true of the format: no other has labels.
    expect(body).not.toContain('label of each sample names');
    expect(body).toMatch(/## Layout\n.*## Loading\n.*```.*## Licences/s);
    const record = JSON.parse(await text(`whole-${format}`, 'export.json'));
    const parts = await EXPORTERS[format].plan(new RunFolder(run.path));
    expect(record).toMatchObject({
      format,
      parts: Object.fromEntries(parts.map(({ name, sha256 }) => [name, sha256])),
    });
    expect(await readdir(join(scratch, `whole-${format}`))).not.toContain('.export');
    expect((await filesIn(join(scratch, `whole-${format}`))).filter(file => file.includes('.partial'))).toEqual([]);
  });

  it('lists the sources of what it has, whether the run has its card or not', async () => {
    await exported(format, `whole-${format}`);
    const list = await text(`whole-${format}`, 'attribution.csv');
    const samples = { folders: run.shapes2d, barebones: run.silhouettes, vlmevalkit: [], inspect: [] };
    const labels = format in samples ? samples[format as keyof typeof samples] : [...run.shapes2d, ...run.silhouettes];
    const named = labels.flatMap(({ label }) => label.sources.map(({ pack, file }) => `${pack} ${file}`));
    const rows = csvRecords(list);
    const tests = ['vlmevalkit', 'inspect'].includes(format);
    const mine = rows.filter(({ used_in }) => (tests ? /\bpanels:/ : /\b(shapes2d|silhouettes):/).test(used_in!));
    expect(mine.length).toBeGreaterThan(2);
    if (!tests) expect(new Set(mine.map(({ pack, file }) => `${pack} ${file}`))).toEqual(new Set(named));
    // What else there is are the sources of shapes that no image shows, and of panel tests.
    const others = rows.filter(row => !mine.includes(row));
    const beside = { folders: /^banks\/shapes:\d+$/, imagefolder: /^panels:\d+$/ }[format as string] ?? /^$/;
    expect(others.every(({ used_in }) => beside.test(used_in!))).toBe(true);
    const copy = join(scratch, `card-${format}`, 'run');
    await cp(run.path, copy, { recursive: true });
    const { signal } = new AbortController();
    await writeCard(new RunFolder(copy), signal);
    const out = join(scratch, `card-${format}`, 'out');
    await exportRun(copy, { format, out, subsets: undefined }, silent, signal);
    expect(await contentOf(`card-${format}/out`)).toEqual(await contentOf(`whole-${format}`));
  });

  it('that is complete is left as it is', async () => {
    await exported(format, `whole-${format}`);
    const [file] = await ownFiles(`whole-${format}`);
    const before = await stat(join(scratch, `whole-${format}`, file!));
    expect(await exported(format, `whole-${format}`)).toMatchObject({ written: 0 });
    expect((await stat(join(scratch, `whole-${format}`, file!))).mtimeMs).toBe(before.mtimeMs);
  });

  it('that was interrupted after any part is continued, and ends with the same bytes', async () => {
    await exported(format, `whole-${format}`);
    const whole = await contentOf(`whole-${format}`);
    const parts = await EXPORTERS[format].plan(new RunFolder(run.path));
    const sum = parts.reduce((samples, part) => samples + part.samples, 0);
    for (let written = 0; written < parts.length; written++) {
      const out = `broken-${format}-${written}`;
      const controller = new AbortController();
      let advanced = 0;
      const counting = { ...silent, advance: () => ++advanced === written && controller.abort() };
      if (written === 0) controller.abort();
      const settings = { format, out: join(scratch, out), subsets: undefined };
      await expect(exportRun(run.path, settings, counting as Progress, controller.signal)).rejects.toThrow('aborted');
      expect(await readdir(join(scratch, out))).toContain('.export');
      // As a kill leaves it: a file of the next part is cut, its rows have no name yet.
      const next = join(scratch, out, '.export', 'parts', `${parts[written]!.name}.jsonl`);
      await mkdir(join(next, '..'), { recursive: true });
      await writeFile(`${next}.partial`, '["half');
      if (format === 'imagefolder' && parts[written]!.place !== 'panels') {
        const { subset, split, number } = parts[written] as SamplePart;
        const cut = Object.keys(whole).find(file => file.startsWith(`${subset}/${split}/${number}/`))!;
        await mkdir(join(scratch, out, cut, '..'), { recursive: true });
        await writeFile(join(scratch, out, cut), 'half');
      }
      expect(await exported(format, out)).toMatchObject({ samples: sum });
      expect(await contentOf(out)).toEqual(whole);
      await rm(join(scratch, out), { recursive: true });
    }
  });
});

describe('an export is refused', () => {
  const refused = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('expected a refusal'),
      error => {
        expect(error).toBeInstanceOf(UsageError);
        return (error as Error).message;
      },
    );

  it('into a folder with other things, with another export, or within the run', async () => {
    await mkdir(join(scratch, 'own'));
    await writeFile(join(scratch, 'own', 'thesis.txt'), 'the only copy');
    expect(await refused(exported('folders', 'own'))).toContain('holds "thesis.txt" and no export');
    await writeFile(join(scratch, 'file'), '');
    expect(await refused(exported('folders', 'file'))).toContain('expected a folder, found a file');
    await exported('folders', 'other');
    expect(await refused(exported('coco', 'other'))).toContain('format: was "folders", is "coco"');
    expect(await refused(exported('folders', 'other', ['shapes2d']))).toContain('parts.shapes-000000: was');
    for (const inside of ['run', 'run/panels', 'run/new']) {
      expect(await refused(exported('folders', inside))).toContain('outside of the run');
    }
  });

  it('of what the run has not', async () => {
    expect(await refused(exported('folders', 'none', ['shapes3d']))).toContain('--subsets shapes3d');
    const settings = { format: 'inspect', out: join(scratch, 'none'), subsets: undefined } as const;
    const bare = await writeSmallRun(join(scratch, 'bare'));
    expect(await refused(exportRun(bare.path, settings, silent, new AbortController().signal))).toContain(
      'npm run panels',
    );
    expect(await refused(exportRun(scratch, settings, silent, new AbortController().signal))).toContain('no run.json');
  });

  it('while another process is at it', async () => {
    const folder = new ExportFolder(join(scratch, 'busy'));
    const parts = await EXPORTERS.folders.plan(new RunFolder(run.path));
    const { VERSION } = await import('../../../pipeline/version.ts');
    const record = {
      shapemill: VERSION,
      format: 'folders',
      parts: Object.fromEntries(parts.map(part => [part.name, part.sha256])),
    };
    await folder.begin(record);
    await mkdir(join(folder.path, '.export', 'locks'));
    await writeFile(join(folder.path, '.export/locks/elsewhere-1.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }));
    expect(await refused(exported('folders', 'busy'))).toContain('process 1 on elsewhere is working on');
  });
});

describe('a run that somebody was at', () => {
  it.each([
    ['json', '{"key": "half', 'is no label of shapes2d'],
    ['json', '{"subset":"textures2d"}', 'is no label of shapes2d'],
    ['/../../../outside.json', '{}', 'no sample has a file'],
    ['mask.png', 'no picture', 'mask.png: PNG'],
  ])('is reported where a sample has a "%s" of %s', async (field, content, said) => {
    const out = join(scratch, 'tampered');
    await rm(out, { recursive: true, force: true });
    const path = join(out, 'run');
    await cp(run.path, path, { recursive: true });
    await rm(join(path, 'shapes2d'), { recursive: true });
    const { label, files } = run.shapes2d[0]!;
    const members = Object.entries({ ...files, [field]: Buffer.from(content) });
    const writer = await ShardWriter.create(join(path, 'shapes2d/train/shapes2d-train-000000'));
    const named = members.map(([name, data]) => ({
      name: `${label.key}${name.startsWith('/') ? '' : '.'}${name}`,
      data,
    }));
    await writer.append(encodeTar(named).bytes);
    await writer.finish({ stage: 'shapes2d', shard: 0, samples: 1, seconds: 1, faults: [], counts: {} });
    const settings = { format: 'coco', out: join(out, 'coco'), subsets: ['shapes2d'] } as const;
    const attempt = exportRun(path, settings, silent, new AbortController().signal);
    await expect(attempt).rejects.toThrow(DamagedFile);
    await expect(attempt).rejects.toThrow(said);
    expect(await readdir(out)).toEqual(['coco', 'run']);
  });

  it('is reported with the shard’s name, and shards that are not complete are left out', async () => {
    const copy = join(scratch, 'damaged');
    await cp(run.path, copy, { recursive: true });
    const shard = join(copy, 'shapes2d/train/shapes2d-train-000000');
    const bytes = await readFile(`${shard}.tar`);
    bytes.fill(0x41, 512 * 20, 512 * 30);
    await writeFile(`${shard}.tar`, bytes);
    const settings = { format: 'folders', out: join(scratch, 'from-damaged'), subsets: undefined } as const;
    const attempt = exportRun(copy, settings, silent, new AbortController().signal);
    await expect(attempt).rejects.toThrow(DamagedFile);
    await expect(attempt).rejects.toThrow('shapes2d-train-000000.tar');
    await truncate(`${shard}.tar`, 4096);
    const out = { ...settings, out: join(scratch, 'from-cut') };
    const { samples } = await exportRun(copy, out, silent, new AbortController().signal);
    expect(samples).toBe(run.shapes2d.length - 6 + run.shapes.size);
  });
});
