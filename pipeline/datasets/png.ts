import { crc32, inflateSync } from 'node:zlib';
import { InputFault } from '../faults.ts';
import { refuseAbove } from '../photo.ts';

/** What a PNG stores, before it is a colour: indices of a palette stay indices. */
export interface Png {
  readonly width: number;
  readonly height: number;
  /** 1: grey, or index of the palette; 2: grey, alpha; 3: RGB; 4: RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
  /** Bits a sample. */
  readonly depth: number;
  /** Samples as stored, interleaved, rows from the top: 0 to 2^depth − 1. */
  readonly data: Uint8Array | Uint16Array;
  /** RGBA of each index; null: there is none. */
  readonly palette: Uint8Array | null;
}

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];
const PALETTE_COLOUR = 3;
/** Channels and possible depths by colour type, PNG specification 11.2.1. */
const COLOUR_TYPES: Readonly<Record<number, { channels: Png['channels']; depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  [PALETTE_COLOUR]: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};

/** Where the pixels of each pass of an interlaced PNG begin, and how far apart they are: specification 8.2, Adam7. */
const ADAM7 = [
  { left: 0, top: 0, across: 8, down: 8 },
  { left: 4, top: 0, across: 8, down: 8 },
  { left: 0, top: 4, across: 4, down: 8 },
  { left: 2, top: 0, across: 4, down: 4 },
  { left: 0, top: 2, across: 2, down: 4 },
  { left: 1, top: 0, across: 2, down: 2 },
  { left: 0, top: 1, across: 1, down: 2 },
];
const WHOLE = [{ left: 0, top: 0, across: 1, down: 1 }];

export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/**
 * Reads a PNG's samples as they are stored, of every colour type, depth and interlacing. Libraries that draw pictures turn
 * indices into colours, scale what is less than 8 bits and apply profiles; in a mask each number counts as it is.
 * Memory is bounded by the size that the header tells, which is looked at first.
 * @throws InputFault when it is broken, cut, or larger than `maxPixels`.
 */
export function decodePng(bytes: Buffer, maxPixels: number): Png {
  const { header, palette, compressed } = readChunks(bytes, maxPixels);
  const { width, height, channels, depth } = header;
  const passes = (header.interlaced ? ADAM7 : WHOLE)
    .map(({ left, top, across, down }) => {
      const columns = Math.ceil((width - left) / across);
      const rows = Math.ceil((height - top) / down);
      return { left, top, across, down, columns, rows, rowBytes: Math.ceil((columns * channels * depth) / 8) };
    })
    .filter(({ columns, rows }) => columns > 0 && rows > 0);
  const raw = inflate(
    compressed,
    passes.reduce((sum, { rows, rowBytes }) => sum + rows * (1 + rowBytes), 0),
  );
  const step = Math.max(1, (channels * depth) / 8);
  let offset = 0;
  const decoded = passes.map(pass => {
    const lines = unfilter(raw.subarray(offset), pass.rowBytes, pass.rows, step);
    offset += pass.rows * (1 + pass.rowBytes);
    return { ...pass, samples: unpack(lines, pass.columns * channels, pass.rows, depth) };
  });
  const data = header.interlaced ? interleaved(decoded, header) : decoded[0]!.samples;
  if (palette) refuseBeyond(palette, depth, data);
  return { width, height, channels, depth, palette, data };
}

/** A pass of an interlaced PNG: where its pixels lie, and their samples. */
interface Pass extends Record<'left' | 'top' | 'across' | 'down' | 'columns' | 'rows', number> {
  readonly samples: Png['data'];
}

function interleaved(passes: readonly Pass[], { width, height, channels, depth }: Header): Png['data'] {
  const data = depth === 16 ? new Uint16Array(width * height * channels) : new Uint8Array(width * height * channels);
  for (const { left, top, across, down, columns, rows, samples } of passes) {
    let from = 0;
    for (let row = 0; row < rows; row++) {
      let to = ((top + row * down) * width + left) * channels;
      for (let column = 0; column < columns; column++, to += across * channels) {
        for (let channel = 0; channel < channels; channel++) data[to + channel] = samples[from++]!;
      }
    }
  }
  return data;
}

