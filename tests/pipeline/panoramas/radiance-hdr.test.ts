import { describe, expect, it } from 'vitest';
import { InputFault } from '../../../pipeline/faults.ts';
import { decodeRadianceHdr } from '../../../pipeline/panoramas/radiance-hdr.ts';
import { type HdrOptions, hdrFile, type Pixel } from './panorama-writers.ts';

const MANY = 1_000_000;
/** A marker at the top left; exact in RGBE, whose channels share the exponent of 8. */
const marked: Pixel = (x, y) => (x < 8 && y < 4 ? [8, 4, 2] : [8.5, (x % 16) / 2, (y % 16) / 2]);

function expected(width: number, height: number, pixel: Pixel): Float32Array {
  const data = new Float32Array(3 * width * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set(pixel(x, y), 3 * (y * width + x));
  return data;
}

function refusal(bytes: Uint8Array, maxPixels = MANY): string {
  try {
    decodeRadianceHdr(bytes, maxPixels);
  } catch (error) {
    expect(error).toBeInstanceOf(InputFault);
    return (error as Error).message;
  }
  throw new Error('expected the file to be refused');
}

describe('decodeRadianceHdr', () => {
  it.each(['new', 'old', 'flat'] as const)('reads %s runs, the zenith first', runs => {
    const { width, height, data, format } = decodeRadianceHdr(hdrFile(64, 32, marked, { runs }), MANY);
    expect([width, height, format]).toEqual([64, 32, 'hdr']);
    expect(data).toEqual(expected(64, 32, marked));
  });

  it.each(['-Y +X', '+Y +X', '-Y -X', '+Y -X', '+X -Y', '-X -Y', '+X +Y', '-X +Y'])('reads the order %s', order => {
    const { data } = decodeRadianceHdr(hdrFile(64, 32, marked, { order }), MANY);
    expect(data).toEqual(expected(64, 32, marked));
  });

  it('reads long runs of the old kind, and pictures too narrow for the new one', () => {
    const plain: Pixel = () => [1, 0.5, 0.25];
    const long = decodeRadianceHdr(hdrFile(300, 150, plain, { runs: 'old' }), MANY);
    expect(long.data.every((value, i) => value === [1, 0.5, 0.25][i % 3])).toBe(true);
    const narrow = decodeRadianceHdr(hdrFile(4, 2, marked, { runs: 'flat' }), MANY);
    expect(narrow.data).toEqual(expected(4, 2, marked));
  });

  it('divides by all exposures and colour corrections', () => {
    const header = ['EXPOSURE=2', 'EXPOSURE= 4.0', 'COLORCORR=1 0.5 2'];
    const { data } = decodeRadianceHdr(
      hdrFile(64, 32, () => [8, 8, 8], { header }),
      MANY,
    );
    expect([...data.slice(0, 3)]).toEqual([1, 2, 0.5]);
  });

  it('holds the range of RGBE', () => {
    for (const exponent of [-100, -20, 15, 100]) {
      const { data } = decodeRadianceHdr(
        hdrFile(4, 2, () => [2 ** exponent, 0, 0], { runs: 'flat' }),
        MANY,
      );
      expect(data[0]).toBe(2 ** exponent);
    }
  });

  it('says what it does not read', () => {
    const header = (...lines: string[]): HdrOptions => ({ header: lines });
    expect(refusal(Buffer.from('P6 1 1'))).toContain('another');
    expect(refusal(hdrFile(64, 32, marked, header('FORMAT=32-bit_rle_xyze')))).toContain('xyze');
    expect(refusal(hdrFile(64, 32, marked, header('EXPOSURE=0')))).toContain('EXPOSURE=0');
    expect(refusal(hdrFile(64, 32, marked, header('PRIMARIES=0.7 0.3 0.2 0.7 0.1 0.1 0.3 0.3')))).toContain(
      'primaries',
    );
    expect(refusal(Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n'))).toContain('no end');
    expect(refusal(Buffer.from('#?RADIANCE\n\n-Y 2 -Y 4\n'))).toContain('no size');
  });

  it('refuses sizes before it allocates anything for them', () => {
    const bomb = Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 400000000 +X 800000000\n');
    expect(refusal(bomb)).toBe('800000000×400000000 exceeds the limit of 1000000 pixels');
    expect(refusal(hdrFile(64, 64, marked))).toContain('twice as wide as high');
    expect(refusal(hdrFile(0, 0, marked))).toContain('0×0');
  });

  it('refuses every cut of a file', () => {
    for (const runs of ['new', 'old', 'flat'] as const) {
      const whole = hdrFile(32, 16, marked, { runs });
      for (let length = 0; length < whole.length; length += 3) refusal(whole.subarray(0, length));
    }
  });

  it('refuses runs that do not fit', () => {
    const file = hdrFile(64, 32, marked);
    const start = file.indexOf('\n', file.indexOf('-Y')) + 1;
    const longer = Buffer.from(file);
    longer[start + 4] = 255;
    expect(refusal(longer)).toBe('scanline 0 has a run of the wrong length');
    const wider = Buffer.from(file);
    wider[start + 3] = 65;
    expect(refusal(wider)).toBe('scanline 0 has 65 pixels, expected 64');
  });
});
