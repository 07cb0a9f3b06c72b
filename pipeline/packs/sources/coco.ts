import { basename } from 'node:path';
import { z } from 'zod';
import { jsonArraysOf } from '../../datasets/json-arrays.ts';
import { UsageError } from '../../usage-error.ts';
import { readArchive } from '../archive.ts';
import { askedSubsets } from '../asked-subsets.ts';
import { KIND_FILES } from '../kind-files.ts';
import { licenceOfAddress } from '../licence-names.ts';
import { spdxExpression } from '../manifest.ts';
import type { ArchivePath, PackItem, PackSource } from '../pack-source.ts';

const archive = {
  url: z.url(),
  bytes: z.int().positive().optional(),
  md5: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
};
const addresses = z.strictObject({
  /** A zip with `annotations/instances_<subset>.json` for each subset. */
  annotations: z.strictObject({ ...archive, licence: spdxExpression, author: z.string().min(1), page: z.url() }),
  /** Zips of pictures. */
  pictures: z.array(z.strictObject({ subset: z.string().min(1), ...archive })).min(1),
});
type Annotations = z.infer<typeof addresses>['annotations'];

/**
 * COCO: archives of pictures, and of annotations that tell each picture's licence and address on Flickr, but no author. The pack has the layout that
 * `--segmentation coco:DIR` reads.
 */
export const coco: PackSource<z.infer<typeof addresses>> = {
  name: 'coco',
  addresses,
  takes: ['subsets'],
  typicalBytes: 0,

  async *items({ annotations, pictures }, { options: { subsets }, fetch }) {
    const asked = askedSubsets(pictures, subsets);
    const { url, bytes, md5 } = annotations;
    const told = await fetch({ url, bytes, md5 }, basename(new URL(url).pathname));
    for (const { subset, ...remote } of asked) {
      const path = await fetch(remote, `${subset}.zip`);
      const { item, rights } = await readAnnotations(told, subset, annotations);
      yield item;
      for await (const { member, bytes: size } of readArchive(path)) {
        if (!KIND_FILES.photos.test(member) || size === 0) continue;
        const picture: PackItem = {
          id: member,
          path: member,
          origin: { archive: path, member, bytes: size },
          ...(rights.get(basename(member)) ?? { licence: null, author: null, url: null }),
        };
        yield picture;
      }
    }
  },
};

type Rights = Pick<PackItem, 'licence' | 'author' | 'url'>;

/** The annotations of a subset: as a file of the pack, and what they tell of each picture, by its name. */
async function readAnnotations(
  path: ArchivePath,
  subset: string,
  { licence, author, page }: Annotations,
): Promise<{ item: PackItem; rights: ReadonlyMap<string, Rights> }> {
  const wanted = `annotations/instances_${subset}.json`;
  for await (const { member, bytes, contents } of readArchive(path)) {
    if (member !== wanted) continue;
    const item = { id: member, path: member, origin: { archive: path, member, bytes }, supplement: true };
    return { item: { ...item, licence, author, url: page }, rights: await rightsIn(contents(), member) };
  }
  throw new UsageError(`${basename(path)}: expected ${wanted} in it, found none`);
}

const licenceSchema = z.object({ id: z.union([z.int(), z.string()]), url: z.string() });
const pictureSchema = z.object({
  file_name: z.string(),
  license: z.union([z.int(), z.string()]).nullish().catch(null),
  flickr_url: z.string().nullish().catch(null),
  coco_url: z.string().nullish().catch(null),
});

async function rightsIn(contents: AsyncIterable<Buffer>, name: string): Promise<ReadonlyMap<string, Rights>> {
  const keys = ['licenses', 'images'];
  const licences = new Map<string, string | null>();
  const pictures: z.infer<typeof pictureSchema>[] = [];
  for await (const elements of jsonArraysOf(contents, name, keys, keys)) {
    for (const { key, value } of elements) {
      if (key === 'images') {
        const picture = pictureSchema.safeParse(value).data;
        if (picture) pictures.push(picture);
      } else {
        const licence = licenceSchema.safeParse(value).data;
        if (licence) licences.set(String(licence.id), licenceOfAddress(licence.url));
      }
    }
  }
  return new Map(
    pictures.map(({ file_name, license, flickr_url, coco_url }) => [
      basename(file_name),
      { licence: licences.get(String(license)) ?? null, author: null, url: flickr_url ?? coco_url ?? null },
    ]),
  );
}
