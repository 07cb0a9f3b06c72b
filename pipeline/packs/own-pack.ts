import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { UNKNOWN_LICENCE } from '../card/licence-terms.ts';
import { UsageError } from '../usage-error.ts';
import { type Pack, type PackKind, packId, packSchema, spdxExpression } from './manifest.ts';
import type { SOURCE_NAMES } from './source-names.ts';

/** What a user says of a pack of addresses or of a folder. */
export interface OwnPackOptions {
  readonly as?: string | undefined;
  readonly kind?: PackKind | undefined;
  readonly licence?: string | undefined;
  readonly author?: string | undefined;
}

/** Sources whose index the user names, and whose packs no manifest tells of. */
export const OWN_SOURCES = ['url', 'dir'] as const satisfies readonly (typeof SOURCE_NAMES)[number][];
export type OwnSource = (typeof OWN_SOURCES)[number];

/**
 * The pack that `assets add url|dir` makes, and where its index is.
 * @param known ids of the manifest's packs, which are taken.
 * @throws UsageError when it can have no such id or licence.
 */
export async function ownPack(
  via: OwnSource,
  named: string,
  { as, kind = 'photos', licence, author }: OwnPackOptions,
  known: ReadonlySet<string>,
): Promise<{ pack: Pack; from: string }> {
  const remote = /^https?:\/\//i.test(named);
  if (remote && !URL.canParse(named)) {
    throw new UsageError(`assets add ${via}: expected an address that begins with https://, got "${named}"`);
  }
  const from = remote
    ? named
    : await realpath(named).catch(() => {
        const expected = via === 'dir' ? 'a folder' : 'an address, or a list of addresses in a file';
        throw new UsageError(`assets add ${via}: expected ${expected}, got "${named}"`);
      });
  const name = remote ? new URL(named).pathname : from;
  const id =
    as ??
    basename(name, extname(name))
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
  if (!packId.safeParse(id).success) {
    throw new UsageError(`--as: expected an id of lower-case letters, digits and single dashes, got "${id}"`);
  }
  if (known.has(id)) throw new UsageError(`--as: expected another id, "${id}" is a pack of shapemill's`);
  if (licence !== undefined && !spdxExpression.safeParse(licence).success) {
    throw new UsageError(`--licence: expected an SPDX licence such as CC-BY-4.0, got "${licence}"`);
  }
  const pack = packSchema.parse({
    id,
    kind,
    title: `${via === 'dir' ? 'Files of' : 'Addresses of'} ${from}`,
    licence: licence ?? UNKNOWN_LICENCE,
    attribution: author ?? 'As far as they are known, authors and licences are named with each file.',
    source: from,
    obtained: { via, addresses: {} },
  });
  return { pack, from };
}
