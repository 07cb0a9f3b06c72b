import { cp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BankItem } from '../../pipeline/shard-writer.ts';
import { complaint, contentOf, generate, scratchFolder, start } from './command.ts';
import { smallPhoto, writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { smallRun } from './shared-runs.ts';

const scratch = scratchFolder();
let whole: string;
let photos: string;
let recipe: string;
let inputs: readonly string[];

beforeAll(async () => {
  ({ run: whole, photos, recipe, inputs } = await smallRun());
});

describe('what somebody was at is made again:', () => {
  it.each<[string, (run: string) => Promise<unknown>[]]>([
    [
      'a shard and a bank shard that were cut, a sidecar that is gone and one that is none, a list that was cut',
      run => [
        truncate(join(run, 'shapes2d/train/shapes2d-train-000000.tar'), 1000),
        truncate(join(run, 'banks/textures/textures-000001.tar'), 1000),
        rm(join(run, 'banks/shapes/shapes-000001.json')),
        writeFile(join(run, 'shapes2d/val/shapes2d-val-000000.json'), '{half'),
        truncate(join(run, 'photos/list.jsonl'), 300),
      ],
    ],
    [
      'an index of the list that is none, and a lock that is none',
      run => [writeFile(join(run, 'photos/index.json'), 'x'), mkdir(join(run, 'locks/odd.json'))],
    ],
  ])('%s', async (name, harm) => {
    const run = join(scratch, name);
    await cp(whole, run, { recursive: true });
    await Promise.all(harm(run));
    await generate([...inputs, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(whole));
  });
});

describe('bytes that changed within a bank', () => {
  it('are damage that is named, and is repaired as it says', async () => {
    const run = join(scratch, 'flipped');
    await cp(whole, run, { recursive: true });
    for (const subset of ['shapes2d', 'textures2d']) await rm(join(run, subset), { recursive: true });
    for (const kind of ['shapes', 'textures']) {
      const name = `banks/${kind}/${kind}-000000`;
      const { items } = JSON.parse(await readFile(join(run, `${name}.json`), 'utf8')) as { items: BankItem[] };
      const tar = await readFile(join(run, `${name}.tar`));
      // Late in the compressed data, where a decoder has no reason to complain.
      for (const { image } of items) tar[image[0] + Math.floor(0.9 * image[1])]! ^= 1;
      await writeFile(join(run, `${name}.tar`), tar);
      const said = complaint(await generate([...inputs, '--out', run], 1));
      expect(said).toMatch(
        new RegExp(`^shapemill: ${join(run, name)}\\.tar: the item at byte \\d+ is not what was written`),
      );
      await rm(join(run, `${name}.tar`));
    }
    await generate([...inputs, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(whole));
  });
});

describe("somebody's own pictures in a folder called photos", () => {
  it.each([[[]], [['--fresh']]])('are not deleted by --out above them %j', async flags => {
    const own = join(scratch, `own${flags}`, 'photos');
    await mkdir(own, { recursive: true });
    await writeFile(join(own, 'wedding.jpg'), 'the only copy');
    const said = await refusal('generate', ...inputs, '--out', join(own, '..'), ...flags);
    expect(said).toContain('holds "photos"');
    expect(await readFile(join(own, 'wedding.jpg'), 'utf8')).toBe('the only copy');
  });
});

describe('a run record that is gone', () => {
  it('makes the folder nobody’s: it is not continued with whatever is asked for now', async () => {
    const run = join(scratch, 'no-record');
    await cp(whole, run, { recursive: true });
    await rm(join(run, 'run.json'));
    expect(await refusal('generate', ...inputs, '--out', run, '--seed', '2')).toContain('and no run');
  });
});

describe('the list of a command that was refused', () => {
  it('does not stand in for that of the next one', async () => {
    const [run, empty] = [join(scratch, 'after-empty'), join(scratch, 'empty')];
    await mkdir(empty);
    await refusal('generate', '--photos', empty, '--out', run);
    await generate([...inputs, '--out', run, '--stage', 'extract-shapes', '--workers', '1']);
  });
});

describe('a photo that has several names', () => {
  const list = async (run: string) => (await readFile(join(run, 'photos/list.jsonl'), 'utf8')).trim().split('\n');

  it('counts once: by links, by a folder in a folder, by a list', async () => {
    const folder = join(scratch, 'names');
    await cp(photos, join(folder, 'inner'), { recursive: true });
    await symlink('..', join(folder, 'inner', 'up'));
    await symlink('..', join(folder, 'inner', 'up-too'));
    const [first] = await readdir(photos);
    await symlink(first!, join(folder, 'inner', 'alias.jpg'));
    const names = join(scratch, 'names.txt.list');
    await writeFile(names, `names/inner/${first}\n./names/inner/${first}\nnames/../names/inner/${first}\n`);
    const run = join(scratch, 'several-names');
    const sources = [folder, join(folder, 'inner'), names];
    const listed = ['--stage', 'extract-shapes', '--shard-range', '0..0', '--workers', '1'];
    await generate(['--photos', ...sources, '--recipe', recipe, '--out', run, ...listed]);
    expect(await list(run)).toHaveLength(6);
  });

  it('is no photo where it is a picture of the run itself', async () => {
    const own = join(scratch, 'own-photos');
    await cp(photos, own, { recursive: true });
    const command = ['--photos', own, '--recipe', recipe, '--out', join(own, 'run'), '--workers', '1'];
    for (let i = 0; i < 2; i++) await generate([...command, '--stage', 'extract-textures', '--shard-range', '0..0']);
    expect(await list(join(own, 'run'))).toHaveLength(6);
  });
});

describe('the folder that the command is given in', () => {
  it('may be any', async () => {
    const run = join(scratch, 'elsewhere');
    const { code, stderr } = await start(['generate', ...inputs, '--out', run], {}, '/').ended;
    expect([code, stderr]).toEqual([0, expect.anything()]);
    expect(await contentOf(run)).toEqual(await contentOf(whole));
  });
});

describe('a picture that is neither taken nor a list', () => {
  it('is refused by name', async () => {
    const gif = join(scratch, 'moving.gif');
    await writeFile(gif, await smallPhoto('fig-in-bowl.webp').gif().toBuffer());
    const said = await refusal('generate', '--photos', gif, '--out', join(scratch, 'gif'));
    expect(said).toContain('moving.gif');
  });
});

describe('conditions on shapes that no bank has', () => {
  it('are refused before anything is made', async () => {
    const recipe = await writeRecipe(join(scratch, 'semantic.json'), {
      shapes2d: { conditions: ['semantic-coloured-coloured-rotated'] },
    });
    const said = await refusal('generate', '--photos', photos, '--recipe', recipe, '--out', join(scratch, 'sem'));
    expect(said).toContain('--shape-bank semantic:DIR');
  });
});
