import { describe, expect, it } from 'vitest';
import { list, text, toggle, wholeNumber } from '../../pipeline/options.ts';
import { UsageError } from '../../pipeline/usage-error.ts';
import { failUsage, readOptions } from '../../scripts/command-options.ts';

const details = { group: 'group', help: 'help' };
const TABLE = {
  shapes: wholeNumber(1, 100, details),
  out: text('a folder', details),
  photos: list('folders', details),
  fresh: toggle(details),
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
