import { z } from 'zod';
import { UsageError } from '../../usage-error.ts';
import { addressTemplate } from '../address-template.ts';
import { FetchFault } from '../fetch-fault.ts';
import { packPath } from '../pack-path.ts';
import type { PackItem, PackSource, RemoteFile, SourceContext } from '../pack-source.ts';

const addresses = z.strictObject({
  /** The API's list of assets of one type: `{id: {authors, categories, …}}`. */
  assets: z.url(),
  /** The API's files of an asset, by its `{id}`. */
  files: z.string().min(1),
  /** The page of an asset, by its `{id}`. */
  page: z.string().min(1),
  /** Of several that the API has of each file: `hdr`, `exr`; of textures `jpg`, `png`. */
  format: z.string().min(1),
  /** Of textures: which maps of the API belong to a material. Left out for panoramas. */
  maps: z.array(z.string().min(1)).min(1).optional(),
});
type Addresses = z.infer<typeof addresses>;

const DEFAULT_RESOLUTION = '2k';
const CC0 = 'CC0-1.0';
/** Answers that are asked for ahead of those that are read. */
const AHEAD = 16;

const assetsSchema = z.record(
  z.string(),
  z.object({ authors: z.record(z.string(), z.unknown()).catch({}), categories: z.array(z.string()).catch([]) }),
);
type Asset = z.infer<typeof assetsSchema>[string];

const remoteSchema = z.object({
  url: z.url(),
  size: z.int().positive().optional(),
  md5: z.string().toLowerCase().optional(),
});
/** Resolution → format → file; what an asset has beside its maps (.blend, pictures) has other forms. */
const mapSchema = z.record(z.string(), z.record(z.string(), remoteSchema).catch({}));
const filesSchema = z.record(z.string(), z.unknown());

/**
 * Poly Haven by its public API: panoramas, or the maps of textures. A file's address, size and MD5 cost a request for each asset, which is
 * made for chosen panoramas only; of textures for all, since which maps there are decides which files the pack has.
 */
export const polyHaven: PackSource<Addresses> = {
  name: 'poly-haven',
  addresses,
  takes: ['resolution'],
  // Of a panorama of 2k.
  typicalBytes: 6_500_000,

  async *items(where, context) {
    const listed = assetsSchema.safeParse(await context.json({ url: where.assets }, 'assets.json'));
    if (!listed.success) {
      throw new UsageError(`${where.assets}: not as the API of Poly Haven has it: ${z.prettifyError(listed.error)}`);
    }
    const assets = Object.entries(listed.data);
    if (where.maps) yield* mapsOf(assets, where, where.maps, context);
    else for (const asset of assets) yield panorama(asset, where, resolutionOf(context));
  },

  async locate(id, where, context) {
    const resolution = resolutionOf(context);
    const sizes = mapSchema.safeParse((await filesOf(id, where, context)).hdri).data ?? {};
    const file = sizes[resolution]?.[where.format];
    if (file) return remote(file);
    const others = Object.keys(sizes).join(', ') || 'none';
    throw new FetchFault(`no panorama of ${resolution}; there are ${others}`, 'lasting');
  },
};

const resolutionOf = ({ options }: SourceContext) => options.resolution ?? DEFAULT_RESOLUTION;

function panorama([id, asset]: [string, Asset], where: Addresses, resolution: string): PackItem {
  return {
    id,
    path: `${id}_${resolution}.${where.format}`,
    origin: { lookup: id },
    ...rights(id, asset, where),
    category: asset.categories[0],
  };
}

/** The maps that a material is made of: a group for each texture. */
async function* mapsOf(
  assets: readonly [string, Asset][],
  where: Addresses,
  names: readonly string[],
  context: SourceContext,
): AsyncGenerator<PackItem> {
  const resolution = resolutionOf(context);
  for (let i = 0; i < assets.length; i += AHEAD) {
    const some = assets.slice(i, i + AHEAD);
    const answers = await Promise.all(some.map(([id]) => filesOf(id, where, context)));
    for (const [j, [id, asset]] of some.entries()) {
      for (const name of names) {
        const file = mapSchema.safeParse(answers[j]![name]).data?.[resolution]?.[where.format];
        if (!file) continue;
        const item: PackItem = {
          id: `${id}/${name}`,
          path: `${id}/${new URL(file.url).pathname.split('/').at(-1)}`,
          origin: remote(file),
          ...rights(id, asset, where),
          category: asset.categories[0],
          group: id,
        };
        yield item;
      }
    }
  }
}

/** The API's answer for an asset. @throws FetchFault when it is none. */
async function filesOf(id: string, where: Addresses, context: SourceContext): Promise<z.infer<typeof filesSchema>> {
  const url = addressTemplate(where.files)({ id });
  const answer = await context.json({ url }, packPath(`files/${id}.json`));
  const files = filesSchema.safeParse(answer);
  if (files.success) return files.data;
  throw new FetchFault('the API tells no files of it', 'lasting');
}

const remote = ({ url, size, md5 }: z.infer<typeof remoteSchema>): RemoteFile => ({ url, bytes: size, md5 });

function rights(id: string, { authors }: Asset, { page }: Addresses): Pick<PackItem, 'licence' | 'author' | 'url'> {
  return {
    licence: CC0,
    author: Object.keys(authors).join(', ') || null,
    url: addressTemplate(page)({ id }),
  };
}
