import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import { type Bank, itemSize, openBank, readItem } from '../../pipeline/bank.ts';
import { decodeMask } from '../../pipeline/bank-images.ts';
import type { PanelTest } from '../../pipeline/labels.ts';
import { makePanels, type PanelSettings } from '../../pipeline/panels/panels.ts';
import type { Progress } from '../../pipeline/progress.ts';
import { coverageFacts, renderCoverage } from '../../renderers/coverage.ts';
import { drawLetter, FRAME, letterBox } from '../../renderers/letters.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import { PANEL_CONDITION_NAMES, PANEL_CONDITIONS } from '../../scenes/panel-conditions.ts';
import { CHOICES, type Choice, PANEL_SIZE, PANELS, type PanelName, panelBox } from '../../scenes/panel-scene.ts';
import { type Ending, filesIn, generate, scratchFolder, sha256, shapemill, start, until } from './command.ts';
import { writeShapes, writeTextures } from './panel-inputs.ts';
import { smallPhoto, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';

type Test2d = Extract<PanelTest, { subset: 'shapes2d' | 'textures2d' }>;
type TestReal = Extract<PanelTest, { subset: 'real' }>;

const SIZE = PANEL_SIZE;
const scratch = scratchFolder();
const run = join(scratch, 'run');
let inputs: string[];
let banks: { shapes: Bank; textures: Bank };

/** Conditions of 2D tests that the run has items for. */
const NATURAL = PANEL_CONDITION_NAMES.filter(name => /^(shapes2d-natural|textures2d)-/.test(name));
/** Those of which more tests are made: the ones that look most like photographs, and the ones of plain colours. */
const LARGE = ['shapes2d-natural-textured-textured-rotated', 'shapes2d-natural-coloured-coloured-rotated'];
const SMALL = NATURAL.filter(name => !LARGE.includes(name));
const [MANY_TESTS, FEW_TESTS] = [60, 9];

const silent: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };

async function panels(args: readonly string[], code = 0): Promise<Ending> {
  const ending = await shapemill('panels', ...args);
  if (ending.code !== code) throw new Error(`expected ${code}, got ${ending.code}\n${ending.stdout}\n${ending.stderr}`);
  return ending;
}

async function testsOf<T extends PanelTest = Test2d>(condition: string, of = run): Promise<T[]> {
  const list = await readFile(join(of, 'panels', condition, 'panels.jsonl'), 'utf8');
  return list
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
}

beforeAll(async () => {
  const nothing = { 'shapes2d-images': 0, 'textures2d-images': 0, shapes: 12, textures: 12 };
  const recipe = await writeRecipe(join(scratch, 'banks.json'), nothing);
  inputs = ['--recipe', recipe, '--texture-bank', await writeTextures(scratch, 12)];
  await generate([...inputs, '--shape-bank', await writeShapes(scratch, 12), '--out', run]);
  banks = {
    shapes: (await openBank(join(run, 'banks', 'shapes')))!,
    textures: (await openBank(join(run, 'banks', 'textures')))!,
  };
  await panels([run, '--per-condition', String(MANY_TESTS), '--conditions', ...LARGE]);
  await panels([run, '--per-condition', String(FEW_TESTS), '--conditions', ...SMALL]);
}, 400_000);

async function picture(condition: string, { image }: PanelTest, of = run): Promise<RgbImage> {
  const { data, info } = await sharp(join(of, 'panels', condition, image))
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect([info.width, info.height, info.channels]).toEqual([1024, 1024, 3]);
  return { data, width: info.width, height: info.height };
}

function panelOf(whole: RgbImage, panel: PanelName): RgbImage {
  const { left, top } = panelBox(panel);
  const data = new Uint8Array(3 * SIZE * SIZE);
  for (let y = 0; y < SIZE; y++) {
    const from = 3 * ((top + y) * whole.width + left);
    data.set(whole.data.subarray(from, from + 3 * SIZE), 3 * SIZE * y);
  }
  return { data, width: SIZE, height: SIZE };
}

