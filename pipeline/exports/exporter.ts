import type { Subset } from '../generate-options.ts';
import type { RunFolder } from '../run-folder.ts';
import type { ExportFolder } from './export-folder.ts';
import type { PartWriter } from './part-writer.ts';

export const EXPORT_FORMATS = ['folders', 'imagefolder', 'coco', 'barebones', 'vlmevalkit', 'inspect'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What is exported at once: the samples of one shard, the shapes of one, the tests of one condition. */
export interface ExportPart {
  /** Unique in the export; a file is named by it. */
  readonly name: string;
  readonly subset: Subset | 'shapes' | 'real';
  /** What `used_in` of `attribution.csv` calls the labels that it is made from. */
  readonly place: string;
  readonly samples: number;
  /** Of what it is made from. */
  readonly sha256: string;
}

/** What a format's README says. */
export interface ExportGuide {
  /** What lies where: a Markdown paragraph or list. */
  readonly layout: string;
  /** How it is read, in the export's folder unless it says another: Markdown, with a code block. */
  readonly loading: string;
  /** Where the sources of a sample are named beside `attribution.csv`, or that they are not: a sentence. */
  readonly rights: string;
  /** Lines of the YAML header beside the licence. */
  readonly yaml?: readonly string[];
}

/** A format that runs are exported to. All are of this form, one file each. */
export interface Exporter<Part extends ExportPart = ExportPart> {
  readonly name: ExportFormat;
  /** One line for the help. */
  readonly title: string;
  /** What of a run it takes, finishing the sentence "expected …". */
  readonly expects: string;
  /** What of a run there is to export, always in the same order; `--subsets` is looked at by the caller. */
  plan(run: RunFolder): Promise<Part[]>;
  /**
   * Writes a part's files, and rows of lists. Depends on the part alone, and writes the same when it is called again.
   * @throws DamagedFile
   */
  write(part: Part, out: PartWriter): Promise<void>;
  /** Writes the lists, when all parts are written. */
  finish(parts: readonly Part[], out: ExportFolder, signal: AbortSignal): Promise<void>;
  guide(parts: readonly Part[]): ExportGuide;
}

/** Defines a format: keeps the type of its parts within its file. */
export function exporter<Part extends ExportPart>(form: Exporter<Part>): Exporter {
  return form as unknown as Exporter;
}
