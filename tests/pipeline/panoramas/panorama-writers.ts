import { deflateSync } from 'node:zlib';
import { DataUtils } from 'three';

/** The radiance of a pixel: red, green, blue. */
export type Pixel = (x: number, y: number) => readonly [number, number, number];

/** What a writer may do otherwise than usual. */
export interface ExrOptions {
  readonly compression?: 'NONE' | 'RLE' | 'ZIPS' | 'ZIP';
  readonly type?: 'half' | 'float';
  /** Side of square tiles; scanlines when left out. */
  readonly tile?: number;
  /** Instead of B, G, R. */
  readonly channels?: readonly string[];
  /** Chunks from the lowest to the highest. */
  readonly decreasing?: boolean;
  /** Bits of the version field above the version. */
  readonly flags?: number;
  /** More attributes: name, type, bytes. */
  readonly attributes?: readonly (readonly [string, string, Buffer])[];
  readonly dataWindow?: readonly [number, number, number, number];
}

const CODES = { NONE: 0, RLE: 1, ZIPS: 2, ZIP: 3 };

/** An OpenEXR file as its specification has it, made with none of the code it tests. */
export function exrFile(width: number, height: number, pixel: Pixel, options: ExrOptions = {}): Buffer {
  const { compression = 'NONE', type = 'half', tile, channels = ['B', 'G', 'R'], flags = 0 } = options;
  const window = int32(...(options.dataWindow ?? [0, 0, width - 1, height - 1]));
  const list = channels.map(name => Buffer.concat([text(name), int32(type === 'half' ? 1 : 2, 0, 1, 1)]));
  const attributes = [
    ['channels', 'chlist', Buffer.concat([...list, Buffer.alloc(1)])],
    ['compression', 'compression', Buffer.from([CODES[compression]])],
    ['dataWindow', 'box2i', window],
    ['displayWindow', 'box2i', int32(0, 0, width - 1, height - 1)],
    ['lineOrder', 'lineOrder', Buffer.from([options.decreasing ? 1 : 0])],
    ['pixelAspectRatio', 'float', float32(1)],
    ['screenWindowCenter', 'v2f', float32(0, 0)],
    ['screenWindowWidth', 'float', float32(1)],
    ...(tile ? [['tiles', 'tiledesc', Buffer.concat([int32(tile, tile), Buffer.alloc(1)])] as const] : []),
    ...(options.attributes ?? []),
  ] as const;
  const header = Buffer.concat([
    int32(0x01312f76, 2 | (flags << 8) | (tile ? 0x200 : 0)),
    ...attributes.flatMap(([name, kind, value]) => [text(name), text(kind), int32(value.length), value]),
    Buffer.alloc(1),
  ]);
  const rows = tile ?? (compression === 'ZIP' ? 16 : 1);
  const columns = tile ?? width;
  const chunks: Buffer[] = [];
  for (let top = 0; top < height; top += rows) {
    for (let left = 0; left < width; left += columns) {
      const lines: Buffer[] = [];
      for (let y = top; y < Math.min(height, top + rows); y++) {
        for (const channel of channels) {
          for (let x = left; x < Math.min(width, left + columns); x++) {
            const [r, g, b] = pixel(x, y);
            const value = channel === 'G' ? g : channel === 'B' ? b : channel === 'A' ? 1 : r;
            lines.push(type === 'half' ? half(value) : float32(value));
          }
        }
      }
      const raw = Buffer.concat(lines);
      const packed = pack(raw, compression);
      const data = packed.length < raw.length ? packed : raw;
      const place = tile ? int32(left / tile, top / tile, 0, 0) : int32(top);
      chunks.push(Buffer.concat([place, int32(data.length), data]));
    }
  }
  if (options.decreasing) chunks.reverse();
  const table = Buffer.alloc(8 * chunks.length);
  let at = header.length + table.length;
  for (const [i, chunk] of chunks.entries()) {
    table.writeBigUInt64LE(BigInt(at), 8 * i);
    at += chunk.length;
  }
  return Buffer.concat([header, table, ...chunks]);
}

function pack(raw: Buffer, compression: keyof typeof CODES): Buffer {
  if (compression === 'NONE') return raw;
  const split = Buffer.concat([raw.filter((_, i) => i % 2 === 0), raw.filter((_, i) => i % 2 === 1)]);
  const differences = split.map((byte, i) => (i === 0 ? byte : byte - split[i - 1]! + 128));
  return compression === 'RLE' ? runs(differences) : deflateSync(differences);
}

