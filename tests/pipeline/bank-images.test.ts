import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Box, GreyImage, RgbImage } from '../../extractors/image.ts';
import { decodeCrop, decodeMask, encodeGrey, encodeJpeg } from '../../pipeline/bank-images.ts';
import { InputFault } from '../../pipeline/faults.ts';
import { integer } from '../../sampling/distributions.ts';
import { rng } from '../../sampling/rng.ts';
import type { TexturePaint } from '../../scenes/scene2d.ts';

const random = rng(1, 'test', 'bank-images');

function greyOf(width: number, height: number, value: () => number): GreyImage {
  return { width, height, data: Uint8Array.from({ length: width * height }, value) };
}

/** Slow waves with a little grain: nothing that JPEG makes anything of. */
function picture(width: number, height: number): RgbImage {
  const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
    const [x, y, channel] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3];
    return 128 + 90 * Math.sin((x * (channel + 1)) / 19 + y / 23) + integer(random, -9, 9);
  });
  return { width, height, data };
}

function partOf(image: RgbImage, { left, top, width, height }: Box): RgbImage {
  const data = new Uint8Array(3 * width * height);
  for (let row = 0; row < height; row++) {
    const from = 3 * ((top + row) * image.width + left);
    data.set(image.data.subarray(from, from + 3 * width), 3 * row * width);
  }
  return { width, height, data };
}

const cropOf = (image: RgbImage, left: number, top: number, size: number) =>
  partOf(image, { left, top, width: size, height: size });

/** Decoded by sharp alone. */
async function decoded(bytes: Uint8Array, resize?: { width: number; height: number }): Promise<RgbImage> {
  const image = resize ? sharp(bytes).resize({ ...resize, fit: 'fill' }) : sharp(bytes);
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

const same = (a: RgbImage, b: RgbImage) =>
  a.width === b.width && a.height === b.height && Buffer.compare(a.data, b.data) === 0;

const paintOf = (scale: number, left: number, top: number): TexturePaint => ({
  kind: 'texture',
  id: 'texture',
  scale,
  left,
  top,
  quarterTurns: 3, // the compositor's affair
});

describe('a mask’s PNG', () => {
  it.each([
    [1, 1],
    [7, 1],
    [33, 70],
    [257, 130],
  ])('of %i×%i px comes back bit for bit', async (width, height) => {
    const mask = greyOf(width, height, () => (random.next() < 0.5 ? 0 : 255));
    const { data, ...size } = await decodeMask(await encodeGrey(mask));
    expect(size).toEqual({ width, height });
    expect(Buffer.compare(data, mask.data)).toBe(0);
  });

  it('is 8-bit greyscale', async () => {
    const png = await encodeGrey(greyOf(9, 5, () => 255));
    expect(png.subarray(12, 16).toString()).toBe('IHDR');
    expect([png[24], png[25]]).toEqual([8, 0]); // bit depth, colour type
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([9, 5]);
  });

  it('keeps every level of a coverage', async () => {
    const coverage = greyOf(16, 16, () => 0);
    for (let level = 0; level < 256; level++) coverage.data[level] = level;
    const { data, info } = await sharp(await encodeGrey(coverage))
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(1);
    expect([...data]).toEqual([...coverage.data]);
  });
});

describe('decodeMask', () => {
  const levels = greyOf(4, 1, () => 0);
  levels.data.set([0, 127, 128, 255]);
  const source = () => sharp(levels.data, { raw: { width: 4, height: 1, channels: 1 } });

  it('takes half and more for shape, whatever kind of PNG it is', async () => {
    const pngs = {
      grey: await source().toColourspace('b-w').png().toBuffer(),
      colour: await source().toColourspace('srgb').png().toBuffer(),
      deep: await source().toColourspace('grey16').png().toBuffer(),
      palette: await source().png({ palette: true }).toBuffer(),
      opaque: await source().ensureAlpha(1).png().toBuffer(),
    };
    for (const [kind, png] of Object.entries(pngs)) {
      expect([kind, ...(await decodeMask(png)).data]).toEqual([kind, 0, 0, 255, 255]);
    }
  });

  it('takes what is transparent for background', async () => {
    const rgba = Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 0]);
    const png = await sharp(rgba, { raw: { width: 2, height: 1, channels: 4 } })
      .png()
      .toBuffer();
    expect([...(await decodeMask(png)).data]).toEqual([255, 0]);
  });

  it('reports broken data as a fault of the input', async () => {
    const png = await encodeGrey(greyOf(90, 90, () => integer(random, 0, 255)));
    await expect(decodeMask(png.subarray(0, png.length / 2))).rejects.toThrow(InputFault);
    await expect(decodeMask(Buffer.from('no picture'))).rejects.toThrow(InputFault);
  });

  // An empty file in a folder of shapes would end the whole run.
  it('reports an empty file as a fault of the input', async () => {
    await expect(decodeMask(new Uint8Array(0))).rejects.toThrow(InputFault);
  });
});

