import { describe, expect, it } from 'vitest';
import { InputFault } from '../../../pipeline/faults.ts';
import { decodePanoramaFile } from '../../../pipeline/panoramas/panorama-file.ts';
import { exrFile, hdrFile, type Pixel } from './panorama-writers.ts';

const LIMITS = { maxPixels: 1_000_000, maxBrokenShare: 1 };
const grey: Pixel = () => [0.5, 0.5, 0.5];

/** A grey picture but for its first pixels. */
function withPixels(...pixels: [number, number, number][]): Buffer {
  return exrFile(64, 32, (x, y) => (y === 0 ? pixels[x] : undefined) ?? [0.5, 0.5, 0.5], { type: 'float' });
}

describe('decodePanoramaFile', () => {
  it('tells the formats apart by their first bytes', async () => {
    expect((await decodePanoramaFile(exrFile(64, 32, grey), LIMITS)).format).toBe('exr');
    expect((await decodePanoramaFile(hdrFile(64, 32, grey), LIMITS)).format).toBe('hdr');
    await expect(decodePanoramaFile(Buffer.from('GIF89a'), LIMITS)).rejects.toThrow('got another file');
    await expect(decodePanoramaFile(Buffer.alloc(0), LIMITS)).rejects.toThrow('an empty file');
  });

  it('replaces and counts what is no light', async () => {
    const { NaN: nan, POSITIVE_INFINITY: infinite } = Number;
    const file = withPixels([nan, 2, -1], [infinite, 3, nan], [infinite, 70_000, -1], [-infinite, 1, 1], [-2, 4, 5]);
    const { data, cleaned } = await decodePanoramaFile(file, LIMITS);
    expect(cleaned).toEqual({ nan: 2, infinite: 2, negative: 1 });
    expect([...data.slice(0, 15)]).toEqual([0, 2, 0, 65_408, 3, 0, 65_408, 65_408, 0, 0, 1, 1, 0, 4, 5]);
    expect(data.slice(15).every(value => value === 0.5)).toBe(true);
  });

  it('leaves light as it is, also what the stored form cannot hold', async () => {
    const { data, cleaned } = await decodePanoramaFile(withPixels([1e6, 0, 1e-9]), LIMITS);
    expect(cleaned).toEqual({ nan: 0, infinite: 0, negative: 0 });
    expect([...data.slice(0, 3)]).toEqual([1e6, 0, Math.fround(1e-9)]);
  });

  it('refuses a panorama with too many broken pixels', async () => {
    const file = withPixels([Number.NaN, 0, 0], [Number.NaN, 0, 0], [0, Number.POSITIVE_INFINITY, 0]);
    await expect(decodePanoramaFile(file, { ...LIMITS, maxBrokenShare: 0.001 })).rejects.toThrow(
      new InputFault('3 of 2048 pixels are NaN or infinite'),
    );
    expect((await decodePanoramaFile(file, { ...LIMITS, maxBrokenShare: 0.002 })).cleaned.nan).toBe(2);
  });

  it('takes a panorama that is a hundredth too wide or too high, and no more', async () => {
    for (const [width, height] of [
      [200, 100],
      [202, 100],
      [198, 100],
    ] as const) {
      expect((await decodePanoramaFile(hdrFile(width, height, grey), LIMITS)).width).toBe(width);
    }
    await expect(decodePanoramaFile(hdrFile(204, 100, grey), LIMITS)).rejects.toThrow('got 204×100');
    await expect(decodePanoramaFile(hdrFile(196, 100, grey), LIMITS)).rejects.toThrow('got 196×100');
  });
});