/** @throws InputFault for an index that has no colour. */
function refuseBeyond(palette: Uint8Array, depth: number, data: Png['data']): void {
  const colours = palette.length / 4;
  if (colours >= 2 ** depth) return;
  const index = data.find(sample => sample >= colours);
  if (index !== undefined) throw new InputFault(`PNG is broken: index ${index} in a palette of ${colours} colours`);
}

/** Whether the sum of every chunk is right, as libraries that draw pictures demand: of a whole PNG. */
export function hasRightSums(bytes: Buffer): boolean {
  for (let start = SIGNATURE.length; start + 12 <= bytes.length; ) {
    const end = start + 8 + bytes.readUInt32BE(start);
    if (end + 4 > bytes.length || crc32(bytes.subarray(start + 4, end)) !== bytes.readUInt32BE(end)) return false;
    if (bytes.toString('latin1', start + 4, start + 8) === 'IEND') return true;
    start = end + 4;
  }
  return false;
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly channels: Png['channels'];
  readonly indexed: boolean;
  readonly interlaced: boolean;
}

function readChunks(bytes: Buffer, maxPixels: number) {
  let header: Header | undefined;
  let palette: Uint8Array | null = null;
  const compressed: Buffer[] = [];
  for (let offset = SIGNATURE.length; ; ) {
    if (offset + 12 > bytes.length) throw new InputFault('PNG is truncated');
    const length = bytes.readUInt32BE(offset);
    const type = bytes.toString('latin1', offset + 4, offset + 8);
    const start = offset + 8;
    const end = start + length;
    if (end + 4 > bytes.length) throw new InputFault('PNG is truncated');
    const chunk = bytes.subarray(start, end);
    offset = end + 4;
    if (type === 'IHDR') header = readHeader(chunk, maxPixels);
    else if (!header) throw new InputFault('PNG has no header');
    else if (type === 'PLTE' && header.indexed) palette = readPalette(chunk);
    else if (type === 'tRNS') setAlpha(palette, chunk);
    else if (type === 'IDAT') compressed.push(chunk);
    else if (type === 'IEND') break;
  }
  if (header.indexed && !palette) throw new InputFault('PNG has no palette');
  return { header, palette, compressed: compressed.length === 1 ? compressed[0]! : Buffer.concat(compressed) };
}

function readHeader(chunk: Buffer, maxPixels: number): Header {
  if (chunk.length !== 13) throw new InputFault('PNG header is broken');
  const [width, height] = [chunk.readUInt32BE(0), chunk.readUInt32BE(4)];
  const [depth, colourType, , , interlace] = chunk.subarray(8) as unknown as [number, number, number, number, number];
  const form = COLOUR_TYPES[colourType];
  if (width === 0 || height === 0 || interlace > 1 || !form?.depths.includes(depth)) {
    throw new InputFault('PNG header is broken');
  }
  refuseAbove(maxPixels, { width, height });
  return {
    width,
    height,
    depth,
    channels: form.channels,
    indexed: colourType === PALETTE_COLOUR,
    interlaced: interlace === 1,
  };
}

function readPalette(chunk: Buffer): Uint8Array {
  if (chunk.length === 0 || chunk.length % 3 !== 0) throw new InputFault('PNG palette is broken');
  const palette = new Uint8Array((4 * chunk.length) / 3).fill(255);
  for (let i = 0; 3 * i < chunk.length; i++) palette.set(chunk.subarray(3 * i, 3 * i + 3), 4 * i);
  return palette;
}

/** Alpha of the palette's first colours. Of other colour types the chunk names one colour as clear, which masks have no use for. */
function setAlpha(palette: Uint8Array | null, chunk: Buffer): void {
  if (!palette) return;
  for (let i = 0; i < chunk.length; i++) palette[4 * i + 3] = chunk[i]!;
}