const numberOf = (bank: Bank, id: string) =>
  Array.from({ length: bank.items }, (_, i) => i).find(i => itemSize(bank, i).id === id)!;

/** What a panel's scene covers, drawn from the bank by what its label says. */
async function coverageOf({ scene }: Test2d['panels'][PanelName]): Promise<GreyImage> {
  const { image } = await readItem(banks.shapes, numberOf(banks.shapes, scene.shape.id));
  return renderCoverage(await decodeMask(image), scene.placement, scene.size);
}

const schema = fileURLToPath(new URL('../../docs/schema/panel-test.schema.json', import.meta.url));
const matches = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(schema, 'utf8')));

describe.each(NATURAL)('%s', condition => {
  const wanted = LARGE.includes(condition) ? MANY_TESTS : FEW_TESTS;

  it('has as many tests as asked for, in order, their answers balanced', async () => {
    const tests = await testsOf(condition);
    expect(tests.map(({ id }) => id)).toEqual(
      Array.from({ length: wanted }, (_, i) => `${condition}-${String(i).padStart(6, '0')}`),
    );
    for (const choice of CHOICES) expect(tests.filter(({ answer }) => answer === choice)).toHaveLength(wanted / 3);
    const files = (await filesIn(join(run, 'panels', condition))).filter(file => file.endsWith('.jpg'));
    expect(files).toEqual(tests.map(({ image }) => image));
    expect(new Set(tests.map(({ panels }) => JSON.stringify(panels))).size).toBe(wanted);
  });

  it('shows one instance in A and the answer, two others of other photos beside', async () => {
    for (const { panels, answer, sources, subset } of await testsOf(condition)) {
      const role = subset === 'shapes2d' ? 'shape' : 'fill';
      const shown = PANELS.map(panel => [panel, panels[panel].instance] as const);
      expect(new Set(shown.map(([, id]) => id)).size).toBe(3);
      expect(panels[answer].instance).toBe(panels.A.instance);
      const photos = sources.filter(source => source.role === role).map(({ photo }) => photo);
      expect(new Set(photos).size).toBe(photos.length);
      for (const [panel, id] of shown) {
        const { scene } = panels[panel];
        expect(subset === 'shapes2d' ? scene.shape.id : 'id' in scene.fill && scene.fill.id).toBe(id);
        expect(sources.find(source => source.role === role && source.panels.includes(panel))!.id).toBe(id);
      }
    }
  });

  it('matches the published schema, which refuses others', async () => {
    const [first, ...rest] = await testsOf(condition);
    for (const test of [first, ...rest]) expect([matches(test), matches.errors]).toEqual([true, null]);
    expect(matches({ ...first, answer: 'A' })).toBe(false);
    expect(matches({ ...first, surprise: 1 })).toBe(false);
    expect(matches({ ...first, panels: { ...first!.panels, D: undefined } })).toBe(false);
  });

  it('covers what its label says: mask, colours, letters', async () => {
    for (const test of (await testsOf(condition)).slice(0, 2)) {
      const whole = await picture(condition, test);
      expectCross(whole);
      const masks = new Map<PanelName, GreyImage>();
      for (const panel of PANELS) masks.set(panel, await coverageOf(test.panels[panel]));
      const box = letterBox(test.letters.corner, SIZE);
      for (const panel of PANELS) {
        const coverage = masks.get(panel)!;
        expect(coverageFacts(coverage)).toEqual(test.panels[panel].facts);
        const shown = panelOf(whole, panel);
        expectLetter(shown, panel, test.letters, masks);
        const inLetter = (x: number, y: number) =>
          x >= box.left - 8 && x < box.left + box.width + 8 && y >= box.top - 8 && y < box.top + box.height + 8;
        for (const [role, level] of [
          ['fill', 255],
          ['background', 0],
        ] as const) {
          const expected = await paintOf(test.panels[panel].scene[role]);
          const difference = meanDifference(
            shown,
            expected,
            (x, y) => !inLetter(x, y) && within(coverage, x, y, level),
          );
          expect(difference).toBeLessThan(6);
        }
      }
    }
  });
});

