import type { RgbImage } from '../../extractors/image.ts';
import type { PlacedMask } from '../../extractors/placed-mask.ts';
import type { Photo } from '../photo.ts';
import type { Split } from '../splits.ts';

/** The segmentation datasets that are read, by the names that `--segmentation name:DIR` takes. */
export const DATASET_NAMES = [
  'imagenet-s',
  'dis5k',
  'thinobject5k',
  'voc',
  'cub',
  'coco',
  'wtp',
  'sprites',
  'cutouts',
  'plain',
] as const;
export type DatasetName = (typeof DATASET_NAMES)[number];

/** What is known of a class beyond its name: supercategory, genus, generation … Keys are the field's own terms. */
export type Taxonomy = Readonly<Record<string, string | number | null>>;

/** A picture of a dataset, and what its reader has to know to find the masks in it. */
export interface DatasetImage<Entry = unknown> {
  /** Absolute. */
  readonly path: string;
  /** Path within the dataset, `/`-separated, the same wherever the dataset lies: ids are made from it. */
  readonly file: string;
  /** Pictures of one group are never in two splits (the sprites of a species, say); a picture alone when left out. */
  readonly group?: string;
  /** Only where the dataset declares the run's splits itself; null or left out: by hash. */
  readonly split?: Split | null;
  /** The dataset's own part that it belongs to: `val2017`, `DIS-TE1`; null where it has none. */
  readonly part: string | null;
  /** SPDX expression. */
  readonly licence: string | null;
  readonly author: string | null;
  readonly url: string | null;
  /** Plain JSON, kept in the run's list of pictures, so that a worker needs nothing else. Paths in it are absolute. */
  readonly entry: Entry;
}

/** An object (or, where a dataset has masks of classes, all of a class) in a picture. */
export interface SegmentedObject extends PlacedMask {
  /** Size of the picture that the mask was drawn for: that of the image, or in proportion to it. `box` is in its pixels. */
  readonly width: number;
  readonly height: number;
  /** Set pixels of the mask. */
  readonly area: number;
  /** The text that a model is scored on: words with spaces, as the dataset spells them. */
  readonly label: string;
  /** The dataset's own name of the class: `n02099601`, `diningtable`, `17`. */
  readonly category: string;
  /** The dataset's own name of the object within its picture; null where it names none. */
  readonly instance: string | null;
  readonly taxonomy: Taxonomy;
  /** The picture itself, where its reader had to decode it. */
  readonly decoded?: DecodedPicture;
}

/** A picture's file, and its pixels as `decodePhoto` gives them. */
export interface DecodedPicture {
  readonly photo: Photo;
  readonly picture: RgbImage;
}

/** What goes on while pictures are listed; an annotation file may be read for a minute before the first is known. */
export interface Listing {
  /** Ends it, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with the bytes, about, of each piece of an annotation file that was read. */
  readonly onRead?: (bytes: number) => void;
}

/** A dataset in a folder, known to have the layout that its reader expects. */
export interface OpenedDataset<Entry = unknown> {
  /** Name of the source in labels: the folder's, or the npm package's. */
  readonly pack: string;
  /** The folder that `file`s count from. */
  readonly root: string;
  /** Streams the pictures that have masks, in any order; memory does not grow with their number. */
  images(listing?: Listing): AsyncIterable<DatasetImage<Entry>>;
}

/** A reader of one dataset's layout. All are of this form, one file each. */
export interface DatasetReader<Entry = unknown> {
  readonly name: DatasetName;
  /** As people know it: "PASCAL VOC 2012". */
  readonly title: string;
  /** Its layout on disk, finishing the sentence "expected …". */
  readonly expects: string;
  /**
   * `objects`: each mask is one object, in however many parts. `classes`: a mask is all of a class in the picture, so that
   * every contiguous area in it counts as an object.
   */
  readonly masks: 'objects' | 'classes';
  /** Whether objects were cut out whole, so that one that touches the picture's edge is not cut off by it. */
  readonly cutOuts: boolean;
  /**
   * Looks whether a folder has the layout.
   * @param folder null where the name stood alone, as `sprites` may.
   * @throws UsageError that says what was expected and what was found.
   */
  open(folder: string | null): Promise<OpenedDataset<Entry>>;
  /**
   * The objects of a picture, in the dataset's order, without empty ones. Runs in a worker.
   * @throws InputFault when an annotation cannot be used.
   */
  read(image: DatasetPicture<Entry>): Promise<SegmentedObject[]>;
}

/** What a worker knows of a picture. */
export type DatasetPicture<Entry = unknown> = Pick<DatasetImage<Entry>, 'path' | 'file' | 'entry'>;

/** Defines a reader: keeps the type of its entries within its file. */
export function datasetReader<Entry>(reader: DatasetReader<Entry>): DatasetReader {
  return reader as DatasetReader;
}
