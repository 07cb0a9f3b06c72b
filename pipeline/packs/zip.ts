import { inflateRawSync } from 'node:zlib';

/**
 * Reader for zip archives as packages carry them: one file on one disk, entries stored or deflated (APPNOTE.TXT, sections 4.3.7,
 * 4.3.12 and 4.3.16), without ZIP64 and without encryption.
 */
const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/** Far above any mesh of a package; keeps a broken length from filling the memory. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** A file in an archive. */
export interface ZipFile {
  /** Path inside the archive, with `/`; never absolute, never with `.` or `..`. */
  readonly path: string;
  /** Its bytes. @throws Error when they are damaged. */
  read(): Buffer;
}

/**
 * Lists the files of an archive in the order of its directory. Nothing is inflated yet.
 * @throws Error when the archive is truncated, of another kind, or holds a path that would leave the folder it is unpacked to.
 */
export function readZip(bytes: Buffer): ZipFile[] {
  const end = endOfDirectory(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const files: ZipFile[] = [];
  for (let i = 0; i < count; i++) {
    expectSignature(bytes, at, ENTRY, ENTRY_BYTES);
    const flags = bytes.readUInt16LE(at + 8);
    const method = bytes.readUInt16LE(at + 10);
    const [packed, size] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map(offset => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const path = bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes!);
    at += ENTRY_BYTES + nameBytes! + extraBytes! + commentBytes!;
    if (path.endsWith('/')) continue;
    if (path.split('/').some(part => part === '' || part === '.' || part === '..')) {
      throw new Error(`Expected paths inside the zip archive, got "${path}"`);
    }
    if ((flags & 1) !== 0 || (method !== STORED && method !== DEFLATED) || size > MAX_FILE_BYTES) {
      throw new Error(`Expected a stored or deflated file of at most ${MAX_FILE_BYTES} bytes, got another: ${path}`);
    }
    files.push({ path, read: () => fileBytes(bytes, local, method, packed, size, path) });
  }
  return files;
}

function endOfDirectory(bytes: Buffer): number {
  // A comment of up to 65,535 bytes may follow.
  for (let at = bytes.length - END_BYTES; at >= Math.max(0, bytes.length - END_BYTES - 0xffff); at--) {
    if (bytes.readUInt32LE(at) === END) return at;
  }
  throw new Error('Expected a zip archive, found no directory at its end');
}

function fileBytes(bytes: Buffer, local: number, method: number, packed: number, size: number, path: string): Buffer {
  expectSignature(bytes, local, LOCAL, LOCAL_BYTES);
  const start = local + LOCAL_BYTES + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  const stored = bytes.subarray(start, start + packed);
  const content = method === STORED ? stored : inflateRawSync(stored, { maxOutputLength: Math.max(1, size) });
  if (content.length !== size) throw new Error(`Expected ${size} bytes of ${path}, got ${content.length}`);
  return content;
}

function expectSignature(bytes: Buffer, at: number, signature: number, length: number): void {
  if (at + length > bytes.length || bytes.readUInt32LE(at) !== signature) {
    throw new Error(`Expected an entry of the zip archive at byte ${at}, found none`);
  }
}
