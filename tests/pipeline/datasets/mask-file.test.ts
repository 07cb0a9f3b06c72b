import { join } from 'node:path';
import { decode } from 'fast-png';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  maskWhere,
  readColours,
  readIndices,
  readLevels,
  readSetPixels,
} from '../../../pipeline/datasets/mask-file.ts';
import { decodePng } from '../../../pipeline/datasets/png.ts';
import { InputFault } from '../../../pipeline/faults.ts';
import { rng } from '../../../sampling/rng.ts';
import { chunk, type PngContent, png, put, temporaryFolder, VOC_PALETTE } from './fixtures.ts';

const folder = temporaryFolder();
let files = 0;
const write = (bytes: Uint8Array) => put(join(folder(), `${files++}.png`), bytes);

const CHANNELS = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Every colour type with every depth that it may have. */
const FORMS = [
  ...([1, 2, 4, 8, 16] as const).map(depth => ({ colourType: 0 as const, depth })),
  ...([1, 2, 4, 8] as const).map(depth => ({
    colourType: 3 as const,
    depth,
    palette: VOC_PALETTE.slice(0, 2 ** depth),
  })),
  ...([2, 4, 6] as const).flatMap(colourType => ([8, 16] as const).map(depth => ({ colourType, depth }))),
];

/** Samples that use all of a depth and repeat in no line. */
function picture(
  form: Pick<PngContent, 'colourType' | 'depth' | 'palette'>,
  width: number,
  height: number,
): PngContent {
  const length = width * height * CHANNELS[form.colourType!];
  return {
    ...form,
    width,
    height,
    samples: Array.from({ length }, (_, i) => (i * 40_503 + (i >> 3) * 7) % 2 ** form.depth!),
  };
}

describe('a PNG as stored', () => {
  for (const form of FORMS) {
    for (const interlaced of [false, true]) {
      it(`of colour type ${form.colourType}, ${form.depth} bits${interlaced ? ', interlaced' : ''}`, () => {
        // Sizes that leave passes and bytes half filled.
        for (const [width, height] of [
          [1, 1],
          [2, 5],
          [5, 3],
          [13, 11],
          [16, 8],
        ] as const) {
          const content = picture(form, width, height);
          const { data, ...facts } = decodePng(png({ ...content, interlaced }), 1e6);
          expect(facts).toMatchObject({ width, height, depth: form.depth, channels: CHANNELS[form.colourType] });
          expect([...data]).toEqual([...(content.samples as number[])]);
        }
      });
    }
  }

  it('with all filters, as another decoder reads it', async () => {
    const pixels = Buffer.from(Array.from({ length: 64 * 48 * 3 }, (_, i) => (i * i * 31 + (i >> 5) * 17) & 255));
    const smooth = sharp(pixels, { raw: { width: 64, height: 48, channels: 3 } }).blur(2);
    for (const image of [smooth.clone(), smooth.clone().toColourspace('b-w'), smooth.clone().ensureAlpha(0.5)]) {
      const bytes = await image.png({ adaptiveFiltering: true, compressionLevel: 9 }).toBuffer();
      expect(Buffer.from(decodePng(bytes, 1e6).data)).toEqual(Buffer.from(decode(bytes).data));
    }
  });
});

describe('indices', () => {
  it('are those of the palette, not its colours', async () => {
    const samples = [0, 1, 15, 255, 20, 0];
    const path = await write(png({ width: 3, height: 2, samples, colourType: 3, palette: VOC_PALETTE }));
    expect(await readIndices(path)).toEqual({ width: 3, height: 2, data: Uint8Array.from(samples) });
  });

  it('are levels of grey as they are, of any depth', async () => {
    const grey = (depth: 1 | 16, samples: number[]) => write(png({ width: 3, height: 1, depth, samples }));
    expect((await readIndices(await grey(1, [1, 0, 1]))).data).toEqual(Uint8Array.of(1, 0, 1));
    expect((await readIndices(await grey(16, [0, 300, 65_535]))).data).toEqual(Uint16Array.of(0, 300, 65_535));
    const twice = await write(png({ width: 2, height: 1, colourType: 4, samples: [7, 255, 9, 0] }));
    expect((await readIndices(twice)).data).toEqual(Uint8Array.of(7, 9));
    const thrice = await write(png({ width: 2, height: 1, colourType: 2, samples: [7, 7, 7, 9, 9, 9] }));
    expect((await readIndices(thrice)).data).toEqual(Uint8Array.of(7, 9));
  });

  it('are not guessed from colours', async () => {
    const path = await write(png({ width: 1, height: 1, colourType: 2, samples: [128, 0, 0] }));
    await expect(readIndices(path)).rejects.toThrow(
      new InputFault('expected indices in a palette or grey PNG, got colours'),
    );
  });
});

