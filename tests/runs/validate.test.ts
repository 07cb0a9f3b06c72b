import { appendFile, cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PanelTest, Sample2dLabel, ShapeLabel, SilhouetteLabel } from '../../pipeline/labels.ts';
import type { Progress } from '../../pipeline/progress.ts';
import type { Sidecar } from '../../pipeline/shard-writer.ts';
import { type Validation, validate } from '../../pipeline/validate/validate.ts';
import { complaint, filesIn, scratchFolder, sha256, shapemill } from './command.ts';
import { refusal } from './refusal.ts';
import { changed, fitSidecar, flipByte, rewriteShard, withValues } from './rewrite-shard.ts';
import { bankLabels, readShard, type ShardFile, sampleLabels } from './shard-files.ts';
import { runWithPanels } from './shared-runs.ts';

const scratch = scratchFolder();
let whole: string;
const TRAIN = 'shapes2d/train/shapes2d-train-000000.tar';
const VAL = 'shapes2d/val/shapes2d-val-000000.tar';
const SHAPES = 'banks/shapes/shapes-000000.tar';
const TEXTURES = 'banks/textures/textures-000000.tar';
const SILHOUETTES = 'silhouettes/train/silhouettes-train-000000.tar';

beforeAll(async () => {
  ({ run: whole } = await runWithPanels());
});

const silent: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };
const look = (run: string) => validate(run, 100, silent, new AbortController().signal);

/** Findings as lines: "severity check: kind @ file key". */
function lines({ findings }: Validation): string[] {
  return findings.flatMap(({ severity, check, kind, examples }) =>
    examples.map(({ file, key }) => `${severity} ${check}: ${kind} @ ${[file, key].filter(Boolean).join(' ')}`),
  );
}
const errorsIn = (validation: Validation) => lines(validation).filter(line => line.startsWith('error'));

/** A copy of the whole run that something is done to. */
async function harmed(name: string, harm: (run: string) => Promise<unknown>): Promise<Validation> {
  const run = join(scratch, name.replace(/\W+/g, '-'));
  await cp(whole, run, { recursive: true });
  await harm(run);
  const validation = await look(run);
  await rm(run, { recursive: true });
  return validation;
}

/** Changes the files of a shard and makes its sidecar fit. */
const rewriting =
  (shard: string, change: (files: ShardFile[]) => ShardFile[] | Promise<ShardFile[]>, samples?: number) =>
  (run: string) =>
    rewriteShard(join(run, shard), change, samples);
const keyOf = ({ name }: ShardFile) => name.slice(0, name.indexOf('.'));
const firstSample = (files: ShardFile[]) => files.filter(file => keyOf(file) === keyOf(files[0]!));

describe('a run that nothing was done to', () => {
  it('is found right, with exit code 0', async () => {
    const ending = await shapemill('validate', whole);
    expect(ending.stdout).toMatch(/\n {2}0 errors, \d+ warnings? in \d+ shards, \d+ samples and bank items/);
    expect([ending.code, complaint(ending)]).toEqual([0, '']);
    const { shards, samples, errors } = await look(whole);
    const labels = [...(await bankLabels(whole, 'shapes')), ...(await bankLabels(whole, 'textures'))];
    const images = [...(await sampleLabels(whole, 'shapes2d')), ...(await sampleLabels(whole, 'textures2d'))];
    expect(samples).toBeGreaterThan(labels.length + images.length);
    expect([shards > 10, errors]).toEqual([true, 0]);
  });
});

