import { InputFault } from '../faults.ts';
import { checkPanoramaSize, checkPrimaries, type DecodedPanorama } from './decoded.ts';

/**
 * Decodes a Radiance picture (`.hdr`, `.pic`): RGBE pixels, flat or run-length encoded in the old or the new way, in any of
 * the eight orders of rows and columns. Values are divided by the header's EXPOSURE and COLORCORR, which say what they
 * were multiplied by.
 *
 * Not three's HDRLoader: that knows one order and one way of runs, ignores the exposure, and fills what is missing of a
 * truncated file with zeros.
 * @throws InputFault for other files, XYZE pixels, truncated or impossible data, and sizes that {@link checkPanoramaSize} refuses.
 */
export function decodeRadianceHdr(bytes: Uint8Array, maxPixels: number): DecodedPanorama {
  const header = readHeader(bytes);
  const { rows, columns } = header;
  const [width, height] = header.rowsFirst ? [columns.length, rows.length] : [rows.length, columns.length];
  checkPanoramaSize(width, height, maxPixels);
  // A file's scanlines are rows, or columns where its header names X first.
  const rgbe = readScanlines(bytes, header.end, columns.length, rows.length);
  const data = new Float32Array(3 * width * height);
  const scale = header.divisors.map(divisor => 1 / divisor) as [number, number, number];
  for (let line = 0, from = 0; line < rows.length; line++) {
    const major = rows.forward ? line : rows.length - 1 - line;
    for (let i = 0; i < columns.length; i++, from += 4) {
      const minor = columns.forward ? i : columns.length - 1 - i;
      const to = 3 * (header.rowsFirst ? major * width + minor : minor * width + major);
      const unit = UNIT[rgbe[from + 3]!]!;
      data[to] = rgbe[from]! * unit * scale[0];
      data[to + 1] = rgbe[from + 1]! * unit * scale[1];
      data[to + 2] = rgbe[from + 2]! * unit * scale[2];
    }
  }
  return { width, height, data, format: 'hdr', compression: 'RGBE' };
}

/** 2^(e − 136) by exponent byte; an exponent of 0 is black whatever the mantissas. */
const UNIT = Float64Array.from({ length: 256 }, (_, e) => (e === 0 ? 0 : 2 ** (e - 136)));

/** One axis of the picture: `forward` counts from the left or from the top. */
interface Axis {
  readonly length: number;
  readonly forward: boolean;
}

interface Header {
  /** Of the scanlines, and of the pixels in one. */
  readonly rows: Axis;
  readonly columns: Axis;
  /** Whether a scanline is a row of the picture. */
  readonly rowsFirst: boolean;
  /** What red, green and blue have to be divided by. */
  readonly divisors: readonly [number, number, number];
  /** Where the pixels start. */
  readonly end: number;
}

const MAX_HEADER_BYTES = 65_536;

function readHeader(bytes: Uint8Array): Header {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEADER_BYTES)).toString('latin1');
  if (!text.startsWith('#?')) throw new InputFault('expected a Radiance HDR file, got another');
  const blank = /\r?\n\r?\n/.exec(text);
  if (!blank) throw new InputFault('the Radiance header has no end');
  const start = blank.index + blank[0].length;
  const lineEnd = text.indexOf('\n', start);
  const order = /^([+-])([XY]) (\d{1,9}) ([+-])([XY]) (\d{1,9})\s*$/.exec(text.slice(start, Math.max(start, lineEnd)));
  if (!order || order[2] === order[5]) throw new InputFault('the Radiance header has no size like "-Y 512 +X 1024"');
  const axis = (sign: string, name: string, length: string): Axis => {
    // "-Y" counts downwards, as rows of pictures do; "+X" to the right.
    return { length: Number(length), forward: name === 'Y' ? sign === '-' : sign === '+' };
  };
  const divisors: [number, number, number] = [1, 1, 1];
  for (const line of text.slice(0, blank.index).split(/\r?\n/)) readVariable(line, divisors);
  return {
    rows: axis(order[1]!, order[2]!, order[3]!),
    columns: axis(order[4]!, order[5]!, order[6]!),
    rowsFirst: order[2] === 'Y',
    divisors,
    end: lineEnd + 1,
  };
}