/** Between the panels is a grey cross, as wide as the panels leave room: JPEG mixes its edges with what is beside. */
function expectCross({ data, width }: RgbImage): void {
  expect(2 * SIZE).toBe(width - 8);
  for (const line of [SIZE + 3, SIZE + 4]) {
    for (let i = 0; i < width; i++) {
      for (const at of [3 * (line * width + i), 3 * (i * width + line)]) {
        const grey = (data[at]! + data[at + 1]! + data[at + 2]!) / 3;
        if (Math.abs(grey - FRAME) > 24) throw new Error(`expected grey at ${at / 3}, got ${grey}`);
      }
    }
  }
}

/** A paint as a picture of its own, by the plainest means. */
async function paintOf(paint: Test2d['panels']['A']['scene']['fill']): Promise<RgbImage> {
  if (paint.kind === 'colour') {
    const data = new Uint8Array(3 * SIZE * SIZE).map((_, i) => paint.rgb[i % 3]!);
    return { data, width: SIZE, height: SIZE };
  }
  const number = numberOf(banks.textures, paint.id);
  const { width, height } = itemSize(banks.textures, number);
  const { image } = await readItem(banks.textures, number);
  const size = { width: Math.round(width * paint.scale), height: Math.round(height * paint.scale) };
  const enlarged = await sharp(image)
    .resize({ ...size, fit: 'fill' })
    .raw()
    .toBuffer();
  const crop = await sharp(enlarged, { raw: { ...size, channels: 3 } })
    .extract({ left: paint.left, top: paint.top, width: SIZE, height: SIZE })
    .raw()
    .toBuffer();
  const data = await sharp(crop, { raw: { width: SIZE, height: SIZE, channels: 3 } })
    .rotate(90 * paint.quarterTurns)
    .raw()
    .toBuffer();
  return { data, width: SIZE, height: SIZE };
}

/** Whether a pixel and those around it, which JPEG mixes, have a level of coverage. */
function within({ width, height, data }: GreyImage, x: number, y: number, level: number): boolean {
  for (let dy = -4; dy <= 4; dy += 2) {
    for (let dx = -4; dx <= 4; dx += 2) {
      const [nx, ny] = [Math.min(width - 1, Math.max(0, x + dx)), Math.min(height - 1, Math.max(0, y + dy))];
      if (data[ny * width + nx] !== level) return false;
    }
  }
  return true;
}

function meanDifference(a: RgbImage, b: RgbImage, looksAt: (x: number, y: number) => boolean): number {
  let [sum, count] = [0, 0];
  for (let y = 0; y < a.height; y += 3) {
    for (let x = 0; x < a.width; x += 3) {
      if (!looksAt(x, y)) continue;
      for (let c = 0; c < 3; c++)
        sum += Math.abs(a.data[3 * (y * a.width + x) + c]! - b.data[3 * (y * a.width + x) + c]!);
      count += 3;
    }
  }
  return count === 0 ? 0 : sum / count;
}

