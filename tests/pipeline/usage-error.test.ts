import { describe, expect, it } from 'vitest';
import { didYouMean, invalidValue, printable, UsageError } from '../../pipeline/usage-error.ts';

describe('didYouMean', () => {
  const names = ['shapes', 'textures', 'shapes2d-images', 'seed', 'out'];

  it.each([
    ['shpaes', 'shapes'],
    ['textrues', 'textures'],
    ['sed', 'seed'],
    ['ou', 'out'],
    ['shape', 'shapes'],
    ['shapes2d-image', 'shapes2d-images'],
  ])('names what is at most two edits away, or begins alike: %s → %s', (word, name) => {
    expect(didYouMean(word, names)).toBe(` (did you mean "${name}"?)`);
  });

  it('says nothing where nothing is near', () => {
    expect(didYouMean('photographs', names)).toBe('');
    expect(didYouMean('x', ['workers'])).toBe('');
    expect(didYouMean('anything', [])).toBe('');
  });
});

describe('invalidValue', () => {
  it.each([
    ['ten', '"ten"'],
    [-1, '-1'],
    [['a'], '["a"]'],
    [null, 'null'],
    [Number.NaN, 'NaN'],
    [undefined, 'nothing'],
  ])('says what was expected and what came: %j', (actual, shown) => {
    const error = invalidValue('--seed', 'a whole number', actual);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toBe(`--seed: expected a whole number, got ${shown}`);
  });
});

it('a message is one line of text, whatever a path holds', () => {
  expect(printable('pas\u001b[31m\nx\u202e.gpj: é 𝄞')).toBe('pas\\u001b[31m\\u000ax\\u202e.gpj: é 𝄞');
});
