import { type FileHandle, open } from 'node:fs/promises';
import { DamagedFile } from './faults.ts';

/**
 * USTAR entries, byte-reproducible: fixed time, mode and owner. Written here and not by a library because the bytes of a
 * sample are laid out once, in the worker that made them, and only travel after that; tests read them back with
 * tar-stream and with Python's tarfile.
 */

/** One file of a tar. Names are ASCII, at most 100 bytes (USTAR without prefix). */
export interface TarFile {
  readonly name: string;
  readonly data: Uint8Array;
}

/** Headers take a block, data whole blocks. */
export const TAR_BLOCK = 512;
const BLOCK = TAR_BLOCK;
/** A tar ends with two zero blocks. */
export const TAR_END = new Uint8Array(2 * BLOCK);

/** Bytes that a file of `size` takes in a tar: header, data, padding. */
function entryBytes(size: number): number {
  return BLOCK + Math.ceil(size / BLOCK) * BLOCK;
}

/**
 * Lays files out as one piece of a tar, a whole number of 512-byte blocks.
 * @returns the bytes, and where each file's data starts in them.
 */
export function encodeTar(files: readonly TarFile[]): { bytes: Uint8Array<ArrayBuffer>; offsets: number[] } {
  const bytes = new Uint8Array(files.reduce((sum, file) => sum + entryBytes(file.data.length), 0));
  const offsets: number[] = [];
  let at = 0;
  for (const { name, data } of files) {
    writeHeader(bytes.subarray(at, at + BLOCK), name, data.length);
    bytes.set(data, at + BLOCK);
    offsets.push(at + BLOCK);
    at += entryBytes(data.length);
  }
  return { bytes, offsets };
}

/** POSIX.1-1988 (ustar) header: name, mode 0644, uid/gid 0, size, mtime 0, type regular. */
function writeHeader(header: Uint8Array, name: string, size: number): void {
  const text = (at: number, value: string) => {
    for (let i = 0; i < value.length; i++) header[at + i] = value.charCodeAt(i);
  };
  const octal = (at: number, digits: number, value: number) => text(at, value.toString(8).padStart(digits, '0'));
  if (name.length > 100 || !/^[\x21-\x7e]+$/.test(name)) {
    throw new Error(`expected a tar member name of 1 to 100 ASCII characters, got "${name}"`);
  }
  if (size >= 8 ** 11) throw new Error(`expected a tar member below 8 GiB, got ${size} bytes`);
  text(0, name);
  octal(100, 7, 0o644);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, size);
  octal(136, 11, 0);
  text(156, '0');
  text(257, 'ustar\u000000');
  // The checksum is taken with its own field as spaces.
  text(148, '        ');
  octal(
    148,
    6,
    header.reduce((sum, byte) => sum + byte, 0),
  );
  header[154] = 0;
}

/** A file in a tar: its name and where its data lies. */
export interface TarMember {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

/** The members of a tar that {@link encodeTar} wrote, in order; reads headers only. @throws DamagedFile for any other file. */
export async function* readTar(path: string): AsyncGenerator<TarMember> {
  const file = await open(path, 'r');
  const header = Buffer.alloc(BLOCK);
  try {
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(header, 0, BLOCK, at);
      if (bytesRead === BLOCK && header[0] === 0) return;
      const entry = bytesRead < BLOCK ? undefined : parseHeader(header);
      if (!entry) throw new DamagedFile(`${path}: expected a tar header at byte ${at}; the shard is damaged`);
      const { name, size } = entry;
      yield { name, offset: at + BLOCK, size };
      at += entryBytes(size);
    }
  } finally {
    await file.close();
  }
}

/** Bytes that {@link readTarFiles} reads at a time: a few dozen images. */
const CHUNK = 4 << 20;

/**
 * All files of a tar that {@link encodeTar} wrote, in order and a few megabytes at a time; while a caller works on some, the
 * next are read. Data are not copied: they stay as long as somebody holds them.
 * @throws DamagedFile for any other file.
 */
export async function* readTarFiles(path: string): AsyncGenerator<TarFile[]> {
  const file = await open(path, 'r');
  let next: Promise<Chunk> | undefined;
  try {
    next = readChunk(file, 0, CHUNK);
    for (let at = 0; ; ) {
      const { files, end, wanted } = wholeEntries(await next, path);
      at = end;
      next = wanted > 0 ? readChunk(file, at, Math.max(CHUNK, wanted)) : undefined;
      if (files.length > 0) yield files;
      if (!next) return;
    }
  } finally {
    // Left early, or with an error: what is still being read needs the file.
    await next?.catch(() => {});
    await file.close();
  }
}

/** Bytes of a file from `start` on; `last`: the file ends with them. */
interface Chunk {
  readonly bytes: Buffer;
  readonly start: number;
  readonly last: boolean;
}

async function readChunk(file: FileHandle, start: number, length: number): Promise<Chunk> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  for (let bytesRead = -1; done < length && bytesRead !== 0; done += bytesRead) {
    ({ bytesRead } = await file.read(bytes, done, length - done, start + done));
  }
  return { bytes: bytes.subarray(0, done), start, last: done < length };
}

/**
 * The files that a chunk holds whole.
 * @returns `end`: where in the tar the first begins that it does not; `wanted`: bytes of that, 0 when there is none.
 */
function wholeEntries({ bytes, start, last }: Chunk, path: string): { files: TarFile[]; end: number; wanted: number } {
  const files: TarFile[] = [];
  for (let at = 0; ; ) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header[0] === 0 && header.length === BLOCK) return { files, end: start + at, wanted: 0 };
    const entry = header.length === BLOCK ? parseHeader(header) : undefined;
    const wanted = entry ? entryBytes(entry.size) : BLOCK;
    const whole = entry && at + wanted <= bytes.length;
    if (!whole && (last || (header.length === BLOCK && !entry))) {
      throw new DamagedFile(`${path}: expected a whole tar entry at byte ${start + at}; the shard is damaged`);
    }
    if (!whole) return { files, end: start + at, wanted };
    files.push({ name: entry.name, data: bytes.subarray(at + BLOCK, at + BLOCK + entry.size) });
    at += wanted;
  }
}

/**
 * The files in a piece of a tar that is in memory, in order; their data is not copied.
 * @param origin what the piece was read from, for the error. @throws DamagedFile when it is no such piece.
 */
export function decodeTar(bytes: Buffer, origin: string): TarFile[] {
  const files: TarFile[] = [];
  for (let at = 0; at < bytes.length; ) {
    const entry = at + BLOCK > bytes.length ? undefined : parseHeader(bytes.subarray(at, at + BLOCK));
    const data = bytes.subarray(at + BLOCK, at + BLOCK + (entry?.size ?? 0));
    if (!entry || data.length < entry.size)
      throw new DamagedFile(`${origin}: expected whole tar entries; the shard is damaged`);
    files.push({ name: entry.name, data });
    at += entryBytes(entry.size);
  }
  return files;
}

/** Name and size that a header tells; undefined when it is none. */
function parseHeader(header: Buffer): { name: string; size: number } | undefined {
  if (header.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const name = header.toString('latin1', 0, 100).split('\0', 1)[0]!;
  return { name, size: Number.parseInt(header.toString('latin1', 124, 135), 8) };
}
