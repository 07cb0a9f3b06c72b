import { runInNewContext } from 'node:vm';
import { inflateSync } from 'node:zlib';
import { InputFault } from '../faults.ts';
import { checkPanoramaSize, checkPrimaries, type DecodedPanorama } from './decoded.ts';

/**
 * Decodes an OpenEXR file of one part: scanlines or tiles of one level; red, green and blue (or luminance alone) as half or
 * 32-bit floats; every compression of OpenEXR 2 but DWAA, whose deflated coefficients the loader loses.
 *
 * three's EXRLoader unpacks the chunks. It trusts the file, so everything is checked before: sizes, channels, that every
 * chunk is there once and whole, and that it unpacks to no more than it should.
 * @throws InputFault for other files, deep, multi-part and mip-mapped ones, other channels, truncated or damaged data, and sizes
 *   that {@link checkPanoramaSize} refuses.
 * @param seconds that a picture of so many pixels may take.
 */
export async function decodeOpenExr(
  bytes: Uint8Array,
  maxPixels: number,
  seconds = secondsAllowed,
): Promise<DecodedPanorama> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { attributes, end } = readHeader(view);
  const layout = layoutOf(attributes, maxPixels);
  const chunks = checkChunks(bytes, view, end + 8 * layout.chunks, layout);
  // Loaded by the workers that meet an EXR, not by all.
  const { EXRLoader } = await import('three/examples/jsm/loaders/EXRLoader.js');
  const { FloatType } = await import('three');
  const loader = new EXRLoader().setDataType(FloatType);
  const { width, height, compression } = layout;
  const file = withoutOtherAttributes(bytes, attributes, layout.chunks, chunks);
  let texels: Float32Array;
  try {
    texels = withinTime(() => loader.parse(file).data as Float32Array, seconds(width * height));
  } catch (error) {
    throw damage('the pixels are damaged', error);
  }
  return { width, height, data: rgbFromTheTop(texels, width, height), format: 'exr', compression: compression.name };
}

/**
 * Some fifty times what a file takes. Without it the loader would go round for ever where damaged Huffman codes (PIZ, DWAB)
 * give more values than there is room for.
 */
function secondsAllowed(pixels: number): number {
  return 30 + pixels * 50e-6;
}

/** Runs a function and ends it, with an error, when it takes too long: `vm` has the only such stop within a thread. */
function withinTime<T>(work: () => T, seconds: number): T {
  return runInNewContext('work()', { work }, { timeout: Math.ceil(1000 * seconds) });
}

/** An error of unpacking as a fault of the file; one for want of memory is none, and stays as it is. */
function damage(what: string, error: unknown): unknown {
  const { message } = error as Error;
  return /allocation|memory/i.test(message) ? error : new InputFault(`${what}: ${message}`);
}

/** The bytes of a header's attributes, by name. */
type Attributes = ReadonlyMap<string, DataView>;

const MAGIC = 0x01312f76;
const TILED = 0x02;
const LONG_NAMES = 0x04;
const DEEP = 0x08;
const MULTI_PART = 0x10;

function readHeader(file: DataView): { attributes: Attributes; end: number } {
  if (file.byteLength < 8 || file.getUint32(0, true) !== MAGIC) {
    throw new InputFault('expected an OpenEXR file, got another');
  }
  const version = file.getUint32(4, true);
  const flags = version >>> 8;
  if ((version & 0xff) !== 2) throw new InputFault(`expected OpenEXR version 2, got ${version & 0xff}`);
  if (flags & DEEP) throw new InputFault('deep OpenEXR files are not supported');
  if (flags & MULTI_PART) throw new InputFault('OpenEXR files of several parts are not supported');
  if (flags & ~(TILED | LONG_NAMES)) throw new InputFault(`unknown OpenEXR flags 0x${flags.toString(16)}`);
  const attributes = new Map<string, DataView>();
  let at = 8;
  const text = () => {
    let value = '';
    for (let code = byteAt(file, at++); code !== 0; code = byteAt(file, at++)) value += String.fromCharCode(code);
    return value;
  };
  for (let name = text(); name !== ''; name = text()) {
    // Its type, which goes without saying.
    text();
    if (at + 4 > file.byteLength) throw endsInHeader();
    const size = file.getUint32(at, true);
    if (at + 4 + size > file.byteLength) throw endsInHeader();
    attributes.set(name, new DataView(file.buffer, file.byteOffset + at + 4, size));
    at += 4 + size;
  }
  if (Boolean(flags & TILED) !== attributes.has('tiles')) {
    throw new InputFault('the OpenEXR header contradicts itself: tiled or not');
  }
  return { attributes, end: at };
}

