import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { rccFileBytes, readRcc } from '../../../pipeline/packs/rcc.ts';
import { smallRcc, u32 } from './small-rcc.ts';

const ZLIB = 1;
const ZSTD = 4;
const text = Buffer.from('a picture, a picture, a picture');
const deflated = Buffer.concat([u32(text.length), deflateSync(text)]);

describe('readRcc', () => {
  it.each([1, 2, 3])('reads version %i with plain and zlib-compressed files', version => {
    const files = readRcc(
      smallRcc(
        'photos',
        [
          { name: 'grün.webp', stored: text },
          { name: 'b.webp', stored: deflated, flags: ZLIB },
        ],
        version,
      ),
    );
    expect(files.map(file => file.path)).toEqual(['photos/grün.webp', 'photos/b.webp']);
    expect(files.map(file => rccFileBytes(file).toString())).toEqual([text.toString(), text.toString()]);
  });

  it('lists zstd files, whose contents need a Node that has zstd', () => {
    const [file] = readRcc(smallRcc('photos', [{ name: 'a', stored: text, flags: ZSTD }]));
    expect(file!.compression).toBe('zstd');
    expect(() => rccFileBytes(file!)).toThrow(/Cannot decompress photos\/a/);
  });

  it.each(['..', '.', '', 'a/b', 'a\\b'])('refuses the file name "%s"', name => {
    expect(() => readRcc(smallRcc('photos', [{ name, stored: text }]))).toThrow(/not a plain file name/);
  });

  it('refuses other files, unknown versions and every truncation', () => {
    const whole = smallRcc('photos', [{ name: 'a', stored: text }]);
    expect(() => readRcc(Buffer.from('RIFF....WEBPVP8 ....'))).toThrow(/expected it to start with "qres", got "RIFF"/);
    expect(() => readRcc(smallRcc('photos', [], 4))).toThrow(/expected version 1, 2 or 3, got 4/);
    for (let length = 0; length < whole.length; length++) {
      expect(() => readRcc(whole.subarray(0, length)), `${length} bytes`).toThrow(/Broken rcc container/);
    }
  });

  it('refuses a tree that runs in a circle', () => {
    const bytes = smallRcc('photos', [{ name: 'a', stored: text }]);
    const firstChildOfFolder = 24 + 22 + 10;
    bytes.writeUInt32BE(0, firstChildOfFolder);
    expect(() => readRcc(bytes)).toThrow(/tree node 0 is reached twice/);
  });

  it('refuses compressed data that is broken or of another length than it says', () => {
    const wrong = Buffer.concat([u32(7), deflateSync(text)]);
    const broken = Buffer.concat([u32(text.length), Buffer.from('no zlib here')]);
    for (const stored of [wrong, broken, Buffer.alloc(2)]) {
      const [file] = readRcc(smallRcc('photos', [{ name: 'a', stored, flags: ZLIB }]));
      expect(() => rccFileBytes(file!)).toThrow(/Cannot decompress photos\/a/);
    }
  });
});