/** n ≥ 0: the next byte n + 1 times; n < 0: −n bytes as they are. */
function runs(bytes: Uint8Array): Buffer {
  const out: number[] = [];
  for (let i = 0; i < bytes.length; ) {
    let length = 1;
    while (length < 128 && bytes[i + length] === bytes[i]) length++;
    if (length > 1) out.push(length - 1, bytes[i]!);
    else out.push(255, bytes[i]!);
    i += length;
  }
  return Buffer.from(out);
}

/** How a Radiance file is written. */
export interface HdrOptions {
  readonly runs?: 'new' | 'old' | 'flat';
  /** Signs and axes of the size, such as `-Y +X`. */
  readonly order?: string;
  readonly header?: readonly string[];
}

/** A Radiance file; values are rounded down to RGBE. */
export function hdrFile(width: number, height: number, pixel: Pixel, options: HdrOptions = {}): Buffer {
  const { runs: way = 'new', order = '-Y +X', header = [] } = options;
  const [, sign1, axis1, sign2, axis2] = /([+-])([XY]) ([+-])([XY])/.exec(order) as unknown as string[];
  const size = (axis: string) => (axis === 'X' ? width : height);
  const place = (sign: string, axis: string, i: number) => {
    const forward = axis === 'X' ? sign === '+' : sign === '-';
    return forward ? i : size(axis) - 1 - i;
  };
  const lines: Buffer[] = [];
  for (let i = 0; i < size(axis1!); i++) {
    const pixels: Buffer[] = [];
    for (let j = 0; j < size(axis2!); j++) {
      const [first, second] = [place(sign1!, axis1!, i), place(sign2!, axis2!, j)];
      pixels.push(rgbe(axis1 === 'Y' ? pixel(second, first) : pixel(first, second)));
    }
    lines.push(way === 'new' ? newRuns(pixels) : way === 'old' ? oldRuns(pixels) : Buffer.concat(pixels));
  }
  const text = ['#?RADIANCE', '# made by a test', 'FORMAT=32-bit_rle_rgbe', ...header, '', ''].join('\n');
  return Buffer.concat([
    Buffer.from(`${text}${sign1}${axis1} ${size(axis1!)} ${sign2}${axis2} ${size(axis2!)}\n`),
    ...lines,
  ]);
}

function rgbe(color: readonly [number, number, number]): Buffer {
  const most = Math.max(...color);
  if (most < 1e-38) return Buffer.alloc(4);
  const exponent = Math.floor(Math.log2(most)) + 1;
  return Buffer.from([...color.map(value => Math.floor(value * 2 ** (8 - exponent))), exponent + 128]);
}

function newRuns(pixels: readonly Buffer[]): Buffer {
  const { length } = pixels;
  const out = [2, 2, length >> 8, length & 255];
  for (let channel = 0; channel < 4; channel++) {
    for (let i = 0; i < length; ) {
      let run = 1;
      while (run < 127 && i + run < length && pixels[i + run]![channel] === pixels[i]![channel]) run++;
      if (run > 1) out.push(128 + run, pixels[i]![channel]!);
      else out.push(1, pixels[i]![channel]!);
      i += run;
    }
  }
  return Buffer.from(out);
}

function oldRuns(pixels: readonly Buffer[]): Buffer {
  const out: number[] = [];
  for (let i = 0; i < pixels.length; ) {
    let run = 1;
    while (i + run < pixels.length && pixels[i + run]!.equals(pixels[i]!)) run++;
    out.push(...pixels[i]!);
    // The count's digits to base 256, the lowest first.
    for (let rest = run - 1; rest > 0; rest >>= 8) out.push(1, 1, 1, rest & 255);
    i += run;
  }
  return Buffer.from(out);
}

const text = (value: string) => Buffer.from(`${value}\0`, 'latin1');

function int32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value | 0, 4 * i);
  return bytes;
}

export function float32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, 4 * i);
  return bytes;
}

function half(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  // three's own conversion clamps infinities, and complains.
  bytes.writeUInt16LE(
    value === Number.POSITIVE_INFINITY
      ? 0x7c00
      : Number.isNaN(value)
        ? 0x7e00
        : DataUtils.toHalfFloat(Math.min(value, 65_504)),
  );
  return bytes;
}
