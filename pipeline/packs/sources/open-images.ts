import { z } from 'zod';
import { readCsv } from '../../datasets/csv.ts';
import { addressTemplate } from '../address-template.ts';
import { askedSubsets } from '../asked-subsets.ts';
import { licenceOfAddress } from '../licence-names.ts';
import type { PackItem, PackSource, RemoteFile } from '../pack-source.ts';

/** Stands for the photograph as its author published it, of which the lists tell size and MD5. */
const ORIGINAL = '{OriginalURL}';
const COLUMNS = ['ImageID', 'Subset', 'OriginalURL', 'OriginalLandingURL', 'License', 'Author'];

const addresses = z.strictObject({
  lists: z
    .array(
      z.strictObject({
        /** For `--subsets`, and the folder in the pack. */
        subset: z.string().min(1),
        /** A CSV file, a line an image. */
        url: z.url(),
        /** Of an image, with names of columns in braces. */
        image: z.string().min(1),
        /** What was done to the authors' files. */
        changes: z.string().min(1).optional(),
        /** Not taken unless `--subsets` names it. */
        onlyIfAsked: z.boolean().optional(),
      }),
    )
    .min(1),
});
type ImageList = z.infer<typeof addresses>['lists'][number];
type Columns = Readonly<Record<string, string>>;

/**
 * Open Images: lists in CSV tell each image's licence, author and page on Flickr. Images are fetched one by one, from a bucket (which
 * publishes no checksums) or from where their authors published them (size and MD5 are checked: many are gone or others by now).
 */
export const openImages: PackSource<z.infer<typeof addresses>> = {
  name: 'open-images',
  addresses,
  takes: ['subsets'],
  // 1.9 million of at most 1024 pixels take 561 GB.
  typicalBytes: 300_000,

  async *items({ lists }, { options: { subsets }, fetch }) {
    const asked = askedSubsets(lists, subsets).filter(list => subsets || !list.onlyIfAsked);
    const paths = await Promise.all(asked.map(({ subset, url }) => fetch({ url }, `${subset}.csv`)));
    for (const [i, list] of asked.entries()) {
      const itemOf = itemsIn(list);
      for await (const { values } of readCsv(paths[i]!, COLUMNS)) {
        const item = itemOf(values);
        if (item) yield item;
      }
    }
  },
};

/** A function that makes a line of a list an item; undefined when it has no address. */
function itemsIn({ subset, image, changes }: ImageList): (values: Columns) => PackItem | undefined {
  const address = addressTemplate(image);
  const licenceOf = remembered(licenceOfAddress);
  return values => {
    const { ImageID: id, OriginalURL, OriginalLandingURL, License = '', Author } = values;
    const url = address(values);
    if (!id || !URL.canParse(url)) return undefined;
    return {
      id,
      path: `${subset}/${id}${extensionOf(url)}`,
      origin: image === ORIGINAL ? original(url, values) : { url },
      licence: licenceOf(License),
      author: Author || null,
      url: OriginalLandingURL || OriginalURL || null,
      ...(changes && { changes }),
    };
  };
}

/** With the size and the MD5, in base64, that the list tells of it. */
function original(url: string, { OriginalSize, OriginalMD5 }: Columns): RemoteFile {
  const bytes = Number(OriginalSize);
  const md5 = Buffer.from(OriginalMD5 ?? '', 'base64');
  return {
    url,
    bytes: Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined,
    md5: md5.length === 16 ? md5.toString('hex') : undefined,
  };
}

const extensionOf = (url: string) => /\.(jpe?g|png|webp)$/i.exec(url)?.[0].toLowerCase() ?? '.jpg';

/** A function of texts that are few and come often. */
function remembered<Value>(of: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return text => {
    let value = known.get(text);
    if (value === undefined) {
      value = of(text);
      known.set(text, value);
    }
    return value;
  };
}
