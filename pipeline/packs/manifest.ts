import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { UsageError } from '../usage-error.ts';
import { SOURCE_NAMES } from './source-names.ts';

/** Root of this package, where assets-manifest.json and assets/ lie. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** `/`-separated and below its folder: never absolute, never with `.` or `..`. */
export const relativePath = z
  .string()
  .regex(
    /^(?!\.{1,2}(\/|$))[^/\\\0]+(\/(?!\.{1,2}(\/|$))[^/\\\0]+)*$/,
    'expected a relative path with / and without . or .. parts',
  );

export const packId = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected lower-case letters, digits and single dashes');

/** An SPDX expression: identifiers, `LicenseRef-…` for what SPDX does not list, AND, OR, WITH and brackets. */
export const spdxExpression = z.string().regex(/^[A-Za-z0-9.+() -]+$/, 'expected an SPDX licence expression');

export const packFileSchema = z.strictObject({
  /** Below the pack's folder. */
  path: relativePath,
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hexadecimal digits'),
  author: z.string().min(1),
  /** Where the file or its licence is published. */
  url: z.url(),
  licence: spdxExpression,
  /** A hand-made split; files without one are split by hash like everything else. */
  split: z.enum(['train', 'val', 'test']).optional(),
  /** What was done to the author's file, as the Creative Commons licences ask; left out when nothing was. */
  changes: z.string().min(1).optional(),
});

const debianRuleSchema = z.strictObject({
  /** A Qt resource container (`.rcc`) or zip archive of the package; `folder` then lies inside it. */
  container: relativePath.optional(),
  /** A furniture catalogue of Sweet Home 3D in the archive: it names the author of each file. */
  catalogue: relativePath.optional(),
  folder: relativePath,
  /** Files below `folder`: `*` is any text (also `/`), `?` one character. */
  match: z.array(z.string().min(1)).min(1),
  except: z.array(z.string().min(1)).optional(),
  /** What `folder` is called in the source package, to which the copyright file refers; left out when it is the root. */
  source: relativePath.optional(),
});

const debianPackageSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/, 'expected a Debian package name'),
  /** Version the rules were made for, and the number of files they gave there. */
  version: z.string().min(1),
  expected: z.int().positive(),
  include: z.array(debianRuleSchema).min(1),
});

export const PACK_KINDS = ['photos', 'meshes', 'environments', 'materials', 'textures', 'segmentation'] as const;

export const packSchema = z.strictObject({
  id: packId,
  kind: z.enum(PACK_KINDS),
  title: z.string().min(1),
  /** Of the pack as a whole; each file has its own. */
  licence: spdxExpression,
  /** Text that whoever passes the files on has to keep. */
  attribution: z.string().min(1),
  source: z.string().min(1),
  obtained: z.discriminatedUnion('via', [
    z.strictObject({ via: z.literal('repository'), folder: relativePath, files: z.array(packFileSchema).min(1) }),
    z.strictObject({ via: z.literal('debian'), packages: z.array(debianPackageSchema).min(1) }),
    z.strictObject({
      via: z.enum(SOURCE_NAMES),
      /** Where the source's index and files are: as the source's own schema says (`sources/<via>.ts`). */
      addresses: z.record(z.string(), z.unknown()),
    }),
  ]),
});

export const manifestSchema = z.strictObject({ packs: z.array(packSchema) }).superRefine(({ packs }, context) => {
  const ids = packs.map(pack => pack.id);
  for (const id of repeated(ids)) context.addIssue(`pack id "${id}" is used twice`);
  for (const { id, obtained } of packs) {
    const paths = obtained.via === 'repository' ? obtained.files.map(file => file.path) : [];
    for (const path of repeated(paths)) context.addIssue(`${id}: "${path}" is listed twice`);
  }
});

/** One file of a pack: what it is, whose it is, and under which licence. */
export type PackFile = z.infer<typeof packFileSchema>;
export type Pack = z.infer<typeof packSchema>;
export type PackKind = Pack['kind'];
export type Manifest = z.infer<typeof manifestSchema>;
export type DebianPackage = z.infer<typeof debianPackageSchema>;
export type DebianRule = z.infer<typeof debianRuleSchema>;

/**
 * Reads and checks the manifest of asset packs: this package's own, or the one that $SHAPEMILL_MANIFEST names (a mirror's, with
 * other addresses).
 * @throws UsageError that names the file and every field that is not as expected.
 */
export async function loadManifest(
  path = process.env.SHAPEMILL_MANIFEST || join(PACKAGE_ROOT, 'assets-manifest.json'),
): Promise<Manifest> {
  return parseJson(manifestSchema, await readFile(path, 'utf8'), path, UsageError);
}

/** The pack of that id; the error for an unknown one lists those there are. */
export function findPack(manifest: Manifest, id: string): Pack {
  const pack = manifest.packs.find(candidate => candidate.id === id);
  if (pack) return pack;
  const known = manifest.packs.map(candidate => candidate.id).join(', ');
  throw new UsageError(`expected one of the asset packs ${known}, got "${id}"`);
}

/** Parses JSON that the file `path` holds. @throws a `Fault` that says in one line what of it is not as expected. */
export function parseJson<T>(
  schema: z.ZodType<T>,
  text: string,
  path: string,
  Fault: new (message: string) => Error,
): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Fault(`${path} is not JSON: ${(error as Error).message}`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Fault(`${path} is not as expected: ${z.prettifyError(result.error).replace(/\s*\n\s*/g, ' ')}`);
}

function repeated(values: readonly string[]): Set<string> {
  return new Set(values.filter((value, i) => values.indexOf(value) !== i));
}
