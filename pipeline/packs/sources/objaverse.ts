import { z } from 'zod';
import { UsageError } from '../../usage-error.ts';
import { addressTemplate } from '../address-template.ts';
import type { PackItem, PackSource } from '../pack-source.ts';

const addresses = z.strictObject({
  /** `{uid: path}`, all objects. */
  paths: z.url(),
  /** `{category: [uid, …]}`: the objects that are taken. */
  categories: z.url(),
  /** Metadata of the objects of a `{folder}`, such as 000-023: `{uid: {license, user, viewerUrl, …}}`. */
  metadata: z.string().min(1),
  /** An object, by its `{path}`. */
  object: z.string().min(1),
});

/** Sketchfab's licences of version 4.0, by the words that the metadata has for them. */
const LICENCES: Readonly<Record<string, string>> = {
  by: 'CC-BY-4.0',
  'by-sa': 'CC-BY-SA-4.0',
  'by-nd': 'CC-BY-ND-4.0',
  'by-nc': 'CC-BY-NC-4.0',
  'by-nc-sa': 'CC-BY-NC-SA-4.0',
  'by-nc-nd': 'CC-BY-NC-ND-4.0',
  cc0: 'CC0-1.0',
};

const pathsSchema = z.record(z.string(), z.string());
const categoriesSchema = z.record(z.string(), z.array(z.string()));
const text = z.string().nullish().catch(null);
const metadataSchema = z.record(
  z.string(),
  z.object({
    license: text,
    viewerUrl: text,
    user: z.object({ displayName: text, username: text }).nullish().catch(null),
  }),
);
type Metadata = z.infer<typeof metadataSchema>[string];

/** Objaverse 1.0, the objects with an LVIS category: GLB files, the licence and author of each in the metadata of its folder. */
export const objaverse: PackSource<z.infer<typeof addresses>> = {
  name: 'objaverse',
  addresses,
  takes: [],
  // Objects of Sketchfab with their textures.
  typicalBytes: 10_000_000,

  async *items({ paths, categories, metadata, object }, { fetch, json, signal }) {
    const metadataOf = addressTemplate(metadata);
    const address = addressTemplate(object);
    const wanted = byFolder(
      parsed(pathsSchema, await json({ url: paths }, nameOf(paths)), paths),
      parsed(categoriesSchema, await json({ url: categories }, nameOf(categories)), categories),
    );
    const files = [...wanted].map(([folder, objects]) => {
      const url = metadataOf({ folder });
      return { url, name: `metadata/${nameOf(url)}`, objects };
    });
    // All at once, as many as the host may be asked; then one after another in memory.
    await Promise.all(files.map(({ url, name }) => fetch({ url }, name)));
    for (const { url, name, objects } of files) {
      signal.throwIfAborted();
      const told = parsed(metadataSchema, await json({ url }, name), url);
      for (const { uid, path, category } of objects) {
        const item: PackItem = {
          id: uid,
          path,
          origin: { url: address({ path }) },
          category,
          ...rights(told[uid]),
        };
        yield item;
      }
    }
  },
};

interface LvisObject {
  readonly uid: string;
  readonly path: string;
  readonly category: string;
}

/** The objects with a category, by their folder: that of `glbs/000-023/<uid>.glb` is 000-023. One in two categories counts in the first. */
function byFolder(
  paths: Readonly<Record<string, string>>,
  categories: Readonly<Record<string, readonly string[]>>,
): Map<string, LvisObject[]> {
  const folders = new Map<string, LvisObject[]>();
  const seen = new Set<string>();
  for (const [category, uids] of Object.entries(categories)) {
    for (const uid of uids) {
      const path = paths[uid];
      if (path === undefined || seen.has(uid)) continue;
      seen.add(uid);
      const folder = path.split('/').at(-2) ?? '';
      const objects = folders.get(folder) ?? [];
      folders.set(folder, objects);
      objects.push({ uid, path, category });
    }
  }
  return folders;
}

function rights(metadata: Metadata | undefined): Pick<PackItem, 'licence' | 'author' | 'url'> {
  const { license, user, viewerUrl } = metadata ?? {};
  return {
    licence: LICENCES[license ?? ''] ?? null,
    author: user?.displayName || user?.username || null,
    url: viewerUrl || null,
  };
}

const nameOf = (url: string) => new URL(url).pathname.split('/').at(-1)!;

function parsed<T>(schema: z.ZodType<T>, value: unknown, url: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(`${url}: not as Objaverse 1.0 has it: ${z.prettifyError(result.error)}`);
}
