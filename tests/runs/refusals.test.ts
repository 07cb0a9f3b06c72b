import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { configure } from '../../pipeline/configuration.ts';
import { UsageError } from '../../pipeline/usage-error.ts';
import { contentOf, filesIn, generate, scratchFolder, sidecarsOf } from './command.ts';
import { smallPhoto, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();
let run: string;
let photos: string;
let recipe: string;
let inputs: readonly string[];

beforeAll(async () => {
  ({ run, photos, recipe, inputs } = await smallRun());
});

describe('a folder that holds another run is refused, and the difference named:', () => {
  it('another seed', async () => {
    expect(await refusal('generate', ...inputs, '--out', run, '--seed', '2')).toContain(
      'differs in seed: was 1, is 2.',
    );
  });

  it('another value of the recipe', async () => {
    const other = await writeRecipe(join(scratch, 'small.json'), { shapes2d: { variations: 2, size: 96 } });
    const said = await refusal('generate', '--photos', photos, '--recipe', other, '--out', run);
    expect(said).toContain('differs in shapes2d.size: was 128, is 96.');
  });

  it('another number asked for', async () => {
    expect(await refusal('generate', ...inputs, '--out', run, '--shapes', '6')).toContain(
      'differs in shapes: was 7, is 6.',
    );
  });

  it('by a plan as by a run', async () => {
    const said = await refusal('generate', ...inputs, '--out', run, '--seed', '2', '--dry-run');
    expect(said).toContain('differs in seed: was 1, is 2.');
  });

  it('other photos in the same folder', async () => {
    // As if the run had been made of this folder.
    const [own, copy] = [join(scratch, 'photos'), join(scratch, 'own-photos')];
    await cp(photos, own, { recursive: true });
    await cp(run, copy, { recursive: true });
    const record = await readFile(join(copy, 'run.json'), 'utf8');
    await writeFile(join(copy, 'run.json'), record.replaceAll(photos, own));
    await smallPhoto('mountain-path.webp').jpeg().toFile(join(own, 'added.jpg'));
    const said = await refusal('generate', '--photos', own, '--recipe', recipe, '--out', copy);
    expect(said).toMatch(/differs in assets\.photos: was "6-[0-9a-f]+", is "7-[0-9a-f]+"\./);
  });

  it('another libvips', async () => {
    const copy = join(scratch, 'other-libvips');
    await cp(run, copy, { recursive: true });
    const record = JSON.parse(await readFile(join(copy, 'run.json'), 'utf8'));
    record.platform.libvips = '8.0.1';
    await writeFile(join(copy, 'run.json'), JSON.stringify(record));
    expect(await refusal('generate', ...inputs, '--out', copy)).toContain(
      'differs in platform.libvips: was "8.0.1", is "',
    );
  });

  it('and it is left as it was', async () => {
    const before = await contentOf(run);
    await refusal('generate', ...inputs, '--out', run, '--seed', '3');
    expect(await contentOf(run)).toEqual(before);
  });
});

describe('a folder that holds other things', () => {
  it('is refused, with and without --fresh, and nothing is touched', async () => {
    const foreign = join(scratch, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'thesis.txt'), 'years of work');
    expect(await refusal('generate', ...inputs, '--out', foreign)).toContain('holds "thesis.txt" and no run');
    expect(await refusal('generate', ...inputs, '--out', foreign, '--fresh')).toContain('nothing was deleted');
    const mixed = join(scratch, 'mixed');
    await cp(run, mixed, { recursive: true });
    await writeFile(join(mixed, 'thesis.txt'), 'years of work');
    const before = await filesIn(mixed);
    expect(await refusal('generate', ...inputs, '--out', mixed, '--fresh')).toContain('holds "thesis.txt"');
    expect(await filesIn(mixed)).toEqual(before);
    expect(await readFile(join(foreign, 'thesis.txt'), 'utf8')).toBe('years of work');
  });
});

describe('--fresh', () => {
  it('starts a run over', async () => {
    const again = join(scratch, 'again');
    await cp(run, again, { recursive: true });
    const over = ['--fresh', '--seed', '2', '--stage', 'extract-shapes', '--workers', '1'];
    await generate([...inputs, '--out', again, ...over]);
    const stages = new Set(Object.values(await sidecarsOf(again)).map(({ stage }) => stage));
    expect(stages).toEqual(new Set(['extract-shapes']));
    expect(JSON.parse(await readFile(join(again, 'run.json'), 'utf8')).configuration.seed).toBe(2);
  });
});

