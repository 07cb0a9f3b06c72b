import { describe, expect, it } from 'vitest';
import { GENERATE_OPTIONS } from '../../pipeline/generate-options.ts';
import { checkValues, list, listOf, text, toggle, wholeNumber } from '../../pipeline/options.ts';
import { UsageError } from '../../pipeline/usage-error.ts';

const details = { group: 'group', help: 'help' };
const TABLE = {
  count: wholeNumber(1, 1_000_000, details),
  seed: wholeNumber(0, Number.MAX_SAFE_INTEGER, details),
  out: text('a folder', details),
  photos: list('folders or globs', details),
  subsets: listOf(['shapes2d', 'textures2d'], details),
  fresh: toggle(details),
};
const check = (raw: Record<string, unknown>, prefix = '--') => checkValues(TABLE, raw, prefix);

describe('names of a closed set', () => {
  it.each(['shapes2d,textures2d', ['shapes2d', 'textures2d'], ['shapes2d,textures2d']])(
    'may be joined by commas or stand apart: %j',
    written => {
      expect(check({ subsets: written })).toEqual({ subsets: ['shapes2d', 'textures2d'] });
    },
  );

  it('are all looked at, and paths keep their commas', () => {
    expect(() => check({ subsets: 'shapes2d,texture2d' })).toThrow('did you mean "textures2d"');
    expect(check({ photos: 'a,b' })).toEqual({ photos: ['a,b'] });
  });
});

describe('numbers', () => {
  it.each([
    ['12', 12],
    ['350_000', 350_000],
    ['350,000', 350_000],
    ['1,000,000', 1_000_000],
    ['1e3', 1000],
    [' 7 ', 7],
    [12, 12],
  ])('may be written %j', (written, count) => {
    expect(check({ count: written })).toEqual({ count });
  });

  it.each([
    '',
    ' ',
    'ten',
    '1.5',
    '-3',
    '0',
    '1_000_001',
    '1,5',
    '1,0000',
    '10_00',
    ',100',
    '1__000',
    'Infinity',
    'NaN',
  ])('may not be written %j', written => {
    expect(() => check({ count: written })).toThrow(
      new UsageError(`--count: expected a whole number of at least 1 and at most 1000000, got "${written}"`),
    );
  });

  it.each([1.5, Number.NaN, null, true, [3], { a: 1 }])('are not %j', value => {
    expect(() => check({ count: value })).toThrow('--count: expected a whole number of at least 1');
  });

  it('without an upper limit are asked for without one', () => {
    expect(check({ seed: '9007199254740991' })).toEqual({ seed: Number.MAX_SAFE_INTEGER });
    expect(() => check({ seed: '9007199254740992' })).toThrow(
      '--seed: expected a whole number of at least 0, got "9007199254740992"',
    );
  });
});

describe('checkValues', () => {
  it('takes one value for a list', () => {
    expect(check({ photos: 'a', subsets: 'shapes2d' })).toEqual({ photos: ['a'], subsets: ['shapes2d'] });
    expect(check({ photos: ['a', 'b'] })).toEqual({ photos: ['a', 'b'] });
  });

  it('keeps only what was given, and leaves text as text', () => {
    expect(check({})).toEqual({});
    expect(check({ out: '12', fresh: false })).toEqual({ out: '12', fresh: false });
  });

  it.each([
    ['out', '', '--out: expected a folder, got ""'],
    ['out', 3, '--out: expected a folder, got 3'],
    ['photos', [], '--photos: expected folders or globs, got []'],
    ['photos', ['a', ''], '--photos: expected folders or globs, got ["a",""]'],
    ['fresh', 'yes', '--fresh: expected true or false, got "yes"'],
    ['subsets', ['shapes3d'], '--subsets: expected one or more of shapes2d, textures2d, got ["shapes3d"]'],
    ['subsets', [], '--subsets: expected one or more of shapes2d, textures2d, got []'],
    ['subsets', 3, '--subsets: expected one or more of shapes2d, textures2d, got 3'],
  ])('says of --%s %j what was expected and what came', (name, value, message) => {
    expect(() => check({ [name]: value })).toThrow(UsageError);
    expect(() => check({ [name]: value })).toThrow(message);
  });

  it('names the nearest of a closed set', () => {
    expect(() => check({ subsets: ['shapes2d', 'texture2d'] })).toThrow(/got .* \(did you mean "textures2d"\?\)$/);
    expect(() => check({ subsets: 'shapes' })).toThrow(/ \(did you mean "shapes2d"\?\)$/);
    expect(() => check({ subsets: 'silhouettes' })).toThrow(/got "silhouettes"$/);
  });

  it('names the nearest option for an unknown one', () => {
    expect(() => check({ phots: 1 })).toThrow(new UsageError('unknown option --phots (did you mean "photos"?)'));
    expect(() => check({ nothing: 1 }, '')).toThrow(new UsageError('unknown option nothing'));
  });

  // A name that every object has is found in the table.
  it.each(['constructor', 'toString'])('knows no option %s', name => {
    expect(() => check({ [name]: '1' })).toThrow(UsageError);
  });
});

describe('the options of generate', () => {
  const shardRange = (value: string) => checkValues(GENERATE_OPTIONS, { 'shard-range': value }, '--')['shard-range'];

  it('take a range of shards', () => {
    expect(shardRange('0..7')).toEqual([0, 7]);
    expect(shardRange('12..12')).toEqual([12, 12]);
  });

  it.each(['3..1', '3', '1-3', '..3', '1..', 'a..b', '1..2..3', '-1..2', ''])('refuse the range %j', range => {
    expect(() => shardRange(range)).toThrow(`--shard-range: expected a..b with whole numbers a <= b, got "${range}"`);
  });

  it('all have a help text, and those of a closed set their choices', () => {
    for (const [name, option] of Object.entries(GENERATE_OPTIONS)) {
      expect(option.help.length, name).toBeGreaterThan(10);
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
    expect(GENERATE_OPTIONS.stage.choices).toContain('extract-shapes');
    expect(GENERATE_OPTIONS.subsets.choices).toEqual([
      'shapes2d',
      'textures2d',
      'shapes3d',
      'materials3d',
      'silhouettes',
    ]);
  });
});
