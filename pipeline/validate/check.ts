import type { z } from 'zod';
import type { GreyImage, RgbImage } from '../../extractors/image.ts';
import type { Bank } from '../bank.ts';
import type { BankKind } from '../bank-kinds.ts';
import type { Configuration } from '../configuration.ts';
import type { Subset } from '../generate-options.ts';
import type { LABEL_SCHEMAS } from '../labels.ts';
import type { Progress } from '../progress.ts';
import type { RunFolder, RunRecord } from '../run-folder.ts';
import type { Sidecar } from '../shard-writer.ts';
import type { Split } from '../splits.ts';
import type { Tell } from './findings.ts';

/** What the shards of a folder hold: items of a bank, or samples of a split. */
export type Place = { readonly bank: BankKind } | { readonly subset: Subset; readonly split: Split };

/** A shard as it lies in a run. */
export interface Shard {
  /** Of the tar, relative to the run. */
  readonly path: string;
  /** In its name. */
  readonly number: number;
  readonly place: Place;
  /** Undefined where there is none, or what lies there is none. */
  readonly sidecar: Sidecar | undefined;
}

/** The name of a published schema. */
export type LabelForm = keyof typeof LABEL_SCHEMAS;
/** A label that matches its schema. */
export type ValidLabel = {
  [Form in LabelForm]: { readonly form: Form; readonly value: z.infer<(typeof LABEL_SCHEMAS)[Form]> };
}[LabelForm];

/** Stored values of a picture of 16 bits a channel, row by row. */
export interface DeepImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint16Array;
}

/** A picture file of a sample, decoded. */
export type Picture =
  | { readonly broken: string }
  | {
      readonly width: number;
      readonly height: number;
      /** Colour channels in the file. */
      readonly channels: number;
      /** Of a channel in the file. */
      readonly bits: 8 | 16;
      /** Of one channel, and of 16 bits: every pixel. Of colour of 8 bits: shrunk, since only means are asked of it. */
      readonly pixels: { readonly grey: GreyImage } | { readonly colour: RgbImage } | { readonly deep: DeepImage };
    };

/** The files of one key in a shard: a sample, or an item of a bank. */
export interface Sample {
  readonly key: string;
  /** By field, in the order of the tar; of a field that is there twice, the first. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Names of the members as they stand in the tar. */
  readonly members: readonly string[];
  /** Undefined where it does not match its schema. */
  readonly label: ValidLabel | undefined;
  /** Why it does not, or that there is none. */
  readonly labelFault: string | undefined;
  /** What the picture files decode to, by field. */
  readonly pictures: ReadonlyMap<string, Picture>;
}

/** A tar that was read to its end, or to where it is damaged. */
export interface ScannedTar {
  readonly bytes: number;
  readonly sha256: string;
  readonly samples: number;
  /** Where it stops being a tar that every program reads. */
  readonly damage: string | undefined;
}

/** The run that is looked at. */
export interface ValidatedRun {
  readonly folder: RunFolder;
  readonly record: RunRecord;
  readonly configuration: Configuration;
  /** Finished banks, in this run or where it took them from; those that cannot be opened are left out. */
  readonly banks: ReadonlyMap<BankKind, Bank>;
  /** Banks that have shards in this run and no index that can be opened. */
  readonly unfinished: ReadonlySet<BankKind>;
  /** The banks whose shards lie in this run. */
  readonly own: ReadonlySet<BankKind>;
  /** Ends what reads for long. */
  readonly signal: AbortSignal;
}

/** Looks at the shards of a run, in the order of their names, and at the samples of each in the order of the tar. */
export interface Visitor {
  sample?(sample: Sample, shard: Shard): void;
  /** After the samples of a shard. */
  shard?(shard: Shard, scan: ScannedTar): void;
  /** After all shards. @param progress is told of what takes long. */
  end?(progress: Progress): Promise<void> | void;
}

/** One thing that is looked after in a run. All checks are of this form, each in a file of its name. */
export interface Check {
  readonly name: string;
  /** What holds when it finds nothing. */
  readonly holds: string;
  begin(run: ValidatedRun, tell: Tell): Promise<Visitor> | Visitor;
}