describe('--dry-run', () => {
  it('prints the plan and writes nothing', async () => {
    const out = join(scratch, 'dry');
    const { stdout } = await generate([...inputs, '--out', out, '--dry-run']);
    expect(stdout).toMatch(/natural shapes +\d+ shapes +\d+ shards/);
    expect(stdout).toMatch(/shapes2d images +20 images/);
    expect(stdout).toMatch(/disk about .* free, time about/);
    expect(await filesIn(scratch).then(files => files.filter(file => file.startsWith('dry')))).toEqual([]);
    const before = await contentOf(run);
    await generate([...inputs, '--out', run, '--dry-run']);
    expect(await contentOf(run)).toEqual(before);
  });

  it('warns, as the run does, when the photos will not do', async () => {
    const { stdout } = await generate([...inputs, '--out', join(scratch, 'dry'), '--dry-run', '--shapes', '1e9']);
    // Six photos, three rounds, blocks of four.
    expect(stdout).toMatch(/natural shapes +[4-6] shapes +6 shards/);
    expect(stdout).toMatch(
      /warning: natural shapes: expect about [4-6] in all, not the 1000000000 that were asked for/,
    );
  });
});

describe('wrong usage ends with 2 and one line that helps:', () => {
  const nowhere = join(scratch, 'nowhere');

  it.each([
    ['an unknown flag', ['--shpaes', '40'], 'unknown option --shpaes (did you mean "shapes"?)'],
    ['a misspelt subset', ['--subsets', 'shaps2d'], '(did you mean "shapes2d"?)'],
    ['a number that is none', ['--shapes', 'many'], '--shapes: expected a whole number of at least 1'],
    ['a number too small', ['--textures2d-images', '-1'], '--textures2d-images: expected a whole number of at least 0'],
    ['more workers than ever help', ['--workers', '100_000'], 'four a core: more never help, and each costs memory'],
    ['a missing value', ['--seed'], 'seed'],
    ['a flag given twice', ['--seed', '1', '--seed', '2'], '--seed: expected to be given once'],
    ['a range the wrong way round', ['--shard-range', '5..2'], '--shard-range: expected a..b'],
    ['a leftover word', ['--shapes', '40', 'please'], 'please'],
    ['a misspelt pack', ['--photos', 'starter-photo'], '(did you mean "starter-photos"?)'],
  ])('%s', async (_, args, expected) => {
    expect(await refusal('generate', ...args, '--out', nowhere)).toContain(expected);
    expect(await filesIn(nowhere)).toEqual([]);
  });

  it('a recipe with a misspelt name', async () => {
    const recipe = join(scratch, 'misspelt.yaml');
    await writeFile(recipe, 'shapes2d: { sise: 64 }');
    const said = await refusal('generate', '--recipe', recipe, '--out', nowhere);
    expect(said).toBe(`${recipe}: unknown name "shapes2d.sise" (did you mean "size"?)`);
    expect(await filesIn(nowhere)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('a place where nothing can be written, whoever asks', async () => {
    const said = await refusal('generate', ...inputs, '--out', '/proc/shapemill/run');
    expect(said).toMatch(/^nothing can be written into \/proc \(E[A-Z]+: [a-z ]+\): give another --out$/);
  });
});

describe('a recipe file is refused for', () => {
  it.each([
    ['an unknown name', 'shaeps: 40', 'unknown name "shaeps" (did you mean "shapes"?)'],
    ['a wrong type', 'shapes: [40]', 'shapes: expected a whole number of at least 1'],
    ['a wrong type in a group', 'shapes2d: { size: large }', 'shapes2d.size: '],
    ['a range the wrong way round', 'shapes2d: { long-side: [1, 0.3] }', 'shapes2d.long-side: expected [low, high]'],
    ['a condition that does not exist', 'textures2d: { conditions: [striped-same] }', 'textures2d.conditions'],
    ['cells too small', 'texture-regions: { cell-size: 3 }', 'cell-size: expected auto or a whole number from 8'],
    ['what concerns the machine', 'workers: 2', 'give --workers on the command line'],
    ['no mapping', '- shapes', 'expected a mapping of names to values'],
    ['no YAML', 'shapes: {', 'expected YAML or JSON'],
  ])('%s', async (_, text, expected) => {
    const recipe = join(scratch, 'wrong.yaml');
    await writeFile(recipe, text);
    const error: unknown = await configure({ recipe }).catch(reason => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(`${recipe}: `);
    expect((error as UsageError).message).toContain(expected);
  });

  it('not being there', async () => {
    await expect(configure({ recipe: '/nowhere/recipe.yaml' })).rejects.toThrow(
      '--recipe: expected "last" or a readable',
    );
  });
});

describe('photos that cannot give what was asked for', () => {
  it('end with 3, the number reached, and a warning from the first photos on', async () => {
    const recipe = await writeRecipe(join(scratch, 'greedy.json'), { shapes: 60 });
    const { stdout, stderr } = await generate(
      ['--photos', photos, '--recipe', recipe, '--out', join(scratch, 'greedy')],
      3,
    );
    const reached = Number(stdout.match(/natural shapes +(\d+) of 60 /)?.[1]);
    expect(reached).toBeGreaterThanOrEqual(7);
    expect(reached).toBeLessThan(60);
    expect(stdout).toContain(`looks gave ${reached} of 60`);
    expect(stderr).toMatch(/the first 6 photos gave \d+: expect about \d+ in all, not the 60/);
    expect(stdout).toMatch(/shapes2d images +20 of 20/);
  });
});