function byteAt(file: DataView, at: number): number {
  if (at >= file.byteLength) throw endsInHeader();
  return file.getUint8(at);
}

const endsInHeader = () => new InputFault('the file ends in its header');

interface Compression {
  readonly name: string;
  /** Rows of a chunk. */
  readonly rows: number;
  /** Whether a chunk is one zlib stream, as long as the rows when unpacked. */
  readonly zlib?: true;
}

/** By their number in the file. */
const COMPRESSIONS: readonly Compression[] = [
  { name: 'NONE', rows: 1 },
  { name: 'RLE', rows: 1 },
  { name: 'ZIPS', rows: 1, zlib: true },
  { name: 'ZIP', rows: 16, zlib: true },
  { name: 'PIZ', rows: 32 },
  { name: 'PXR24', rows: 16, zlib: true },
  { name: 'B44', rows: 32 },
  { name: 'B44A', rows: 32 },
  { name: 'DWAA', rows: 32 },
  { name: 'DWAB', rows: 256 },
];

/** How the pixels lie in the file. */
interface Layout {
  readonly width: number;
  readonly height: number;
  readonly compression: Compression;
  /** Of all channels. */
  readonly bytesPerPixel: number;
  /** Row of the file that is the first of the picture. */
  readonly top: number;
  readonly chunkWidth: number;
  readonly chunkHeight: number;
  readonly tiled: boolean;
  readonly chunks: number;
}

function layoutOf(attributes: Attributes, maxPixels: number): Layout {
  const [left, top, right, bottom] = numbers(attributes, 'dataWindow', 4, 'getInt32') as [
    number,
    number,
    number,
    number,
  ];
  const shown = numbers(attributes, 'displayWindow', 4, 'getInt32');
  if ([left, top, right, bottom].some((value, i) => value !== shown[i])) {
    throw new InputFault('expected a data window that is the display window: this file is a part of a panorama');
  }
  const width = right - left + 1;
  const height = bottom - top + 1;
  if (!(width > 0 && height > 0)) throw new InputFault(`expected a picture, got ${width}×${height} pixels`);
  checkPanoramaSize(width, height, maxPixels);
  if (attributes.has('envmap') && numbers(attributes, 'envmap', 1, 'getUint8')[0] === 1)
    throw new InputFault('cube maps are not supported');
  if (attributes.has('chromaticities')) checkPrimaries(numbers(attributes, 'chromaticities', 8, 'getFloat32'));
  const [number] = numbers(attributes, 'compression', 1, 'getUint8') as [number];
  const compression = COMPRESSIONS[number];
  if (!compression) throw new InputFault(`OpenEXR compression ${number} is not supported`);
  const bytesPerPixel = checkChannels(attributes);
  const tiled = attributes.has('tiles');
  const [chunkWidth, chunkHeight] = tiled ? tileSize(attributes) : [width, compression.rows];
  const chunks = Math.ceil(width / chunkWidth) * Math.ceil(height / chunkHeight);
  return { width, height, compression, bytesPerPixel, top, chunkWidth, chunkHeight, tiled, chunks };
}

/** Numbers of an attribute. @throws InputFault when it is missing or shorter. */
function numbers(attributes: Attributes, name: string, count: number, read: 'getInt32' | 'getFloat32' | 'getUint8') {
  const value = attributes.get(name);
  const size = read === 'getUint8' ? 1 : 4;
  if (!value || value.byteLength < count * size) throw new InputFault(`the OpenEXR header has no ${name}`);
  return Array.from({ length: count }, (_, i) => value[read](i * size, true));
}