describe('levels', () => {
  const levels = async (content: PngContent) => [...(await readLevels(await write(png(content)))).data];

  it('fill 0 to 255 whatever the depth', async () => {
    expect(await levels({ width: 2, height: 1, depth: 1, samples: [0, 1] })).toEqual([0, 255]);
    expect(await levels({ width: 4, height: 1, depth: 2, samples: [0, 1, 2, 3] })).toEqual([0, 85, 170, 255]);
    expect(await levels({ width: 3, height: 1, samples: [0, 128, 255] })).toEqual([0, 128, 255]);
    expect(await levels({ width: 3, height: 1, depth: 16, samples: [0, 32_896, 65_535] })).toEqual([0, 128, 255]);
  });

  it('are the brightest channel, laid over black', async () => {
    expect(await levels({ width: 2, height: 1, colourType: 2, samples: [255, 0, 0, 1, 2, 3] })).toEqual([255, 3]);
    expect(await levels({ width: 2, height: 1, colourType: 6, samples: [9, 200, 0, 51, 9, 9, 9, 255] })).toEqual([
      40, 9,
    ]);
    const palette = [
      [0, 0, 0],
      [0, 90, 0],
      [255, 255, 255],
    ] as const;
    expect(await levels({ width: 3, height: 1, colourType: 3, samples: [0, 1, 2], palette })).toEqual([0, 90, 255]);
    const alpha = [255, 0];
    expect(await levels({ width: 3, height: 1, colourType: 3, samples: [0, 1, 2], palette, alpha })).toEqual([
      0, 0, 255,
    ]);
  });

  it('are read from other formats', async () => {
    const pixels = Buffer.alloc(16 * 16).fill(255, 128);
    const image = sharp(pixels, { raw: { width: 16, height: 16, channels: 1 } });
    for (const bytes of [
      await image.clone().jpeg({ quality: 100 }).toBuffer(),
      await image.clone().webp({ lossless: true }).toBuffer(),
      await image.clone().tiff().toBuffer(),
    ]) {
      const { width, height, data } = await readLevels(await write(bytes));
      expect({ width, height }).toEqual({ width: 16, height: 16 });
      expect(Buffer.from(data)).toEqual(pixels);
    }
  });
});

