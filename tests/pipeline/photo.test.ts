import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RgbImage } from '../../extractors/image.ts';
import { InputFault } from '../../pipeline/faults.ts';
import { decodePhoto, MAX_PIXELS, openPhoto } from '../../pipeline/photo.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-photo-'));
});
afterAll(() => rm(folder, { recursive: true }));

const [WIDTH, HEIGHT] = [60, 44];

/** Every pixel differs from every other, neighbours little: a place can be told from its colour. */
const UPRIGHT: RgbImage = {
  width: WIDTH,
  height: HEIGHT,
  data: Uint8Array.from({ length: 3 * WIDTH * HEIGHT }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % WIDTH, Math.floor(i / 3 / WIDTH)];
    return [4 * x, 5 * y, 120][i % 3]!;
  }),
};

/** The picture as it is stored under an EXIF orientation: at (x, y) lies the upright pixel the table names. */
function stored(orientation: number): RgbImage {
  const [right, bottom] = [WIDTH - 1, HEIGHT - 1];
  const upright = [
    (x: number, y: number) => [x, y],
    (x: number, y: number) => [right - x, y],
    (x: number, y: number) => [right - x, bottom - y],
    (x: number, y: number) => [x, bottom - y],
    (x: number, y: number) => [y, x],
    (x: number, y: number) => [right - y, x],
    (x: number, y: number) => [right - y, bottom - x],
    (x: number, y: number) => [y, bottom - x],
  ][orientation - 1]!;
  const [width, height] = orientation < 5 ? [WIDTH, HEIGHT] : [HEIGHT, WIDTH];
  const data = new Uint8Array(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    const [x, y] = upright(i % width, Math.floor(i / width)) as [number, number];
    const from = 3 * (y * WIDTH + x);
    data.set(UPRIGHT.data.subarray(from, from + 3), 3 * i);
  }
  return { width, height, data };
}

const image = ({ width, height, data }: RgbImage = UPRIGHT): Sharp =>
  sharp(data, { raw: { width, height, channels: 3 } });

async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** Opens and decodes what sharp made of the picture. */
async function roundTrip(name: string, encoded: Sharp, options?: Parameters<typeof decodePhoto>[1]): Promise<RgbImage> {
  return decodePhoto(await openPhoto(await write(name, await encoded.toBuffer())), options);
}

function worstDifference(a: RgbImage, b: RgbImage): number {
  expect([a.width, a.height, a.data.length]).toEqual([b.width, b.height, b.data.length]);
  return a.data.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b.data[i]!)), 0);
}

function cropOf(picture: RgbImage, box: { left: number; top: number; width: number; height: number }): RgbImage {
  const data = new Uint8Array(3 * box.width * box.height);
  for (let row = 0; row < box.height; row++) {
    const from = 3 * ((box.top + row) * picture.width + box.left);
    data.set(picture.data.subarray(from, from + 3 * box.width), 3 * row * box.width);
  }
  return { width: box.width, height: box.height, data };
}

const everywhere = (rgb: [number, number, number]): RgbImage => ({
  ...UPRIGHT,
  data: Uint8Array.from({ length: UPRIGHT.data.length }, (_, i) => rgb[i % 3]!),
});

describe('EXIF orientation', () => {
  const WINDOW = { left: 7, top: 3, width: 21, height: 30 };

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('%i gives the upright picture, whole and in windows', async orientation => {
    const bytes = await image(stored(orientation)).withMetadata({ orientation }).webp({ lossless: true }).toBuffer();
    const photo = await openPhoto(await write(`${orientation}.webp`, bytes));
    expect([photo.width, photo.height]).toEqual([WIDTH, HEIGHT]);
    expect(worstDifference(await decodePhoto(photo), UPRIGHT)).toBe(0);
    expect(worstDifference(await decodePhoto(photo, { window: WINDOW }), cropOf(UPRIGHT, WINDOW))).toBe(0);
    const small = await decodePhoto(photo, { shortSide: 22 });
    expect([small.width, small.height]).toEqual([30, 22]);
    // The upper left corner is the dark one; the lower right one the bright one.
    expect(small.data[0]! + small.data[1]!).toBeLessThan(30);
    expect(small.data.at(-3)! + small.data.at(-2)!).toBeGreaterThan(400);
  });

  it.each([1, 3, 6, 8])('%i of a JPEG gives the upright picture', async orientation => {
    const jpeg = image(stored(orientation))
      .withMetadata({ orientation })
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' });
    expect(worstDifference(await roundTrip('oriented.jpg', jpeg), UPRIGHT)).toBeLessThan(6);
  });
});

