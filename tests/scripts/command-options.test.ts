import { describe, expect, it } from 'vitest';
import { choice, list, text, toggle, wholeNumber } from '../../pipeline/options.ts';
import { UsageError } from '../../pipeline/usage-error.ts';
import { failUsage, readOptions } from '../../scripts/command-options.ts';

const details = { group: 'group', help: 'help' };
const TABLE = {
  shapes: wholeNumber(1, 100, details),
  out: text('a folder', details),
  photos: list('folders', details),
  fresh: toggle(details),
  format: choice(['coco', 'inspect'], details),
  'per-shape': wholeNumber(1, 100, details),
};
/** As yargs gives it: the command, what is left over, and values that were not given. */
const read = (parsed: Record<string, unknown>, positionals?: string[]) =>
  readOptions(TABLE, { _: ['generate'], $0: 'shapemill', out: undefined, ...parsed }, positionals);

describe('readOptions', () => {
  it('checks what was given and leaves out the rest', () => {
    expect(read({ shapes: '1e1', photos: ['a', 'b'], fresh: true, help: false, h: false, version: false })).toEqual({
      shapes: 10,
      photos: ['a', 'b'],
      fresh: true,
    });
    expect(read({})).toEqual({});
  });

  it('leaves positional arguments to the command', () => {
    expect(read({ run: 'out/x' }, ['run'])).toEqual({});
  });

  it.each([
    [{ shape: '1' }, 'unknown option --shape (did you mean "shapes"?); see --help'],
    [{ nothing: '1' }, 'unknown option --nothing; see --help'],
    [{ shapes: ['1', '2'] }, '--shapes: expected to be given once, got it 2 times'],
    [{ fresh: [true, true] }, '--fresh: expected to be given once, got it 2 times'],
    [{ shapes: 'ten' }, '--shapes: expected a whole number of at least 1 and at most 100, got "ten"'],
    [{ _: ['generate', 'and', 2] }, 'unexpected "and 2"; see --help'],
  ])('refuses %j', (parsed, message) => {
    expect(() => read(parsed)).toThrow(new UsageError(message));
  });
});

/** What is said of a call as npm 11 passes it on: words, and what it kept. */
function saidBy(words: string, kept: Record<string, string> = {}, script = 'shapemill generate'): string {
  const [command, run, ...rest] = words.split(' ');
  const env = Object.fromEntries(Object.entries(kept).map(([name, value]) => [`npm_config_${name}`, value]));
  const npm = { npm_command: 'run', npm_lifecycle_event: command, npm_lifecycle_script: script };
  const parsed = { _: [command, ...rest.filter(word => !word.startsWith('-'))], run };
  try {
    readOptions(TABLE, parsed, ['run'], { words: words.split(' '), env: { ...env, ...npm } });
    return '';
  } catch (error) {
    return (error as UsageError).message;
  }
}

describe('options that npm kept', () => {
  it.each([
    ['panels out/x 5', { per_shape: 'true' }, 'panels -- out/x --per-shape 5'],
    ['panels 5 out/x', { per_shape: 'true' }, 'panels -- out/x --per-shape 5'],
    ['panels out/x', { per_shape: '5', fresh: 'true' }, 'panels -- out/x --fresh --per-shape 5'],
    ['panels out/x a b', { photos: 'true' }, 'panels -- out/x --photos a b'],
    ['panels out/x 5 6', { per_shape: 'true', shapes: 'true' }, 'panels -- out/x --shapes … --per-shape …'],
    ['panels out/x 5 --seed 3', { per_shape: 'true' }, 'panels -- out/x --per-shape 5 --seed 3'],
    ['panels out/x', { out: 'my folder' }, 'panels -- out/x --out "my folder"'],
    // The beginning of one of npm's own: nothing is left of its name.
    ['export out/x coco', {}, 'export -- out/x --format coco'],
  ])('of "%s", %j are told with the line to give', (words, kept, line) => {
    expect(saidBy(words, kept)).toMatch(/options stand behind "--"/);
    expect(saidBy(words, kept)).toMatch(new RegExp(`: npm run ${line}$`));
  });

  it('are none where another program was run, npm has one of that name, or nothing was given', () => {
    expect(saidBy('panels out/x')).toBe('');
    expect(saidBy('panels out/x', { browser: '/usr/bin/links', registry: 'x' })).toBe('');
    expect(saidBy('panels out/x', { shapes: '4' }, 'vitest run')).toBe('');
  });
});

describe('failUsage', () => {
  it('makes a usage error of what yargs says', () => {
    expect(() => failUsage('Unknown command: x', undefined)).toThrow(new UsageError('Unknown command: x'));
    expect(() => failUsage(undefined, undefined)).toThrow(UsageError);
  });

  it('lets errors of the program through', () => {
    const error = new TypeError('x is undefined');
    expect(() => failUsage('something', error)).toThrow(error);
  });
});