describe('the pixels of one object', () => {
  const set = async (content: PngContent) =>
    [...(await readSetPixels(await write(png(content)))).data].map(level => (level === 255 ? '#' : '.')).join('');
  const row = (samples: readonly number[], more: Partial<PngContent> = {}): PngContent => ({
    width: samples.length / ({ 2: 3, 4: 2, 6: 4 }[more.colourType as 2 | 4 | 6] ?? 1),
    height: 1,
    samples,
    ...more,
  });

  it.each<[string, PngContent, string]>([
    ['half of the full level', row([0, 127, 128, 255]), '..##'],
    ['… of 2 bits', row([0, 1, 2, 3], { depth: 2 }), '..##'],
    ['… of 4 bits', row([0, 7, 8, 15], { depth: 4 }), '..##'],
    ['… of 16 bits', row([0, 32_767, 32_768, 65_535], { depth: 16 }), '..##'],
    ['… of the brightest channel', row([0, 0, 0, 0, 0, 128, 127, 127, 127], { colourType: 2 }), '.#.'],
    ['… over black', row([255, 255, 255, 127, 255, 255, 255, 128], { colourType: 6 }), '.#'],
    ['1 of 1 bit', row([0, 1], { depth: 1 }), '.#'],
    ['1 of 2 bits', row([0, 1], { depth: 2 }), '.#'],
    ['1 of 4 bits', row([0, 1], { depth: 4 }), '.#'],
    ['1 of 8 bits', row([0, 1], { depth: 8 }), '.#'],
    ['1 of 16 bits', row([0, 1], { depth: 16 }), '.#'],
    ['1 of RGB', row([0, 0, 0, 1, 1, 1], { colourType: 2 }), '.#'],
    ['1 of RGB, 16 bits', row([0, 0, 0, 1, 1, 1], { colourType: 2, depth: 16 }), '.#'],
    ['1 of grey and alpha', row([0, 255, 1, 255], { colourType: 4 }), '.#'],
    ['nothing', row([0, 0], { depth: 16 }), '..'],
    ['nothing that is clear', row([255, 0, 9, 0], { colourType: 4 }), '..'],
    ['nothing that is black', row([0, 255, 0, 255], { colourType: 4 }), '..'],
  ])('%s', async (_, content, expected) => {
    expect(await set(content)).toBe(expected);
  });

  it.each<[string, PngContent, string]>([
    ['8 bits', row([0, 2]), 'mask: levels up to 2: expected 0 and 255, or 0 and 1'],
    ['2 of 4 bits', row([0, 2], { depth: 4 }), 'mask: levels up to 2: expected 0 and 15, or 0 and 1'],
    ['16 bits', row([0, 255, 1], { depth: 16 }), 'mask: levels up to 255: expected 0 and 65535, or 0 and 1'],
    [
      'black on clear',
      row([0, 0, 0, 255], { colourType: 4 }),
      'mask: black throughout, clear in places: expected the object in white, or another colour',
    ],
    ['colours', row([0, 0, 100], { colourType: 2 }), 'mask: levels up to 100: expected 0 and 255, or 0 and 1'],
  ])('are not guessed where all levels are low: %s', async (_, content, message) => {
    await expect(set(content)).rejects.toThrow(new InputFault(message));
  });

  const palette = [
    [0, 0, 0],
    [1, 1, 1],
    [64, 0, 0],
    [128, 0, 0],
  ] as const;
  const indexed = (samples: readonly number[]) => row(samples, { colourType: 3, palette });

  it.each([
    [[0, 1, 1], '.##'],
    [[0, 2, 2], '.##'],
    [[2, 2, 2], '###'],
    [[0, 3, 2, 1], '.#..'],
    [[0, 0, 0], '...'],
  ])('of a palette, where %j occur', async (samples, expected) => {
    expect(await set(indexed(samples))).toBe(expected);
  });

  it('of several dark colours are not guessed', async () => {
    await expect(set(indexed([0, 1, 2]))).rejects.toThrow(
      new InputFault('mask: levels up to 64 in 2 colours: expected up to 255, or one colour'),
    );
  });
});

describe('colours', () => {
  const colours = async (content: PngContent) => [...(await readColours(await write(png(content)))).data];

  it('are exact, also beside a profile', async () => {
    const samples = [232, 3, 0, 1, 0, 77];
    expect(await colours({ width: 2, height: 1, colourType: 2, samples })).toEqual(samples);
    const profiled = await sharp(Buffer.from(samples), { raw: { width: 2, height: 1, channels: 3 } })
      .withIccProfile('p3')
      .png()
      .toBuffer();
    const stored = [...decode(profiled).data];
    expect([...(await readColours(await write(profiled))).data]).toEqual(stored);
  });

  it('are those of palettes and grey', async () => {
    expect(await colours({ width: 2, height: 1, colourType: 3, samples: [15, 0], palette: VOC_PALETTE })).toEqual([
      192, 128, 128, 0, 0, 0,
    ]);
    expect(await colours({ width: 2, height: 1, depth: 1, samples: [1, 0] })).toEqual([255, 255, 255, 0, 0, 0]);
    expect(await colours({ width: 1, height: 1, colourType: 6, samples: [1, 2, 3, 0] })).toEqual([1, 2, 3]);
  });
});

