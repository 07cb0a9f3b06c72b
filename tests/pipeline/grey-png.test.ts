import sharp from 'sharp';
import { expect, it } from 'vitest';
import { decodePng } from '../../pipeline/datasets/png.ts';
import { encodeGreyPng } from '../../pipeline/grey-png.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';

it.each([
  ['one pixel', 1, 1],
  ['a line', 300, 1],
  ['a column', 1, 300],
  ['noise', 57, 33],
  ['more than zlib holds at once', 700, 500],
])('a grey PNG is read back as it was: %s', async (_, width, height) => {
  const random = rng(1, 'tests', `grey png ${width} × ${height}`);
  const data = Uint8Array.from({ length: width * height }, () => integer(random, 0, 255));
  const png = encodeGreyPng({ data, width, height });
  expect(await sharp(png).metadata()).toMatchObject({
    format: 'png',
    width,
    height,
    channels: 1,
    depth: 'uchar',
    space: 'b-w',
  });
  const { data: read } = await sharp(png, { failOn: 'warning' })
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect(read.equals(Buffer.from(data))).toBe(true);
  expect(decodePng(png, 1e6)).toMatchObject({ width, height, channels: 1, depth: 8, palette: null });
});
