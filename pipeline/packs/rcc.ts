import * as zlib from 'node:zlib';
import { InputFault } from '../faults.ts';

/**
 * Reader for Qt's binary resource containers (`.rcc`), in which GCompris ships its pictures. Format as written by Qt's
 * `rcc` tool (qtbase `src/tools/rcc/rcc.cpp`), all integers big-endian:
 *
 * - header: `qres`, version (1–3), offsets of tree, data and names; from version 3 on a word of flags;
 * - tree node, 14 bytes (22 from version 2 on, which adds a time): name offset u32, flags u16, then for a directory child count and
 *   index of the first child (u32 each), for a file territory u16, language u16 and data offset u32. Node 0 is the root;
 * - name: length u16, hash u32, UTF-16BE text;
 * - data: length u32, bytes. zlib data starts with the inflated length (u32).
 */
const MAGIC = 'qres';
const FLAG_ZLIB = 1;
const FLAG_DIRECTORY = 2;
const FLAG_ZSTD = 4;

/** Far above any picture; keeps a broken length from filling the memory. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** A file in a container, still as it is stored. */
export interface RccFile {
  /** Path inside the container, with `/` and without a leading one; never holds `.` or `..`. */
  readonly path: string;
  readonly compression: 'none' | 'zlib' | 'zstd';
  readonly stored: Buffer;
}

/** What the header says: where the three sections start, and how long a tree node is. */
interface Layout {
  readonly bytes: Buffer;
  readonly tree: number;
  readonly data: number;
  readonly names: number;
  readonly nodeBytes: number;
}

/**
 * Lists the files of a container in tree order. Nothing is inflated yet: see {@link rccFileBytes}.
 * @throws Error when the container is truncated, inconsistent or holds a path that would leave the folder it is unpacked to.
 */
export function readRcc(bytes: Buffer): RccFile[] {
  const layout = readLayout(bytes);
  const files: RccFile[] = [];
  const seen = new Set<number>();

  function visit(index: number, parent: string): void {
    if (seen.has(index)) throw broken(`tree node ${index} is reached twice`);
    seen.add(index);
    const node = slice(layout.bytes, layout.tree + index * layout.nodeBytes, layout.nodeBytes, `tree node ${index}`);
    const flags = node.readUInt16BE(4);
    const path = index === 0 ? '' : join(parent, readName(layout, node.readUInt32BE(0)));
    if (!(flags & FLAG_DIRECTORY)) {
      files.push({ path, compression: compressionOf(flags), stored: readData(layout, node.readUInt32BE(10)) });
      return;
    }
    const count = node.readUInt32BE(6);
    const first = node.readUInt32BE(10);
    for (let child = first; child < first + count; child++) visit(child, path);
  }

  visit(0, '');
  return files;
}

/**
 * The contents of a file.
 * @throws Error when the compressed data is broken, or is zstd and this Node has no zstd (before 22.15).
 */
export function rccFileBytes(file: RccFile): Buffer {
  if (file.compression === 'none') return file.stored;
  try {
    return file.compression === 'zlib' ? inflate(file.stored) : zstd(file.stored);
  } catch (error) {
    throw new InputFault(`Cannot decompress ${file.path} of an rcc container: ${(error as Error).message}`);
  }
}

function inflate(stored: Buffer): Buffer {
  const expected = slice(stored, 0, 4, 'the inflated length').readUInt32BE(0);
  const contents = zlib.inflateSync(stored.subarray(4), { maxOutputLength: MAX_FILE_BYTES });
  if (contents.length !== expected) throw broken(`expected ${expected} bytes after inflating, got ${contents.length}`);
  return contents;
}

/** Node's own zstd, absent from the types of Node 20. */
function zstd(stored: Buffer): Buffer {
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (data: Buffer, options: object) => Buffer };
  if (!zstdDecompressSync) throw new InputFault(`zstd needs Node 22.15 or newer, this is ${process.version}`);
  return zstdDecompressSync(stored, { maxOutputLength: MAX_FILE_BYTES });
}

function readLayout(bytes: Buffer): Layout {
  const header = slice(bytes, 0, 20, 'the header');
  const magic = header.toString('latin1', 0, 4);
  if (magic !== MAGIC) throw broken(`expected it to start with "${MAGIC}", got ${JSON.stringify(magic)}`);
  const version = header.readUInt32BE(4);
  if (version < 1 || version > 3) throw broken(`expected version 1, 2 or 3, got ${version}`);
  return {
    bytes,
    tree: header.readUInt32BE(8),
    data: header.readUInt32BE(12),
    names: header.readUInt32BE(16),
    nodeBytes: version === 1 ? 14 : 22,
  };
}

function readName({ bytes, names }: Layout, offset: number): string {
  const length = slice(bytes, names + offset, 6, 'a name').readUInt16BE(0);
  // A copy: swap16 works in place, and JavaScript decodes little-endian only.
  return Buffer.from(slice(bytes, names + offset + 6, 2 * length, 'a name'))
    .swap16()
    .toString('utf16le');
}

function readData({ bytes, data }: Layout, offset: number): Buffer {
  const length = slice(bytes, data + offset, 4, 'the length of a file').readUInt32BE(0);
  return slice(bytes, data + offset + 4, length, 'a file');
}

function join(parent: string, name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw broken(`the name ${JSON.stringify(name)} in "${parent}" is not a plain file name`);
  }
  return parent === '' ? name : `${parent}/${name}`;
}

function compressionOf(flags: number): RccFile['compression'] {
  if (flags & FLAG_ZSTD) return 'zstd';
  return flags & FLAG_ZLIB ? 'zlib' : 'none';
}

/** Bounds-checked `subarray`. */
function slice(bytes: Buffer, start: number, length: number, what: string): Buffer {
  if (start + length > bytes.length) {
    throw broken(`${what} at bytes ${start}–${start + length} lies outside its ${bytes.length} bytes`);
  }
  return bytes.subarray(start, start + length);
}

function broken(reason: string): Error {
  return new InputFault(`Broken rcc container: ${reason}`);
}