it('a mask is where a number is set', () => {
  const image = { width: 4, height: 1, data: Uint8Array.of(0, 3, 255, 4) };
  expect(maskWhere(image, value => value > 2 && value < 255).data).toEqual(Uint8Array.of(0, 255, 0, 255));
  const wide = { width: 2, height: 1, data: Uint16Array.of(300, 44) };
  expect(maskWhere(wide, value => value === 300).data).toEqual(Uint8Array.of(255, 0));
});

describe('a broken file is a fault of the data', () => {
  const good = png({ width: 40, height: 30, samples: Array.from({ length: 1200 }, (_, i) => (i * 37) & 255) });
  const fault = async (bytes: Uint8Array) => {
    const error: unknown = await readIndices(await write(bytes)).catch(error => error);
    expect(error).toBeInstanceOf(InputFault);
    return (error as Error).message;
  };

  it('cut anywhere', async () => {
    for (let length = 0; length < good.length; length += 7) await fault(good.subarray(0, length));
  });

  it('with a byte changed in its pixels', async () => {
    for (let at = 60; at < good.length - 20; at += 11) {
      const bytes = Buffer.from(good);
      bytes[at]! ^= 0x55;
      await fault(bytes);
    }
  });

  it('with any bytes changed: a picture or a fault, and nothing else', () => {
    const random = rng(1, 'mask-file', 'changed bytes');
    const indexed = png({
      width: 9,
      height: 7,
      samples: new Uint8Array(63).fill(3),
      colourType: 3,
      depth: 4,
      palette: VOC_PALETTE.slice(0, 16),
      alpha: [0, 9],
      interlaced: true,
    });
    let pictures = 0;
    for (let i = 0; i < 600; i++) {
      const bytes = Buffer.from(indexed);
      for (let k = 0; k < 1 + (i % 3); k++)
        bytes[8 + Math.floor(random.next() * (bytes.length - 8))] = Math.floor(random.next() * 256);
      try {
        const { width, height, channels, data } = decodePng(bytes, 1e4);
        expect(data.length).toBe(width * height * channels);
        pictures++;
      } catch (error) {
        expect(error).toBeInstanceOf(InputFault);
      }
    }
    // Sums of chunks are not checked: a changed colour of the palette makes no other mask.
    expect(pictures).toBeGreaterThan(0);
    expect(pictures).toBeLessThan(400);
  });

  it('told apart', async () => {
    const changed = (at: number, value: number) => {
      const bytes = Buffer.from(good);
      bytes[at] = value;
      return bytes;
    };
    expect(await fault(Buffer.alloc(0))).toBe('mask: the file is empty');
    expect(await fault(Buffer.from('no picture'))).toMatch('got no picture');
    expect(await fault(changed(24, 3))).toBe('mask: PNG header is broken');
    expect(await fault(changed(23, 31))).toBe('mask: PNG holds less than its header tells');
    expect(await fault(changed(23, 29))).toBe('mask: PNG holds more than its header tells');
    const noPalette = png({ width: 1, height: 1, samples: [0], colourType: 3 });
    expect(await fault(noPalette)).toBe('mask: PNG has no palette');
    await expect(readIndices(join(folder(), 'none.png'))).rejects.toThrow(new InputFault('cannot read mask: ENOENT'));
  });

  it('with an index that has no colour', async () => {
    for (const interlaced of [false, true]) {
      const content = { width: 3, height: 1, colourType: 3, interlaced, samples: [0, 1, 2] } as const;
      const bytes = png({ ...content, palette: VOC_PALETTE.slice(0, 2) });
      expect(() => decodePng(bytes, 100)).toThrow(new InputFault('PNG is broken: index 2 in a palette of 2 colours'));
    }
  });

  it('larger than any picture, before it is unpacked', async () => {
    const bomb = Buffer.from(good);
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    expect(await fault(bomb)).toBe('mask: 60000×60000 exceeds the limit of 250000000 pixels');
  });

  it('that a small header hides in', async () => {
    const { deflateSync } = await import('node:zlib');
    const start = good.indexOf('IDAT') - 4;
    const packed = deflateSync(Buffer.alloc(50_000_000));
    expect(await fault(Buffer.concat([good.subarray(0, start), chunk('IDAT', packed), good.subarray(-12)]))).toBe(
      'mask: PNG holds more than its header tells',
    );
  });
});
