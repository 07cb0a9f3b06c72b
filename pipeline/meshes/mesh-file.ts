import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname, resolve, sep } from 'node:path';
import type { RawMesh } from '../../extractors/mesh/triangle-mesh.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { type GltfGeometry, readGltfJson } from './gltf-json.ts';
import { decodeGltf } from './gltf-mesh.ts';
import type { MeshFormat } from './mesh-formats.ts';
import { decodeObj } from './obj-mesh.ts';

/** A mesh file in memory, still encoded. */
export interface MeshFile {
  readonly format: MeshFormat;
  /** sha256 of all its bytes, those of external buffers included. */
  readonly digest: string;
  /** One joined mesh of all that the file shows, and what it holds beside. @throws InputFault when it is malformed. */
  decode(): Promise<{ mesh: RawMesh; dropped: readonly string[] }>;
}

/** What Node reads at once. */
const MAX_BYTES = 2 ** 31 - 1;

/**
 * Reads a GLB, glTF or OBJ and, of a glTF, its buffers: in the file, in data URIs, or in files of the same folder or below.
 * What the file states is checked before anything is decoded.
 * @throws InputFault when a file cannot be read, is malformed, is too large, or names a file elsewhere.
 */
export async function openMesh(path: string): Promise<MeshFile> {
  const bytes = await readBytes(path, 'cannot read');
  if (bytes.length === 0) throw new InputFault('expected a mesh, got an empty file');
  if (isGlb(bytes)) {
    const { json, binary } = glbChunks(bytes);
    return openGltf('glb', path, bytes, json, binary);
  }
  if (extname(path).toLowerCase() === '.obj') {
    return { format: 'obj', digest: digestOf([bytes]), decode: async () => decodeObj(bytes) };
  }
  return openGltf('gltf', path, bytes, bytes.toString('utf8'), undefined);
}

async function openGltf(
  format: MeshFormat,
  path: string,
  bytes: Buffer<ArrayBuffer>,
  json: string,
  binary: Uint8Array<ArrayBuffer> | undefined,
): Promise<MeshFile> {
  const { geometry, dropped } = readGltfJson(json);
  const buffers: Uint8Array<ArrayBuffer>[] = [];
  for (const [i, buffer] of geometry.buffers.entries()) {
    const data = await bufferBytes(buffer, i === 0 ? binary : undefined, path);
    if (data.length > 0 && data.length < buffer.byteLength) {
      throw new InputFault(`buffer ${i}: expected ${buffer.byteLength} bytes, got ${data.length}`);
    }
    buffers.push(data);
  }
  return {
    format,
    digest: digestOf([bytes, ...buffers]),
    decode: async () => ({ mesh: await decodeGltf(geometry, buffers), dropped }),
  };
}

type GltfBuffer = GltfGeometry['buffers'][number];

async function bufferBytes(
  { uri, extensions }: GltfBuffer,
  binary: Uint8Array<ArrayBuffer> | undefined,
  path: string,
): Promise<Uint8Array<ArrayBuffer>> {
  if (uri === undefined) {
    if (binary) return binary;
    if (extensions?.EXT_meshopt_compression?.fallback) return new Uint8Array(0);
    throw new InputFault('a buffer has neither an address nor data in the file');
  }
  const data = /^data:[^,]*?(;base64)?,/i.exec(uri);
  if (!data) return readBytes(await fileInFolder(path, uri), `cannot read its buffer "${uri}"`);
  const text = uri.slice(data[0].length);
  return data[1] ? Buffer.from(text, 'base64') : Buffer.from(decodeUri(text), 'latin1');
}

/** The file that a relative address names. @throws InputFault when it is an address elsewhere, or leads out of the folder. */
async function fileInFolder(path: string, uri: string): Promise<string> {
  const folder = dirname(await realpath(path));
  const named = resolve(folder, decodeUri(uri));
  // A link may lead out as well as dots. What is not there is told by reading it.
  const target = await realpath(named).catch(() => named);
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) || ![named, target].every(file => file.startsWith(`${folder}${sep}`))) {
    throw new InputFault(`its buffer "${uri}" lies outside its folder`);
  }
  return target;
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InputFault('a buffer has a malformed address');
  }
}

async function readBytes(path: string, what: string): Promise<Buffer<ArrayBuffer>> {
  try {
    const facts = await stat(path);
    if (facts.size > MAX_BYTES) throw new InputFault(`${facts.size} bytes exceed the limit of ${MAX_BYTES}`);
    return await readFile(path);
  } catch (error) {
    throw asInputFault(error, what);
  }
}

const GLB_MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;

const isGlb = (bytes: Buffer) => bytes.length >= 4 && bytes.readUInt32LE(0) === GLB_MAGIC;

/** The JSON and the first binary chunk of a GLB. @throws InputFault when a chunk ends beyond the file. */
function glbChunks(bytes: Buffer<ArrayBuffer>): { json: string; binary: Uint8Array<ArrayBuffer> | undefined } {
  const word = (at: number) => {
    if (at + 4 > bytes.length) throw new InputFault(`not a valid GLB: it ends after ${bytes.length} bytes`);
    return bytes.readUInt32LE(at);
  };
  if (word(4) !== 2) throw new InputFault(`expected GLB of version 2, got version ${word(4)}`);
  const length = word(8);
  if (length > bytes.length) {
    throw new InputFault(`not a valid GLB: it ends after ${bytes.length} of ${length} bytes`);
  }
  let json: string | undefined;
  let binary: Uint8Array<ArrayBuffer> | undefined;
  for (let at = 12; at + 8 <= length; ) {
    const [size, kind] = [word(at), word(at + 4)];
    const chunk = bytes.subarray(at + 8, at + 8 + size);
    if (chunk.length < size) throw new InputFault('not a valid GLB: a chunk ends beyond the file');
    if (kind === JSON_CHUNK) json ??= chunk.toString('utf8');
    if (kind === BINARY_CHUNK) binary ??= chunk;
    at += 8 + size + ((4 - (size % 4)) % 4);
  }
  if (json === undefined) throw new InputFault('not a valid GLB: it has no JSON');
  return { json, binary };
}

function digestOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