/** Takes what a header's line says into account. Exposures stand there once for every program that changed it. */
function readVariable(line: string, divisors: [number, number, number]): void {
  const [, name, value = ''] = /^\s*([A-Z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
  const numbers = value.split(/\s+/).map(Number);
  switch (name) {
    case 'FORMAT':
      if (value !== '32-bit_rle_rgbe') throw new InputFault(`expected 32-bit_rle_rgbe pixels, got ${value}`);
      break;
    case 'PRIMARIES':
      checkPrimaries(numbers);
      break;
    case 'EXPOSURE':
    case 'COLORCORR':
      if (!numbers.every(number => number > 0 && number < Number.POSITIVE_INFINITY)) {
        throw new InputFault(`expected positive numbers, got ${name}=${value}`);
      }
      for (const c of [0, 1, 2]) divisors[c]! *= numbers[numbers.length === 3 ? c : 0]!;
  }
}

/** The pixels as RGBE bytes, in the order of the file. */
function readScanlines(bytes: Uint8Array, start: number, length: number, count: number): Uint8Array {
  const pixels = new Uint8Array(4 * length * count);
  let at = start;
  for (let line = 0; line < count; line++) {
    const scanline = pixels.subarray(4 * length * line, 4 * length * (line + 1));
    const isNew = bytes[at] === 2 && bytes[at + 1] === 2 && bytes[at + 2]! < 128 && length >= 8 && length < 32768;
    at = isNew ? readRuns(bytes, at, scanline, line) : readPixels(bytes, at, scanline, line);
  }
  return pixels;
}

/** Runs of one channel after the other. @returns where the next scanline starts. */
function readRuns(bytes: Uint8Array, start: number, scanline: Uint8Array, line: number): number {
  const length = scanline.length / 4;
  const said = (bytes[start + 2]! << 8) | bytes[start + 3]!;
  if (said !== length) throw new InputFault(`scanline ${line} has ${said} pixels, expected ${length}`);
  let at = start + 4;
  for (let channel = 0; channel < 4; channel++) {
    for (let i = 0; i < length; ) {
      const code = bytes[at++];
      const run = code !== undefined && code > 128;
      const count = run ? code - 128 : (code ?? 0);
      if (at + (run ? 1 : count) > bytes.length) throw truncated(line);
      if (count === 0 || i + count > length) throw new InputFault(`scanline ${line} has a run of the wrong length`);
      for (let end = i + count; i < end; i++) scanline[4 * i + channel] = bytes[run ? at : at++]!;
      if (run) at++;
    }
  }
  return at;
}

/** Whole pixels; (1, 1, 1, n) repeats the one before, and several such are the digits of a number of base 256. */
function readPixels(bytes: Uint8Array, start: number, scanline: Uint8Array, line: number): number {
  let at = start;
  for (let i = 0, shift = 0; i < scanline.length; at += 4) {
    if (at + 4 > bytes.length) throw truncated(line);
    if (i > 0 && bytes[at] === 1 && bytes[at + 1] === 1 && bytes[at + 2] === 1) {
      const count = bytes[at + 3]! * 2 ** shift;
      if (i + 4 * count > scanline.length) {
        throw new InputFault(`scanline ${line} has a run of the wrong length`);
      }
      for (let end = i + 4 * count; i < end; i += 4) scanline.copyWithin(i, i - 4, i);
      shift += 8;
    } else {
      scanline.set(bytes.subarray(at, at + 4), i);
      i += 4;
      shift = 0;
    }
  }
  return at;
}

function truncated(line: number): InputFault {
  return new InputFault(`the file ends in scanline ${line}`);
}