/** The letter is white with a black edge, in a corner where nothing is hidden; else on a dark ground. */
function expectLetter(
  shown: RgbImage,
  letter: PanelName,
  { corner, kind }: PanelTest['letters'],
  masks?: ReadonlyMap<PanelName, GreyImage>,
): void {
  const box = letterBox(corner, SIZE);
  const onGrey: RgbImage = { data: new Uint8Array(3 * SIZE * SIZE).fill(128), width: SIZE, height: SIZE };
  drawLetter(onGrey, letter, { corner, kind }, { left: 0, top: 0, width: SIZE, height: SIZE });
  const seen: Record<'white' | 'black', number[]> = { white: [], black: [] };
  let hidden = 0;
  for (let y = box.top; y < box.top + box.height; y++) {
    for (let x = box.left; x < box.left + box.width; x++) {
      const at = 3 * (y * SIZE + x);
      const mean = (shown.data[at]! + shown.data[at + 1]! + shown.data[at + 2]!) / 3;
      if (onGrey.data[at] === 255) seen.white.push(mean);
      if (onGrey.data[at] === 0) seen.black.push(mean);
      if (kind === 'outlined')
        for (const mask of masks?.values() ?? []) hidden += Number(mask.data[y * SIZE + x] !== 0);
    }
  }
  expect(hidden).toBe(0);
  const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(seen.white.length).toBeGreaterThan(300);
  expect(average(seen.white)).toBeGreaterThan(225);
  expect(average(seen.black)).toBeLessThan(45);
}

it('letters are unlike each other', () => {
  const drawn = PANELS.map(letter => {
    const canvas: RgbImage = { data: new Uint8Array(3 * SIZE * SIZE).fill(128), width: SIZE, height: SIZE };
    drawLetter(
      canvas,
      letter,
      { corner: 'lower-right', kind: 'badge' },
      { left: 0, top: 0, width: SIZE, height: SIZE },
    );
    return canvas.data;
  });
  for (const [i, a] of drawn.entries()) {
    for (const b of drawn.slice(i + 1))
      expect(a.filter((value, at) => Math.abs(value - b[at]!) > 128).length).toBeGreaterThan(600);
  }
});

describe('a solver that lays the mask of A over the others, turned and scaled,', () => {
  it.each(NATURAL.filter(name => name.startsWith('shapes2d')))('finds the answers of %s', async condition => {
    const tests = await testsOf(condition);
    let right = 0;
    for (const { panels, answer } of tests) {
      const forms = new Map<PanelName, Form>();
      for (const panel of PANELS) forms.set(panel, formOf(await coverageOf(panels[panel])));
      const reply = best(CHOICES, choice => likeness(forms.get('A')!, forms.get(choice)!));
      if (reply === answer) right++;
    }
    expect(right / tests.length).toBeGreaterThan(0.95);
  });
});

function best(choices: readonly Choice[], score: (choice: Choice) => number): Choice {
  return choices.reduce((a, b) => (score(b) > score(a) ? b : a));
}

/** A shape apart from its place and size: whether a point is in it, in units of the root of its area from its centre. */
type Form = (x: number, y: number) => boolean;

function formOf({ width, data }: GreyImage): Form {
  let [area, sumX, sumY] = [0, 0, 0];
  for (let i = 0; i < data.length; i++) {
    if (data[i]! < 128) continue;
    area++;
    sumX += (i % width) + 0.5;
    sumY += Math.floor(i / width) + 0.5;
  }
  const unit = Math.sqrt(area);
  return (x, y) => {
    const [column, row] = [Math.floor(sumX / area + unit * x), Math.floor(sumY / area + unit * y)];
    return column >= 0 && row >= 0 && column < width && row < width && data[row * width + column]! >= 128;
  };
}

/** The largest intersection over union of two forms under 72 turns. */
function likeness(a: Form, b: Form): number {
  let most = 0;
  for (let turn = 0; turn < 72; turn++) {
    const [cos, sin] = [Math.cos((turn * Math.PI) / 36), Math.sin((turn * Math.PI) / 36)];
    let [both, either] = [0, 0];
    for (let y = -1.6; y <= 1.6; y += 0.08) {
      for (let x = -1.6; x <= 1.6; x += 0.08) {
        const [inA, inB] = [a(x, y), b(cos * x - sin * y, sin * x + cos * y)];
        if (inA && inB) both++;
        if (inA || inB) either++;
      }
    }
    most = Math.max(most, both / either);
  }
  return most;
}