/** zlib also checks its sum over the result, so that no changed byte gets through. */
function inflate(compressed: Buffer, size: number): Buffer {
  let raw: Buffer;
  try {
    // With a byte to spare: a buffer that is just filled makes zlib go on with a second one.
    raw = inflateSync(compressed, { maxOutputLength: size, chunkSize: Math.max(64, size + 1) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new InputFault('PNG holds more than its header tells');
    if (code === 'Z_MEM_ERROR' || !code?.startsWith('Z_')) throw error;
    throw new InputFault(`PNG is broken: ${message}`);
  }
  if (raw.length < size) throw new InputFault('PNG holds less than its header tells');
  return raw;
}

/**
 * Undoes the filters of lines, each led by the number of its filter: specification 9.2. A line moves to where those before it end, ahead of
 * all that is still to be read: so the result lies in `raw`.
 */
function unfilter(raw: Uint8Array, rowBytes: number, rows: number, step: number): Uint8Array {
  // A line of zeros lies above the first.
  let lines: Uint8Array = new Uint8Array(rowBytes);
  let above = 0;
  for (let row = 0; row < rows; row++) {
    const from = row * (rowBytes + 1) + 1;
    const to = row * rowBytes;
    const first = Math.min(step, rowBytes);
    switch (raw[from - 1]) {
      case 0:
        raw.copyWithin(to, from, from + rowBytes);
        break;
      case 1:
        raw.copyWithin(to, from, from + first);
        for (let i = step; i < rowBytes; i++) raw[to + i] = raw[from + i]! + raw[to + i - step]!;
        break;
      case 2:
        for (let i = 0; i < rowBytes; i++) raw[to + i] = raw[from + i]! + lines[above + i]!;
        break;
      case 3:
        for (let i = 0; i < first; i++) raw[to + i] = raw[from + i]! + (lines[above + i]! >> 1);
        for (let i = step; i < rowBytes; i++) {
          raw[to + i] = raw[from + i]! + ((raw[to + i - step]! + lines[above + i]!) >> 1);
        }
        break;
      case 4:
        for (let i = 0; i < first; i++) raw[to + i] = raw[from + i]! + lines[above + i]!;
        for (let i = step; i < rowBytes; i++) {
          raw[to + i] = raw[from + i]! + paeth(raw[to + i - step]!, lines[above + i]!, lines[above + i - step]!);
        }
        break;
      default:
        throw new InputFault(`PNG is broken: no filter has the number ${raw[from - 1]}`);
    }
    lines = raw;
    above = to;
  }
  return new Uint8Array(raw.buffer, raw.byteOffset, rows * rowBytes);
}

function paeth(left: number, above: number, upperLeft: number): number {
  const toLeft = Math.abs(above - upperLeft);
  const toAbove = Math.abs(left - upperLeft);
  const toUpperLeft = Math.abs(left + above - 2 * upperLeft);
  if (toLeft <= toAbove && toLeft <= toUpperLeft) return left;
  return toAbove <= toUpperLeft ? above : upperLeft;
}

/** Lines of whole bytes as one number a sample. */
function unpack(lines: Uint8Array, samples: number, rows: number, depth: number): Uint8Array | Uint16Array {
  if (depth === 8) return lines;
  if (depth === 16) {
    const wide = new Uint16Array(samples * rows);
    for (let i = 0; i < wide.length; i++) wide[i] = (lines[2 * i]! << 8) | lines[2 * i + 1]!;
    return wide;
  }
  const out = new Uint8Array(samples * rows);
  const rowBytes = lines.length / rows;
  const perByte = 8 / depth;
  const mask = (1 << depth) - 1;
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 0; i < samples; i++) {
      const place = i % perByte;
      out[to++] = (lines[row * rowBytes + (i - place) / perByte]! >> (8 - depth - place * depth)) & mask;
    }
  }
  return out;
}
