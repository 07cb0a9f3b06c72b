import { z } from 'zod';
import { UsageError } from '../../usage-error.ts';
import { isArchiveName, readArchive } from '../archive.ts';
import { askedSubsets } from '../asked-subsets.ts';
import { KIND_FILES } from '../kind-files.ts';
import { packPath } from '../pack-path.ts';
import type { PackItem, PackSource } from '../pack-source.ts';

const addresses = z.strictObject({
  /** The record in Zenodo's API. */
  record: z.url(),
});

const recordSchema = z.object({
  doi: z.string().optional(),
  metadata: z.object({
    license: z.object({ id: z.string() }).optional(),
    creators: z.array(z.object({ name: z.string() })).catch([]),
  }),
  files: z.array(
    z.object({
      key: z.string(),
      size: z.int().positive(),
      /** `md5:` and hexadecimal digits. */
      checksum: z.string().optional(),
      links: z.object({ self: z.url() }),
    }),
  ),
});

/** The images in the archives of a Zenodo record, which tells size and MD5 of each archive, the authors and the licence. */
export const zenodo: PackSource<z.infer<typeof addresses>> = {
  name: 'zenodo',
  addresses,
  takes: ['subsets'],
  typicalBytes: 0,

  async *items({ record: url }, { options: { subsets }, json, fetch, note }) {
    const parsed = recordSchema.safeParse(await json({ url }, 'record.json'));
    if (!parsed.success) throw new UsageError(`${url}: not a record of Zenodo: ${z.prettifyError(parsed.error)}`);
    const { doi, metadata, files } = parsed.data;
    const archives = files
      .filter(({ key }) => isArchiveName(key))
      .map(({ key, size, checksum, links }) => ({
        key,
        subset: key.replace(/\.(zip|tar|tar\.gz|tgz)$/i, ''),
        remote: { url: links.self, bytes: size, md5: /^md5:([0-9a-f]{32})$/i.exec(checksum ?? '')?.[1]?.toLowerCase() },
      }));
    note(`archives of the record: ${archives.map(({ subset }) => subset).join(', ') || 'none'}`);
    const rights = {
      licence: metadata.license ? spdxOf(metadata.license.id) : null,
      author: metadata.creators.map(({ name }) => name).join('; ') || null,
      url: doi === undefined ? url : `https://doi.org/${doi}`,
    };
    for (const { key, subset, remote } of askedSubsets(archives, subsets)) {
      const archive = await fetch(remote, packPath(key));
      for await (const { member, bytes } of readArchive(archive)) {
        if (!KIND_FILES.textures.test(member) || bytes === 0) continue;
        const path = packPath(`${subset}/${member}`);
        const item: PackItem = { id: `${key}#${member}`, path, origin: { archive, member, bytes }, ...rights };
        yield item;
      }
    }
  },
};

/** Zenodo writes SPDX identifiers in small letters, which mean the same, and has one name of its own for CC0. */
function spdxOf(id: string): string {
  if (/^cc-zero$|^cc0-1\.0$/i.test(id)) return 'CC0-1.0';
  return /^cc-/i.test(id) ? id.toUpperCase() : id;
}