describe('decodePhoto', () => {
  it.each([
    ['PNG', (i: Sharp) => i.png(), 0],
    ['lossless WebP', (i: Sharp) => i.webp({ lossless: true }), 0],
    ['TIFF', (i: Sharp) => i.tiff({ compression: 'lzw' }), 0],
    ['lossless AVIF', (i: Sharp) => i.avif({ lossless: true }), 1],
    ['JPEG', (i: Sharp) => i.jpeg({ quality: 100, chromaSubsampling: '4:4:4' }), 5],
    ['progressive JPEG', (i: Sharp) => i.jpeg({ quality: 100, chromaSubsampling: '4:4:4', progressive: true }), 5],
    ['16-bit PNG', (i: Sharp) => i.toColourspace('rgb16').png(), 0],
    ['16-bit TIFF', (i: Sharp) => i.toColourspace('rgb16').tiff({ compression: 'deflate' }), 0],
  ])('reads %s', async (name, encode, tolerance) => {
    expect(worstDifference(await roundTrip(name, encode(image())), UPRIGHT)).toBeLessThanOrEqual(tolerance);
  });

  it.each([
    ['8-bit', 'b-w'],
    ['16-bit', 'grey16'],
  ] as const)('gives %s greyscale three equal channels', async (name, space) => {
    const grey = await roundTrip(
      `${name}.png`,
      image(everywhere([90, 90, 90]))
        .toColourspace(space)
        .png(),
    );
    expect(worstDifference(grey, everywhere([90, 90, 90]))).toBe(0);
  });

  it('turns CMYK into the colours it stands for', async () => {
    for (const rgb of [
      [200, 60, 20],
      [30, 90, 140],
      [235, 235, 235],
    ] as [number, number, number][]) {
      const cmyk = image(everywhere(rgb)).toColourspace('cmyk').jpeg({ quality: 100 });
      // Ink cannot show every colour: near is enough; inverted values are off by 100 and more.
      expect(worstDifference(await roundTrip('cmyk.jpg', cmyk), everywhere(rgb))).toBeLessThan(40);
    }
  });

  it.each([
    ['8-bit', 'srgb'],
    ['16-bit', 'rgb16'],
  ] as const)('lays %s alpha over white', async (name, space) => {
    const half = image(everywhere([200, 60, 20]))
      .ensureAlpha(0.5)
      .toColourspace(space)
      .png();
    // 255 − (255 − v)/2
    expect(worstDifference(await roundTrip(`${name}.png`, half), everywhere([227, 157, 137]))).toBeLessThanOrEqual(1);
    const clear = image(everywhere([0, 0, 0]))
      .ensureAlpha(0)
      .toColourspace(space)
      .png();
    expect(worstDifference(await roundTrip(`${name}.png`, clear), everywhere([255, 255, 255]))).toBe(0);
  });

  it.each([
    ['png', (i: Sharp) => i.png()],
    ['jpg', (i: Sharp) => i.jpeg({ quality: 90 })],
    ['webp', (i: Sharp) => i.webp({ quality: 80 })],
  ] as const)('cuts a window out of a %s as out of the whole picture', async (name, encode) => {
    const photo = await openPhoto(await write(`window.${name}`, await encode(image()).toBuffer()));
    const whole = await decodePhoto(photo);
    for (const window of [
      { left: 0, top: 0, width: WIDTH, height: HEIGHT },
      { left: 13, top: 9, width: 17, height: 11 },
      { left: WIDTH - 1, top: HEIGHT - 1, width: 1, height: 1 },
    ]) {
      expect(worstDifference(await decodePhoto(photo, { window }), cropOf(whole, window))).toBe(0);
    }
  });

  it('shrinks to the shorter side asked for, and never enlarges', async () => {
    const photo = await openPhoto(await write('shrink.png', await image().png().toBuffer()));
    const size = async (options: Parameters<typeof decodePhoto>[1]) => {
      const { width, height, data } = await decodePhoto(photo, options);
      expect(data.length).toBe(3 * width * height);
      return [width, height];
    };
    expect(await size({ shortSide: 11 })).toEqual([15, 11]);
    expect(await size({ shortSide: 1 })).toEqual([1, 1]);
    expect(await size({ shortSide: HEIGHT })).toEqual([WIDTH, HEIGHT]);
    expect(await size({ shortSide: 500 })).toEqual([WIDTH, HEIGHT]);
    const window = { left: 5, top: 5, width: 20, height: 30 };
    expect(await size({ window, shortSide: 10 })).toEqual([10, 15]);
    expect(await size({ window, shortSide: 21 })).toEqual([20, 30]);
  });

  it('keeps the picture’s content when it shrinks', async () => {
    const photo = await openPhoto(await write('content.jpg', await image().jpeg({ quality: 95 }).toBuffer()));
    const { width, height, data } = await decodePhoto(photo, { shortSide: 11 });
    for (const [x, y] of [
      [2, 2],
      [7, 5],
      [12, 8],
    ] as const) {
      // The middle of a small pixel lies in the middle of the pixels it stands for.
      const [red, green] = [4 * ((x + 0.5) * (WIDTH / width) - 0.5), 5 * ((y + 0.5) * (HEIGHT / height) - 0.5)];
      expect(Math.abs(data[3 * (y * width + x)]! - red)).toBeLessThan(6);
      expect(Math.abs(data[3 * (y * width + x) + 1]! - green)).toBeLessThan(6);
    }
  });

  it('takes a picture of one pixel', async () => {
    const one = image({ width: 1, height: 1, data: Uint8Array.from([9, 8, 7]) }).png();
    expect([...(await roundTrip('one.png', one)).data]).toEqual([9, 8, 7]);
  });
});