describe('a cheater that sees only pixels away from all shapes', () => {
  it.each(LARGE)('learns nothing from tests of %s', async condition => {
    const right: Record<string, number> = {};
    const random = rng(1, 'tests', condition);
    const tests = await testsOf(condition);
    let seen = 0;
    for (const test of tests) {
      const whole = await picture(condition, test);
      const masks = await Promise.all(PANELS.map(panel => coverageOf(test.panels[panel])));
      const places = placesAway(masks, letterBox(test.letters.corner, SIZE));
      seen += places.length;
      const shown = PANELS.map(panel => panelOf(whole, panel));
      const distances: Record<string, (panel: number) => number> = {
        histogram: panel => difference(histogram(shown[0]!, places), histogram(shown[panel]!, places)),
        pixels: panel => difference(pixelsAt(shown[0]!, places), pixelsAt(shown[panel]!, places)),
      };
      for (const [name, distance] of Object.entries(distances)) {
        const far = CHOICES.map((_, i) => distance(i + 1));
        for (const [end, wanted] of [
          ['nearest', Math.min(...far)],
          ['farthest', Math.max(...far)],
        ] as const) {
          const replies = CHOICES.filter((_, i) => far[i] === wanted);
          const reply = replies[integer(random, 0, replies.length - 1)];
          right[`${end} ${name}`] = (right[`${end} ${name}`] ?? 0) + Number(reply === test.answer);
        }
      }
    }
    expect(seen / tests.length).toBeGreaterThan(200);
    const deviation = Math.sqrt((tests.length * 2) / 9);
    for (const [name, count] of Object.entries(right)) {
      expect([name, Math.abs(count - tests.length / 3) < 4 * deviation]).toEqual([name, true]);
    }
  });
});

/** Every fourth pixel that lies farther than two JPEG blocks from what any panel covers, and from the letters. */
function placesAway(masks: readonly GreyImage[], letter: { left: number; top: number; width: number; height: number }) {
  const reach = 32;
  const covered = new Uint8Array(SIZE * SIZE);
  for (const { data } of masks) for (let at = 0; at < covered.length; at++) if (data[at]! > 0) covered[at] = 1;
  for (let y = letter.top; y < letter.top + letter.height; y++) {
    covered.fill(1, y * SIZE + letter.left, y * SIZE + letter.left + letter.width);
  }
  // A square dilation is one along rows, then one along columns.
  const along = (from: Uint8Array, step: number, line: number) => {
    const to = new Uint8Array(from.length);
    for (let l = 0; l < SIZE; l++) {
      let last = Number.NEGATIVE_INFINITY;
      for (let i = 0; i < SIZE + reach; i++) {
        if (i < SIZE && from[l * line + i * step]) last = i;
        const at = i - reach;
        if (at >= 0 && last >= at - reach) to[l * line + at * step] = 1;
      }
    }
    return to;
  };
  const near = along(along(covered, 1, SIZE), SIZE, 1);
  const places: number[] = [];
  for (let y = 0; y < SIZE; y += 4) {
    for (let x = 0; x < SIZE; x += 4) if (!near[y * SIZE + x]) places.push(y * SIZE + x);
  }
  return places;
}

function histogram({ data }: RgbImage, places: readonly number[]): Float64Array {
  const bins = new Float64Array(512);
  for (const at of places)
    bins[((data[3 * at]! >> 5) << 6) | ((data[3 * at + 1]! >> 5) << 3) | (data[3 * at + 2]! >> 5)]!++;
  return bins;
}

function pixelsAt({ data }: RgbImage, places: readonly number[]): Float64Array {
  const pixels = new Float64Array(3 * places.length);
  for (const [i, at] of places.entries()) pixels.set(data.subarray(3 * at, 3 * at + 3), 3 * i);
  return pixels;
}

function difference(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0);
}

/** All that `panels` wrote, by path. */
async function contentOf(of: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const file of await filesIn(join(of, 'panels')))
    content[file] = sha256(await readFile(join(of, 'panels', file)));
  return content;
}

