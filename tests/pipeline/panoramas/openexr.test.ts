import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { InputFault } from '../../../pipeline/faults.ts';
import { decodeOpenExr } from '../../../pipeline/panoramas/openexr.ts';
import { type ExrOptions, exrFile, float32, type Pixel } from './panorama-writers.ts';

const MANY = 1_000_000;
/** A marker at the top left on two ramps; exact in halves. */
const marked: Pixel = (x, y) => (x < 8 && y < 8 ? [8, 4, 2] : [y / 16, x / 32, 0.5]);

function expected(width: number, height: number, pixel: Pixel): Float32Array {
  const data = new Float32Array(3 * width * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set(pixel(x, y), 3 * (y * width + x));
  return data;
}

/** What is wrong with a file, in the decoder's words. */
async function refusal(bytes: Uint8Array, maxPixels = MANY): Promise<string> {
  const error = await decodeOpenExr(bytes, maxPixels).then(
    () => undefined,
    error => error,
  );
  expect(error).toBeInstanceOf(InputFault);
  return error.message;
}

describe('decodeOpenExr', () => {
  const forms: [string, ExrOptions][] = [
    ['halves', {}],
    ['floats', { type: 'float' }],
    ['RLE', { compression: 'RLE' }],
    ['ZIPS', { compression: 'ZIPS', type: 'float' }],
    ['ZIP', { compression: 'ZIP' }],
    ['rows from below', { compression: 'ZIP', decreasing: true }],
    ['tiles', { compression: 'ZIP', tile: 10 }],
    ['alpha and another channel', { channels: ['A', 'B', 'G', 'R', 'Z'] }],
    ['chromaticities of Rec. 709', { attributes: [['chromaticities', 'chromaticities', rec709()]] }],
  ];
  it.each(forms)('reads %s, the zenith first', async (_, options) => {
    const bytes = exrFile(64, 32, marked, options);
    const { width, height, data, format } = await decodeOpenExr(bytes, MANY);
    expect([width, height, format]).toEqual([64, 32, 'exr']);
    expect(data).toEqual(expected(64, 32, marked));
  });

  it('reads luminance alone as grey', async () => {
    const { data } = await decodeOpenExr(
      exrFile(64, 32, (x, y) => [x + y, 0, 0], { channels: ['Y'] }),
      MANY,
    );
    expect(data).toEqual(expected(64, 32, (x, y) => [x + y, x + y, x + y]));
  });

  it('keeps what half floats cannot hold', async () => {
    const bytes = exrFile(4, 2, x => [1e6 + x, Number.NaN, -1], { type: 'float' });
    const { data } = await decodeOpenExr(bytes, MANY);
    expect([...data.slice(3, 6)]).toEqual([1e6 + 1, Number.NaN, -1]);
  });

  // Written by OpenEXR's own exrmaketiled from `marked`, 32×16.
  it.each([
    ['piz', 0],
    ['pxr24', 0],
    ['b44', 0.05],
    ['b44a', 0.05],
    ['dwab', 0.05],
  ])('reads %s as OpenEXR wrote it', async (name, tolerance) => {
    const { data, compression } = await decodeOpenExr(await fixture(name), MANY);
    expect(compression).toBe(name.toUpperCase());
    const want = expected(32, 16, marked);
    const worst = data.reduce((most, value, i) => Math.max(most, Math.abs(value - want[i]!) / (want[i]! + 0.1)), 0);
    expect(worst).toBeLessThanOrEqual(tolerance);
  });

  it('writes nothing on the console about attributes that it does not know', async () => {
    const warn = vi.spyOn(console, 'warn');
    await decodeOpenExr(exrFile(4, 2, marked, { attributes: [['look', 'odd', Buffer.from('x')]] }), MANY);
    expect(warn).not.toHaveBeenCalled();
  });

  it('says what it does not read', async () => {
    const file = (options: ExrOptions) => exrFile(64, 32, marked, options);
    expect(await refusal(await fixture('dwaa'))).toContain('DWAA');
    expect(await refusal(file({ flags: 0x08 }))).toContain('deep');
    expect(await refusal(file({ flags: 0x10 }))).toContain('several parts');
    expect(await refusal(file({ channels: ['B', 'G'] }))).toBe('expected the channels R, G and B, or Y, got B, G');
    expect(await refusal(file({ dataWindow: [0, 0, 31, 31] }))).toContain('a part of a panorama');
    expect(await refusal(file({ attributes: [['envmap', 'envmap', Buffer.from([1])]] }))).toContain('cube');
    const acescg = float32(0.713, 0.293, 0.165, 0.83, 0.128, 0.044, 0.32168, 0.33767);
    expect(await refusal(file({ attributes: [['chromaticities', 'chromaticities', acescg]] }))).toContain('primaries');
    expect(await refusal(Buffer.from('v/1\u0001'))).toContain('another');
  });

  it('refuses sizes before it allocates anything for them', async () => {
    const huge = 2 ** 30;
    const bomb = exrFile(4, 2, marked, { dataWindow: [0, 0, 2 * huge - 1, huge - 1] });
    // The display window says the same in such a file.
    bomb.copy(bomb, windowAt(bomb, 'displayWindow'), windowAt(bomb, 'dataWindow'), windowAt(bomb, 'dataWindow') + 16);
    expect(await refusal(bomb)).toBe('2147483648×1073741824 exceeds the limit of 1000000 pixels');
    expect(await refusal(exrFile(64, 32, marked), 2047)).toBe('64×32 exceeds the limit of 2047 pixels');
    expect(await refusal(exrFile(64, 64, marked))).toContain('twice as wide as high');
  });

  it('refuses chunks that unpack to more than their pixels, or to less', async () => {
    const larger = exrFile(64, 32, () => [0, 0, 0], { compression: 'ZIP' });
    // Half of the rows' length: the streams are twice as long as they should be.
    for (const name of ['dataWindow', 'displayWindow']) larger.writeInt32LE(31, windowAt(larger, name) + 8);
    for (const name of ['dataWindow', 'displayWindow']) larger.writeInt32LE(15, windowAt(larger, name) + 12);
    expect(await refusal(larger)).toMatch(/chunk 0/);
  });

  it('refuses every cut of a file', async () => {
    for (const options of [{}, { compression: 'ZIP' }, { compression: 'RLE' }, { tile: 16 }] as const) {
      const whole = exrFile(32, 16, marked, options);
      for (let length = 0; length < whole.length; length += 7) await refusal(whole.subarray(0, length));
      await refusal(whole.subarray(0, whole.length - 1));
    }
  });

  it('ends where the loader would not, on damaged Huffman codes', async () => {
    const damaged = await fixture('dwab');
    damaged[1222] = 0o23;
    await expect(decodeOpenExr(damaged, MANY, () => 1)).rejects.toThrow(/damaged: .*timed out/);
  });

  it('refuses changed data that it can tell: check sums, twice the same chunk', async () => {
    const changed = exrFile(64, 32, marked, { compression: 'ZIP' });
    changed[changed.length - 20]! ^= 1;
    expect(await refusal(changed)).toMatch(/chunk 1/);
    const twice = exrFile(4, 2, marked);
    twice.writeInt32LE(0, twice.length - 8 - 24);
    expect(await refusal(twice)).toBe('chunk 1 of 2 is not where it should be');
  });
});

function rec709(): Buffer {
  return float32(0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329);
}

/** Where an attribute's four numbers lie. */
function windowAt(file: Buffer, name: string): number {
  return file.indexOf(`${name}\0box2i\0`) + name.length + 1 + 'box2i'.length + 1 + 4;
}

function fixture(name: string): Promise<Buffer> {
  return readFile(fileURLToPath(new URL(`./fixtures/${name}.exr`, import.meta.url)));
}