describe('faults of the input', () => {
  const opened = async (name: string, content: Uint8Array | string) => openPhoto(await write(name, content));
  /** Something that does not compress to nothing, so that half a file is half a picture. */
  const grainy = () =>
    image({ ...UPRIGHT, data: UPRIGHT.data.map((value, i) => (value + ((i * 7919) % 61)) & 255) }).resize(240, 176);

  it.each([
    ['JPEG', (i: Sharp) => i.jpeg()],
    ['progressive JPEG', (i: Sharp) => i.jpeg({ progressive: true })],
    ['PNG', (i: Sharp) => i.png()],
    ['WebP', (i: Sharp) => i.webp()],
    ['TIFF', (i: Sharp) => i.tiff({ compression: 'deflate' })],
    ['AVIF', (i: Sharp) => i.avif()],
  ])('are truncated pictures: %s', async (name, encode) => {
    const bytes = await encode(grainy()).toBuffer();
    const decode = async (length: number, options?: Parameters<typeof decodePhoto>[1]) =>
      decodePhoto(await opened(`truncated ${name}`, bytes.subarray(0, length)), options);
    await expect(decode(Math.floor(0.6 * bytes.length))).rejects.toThrow(InputFault);
    await expect(decode(Math.floor(0.6 * bytes.length), { shortSide: 50 })).rejects.toThrow(InputFault);
    await expect(decode(20)).rejects.toThrow(InputFault);
    expect((await decode(bytes.length)).width).toBe(240);
  });

  it('are pictures of other formats, and the message says which are taken', async () => {
    const gif = await image().gif().toBuffer();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
    const expectation = 'expected JPEG, PNG, WebP, AVIF or TIFF, got';
    await expect(opened('named.jpg', gif)).rejects.toThrow(new InputFault(`${expectation} gif`));
    await expect(opened('named.png', svg)).rejects.toThrow(new InputFault(`${expectation} svg`));
  });

  it('are texts named like pictures', async () => {
    await expect(opened('text.jpg', 'Not a picture at all.\n')).rejects.toThrow(InputFault);
  });

  it('name the formats that are taken also for texts', async () => {
    await expect(opened('text.jpg', 'Not a picture at all.\n')).rejects.toThrow('JPEG, PNG, WebP, AVIF or TIFF');
  });

  it('are empty files', async () => {
    await expect(opened('empty.jpg', '')).rejects.toThrow(InputFault);
  });

  it('are AVIFs whose damaged boxes claim too much', async () => {
    const bytes = await image().avif().toBuffer();
    // Box type, then version and flags, then the number of items.
    bytes.writeUInt16BE(0x7000, bytes.indexOf('iinf') + 8);
    await expect(opened('items.avif', bytes)).rejects.toThrow(InputFault);
  });

  it('are missing files and folders', async () => {
    await expect(openPhoto(join(folder, 'missing.jpg'))).rejects.toThrow(new InputFault('cannot read: ENOENT'));
    await expect(openPhoto(folder)).rejects.toThrow(new InputFault('cannot read: EISDIR'));
    await expect(openPhoto(join(await write('file', 'x'), 'below.jpg'))).rejects.toThrow(InputFault);
  });

  it('are pictures beyond the pixel limit', async () => {
    const path = await write('large.png', await image().png().toBuffer());
    expect(await openPhoto(path, WIDTH * HEIGHT)).toMatchObject({ width: WIDTH, height: HEIGHT });
    await expect(openPhoto(path, WIDTH * HEIGHT - 1)).rejects.toThrow(
      new InputFault('60×44 exceeds the limit of 2639 pixels'),
    );
  });

  it('are bombs: a few bytes that claim more pixels than any camera has', async () => {
    // A TIFF header: tags, little-endian, of a 20,000 × 20,000 picture of which nothing follows.
    const entries = [
      [256, 4, 20_000],
      [257, 4, 20_000],
      [258, 3, 8],
      [259, 3, 1],
      [262, 3, 1],
      [273, 4, 8],
      [277, 3, 1],
      [278, 4, 20_000],
      [279, 4, 1],
    ] as const;
    const bytes = Buffer.alloc(8 + 2 + 12 * entries.length + 4);
    bytes.write('II*\0', 'latin1');
    bytes.writeUInt32LE(8, 4);
    bytes.writeUInt16LE(entries.length, 8);
    for (const [i, [tag, type, value]] of entries.entries()) {
      bytes.writeUInt16LE(tag, 10 + 12 * i);
      bytes.writeUInt16LE(type, 12 + 12 * i);
      bytes.writeUInt32LE(1, 14 + 12 * i);
      bytes.writeUInt32LE(value, 18 + 12 * i);
    }
    expect(20_000 ** 2).toBeGreaterThan(MAX_PIXELS);
    await expect(opened('bomb.tif', bytes)).rejects.toThrow(
      new InputFault(`20000×20000 exceeds the limit of ${MAX_PIXELS} pixels`),
    );
  });
});