function tileSize(attributes: Attributes): [number, number] {
  const [width, height] = numbers(attributes, 'tiles', 2, 'getInt32') as [number, number];
  const value = attributes.get('tiles')!;
  if (!(width > 0 && height > 0) || value.byteLength < 9) throw new InputFault('expected a size of tiles');
  if ((value.getUint8(8) & 15) !== 0) throw new InputFault('OpenEXR files of several levels are not supported');
  return [width, height];
}

/** @returns bytes of a pixel in the file. @throws InputFault where there is no light, or not in a form the loader reads right. */
function checkChannels(attributes: Attributes): number {
  const value = attributes.get('channels');
  if (!value?.byteLength) throw new InputFault('the OpenEXR header has no channels');
  const types = new Map<string, number>();
  let bytesPerPixel = 0;
  for (let at = 0; value.getUint8(at) !== 0; at += 16) {
    let name = '';
    for (let code = byteAt(value, at++); code !== 0; code = byteAt(value, at++)) name += String.fromCharCode(code);
    // The next channel's name, or the zero that ends the list, has to be there too.
    if (at + 16 >= value.byteLength) throw endsInHeader();
    const type = value.getInt32(at, true);
    if (type !== HALF && type !== FLOAT) throw new InputFault(`channel ${name}: expected half or 32-bit floats`);
    if (value.getInt32(at + 8, true) !== 1 || value.getInt32(at + 12, true) !== 1) {
      throw new InputFault(`channel ${name}: subsampled channels are not supported`);
    }
    types.set(name, type);
    bytesPerPixel += 2 * type;
  }
  const light = ['R', 'G', 'B'].every(name => types.has(name)) ? ['R', 'G', 'B'] : ['Y'];
  if (!types.has(light[0]!) || (types.has('RY') && light[0] === 'Y')) {
    throw new InputFault(`expected the channels R, G and B, or Y, got ${[...types.keys()].join(', ') || 'none'}`);
  }
  if (new Set(types.values()).size > 1)
    throw new InputFault('expected channels of one type, got half and 32-bit floats');
  return bytesPerPixel;
}

const HALF = 1;
const FLOAT = 2;

/**
 * Walks over the chunks as the loader will.
 * @returns the bytes from the first chunk to the end of the last.
 */
function checkChunks(bytes: Uint8Array, file: DataView, start: number, layout: Layout): Uint8Array {
  const { width, height, bytesPerPixel, chunkWidth, chunkHeight, compression } = layout;
  const columns = Math.ceil(width / chunkWidth);
  const seen = new Uint8Array(layout.chunks);
  const headBytes = layout.tiled ? 20 : 8;
  let at = start;
  for (let chunk = 0; chunk < layout.chunks; chunk++) {
    if (at + headBytes > file.byteLength)
      throw new InputFault(`the file ends after ${chunk} of ${layout.chunks} chunks`);
    const first = file.getInt32(at, true);
    const [column, row] = layout.tiled ? [first, file.getInt32(at + 4, true)] : [0, (first - layout.top) / chunkHeight];
    const number = row * columns + column;
    if (!(column >= 0 && column < columns && seen[number] === 0)) {
      throw new InputFault(`chunk ${chunk} of ${layout.chunks} is not where it should be`);
    }
    seen[number] = 1;
    const size = file.getUint32(at + headBytes - 4, true);
    at += headBytes;
    if (at + size > file.byteLength) throw new InputFault(`the file ends in chunk ${chunk} of ${layout.chunks}`);
    const pixels =
      Math.min(chunkWidth, width - column * chunkWidth) * Math.min(chunkHeight, height - row * chunkHeight);
    checkChunk(bytes.subarray(at, at + size), chunk, pixels * bytesPerPixel, compression);
    at += size;
  }
  return bytes.subarray(start, at);
}