describe('a run that something was done to', () => {
  const black = (data: Buffer) => sharp(data).linear(0, 0).jpeg().toBuffer();
  const smaller = (data: Buffer) => sharp(data).resize(100).toColourspace('b-w').png().toBuffer();
  const empty = (data: Buffer) => sharp(data).linear(0, 0).toColourspace('b-w').png().toBuffer();

  it.each<[name: string, harm: (run: string) => Promise<unknown>, found: string | RegExp]>([
    [
      'a byte of a picture',
      run => flipByte(join(run, TRAIN), 5000),
      `shards: other bytes than its sidecar says @ ${TRAIN}`,
    ],
    ['the end of a tar', run => truncate(join(run, TRAIN), 9000), `shards: not a whole tar @ ${TRAIN}`],
    ['the zeros at its end', run => appendFile(join(run, VAL), 'more'), `shards: not a whole tar @ ${VAL}`],
    [
      'the end of a tar, and its sidecar',
      async run => {
        await truncate(join(run, TRAIN), 9000);
        await fitSidecar(join(run, TRAIN));
      },
      `shards: not a whole tar @ ${TRAIN}`,
    ],
    [
      'a header of a tar, and its sidecar',
      async run => {
        await flipByte(join(run, TRAIN), 100);
        await fitSidecar(join(run, TRAIN));
      },
      `shards: not a whole tar @ ${TRAIN}`,
    ],
    [
      "a sidecar's checksum",
      run => fitSidecar(join(run, VAL), { sha256: '0'.repeat(64) }),
      `shards: other bytes than its sidecar says @ ${VAL}`,
    ],
    [
      "a sidecar's number",
      run => fitSidecar(join(run, VAL), { shard: 0 }),
      `shards: its sidecar is that of another shard @ ${VAL}`,
    ],
    ['a sidecar', run => rm(join(run, VAL.replace('tar', 'json'))), `shards: its sidecar is gone, or none @ ${VAL}`],
    [
      'a sidecar’s text',
      run => writeFile(join(run, VAL.replace('tar', 'json')), '{'),
      `shards: its sidecar is gone, or none @ ${VAL}`,
    ],
    [
      'a shard that others follow',
      run => Promise.all([rm(join(run, TRAIN)), rm(join(run, TRAIN.replace('tar', 'json')))]),
      /shards: (missing, though others follow it|planned and not there).* @ shapes2d\/train\/shapes2d-train-000000.tar/,
    ],
    ['a tar', run => rm(join(run, VAL)), `@ ${VAL}`],
    [
      'a bank’s tar',
      run => rm(join(run, SHAPES)),
      `shards: missing, though others follow it or its sidecar is there @ ${SHAPES}`,
    ],
    [
      'a whole split',
      run => rm(join(run, 'textures2d/test'), { recursive: true }),
      'shards: planned and not there: the run is not finished @ textures2d/test/textures2d-test-000000.tar',
    ],
    [
      'a shard that nobody asked for',
      async run => {
        for (const extension of ['tar', 'json']) {
          await cp(
            join(run, VAL.replace('tar', extension)),
            join(run, `shapes2d/val/shapes2d-val-000099.${extension}`),
          );
        }
      },
      'shards: a shard that the recipe does not ask for @ shapes2d/val/shapes2d-val-000099.tar',
    ],
    [
      'a stranger’s tar',
      run => cp(join(run, VAL), join(run, 'shapes2d/val/copy.tar')),
      'shards: no file of a run @ shapes2d/val/copy.tar',
    ],
    [
      'what a killed process left',
      run => writeFile(join(run, `${VAL}.partial`), 'x'),
      `shards: left by a process that did not finish (the same command continues it) @ ${VAL}.partial`,
    ],
    [
      'a list',
      run => truncate(join(run, 'photos/list.jsonl'), 300),
      'shards: a list that was changed @ photos/index.json',
    ],
    [
      'a fact in a label',
      rewriting(TRAIN, files =>
        changed(
          files,
          'json',
          label => withValues(label, ({ facts }: Sample2dLabel) => facts.area++),
          keyOf(files[0]!),
        ),
      ),
      `masks: not what its label says @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'a value that the schema forbids',
      rewriting(TRAIN, files =>
        changed(
          files,
          'json',
          label => withValues(label, (value: object) => Object.assign(value, { seed: -1 })),
          keyOf(files[0]!),
        ),
      ),
      `labels: does not match its schema @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'the text of a label',
      rewriting(TRAIN, files => changed(files, 'json', () => Buffer.from('{half'), keyOf(files[0]!))),
      `labels: does not match its schema @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'a key that is there twice',
      rewriting(TRAIN, files => [...files, ...firstSample(files)], 5),
      `keys: twice in one shard, or its files are not adjacent @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'files of a sample that are apart',
      rewriting(TRAIN, ([first, ...others]) => [...others, first!], 5),
      `keys: twice in one shard, or its files are not adjacent @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'a field that is there twice',
      rewriting(TRAIN, ([first, ...others]) => [first!, first!, ...others]),
      `keys: a field that is there twice @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'a field',
      rewriting(TRAIN, files => files.filter(({ name }) => name !== 'shapes2d-000000-0.mask.png')),
      `fields: a field is missing @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'a dot in a key',
      rewriting(TRAIN, files => files.map(file => ({ ...file, name: file.name.replace('000000-0.', '000000.0.') }))),
      `fields: a field that the others do not have @ ${TRAIN} shapes2d-000000`,
    ],
    [
      'the size of a mask',
      rewriting(TRAIN, files => changed(files, 'mask.png', smaller, keyOf(files[0]!))),
      `pictures: of another size than its label says @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'the data of a JPEG',
      rewriting(TRAIN, files => changed(files, 'jpg', data => data.subarray(0, data.length >> 1), keyOf(files[0]!))),
      `pictures: cannot be decoded @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'all of a picture’s light',
      rewriting(TRAIN, files => changed(files, 'jpg', black, keyOf(files[0]!))),
      `blank: a black picture @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'all of a mask',
      rewriting(TRAIN, files => changed(files, 'mask.png', empty, keyOf(files[0]!))),
      `blank: an empty mask @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'all of a silhouette',
      rewriting(SILHOUETTES, files => changed(files, 'silhouette.png', empty)),
      `blank: an empty mask @ ${SILHOUETTES}`,
    ],
    [
      'run lengths of an object',
      rewriting(SILHOUETTES, files =>
        changed(files, 'json', label => withValues(label, ({ object }: SilhouetteLabel) => object.box.left++)),
      ),
      `masks: not what its label says @ ${SILHOUETTES}`,
    ],
    [
      'a sample’s split',
      async run => {
        let moved: ShardFile[] = [];
        await rewriteShard(
          join(run, TRAIN),
          files => {
            moved = firstSample(files);
            return files.filter(file => !moved.includes(file));
          },
          3,
        );
        await rewriteShard(join(run, VAL), files => [...files, ...moved], (await samplesIn(run, VAL)) + 1);
      },
      `labels: says something else than the sample it lies beside @ ${VAL} shapes2d-000000-0`,
    ],
    [
      'a sample’s split, and its label',
      async run => {
        let moved: ShardFile[] = [];
        await rewriteShard(
          join(run, TRAIN),
          files => {
            moved = firstSample(files);
            return files.filter(file => !moved.includes(file));
          },
          3,
        );
        const label = await changed(moved, 'json', data =>
          withValues(data, (value: object) => Object.assign(value, { split: 'val' })),
        );
        await rewriteShard(join(run, VAL), files => [...files, ...label], (await samplesIn(run, VAL)) + 1);
      },
      `splits: a source in two splits @ ${VAL} shapes2d-000000-0`,
    ],
    [
      'an item that a scene shows',
      rewriting(TRAIN, files =>
        changed(files, 'json', label =>
          withValues(label, ({ scene }: Sample2dLabel) => Object.assign(scene.shape, { id: 'a1-r0' })),
        ),
      ),
      `scenes: an item that no bank has @ ${TRAIN} shapes2d-000000-0`,
    ],
    [
      'an image of an instance',
      rewriting(TRAIN, files => files.slice(firstSample(files).length), 3),
      `instances: variations that are not counted from 0 @ ${TRAIN} shapes2d-000000-1`,
    ],
    [
      'a byte of a bank’s tar',
      run => flipBankByte(run),
      `bank index: other bytes than were written (CRC-32) @ ${SHAPES}`,
    ],
    [
      'a bank’s index',
      run => flipByte(join(run, 'banks/shapes/index.bin'), 3),
      'bank index: an index that was changed @ banks/shapes/index.bin',
    ],
    [
      'a bank’s index, and its digest',
      async run => {
        const path = join(run, 'banks/textures/index.bin');
        // The CRCs of the last columns: nothing else tells.
        await flipByte(path, -2);
        const facts = JSON.parse(await readFile(path.replace('bin', 'json'), 'utf8'));
        facts.digest = sha256(await readFile(path));
        await writeFile(path.replace('bin', 'json'), JSON.stringify(facts));
      },
      'bank index: an item that is not as its sidecar says @ banks/textures/index.bin',
    ],
    [
      'a texture, by none that can be decoded',
      rewriting(TEXTURES, files => changed(files, 'jpg', data => data.subarray(0, 300), keyOf(files[0]!))),
      `pictures: cannot be decoded @ ${TEXTURES}`,
    ],
  ])('is found wrong: %s', async (name, harm, found) => {
    const errors = errorsIn(await harmed(name, harm));
    expect(errors).toContainEqual(
      found instanceof RegExp ? expect.stringMatching(found) : expect.stringContaining(found),
    );
  });

  it('says what of an unfinished run is not there yet, and looks at the rest', async () => {
    const errors = errorsIn(
      await harmed('unfinished', async run => {
        for (const file of ['index.bin', 'index.json']) await rm(join(run, 'banks/shapes', file));
        await rm(join(run, 'textures2d'), { recursive: true });
        await rewriteShard(join(run, VAL), files => changed(files, 'jpg', black));
      }),
    );
    const kinds = new Set(errors.map(line => line.replace(/ @.*/, '')));
    expect(kinds).toEqual(
      new Set([
        'error shards: a bank that is not finished',
        'error shards: a subset that cannot be planned',
        'error blank: a black picture',
        'error card: another sha256 than the file has',
        'error card: describes a file that is not there',
      ]),
    );
  });

  it('ends with exit code 1, and says what, of which file and sample', async () => {
    const run = join(scratch, 'two-harms');
    await cp(whole, run, { recursive: true });
    await rewriting(TRAIN, files => changed(files, 'jpg', black, keyOf(files[0]!)))(run);
    await writeFile(join(run, `${VAL}.partial`), 'x');
    const { code, stdout } = await shapemill('validate', run);
    expect(code).toBe(1);
    expect(stdout).toContain('ERROR    blank');
    expect(stdout).toContain(`${TRAIN} shapes2d-000000-0: jpg: mean 0.0, deviation 0.00`);
    expect(stdout).toContain(`${VAL}.partial`);
    // The third is that croissant.json has the shard's checksum from before.
    expect(stdout).toMatch(/\n {2}3 errors, /);
    const json = JSON.parse((await shapemill('validate', run, '--json')).stdout);
    expect(json.errors).toBe(3);
  });
});

describe('a shape that is in two splits', () => {
  it('is warned of, as another size, turned and mirrored', async () => {
    const labels = await bankLabels(whole, 'shapes');
    const of = (split: string) => labels.find(label => label.split === split)!;
    const [original, replaced] = [of('train'), of('test')];
    const png = await shapePicture(original);
    const { data, info } = await sharp(png)
      .resize({ width: Math.round(original.width * 0.7) })
      .flop()
      .rotate(77, { background: '#000' })
      .toColourspace('b-w')
      .threshold(128)
      .trim({ background: '#000', threshold: 1 })
      .png()
      .toBuffer({ resolveWithObject: true });
    const warnings = lines(
      await harmed('twins', async run => {
        for (const shard of await bankShards(run)) {
          await rewriteShard(shard, async files => {
            const pictures = await changed(files, 'png', () => data, replaced.id);
            const size = { width: info.width, height: info.height };
            return changed(
              pictures,
              'json',
              label => withValues(label, (value: object) => Object.assign(value, size)),
              replaced.id,
            );
          });
        }
      }),
    ).filter(line => line.startsWith('warning duplicates'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`a shape that is nearly one of another split @ `);
    expect(warnings[0]).toContain(replaced.id);
  });
});

describe('panel tests', () => {
  const LIST = 'panels/textures2d-black-same/panels.jsonl';
  const rewritingTest = (change: (test: PanelTest) => unknown) => async (run: string) => {
    const [first, ...others] = (await readFile(join(run, LIST), 'utf8')).split('\n');
    await writeFile(join(run, LIST), [withValues(Buffer.from(first!), change).toString(), ...others].join('\n'));
  };

  it.each<[name: string, harm: (run: string) => Promise<unknown>, found: string]>([
    ['a picture', run => rm(join(run, LIST, '../000000.jpg')), 'a test without its picture'],
    [
      'the light of a picture',
      async run => writeFile(join(run, LIST, '../000000.jpg'), await blackSquare()),
      'a blank picture',
    ],
    [
      'another picture',
      run => cp(join(run, LIST, '../000001.jpg'), join(run, LIST, '../000000.jpg')),
      'another picture than its label says',
    ],
    ['the list', run => rm(join(run, LIST)), 'tests that are not finished'],
    [
      'an answer',
      rewritingTest(test => Object.assign(test, { answer: other(test.answer) })),
      'a test that has no right answer, or several',
    ],
    ['a question', rewritingTest(test => Object.assign(test, { question: 7 })), 'does not match its schema'],
    [
      'an item',
      rewritingTest(({ sources }) => Object.assign(sources[0]!, { id: 'a1-t0' })),
      'an item that is not of the test split',
    ],
    [
      'all answers',
      async run => {
        const text = await readFile(join(run, LIST), 'utf8');
        await writeFile(join(run, LIST), text.replaceAll(/"answer":"."/g, '"answer":"B"'));
      },
      'answers that are not balanced',
    ],
  ])('are found wrong: %s', async (name, harm, found) => {
    const errors = errorsIn(await harmed(`panels ${name}`, harm));
    expect(errors.join('\n')).toContain(`error panels: ${found} @ ${LIST}`);
  });

  const other = (letter: string) => (letter === 'B' ? 'C' : 'B');
  const blackSquare = () =>
    sharp({ create: { width: 1024, height: 1024, channels: 3, background: '#000' } })
      .jpeg()
      .toBuffer();
});

describe('the dataset card', () => {
  const CSV = 'attribution.csv';

  it('is found wrong, each of its files in its own ways', async () => {
    const run = join(scratch, 'card');
    await cp(whole, run, { recursive: true });
    const text = new Map<string, string>();
    for (const file of ['README.md', 'croissant.json', CSV]) text.set(file, await readFile(join(run, file), 'utf8'));
    const [header, first, ...others] = text.get(CSV)!.trimEnd().split('\n');
    /** What the check finds when some files are others. */
    const findings = async (changes: Record<string, string>) => {
      for (const [file, original] of text) await writeFile(join(run, file), changes[file] ?? original);
      const { findings: groups } = await validate(run, 20, silent, new AbortController().signal);
      return groups
        .filter(({ check }) => check === 'card')
        .flatMap(({ severity, kind, examples }) =>
          examples.map(({ file, detail }) => `${severity} ${kind} @ ${file} ${detail ?? ''}`),
        );
    };
    expect(await findings({})).toEqual([]);
    for (const file of text.keys()) {
      expect(await findings({ [file]: '\n' })).toContainEqual(
        expect.stringMatching(`^error not there, or empty .* @ ${file}`),
      );
    }
    expect(await findings({ 'croissant.json': '{half' })).toEqual([
      'error no description of files in JSON @ croissant.json ',
    ]);
    const described = JSON.parse(text.get('croissant.json')!);
    const shard = described.distribution.find((file: { '@id': string }) => file['@id'] === TRAIN);
    const otherFile = (changes: object) =>
      JSON.stringify({
        ...described,
        distribution: described.distribution.map((f: object) => (f === shard ? { ...f, ...changes } : f)),
      });
    expect(await findings({ 'croissant.json': otherFile({ sha256: '0' }) })).toEqual([
      `error another sha256 than the file has @ croissant.json ${TRAIN}`,
    ]);
    expect(await findings({ 'croissant.json': otherFile({ '@id': 'elsewhere.tar' }) })).toEqual([
      `error a file that it does not describe @ croissant.json ${TRAIN}`,
      'error describes a file that is not there @ croissant.json elsewhere.tar',
    ]);
    // A list that was changed has another checksum, besides what is wrong in it.
    const inList = async (csv: string) => (await findings({ [CSV]: csv })).filter(line => line.includes(`@ ${CSV}`));
    expect(await inList([header, ...others].join('\n'))).toEqual([
      expect.stringMatching(/^error lacks a source that labels name @ attribution.csv .*\/./),
    ]);
    const columns = header!.split(',');
    const line = (changes: Record<string, string>) =>
      columns.map((name, i) => changes[name] ?? first!.split(',')[i]).join(',');
    expect(await inList([header, line({ licence: 'MIT' }), ...others].join('\n'))).toEqual([
      expect.stringMatching(
        /^error says of a source what labels do not @ attribution.csv licence of .* "MIT", labels say/,
      ),
    ]);
    expect(await inList([header, first, line({ file: 'nobody.jpg' }), ...others].join('\n'))).toEqual([
      expect.stringMatching(/^warning a source that no label names @ attribution.csv .*\/nobody.jpg$/),
    ]);
    expect(await inList('neither,this\n')).toEqual([expect.stringContaining('error no list of sources')]);
    await rm(run, { recursive: true });
  });
});

describe('what is no run', () => {
  it('is refused', async () => {
    await mkdir(join(scratch, 'none'));
    expect(await refusal('validate', join(scratch, 'none'))).toMatch(/^expected a run folder/);
    expect(await refusal('validate')).toMatch(/^validate: expected a run folder/);
  });
});

async function sidecarOf(run: string, shard: string): Promise<Sidecar> {
  return JSON.parse(await readFile(join(run, shard.replace('.tar', '.json')), 'utf8'));
}
const samplesIn = async (run: string, shard: string) => (await sidecarOf(run, shard)).samples;

/** Changes a byte late in the picture of a bank's first item, and makes the sidecar's checksum fit. */
async function flipBankByte(run: string): Promise<void> {
  const { items } = await sidecarOf(run, SHAPES);
  const [start, length] = items![0]!.image;
  await flipByte(join(run, SHAPES), start + Math.floor(0.9 * length));
  await fitSidecar(join(run, SHAPES));
}

async function bankShards(run: string): Promise<string[]> {
  return (await filesIn(join(run, 'banks/shapes')))
    .filter(name => name.endsWith('.tar'))
    .map(name => join(run, 'banks/shapes', name));
}

async function shapePicture({ id }: ShapeLabel): Promise<Buffer> {
  for (const shard of await bankShards(whole)) {
    const file = (await readShard(shard)).find(({ name }) => name === `${id}.png`);
    if (file) return file.data;
  }
  throw new Error(`expected ${id} in the bank`);
}