/** A run with the same banks and no tests. */
async function freshRun(name: string): Promise<string> {
  const fresh = join(scratch, name);
  await cp(run, fresh, { recursive: true, filter: path => basename(path) !== 'panels' });
  return fresh;
}

const SOME = ['shapes2d-natural-textured-textured-unrotated', 'textures2d-textured-different'] as const;
const someOf = async (of: string) =>
  Object.fromEntries(Object.entries(await contentOf(of)).filter(([file]) => SOME.some(name => file.startsWith(name))));

const IN_PROCESS = {
  seed: undefined,
  real: undefined,
  workers: 1,
  drawing: { browser: undefined, gl: undefined, pages: undefined, requireGpu: false },
};

describe('the same command', () => {
  it('makes the same bytes on one worker, and is not interested in how often it was killed', async () => {
    const fresh = await freshRun('killed');
    const args = ['panels', fresh, '--per-condition', String(FEW_TESTS), '--workers', '1', '--conditions', ...SOME];
    for (const wanted of [3, 12]) {
      const { child, ended } = start(args);
      const done = async () => (await filesIn(join(fresh, 'panels'))).filter(file => file.endsWith('.jpg')).length;
      await until(async () => (await done()) >= wanted, ended);
      child.kill('SIGKILL');
      await ended;
    }
    await panels(args.slice(1));
    expect(await someOf(fresh)).toEqual(await someOf(run));
    expect(Object.keys(await contentOf(fresh))).toHaveLength(2 * (FEW_TESTS + 2));
  });

  it('makes nothing again, but what is missing', async () => {
    const fresh = await freshRun('again');
    const settings: PanelSettings = { ...IN_PROCESS, conditions: [SOME[0]], perCondition: 6 };
    const make = () => makePanels(fresh, settings, silent, new AbortController().signal);
    expect(await make()).toMatchObject([{ tests: 6, made: 6 }]);
    const before = await contentOf(fresh);
    const folder = join(fresh, 'panels', SOME[0]!);
    const time = async (name: string) => (await stat(join(folder, name))).mtimeMs;
    const [kept, list] = [await time('000001.jpg'), await time('panels.jsonl')];
    expect(await make()).toMatchObject([{ tests: 6, made: 0 }]);
    expect(await time('panels.jsonl')).toBe(list);
    await rm(join(folder, '000002.jpg'));
    await rename(join(folder, '000003.jpg'), join(folder, '000003.jpg.partial'));
    expect(await make()).toMatchObject([{ tests: 6, made: 2 }]);
    expect(await contentOf(fresh)).toEqual(before);
    expect(await time('000001.jpg')).toBe(kept);
    // As a kill leaves it that comes between the last test and the list.
    const lines = (await readFile(join(folder, 'panels.jsonl'), 'utf8')).trimEnd().split('\n');
    await mkdir(join(folder, 'labels'));
    for (const [i, line] of lines.entries()) await writeFile(join(folder, 'labels', `00000${i}.json`), line);
    await rm(join(folder, 'panels.jsonl'));
    expect(await make()).toMatchObject([{ tests: 6, made: 0 }]);
    expect(await contentOf(fresh)).toEqual(before);
  });

  it('adds tests to those that are there, and takes none away', async () => {
    const fresh = await freshRun('more');
    const folder = join(fresh, 'panels', SOME[1]);
    const make = (perCondition: number) =>
      makePanels(fresh, { ...IN_PROCESS, conditions: [SOME[1]], perCondition }, silent, new AbortController().signal);
    const [few] = await make(4);
    expect(few).toMatchObject({ tests: 4, made: 4 });
    const first = await testsOf(SOME[1], fresh);
    const kept = (await stat(join(folder, '000002.jpg'))).mtimeMs;
    // As if of the planned instances of one test nothing could be drawn: other ones took their place, by the number of tests.
    const list = first.map((test, i) => `${JSON.stringify(i === 1 ? { ...test, attempt: 5 } : test)}\n`);
    await writeFile(join(folder, 'panels.jsonl'), list.join(''));
    expect(await make(10)).toMatchObject([{ tests: 10, made: 7 }]);
    const more = await testsOf(SOME[1], fresh);
    expect(more.slice(0, 4)).toEqual(first);
    expect((await stat(join(folder, '000002.jpg'))).mtimeMs).toBe(kept);
    const counts = CHOICES.map(choice => more.filter(({ answer }) => answer === choice).length);
    expect(counts.sort()).toEqual([3, 3, 4]);
    expect(new Set(more.map(({ panels, answer }) => `${panels.A.instance} ${answer}`)).size).toBeGreaterThan(6);
    expect(await make(10)).toMatchObject([{ tests: 10, made: 0 }]);
    await expect(make(4)).rejects.toThrow(/10 tests, 4 were asked for: .* Give 10 or more, or delete that folder/);
    expect(JSON.parse(await readFile(join(folder, 'settings.json'), 'utf8'))).toMatchObject({
      tests: 10,
      earlier: [4],
    });
  });

  it('is another one with other settings, and refused', async () => {
    const args = [run, '--conditions', SMALL[0]!, '--per-condition'];
    expect(await refusal('panels', ...args, String(FEW_TESTS), '--seed', '5')).toMatch(
      /holds tests that differ in seed: was 1, is 5\. Delete that folder/,
    );
    expect(await refusal('panels', ...args, '3')).toContain(`a folder of ${FEW_TESTS} tests, 3 were asked for`);
  });
});

