import type { z } from 'zod';
import type { PackKind } from './manifest.ts';
import type { SourceName } from './source-names.ts';

/** A file that can be fetched, with what its publisher tells about it; what is told is checked. */
export interface RemoteFile {
  readonly url: string;
  /** Exactly. */
  readonly bytes?: number | undefined;
  /** Lower-case hexadecimal. */
  readonly sha256?: string | undefined;
  readonly md5?: string | undefined;
}

/** A fetched archive (zip, tar, tar.gz): its path on this machine. */
export type ArchivePath = string;

/** Where an item's bytes come from. */
export type Origin =
  | RemoteFile
  /** A file in an archive that {@link SourceContext.fetch} brought; `member` is its path there. */
  | { readonly archive: ArchivePath; readonly member: string; readonly bytes: number }
  /** A file of this machine, absolute: it stays where it is. */
  | { readonly local: string; readonly bytes: number }
  /** An address that costs a request to learn: {@link PackSource.locate} is asked for chosen items only. */
  | { readonly lookup: string };

/** Something a pack may hold: one file, as the source's index tells of it. */
export interface PackItem {
  /** The source's own name for it: choice, resume and updates go by it. Unique in the source. */
  readonly id: string;
  /** Where it will lie in the pack: `/`-separated, below the pack's folder. Unique, too. */
  readonly path: string;
  readonly origin: Origin;
  /** SPDX expression; null: the source does not tell. */
  readonly licence: string | null;
  readonly author: string | null;
  /** The page (or address) where the work is published. */
  readonly url: string | null;
  /** What `--per-category` counts by. */
  readonly category?: string | undefined;
  /** Files of one group are chosen together and count as one: the maps of a material. */
  readonly group?: string | undefined;
  /** Belongs to the pack whatever is chosen, and is not counted: annotations. */
  readonly supplement?: boolean | undefined;
  /** What the publisher did to the author's file, as Creative Commons licences ask. */
  readonly changes?: string | undefined;
}

/** Options of `assets add` that only some sources take; what all take (count, seed, licences …) is not theirs to see. */
export interface SourceOptions {
  /** The list, address or folder named behind `url` and `dir`. */
  readonly from?: string | undefined;
  /** `1k`, `2k`, `4k`, `8k`, `16k`. */
  readonly resolution?: string | undefined;
  /** Parts of the source by its own names, such as `train`. */
  readonly subsets?: readonly string[] | undefined;
  /** Of files about which the source tells nothing. */
  readonly licence?: string | undefined;
  readonly author?: string | undefined;
  readonly kind?: PackKind | undefined;
}
export type SourceOptionName = Exclude<keyof SourceOptions, 'from'>;

/** What the core gives a source to work with. */
export interface SourceContext {
  readonly options: SourceOptions;
  readonly signal: AbortSignal;
  /**
   * Fetches a file of the source's index (list, archive) and returns its path on this machine; what was fetched before is used again, what was
   * begun is continued. Several may be asked for at once: the core keeps the limits.
   * @param name file name to keep it under, one for each address; may hold folders.
   * @throws FetchFault when it cannot be had (without an index there is no pack), FullDisk.
   */
  fetch(remote: RemoteFile, name: string): Promise<string>;
  /** Likewise a small JSON answer, gzipped if its address ends with `.gz`. @throws FetchFault, UsageError when it is not JSON or above 512 MiB. */
  json(remote: RemoteFile, name: string): Promise<unknown>;
  /** Something the user has to know that costs nothing. */
  note(message: string): void;
}

/** A place that packs come from. One file each in `sources/`. */
export interface PackSource<Addresses = unknown> {
  readonly name: SourceName;
  /** In the manifest's `obtained.addresses`: data, never code. */
  readonly addresses: z.ZodType<Addresses>;
  /** Which of {@link SourceOptions} it takes; others are refused. */
  readonly takes: readonly SourceOptionName[];
  /** Bytes of a typical item, where the index tells no sizes: for the look at the disk. */
  readonly typicalBytes: number;
  /**
   * Streams all items there are, in any order, from the source's index: nothing is chosen here, and a list of nine million is
   * never held. What the index has too little of to be an item (no address) is passed over.
   * @throws UsageError for options it cannot serve and for an index that is not as expected.
   */
  items(addresses: Addresses, context: SourceContext): AsyncIterable<PackItem>;
  /** The address behind a {@link Origin} `lookup`. @throws FetchFault, which costs the item. */
  locate?(lookup: string, addresses: Addresses, context: SourceContext): Promise<RemoteFile>;
}
