import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import yauzl from 'yauzl';
import { DamagedFile } from '../faults.ts';

/** A regular file in an archive. */
export interface ArchiveMember {
  /** Its path there, `/`-separated; never absolute, never with `.` or `..`. */
  readonly member: string;
  readonly bytes: number;
}

/** A member with its bytes, which are read, if at all, before the next member is asked for. */
export interface OpenMember extends ArchiveMember {
  /** @throws DamagedFile when they are cut short, too many, or fail their checksum (zip has one). */
  contents(): AsyncIterable<Buffer>;
}

const ZIP = /\.zip$/i;
const TAR = /\.tar$/i;
const TAR_GZIP = /\.(tar\.gz|tgz)$/i;

/** Whether a file name is one of an archive that can be read here: zip (with ZIP64), tar or gzipped tar. */
export const isArchiveName = (name: string) => [ZIP, TAR, TAR_GZIP].some(pattern => pattern.test(name));

/**
 * The regular files of an archive, in its order, in one pass and little memory. Links, folders and devices are passed over.
 * @throws DamagedFile when the archive is truncated or broken, names a path outside the folder it would be unpacked to, or has sparse files.
 */
export async function* readArchive(path: string): AsyncGenerator<OpenMember> {
  yield* ZIP.test(path) ? readZip(path) : readTar(path);
}

/** {@link readArchive} of a zip archive, whatever it is called. */
export async function* readZip(path: string): AsyncGenerator<OpenMember> {
  const zip = await yauzl.openPromise(path, { autoClose: false }).catch(error => {
    throw damaged(path, error);
  });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/') || isZipLink(entry)) continue;
      const member = insidePath(path, entry.fileName);
      yield { member, bytes: entry.uncompressedSize, contents: () => zipContents(path, zip, entry) };
    }
  } catch (error) {
    throw damaged(path, error);
  } finally {
    zip.close();
  }
}

async function* zipContents(path: string, zip: yauzl.ZipFile, entry: yauzl.Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw damaged(path, error);
  }
  if (sum !== entry.crc32) throw new DamagedFile(`${path}: the checksum of ${entry.fileName} is wrong`);
}

/** A zip made on Unix keeps a file's mode in the upper half: 0o12 is a symbolic link. */
function isZipLink({ versionMadeBy, externalFileAttributes }: yauzl.Entry): boolean {
  const [unix, kind] = [versionMadeBy >>> 8 === 3, externalFileAttributes >>> 28];
  return unix && kind !== 0 && kind !== 0o10;
}

async function* readTar(path: string): AsyncGenerator<OpenMember> {
  const extract = tar.extract();
  const bytes = createReadStream(path);
  const fed = TAR_GZIP.test(path) ? pipeline(bytes, createGunzip(), extract) : pipeline(bytes, extract);
  // What goes wrong in it ends the loop below, too.
  fed.catch(() => {});
  try {
    for await (const entry of extract) {
      const { name, size, type, pax } = entry.header;
      if (type === null || (pax as Readonly<Record<string, string>> | undefined)?.['GNU.sparse.major'] !== undefined) {
        throw new DamagedFile(
          `${path}: refused, since "${name}" is stored with holes (tar --sparse), which is not read`,
        );
      }
      if (type === 'file' || type === 'contiguous-file') {
        yield { member: insidePath(path, name), bytes: size ?? 0, contents: () => tarContents(path, entry) };
      }
      entry.resume();
    }
    await fed;
  } catch (error) {
    throw damaged(path, error);
  }
}

async function* tarContents(path: string, entry: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of entry) yield chunk as Buffer;
  } catch (error) {
    throw damaged(path, error);
  }
}

/** A member's path without the `./` that tars begin with. @throws DamagedFile when it would leave its folder. */
function insidePath(archive: string, name: string): string {
  const member = name.replace(/^(\.\/+)+/, '');
  const parts = member.split(/[/\\]/);
  if (
    member !== '' &&
    !/^[a-z]:/i.test(member) &&
    !parts.some(part => part === '' || part === '..' || part.includes('\0'))
  ) {
    return member;
  }
  throw new DamagedFile(`${archive}: refused, since it would write outside its folder: "${name}"`);
}

/** What libraries say of a broken archive, as such; errors of the system stay what they are. */
function damaged(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const systems = code !== undefined && !/^(Z_|ERR_STREAM)/.test(code);
  if (error instanceof DamagedFile || systems) return error;
  return new DamagedFile(`${path}: expected a whole archive, it is truncated or broken: ${message}`);
}