describe('wrong usage is refused:', () => {
  it.each([
    [[], 'expected a run folder, such as'],
    [['/nowhere/run'], 'expected a run folder, found no run.json in /nowhere/run'],
    [
      ['RUN', '--conditions', 'shapes2d-natural-black-white-rotate'],
      'did you mean "shapes2d-natural-black-white-rotated"',
    ],
    [['RUN', '--conditions', 'real'], 'give --real DIR'],
    [['RUN', '--conditions', 'real', '--real', '/nowhere'], '--real: expected a folder with a folder of photographs'],
    [['RUN', '--per-condition', '0'], '--per-condition: expected a whole number of at least 1'],
  ])('%s', async (args, says) => {
    expect(await refusal('panels', ...args.map(arg => (arg === 'RUN' ? run : arg)))).toContain(says);
  });
});

describe('a run of too few items', () => {
  const few = join(scratch, 'few');

  /** A folder of the same name that holds some of the files. */
  async function someOfThem(name: string, count: number): Promise<string> {
    const names = (await readdir(join(scratch, name))).slice(0, count);
    for (const file of names) await cp(join(scratch, name, file), join(few, name, file));
    return join(few, name);
  }

  it('gives what tests there are, says what is missing, and ends with 3', async () => {
    await mkdir(few);
    const recipe = await writeRecipe(join(few, 'few.json'), {
      'shapes2d-images': 0,
      'textures2d-images': 0,
      shapes: 4,
      textures: 5,
    });
    const given = [
      '--recipe',
      recipe,
      '--shape-bank',
      await someOfThem('shapes', 4),
      '--texture-bank',
      await someOfThem('textures', 5),
    ];
    await generate([...given, '--out', join(few, 'run')]);
    const conditions = [
      'shapes2d-natural-black-white-rotated',
      'shapes2d-semantic-coloured-coloured-rotated',
      'textures2d-textured-same',
      'materials3d-object',
    ];
    // A run without meshes draws nothing, whatever the browser.
    const settings = ['--per-condition', '20', '--browser', '/nowhere/chrome'];
    const { stdout } = await panels([join(few, 'run'), ...settings, '--conditions', ...conditions], 3);
    expect(await testsOf(conditions[0]!, join(few, 'run'))).toHaveLength(12);
    expect(stdout).toContain('4 natural shapes give only 12 different tests, 20 were asked for');
    expect(stdout).toMatch(/no semantic shapes, 3 are needed: --semantic name:DIR/);
    expect(stdout).toContain('textures of 5 photos, 7 photos are needed');
    expect(stdout).toContain('no materials, 3 are needed');
    const folders = new Set((await filesIn(join(few, 'run', 'panels'))).map(file => file.split('/')[0]));
    expect([...folders]).toEqual([conditions[0]]);
    // Asked for as many as there are, nothing is missing, and nothing is made again.
    await panels([join(few, 'run'), '--per-condition', '12', '--conditions', conditions[0]!]);
  });
});

