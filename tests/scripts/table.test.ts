import { describe, expect, it } from 'vitest';
import { table } from '../../scripts/table.ts';

describe('a table', () => {
  it('keeps columns apart, however long a cell is', () => {
    expect(
      table([
        ['natural shapes', '1000000000 shapes', 'about 4.6 TB', '636.6 days'],
        ['textures', '24 textures', '2.3 MB', ''],
      ]),
    ).toEqual([
      'natural shapes  1000000000 shapes  about 4.6 TB  636.6 days',
      'textures              24 textures        2.3 MB',
    ]);
  });
});