describe('encodeJpeg', () => {
  it('keeps colour at full resolution only when asked', async () => {
    const image = picture(40, 30);
    const facts = async (fullColour?: boolean) => sharp(await encodeJpeg(image, 95, fullColour)).metadata();
    expect(await facts()).toMatchObject({ format: 'jpeg', width: 40, height: 30, chromaSubsampling: '4:2:0' });
    expect(await facts(true)).toMatchObject({ chromaSubsampling: '4:4:4' });
  });

  it('is close to the picture at quality 95', async () => {
    const image = picture(64, 48);
    const { data } = await decoded(await encodeJpeg(image, 95, true));
    const mean = data.reduce((sum, value, i) => sum + Math.abs(value - image.data[i]!), 0) / data.length;
    expect(mean).toBeLessThan(4); // less than the grain
    expect((await encodeJpeg(image, 30)).length).toBeLessThan((await encodeJpeg(image, 95)).length / 2);
  });
});

describe('decodeCrop', () => {
  it('at scale 1 is a part of the decoded texture, pixel by pixel', async () => {
    const texture = picture(150, 117);
    const bytes = await encodeJpeg(texture, 95, true);
    const whole = await decoded(bytes);
    for (const [left, top, size] of [
      [0, 0, 117],
      [33, 0, 117],
      [7, 13, 64],
      [86, 53, 64],
      [149, 116, 1],
    ] as const) {
      const crop = await decodeCrop(bytes, texture, paintOf(1, left, top), size);
      expect(same(crop, cropOf(whole, left, top, size))).toBe(true);
    }
  });

  it.each([
    [141, 199],
    [199, 141],
    [511, 700],
    [37, 37],
    [40, 41],
  ])('of a texture of %i×%i px, enlarged to fill 512 px, has that size at both ends', async (width, height) => {
    const bytes = await encodeJpeg(picture(width, height), 95, true);
    const scale = 512 / Math.min(width, height);
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    const whole = await decoded(bytes, { width: wide, height: high });
    for (const [left, top] of [
      [0, 0],
      [wide - 512, high - 512],
    ] as const) {
      const crop = await decodeCrop(bytes, { width, height }, paintOf(scale, left, top), 512);
      expect([crop.width, crop.height, crop.data.length]).toEqual([512, 512, 3 * 512 * 512]);
      expect(same(crop, cropOf(whole, left, top, 512))).toBe(true);
    }
  });

  it.each([
    [520, 600],
    [141, 199],
    [199, 141],
    [333, 700],
    [61, 90],
    [37, 37],
  ])('of a texture of %i×%i px decodes a part to the same pixels as the whole', async (width, height) => {
    const texture = picture(width, height);
    const bytes = await encodeJpeg(texture, 95, true);
    const scale = Math.max(1, 512 / Math.min(width, height));
    for (let i = 0; i < 12; i++) {
      const at = (side: number) => integer(random, 0, Math.round(side * scale) - 512);
      const paint = paintOf(scale, at(width), at(height));
      const whole = await decodeCrop(bytes, texture, paint, 512);
      const [left, top] = [integer(random, 0, 511), integer(random, 0, 511)];
      const seen = { left, top, width: integer(random, 1, 512 - left), height: integer(random, 1, 512 - top) };
      const crop = await decodeCrop(bytes, texture, paint, 512, seen);
      expect([crop.top, crop.height, crop.data.length]).toEqual([top, seen.height, 3 * crop.width * crop.height]);
      expect(crop.left <= left && crop.left + crop.width >= left + seen.width).toBe(true);
      expect(same(crop, partOf(whole, crop))).toBe(true);
    }
  });

  it('decodes nothing where nothing is seen', async () => {
    const seen = { left: 512, top: 512, width: 0, height: 0 };
    const crop = await decodeCrop(Buffer.from('no picture'), { width: 512, height: 512 }, paintOf(1, 0, 0), 512, seen);
    expect(crop).toEqual({ ...seen, data: new Uint8Array(0) });
  });

  it('reports broken data, and a crop that is not there, as faults of the input', async () => {
    const texture = picture(100, 100);
    const bytes = await encodeJpeg(texture, 95, true);
    const truncated = bytes.subarray(0, bytes.length / 2);
    await expect(decodeCrop(truncated, texture, paintOf(1, 0, 0), 64)).rejects.toThrow(InputFault);
    await expect(decodeCrop(truncated, texture, paintOf(2, 136, 136), 64)).rejects.toThrow(InputFault);
    await expect(decodeCrop(Buffer.from('no picture'), texture, paintOf(1, 0, 0), 64)).rejects.toThrow(InputFault);
    await expect(decodeCrop(bytes, texture, paintOf(1, 50, 50), 64)).rejects.toThrow(InputFault);
  });
});
