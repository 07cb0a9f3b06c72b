import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll } from 'vitest';
import type { DatasetImage, DatasetReader, SegmentedObject } from '../../../pipeline/datasets/dataset.ts';

/** A folder of this test file's own, there while its tests run: its path, once they do. */
export function temporaryFolder(): () => string {
  let folder: string;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'shapemill-dataset-')));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}

/** Writes a file with the folders that it lies in. */
export async function put(path: string, content: Uint8Array | string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

/** A photograph of one colour. */
export const jpeg = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#3060a0' } })
    .jpeg()
    .toBuffer();

/** Digits and letters as numbers, a line a row: `'.'` is 0, `'A'` 10, `'#'` 255. */
export function drawing(...rows: string[]): { width: number; height: number; samples: number[] } {
  const value = (letter: string) => (letter === '.' ? 0 : letter === '#' ? 255 : Number.parseInt(letter, 36));
  return { width: rows[0]!.length, height: rows.length, samples: rows.flatMap(row => [...row].map(value)) };
}

export interface PngContent {
  readonly width: number;
  readonly height: number;
  /** Interleaved, as they are to be stored. */
  readonly samples: ArrayLike<number>;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA. */
  readonly colourType?: 0 | 2 | 3 | 4 | 6;
  readonly depth?: 1 | 2 | 4 | 8 | 16;
  readonly interlaced?: boolean;
  /** RGB by index. */
  readonly palette?: readonly (readonly [number, number, number])[];
  /** Alpha of the first indices. */
  readonly alpha?: readonly number[];
}

/** A plain PNG encoder, unfiltered: what it writes is what was given, as no library promises of palettes and low depths. */
export function png({
  width,
  height,
  samples,
  colourType = 0,
  depth = 8,
  interlaced = false,
  palette,
  alpha,
}: PngContent): Buffer {
  const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colourType];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colourType, 0, 0, interlaced ? 1 : 0], 8);
  const lines: Buffer[] = [];
  for (const pass of interlaced ? [1, 2, 3, 4, 5, 6, 7] : [0]) {
    for (let y = 0; y < height; y++) {
      let bits = '';
      for (let x = 0; x < width; x++) {
        if (interlaced && adam7Pass(x, y) !== pass) continue;
        for (let channel = 0; channel < channels; channel++) {
          bits += samples[(y * width + x) * channels + channel]!.toString(2).padStart(depth, '0');
        }
      }
      if (bits === '') continue;
      const bytes = bits.match(/.{1,8}/g)!.map(byte => Number.parseInt(byte.padEnd(8, '0'), 2));
      lines.push(Buffer.from([0, ...bytes]));
    }
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', Buffer.from(palette.flat()))] : []),
    ...(alpha ? [chunk('tRNS', Buffer.from(alpha))] : []),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The pass that a pixel comes in, from the specification's picture of an 8 × 8 block. */
function adam7Pass(x: number, y: number): number {
  const block = ['16462646', '77777777', '56565656', '77777777', '36463646', '77777777', '56565656', '77777777'];
  return Number(block[y % 8]![x % 8]);
}

export function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  bytes.writeUInt32BE(data.length, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

/** VOC's colours: the bits of an index, dealt out to red, green and blue from the highest down. */
export const VOC_PALETTE = Array.from({ length: 256 }, (_, index): [number, number, number] => {
  const color: [number, number, number] = [0, 0, 0];
  for (let bit = 0; bit < 8; bit++) color[bit % 3]! |= ((index >> bit) & 1) << (7 - Math.floor(bit / 3));
  return color;
});

/** All pictures of a dataset, by their files. */
export async function listImages(reader: DatasetReader, folder: string | null): Promise<DatasetImage[]> {
  const images: DatasetImage[] = [];
  for await (const image of (await reader.open(folder)).images()) {
    // As it comes out of the run's list.
    images.push(JSON.parse(JSON.stringify(image)) as DatasetImage);
  }
  return images.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** An object's mask as rows of `#` and `.`. */
export function rowsOf({ mask: { width, height, data } }: Pick<SegmentedObject, 'mask'>): string[] {
  return Array.from({ length: height }, (_, row) =>
    Array.from(data.subarray(row * width, (row + 1) * width), value => ({ 0: '.', 255: '#' })[value] ?? '?').join(''),
  );
}
