import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { readCsv } from '../../datasets/csv.ts';
import { UsageError } from '../../usage-error.ts';
import { isArchiveName, readArchive } from '../archive.ts';
import { KIND_FILES } from '../kind-files.ts';
import { packPath } from '../pack-path.ts';
import type { PackItem, PackSource, RemoteFile, SourceContext } from '../pack-source.ts';

/** Columns that a list in CSV may have beside `url`; what it does not tell, `--licence` and `--author` do. */
const COLUMNS = {
  licence: 'licence',
  author: 'author',
  source: 'source',
  bytes: 'bytes',
  sha256: 'sha256',
  md5: 'md5',
  category: 'category',
};

/** An address with what a list says of it. */
interface Listed extends Partial<Record<keyof typeof COLUMNS, string>> {
  readonly url: string;
}

/**
 * Plain addresses: a list of them (text, one a line; or CSV with a column `url`), on this machine or at an address; the address of
 * one file; or that of an archive, of which the files of the pack's kind are taken.
 */
export const url: PackSource<Record<string, never>> = {
  name: 'url',
  addresses: z.strictObject({}),
  takes: ['kind', 'licence', 'author'],
  // Lists may be of anything: less than most, so that nothing is refused that has room.
  typicalBytes: 20_000,

  async *items(_, context) {
    for await (const listed of listedAddresses(context.options.from ?? '', context)) {
      if (isArchiveName(pathOf(listed.url))) yield* archived(listed, context);
      else yield item(listed, context);
    }
  },
};

async function* listedAddresses(from: string, context: SourceContext): AsyncGenerator<Listed> {
  const remote = isAddress(from);
  if (remote && !/\.(txt|csv)$/i.test(pathOf(from))) {
    yield { url: from };
    return;
  }
  const list = remote ? await context.fetch({ url: from }, basename(pathOf(from))) : from;
  yield* /\.csv$/i.test(list) ? addressesOfCsv(list) : addressesOfText(list);
}

async function* addressesOfText(list: string): AsyncGenerator<Listed> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(list), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    yield { url: address(text, `${list}, line ${number}`) };
  }
}

async function* addressesOfCsv(list: string): AsyncGenerator<Listed> {
  for await (const { line, values } of readCsv(list, ['url'])) {
    const told = Object.keys(COLUMNS).flatMap(name => (values[name] ? [[name, values[name]]] : []));
    yield { ...Object.fromEntries(told), url: address(values.url!.trim(), `${list}, line ${line}`) };
  }
}

function item(listed: Listed, context: SourceContext): PackItem {
  const bytes = listed.bytes === undefined ? undefined : Number(listed.bytes);
  if (bytes !== undefined && !(Number.isSafeInteger(bytes) && bytes > 0)) {
    throw new UsageError(`${listed.url}: expected a whole number of bytes, got "${listed.bytes}"`);
  }
  return {
    id: listed.url,
    path: packPath(nameOf(listed.url)),
    origin: { url: listed.url, bytes, ...digests(listed) },
    ...rights(listed, context),
    url: listed.source ?? listed.url,
    category: listed.category,
  };
}

async function* archived(listed: Listed, context: SourceContext): AsyncGenerator<PackItem> {
  const { url: at } = listed;
  const archive = await context.fetch({ url: at, ...digests(listed) }, packPath(nameOf(at)));
  const files = KIND_FILES[context.options.kind ?? 'photos'];
  for await (const { member, bytes } of readArchive(archive)) {
    if (!files.test(member)) continue;
    yield {
      id: `${at}#${member}`,
      path: packPath(member),
      origin: { archive, member, bytes },
      ...rights(listed, context),
      url: listed.source ?? at,
      category: listed.category,
    };
  }
}

/** Hexadecimal digits of each digest that a list may tell. */
const DIGITS = { sha256: 64, md5: 32 } as const;

/** @throws UsageError when one is none. */
function digests(listed: Listed): Pick<RemoteFile, keyof typeof DIGITS> {
  const digest = (name: keyof typeof DIGITS): string | undefined => {
    const text = listed[name]?.trim().toLowerCase();
    if (text === undefined || (text.length === DIGITS[name] && /^[0-9a-f]+$/.test(text))) return text;
    throw new UsageError(`${listed.url}: expected ${name} of ${DIGITS[name]} hexadecimal digits, got "${text}"`);
  };
  return { sha256: digest('sha256'), md5: digest('md5') };
}

const rights = (listed: Listed, { options }: SourceContext) => ({
  licence: listed.licence ?? options.licence ?? null,
  author: listed.author ?? options.author ?? null,
});

const isAddress = (text: string) => /^https?:\/\//i.test(text);

/** Where an address's last part is read, without what follows a question mark. */
const pathOf = (at: string) => new URL(at).pathname;

/** Host and path of an address as a name; a query makes another name. */
function nameOf(at: string): string {
  const { hostname, pathname, search } = new URL(at);
  const decoded = pathname.replace(/(%[0-9a-f]{2})+/gi, part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const named = search === '' ? decoded : decoded.replace(/(\.[^./]*)?$/, extension => `${search}${extension}`);
  return `${hostname}${named}`;
}

/** Characters of a line that is no address, in a message: the file may be no text. */
const MOST_SHOWN = 100;

/** @throws UsageError when it is no address of a file. */
function address(text: string, where: string): string {
  if (isAddress(text) && URL.canParse(text) && !/\s/.test(text)) return text;
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  throw new UsageError(`${where}: expected an address that begins with https:// and has no blanks, got "${shown}"`);
}