/** @param whole bytes of the chunk's pixels: a chunk that would not be smaller is stored as it is. */
function checkChunk(data: Uint8Array, chunk: number, whole: number, { name, zlib }: Compression): void {
  if (data.length > whole || (name === 'NONE' && data.length !== whole)) {
    throw new InputFault(`chunk ${chunk}: expected ${whole} bytes, got ${data.length}`);
  }
  if (data.length === whole) return;
  if (zlib) {
    const unpacked = inflatedLength(data, chunk, whole);
    // PXR24 leaves the lowest 8 of 32 bits out.
    if (name !== 'PXR24' && unpacked !== whole) {
      throw new InputFault(`chunk ${chunk}: expected ${whole} bytes unpacked, got ${unpacked}`);
    }
  }
  if (name === 'DWAA' || name === 'DWAB') checkDwaChunk(data, chunk, whole);
}

/** Unpacks for the sake of the check sum and the length, which the loader takes as they come. */
function inflatedLength(data: Uint8Array, chunk: number, limit: number): number {
  try {
    return inflateSync(data, { maxOutputLength: limit }).length;
  } catch (error) {
    throw damage(`chunk ${chunk} does not unpack`, error);
  }
}

/** The head of a DWA chunk: eleven 64-bit numbers, the rules of its channels, then its packed parts one after the other. */
function checkDwaChunk(data: Uint8Array, chunk: number, whole: number): void {
  const damaged = () => new InputFault(`chunk ${chunk} is damaged`);
  if (data.length < 90) throw damaged();
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const field = (i: number) => Number(view.getBigUint64(8 * i, true));
  const [version, losslessSize, acSize, dcSize, rleSize] = [field(0), field(2), field(3), field(4), field(5)];
  const [runBytes, rawBytes, acCount, dcCount, acPacking] = [field(6), field(7), field(8), field(9), field(10)];
  if (version !== 2 || losslessSize > 0 || (acPacking !== 0 && acSize > 0)) {
    throw new InputFault('DWA data that is not Huffman-coded (DWAA files) is not supported; DWAB, PIZ or ZIP is');
  }
  // Blocks of 8×8 stand over the edges of a picture, so there may be more coefficients than pixels.
  const limit = 2 * whole + 65_536;
  if ([runBytes, rawBytes, 2 * acCount, 2 * dcCount].some(size => size > limit)) throw damaged();
  const dc = 88 + view.getUint16(88, true) + acSize;
  if (dc + dcSize + rleSize > data.length) throw damaged();
  for (const [start, size] of [
    [dc, dcSize],
    [dc + dcSize, rleSize],
  ] as const) {
    if (size > 0) inflatedLength(data.subarray(start, start + size), chunk, limit);
  }
}

/** The attributes that the loader needs, with their types: it writes a line on the console for each that it does not know. */
const NEEDED = {
  channels: 'chlist',
  compression: 'compression',
  dataWindow: 'box2i',
  tiles: 'tiledesc',
};

/** The file as it would be without comments and the like: a header, a table of offsets that the loader skips, the chunks. */
function withoutOtherAttributes(
  bytes: Uint8Array,
  attributes: Attributes,
  chunkCount: number,
  chunks: Uint8Array,
): ArrayBuffer {
  const header = Object.entries(NEEDED).flatMap(([name, type]) => {
    const value = attributes.get(name);
    if (!value) return [];
    const size = Buffer.alloc(4);
    size.writeUInt32LE(value.byteLength);
    const content = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return [Buffer.from(`${name}\0${type}\0`, 'latin1'), size, content];
  });
  const parts = [bytes.subarray(0, 8), ...header, Buffer.alloc(1 + 8 * chunkCount), chunks];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

/** The loader's RGBA, lowest row first, turned into RGB, highest row first, in the same memory. */
function rgbFromTheTop(rgba: Float32Array, width: number, height: number): Float32Array {
  for (let i = 0; i < width * height; i++) rgba.copyWithin(3 * i, 4 * i, 4 * i + 3);
  const rgb = rgba.subarray(0, 3 * width * height);
  const row = new Float32Array(3 * width);
  for (let low = 0, high = height - 1; low < high; low++, high--) {
    row.set(rgb.subarray(low * row.length, (low + 1) * row.length));
    rgb.copyWithin(low * row.length, high * row.length, (high + 1) * row.length);
    rgb.set(row, high * row.length);
  }
  return rgb;
}