describe('a run of semantic shapes', () => {
  it('gives tests of the semantic conditions', async () => {
    const semantic = join(scratch, 'semantic');
    await generate([...inputs, '--shape-bank', `semantic:${join(scratch, 'shapes')}`, '--out', semantic]);
    const conditions = PANEL_CONDITION_NAMES.filter(name => name.startsWith('shapes2d-semantic'));
    await panels([semantic, '--per-condition', '3', '--conditions', ...conditions]);
    for (const condition of conditions) expect(await testsOf(condition, semantic)).toHaveLength(3);
    expect(conditions.map(name => PANEL_CONDITIONS[name])).toHaveLength(2);
  });
});

describe('photographs of objects', () => {
  const folder = join(scratch, 'objects');
  const OBJECTS: Readonly<Record<string, readonly string[]>> = {
    lemur: ['ring-tailed-lemur.webp', 'otter.webp', 'moose.webp'],
    fig: ['fig-in-bowl.webp', 'cork.webp'],
    tiger: ['tiger-in-snow.jpg', 'golden-toad.jpg'],
    alone: ['saturn.webp'],
    path: ['mountain-path.webp', 'summit-sunset.webp'],
  };

  it('become tests of two of them and one of each of two others', async () => {
    for (const [name, photos] of Object.entries(OBJECTS)) {
      await mkdir(join(folder, name), { recursive: true });
      for (const photo of photos) {
        await smallPhoto(photo)
          .jpeg()
          .toFile(join(folder, name, photo.replace(/\..*/, '.jpg')));
      }
    }
    // Cut off: its header is there, its end is not. There is a third one of the lemur in its place.
    const cut = join(folder, 'lemur', 'otter.jpg');
    await writeFile(cut, (await readFile(cut)).subarray(0, 4000));
    const { stdout } = await panels([run, '--per-condition', '12', '--conditions', 'real', '--real', folder]);
    expect(stdout).toContain('skipped alone: expected two photographs or more, found one');
    const tests = await testsOf<TestReal>('real');
    expect(tests).toHaveLength(12);
    for (const test of tests) {
      const { panels, answer } = test;
      expect(panels.A.instance).toBe(panels[answer].instance);
      expect(new Set(PANELS.map(panel => panels[panel].instance)).size).toBe(3);
      expect(new Set(PANELS.map(panel => panels[panel].photograph.file)).size).toBe(4);
      for (const panel of PANELS) {
        const { instance, photograph } = panels[panel];
        expect(photograph.file.startsWith(`${instance}/`)).toBe(true);
        expect(photograph.file).not.toContain('otter');
      }
      expect(test.letters).toEqual({ corner: 'upper-left', kind: 'badge' });
      const whole = await picture('real', test);
      for (const panel of PANELS) {
        const shown = panelOf(whole, panel);
        expectLetter(shown, panel, test.letters);
        const { photograph, crop } = panels[panel];
        const data = await sharp(join(folder, photograph.file))
          .extract(crop)
          .resize({ width: SIZE, height: SIZE })
          .raw()
          .toBuffer();
        const away = (x: number, y: number) => x > 90 || y > 90;
        expect(meanDifference(shown, { data, width: SIZE, height: SIZE }, away)).toBeLessThan(6);
      }
    }
    expect((await panels([run, '--per-condition', '12', '--conditions', 'real', '--real', folder])).stdout).toContain(
      'made earlier',
    );
  });
});
