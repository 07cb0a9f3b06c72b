import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { jsonFrom } from '../shard-writer.ts';

/** What is known of a file that is here. */
export interface Obtained {
  readonly bytes: number;
  readonly sha256: string;
  /** See {@link PackEntry}. */
  readonly likeness?: string | undefined;
  readonly unusable?: string | undefined;
}

/** Why a file is not here, and whether that will be the same tomorrow. */
export interface Missing {
  readonly reason: string;
  readonly lasting: boolean;
}

const lineSchema = z.union([
  z.tuple([z.int().min(0), z.int().positive(), z.string(), z.string().nullable(), z.string().nullable()]),
  z.tuple([z.int().min(0), z.string(), z.boolean()]),
]);
type Line = z.infer<typeof lineSchema>;

/**
 * What has become of the files of a plan, by their numbers in it: 64 bytes a file in memory, and a line each in a journal on disk as
 * they come, so that whoever goes on after a kill knows.
 */
export class PackResults {
  readonly files: number;
  readonly #bytes: Float64Array;
  readonly #sha256: Buffer;
  readonly #extra = new Map<number, Pick<Obtained, 'likeness' | 'unusable'>>();
  readonly #missing = new Map<number, Missing>();
  readonly #journal: number;
  #obtained = 0;

  private constructor(files: number, journal: number) {
    this.files = files;
    this.#bytes = new Float64Array(files);
    this.#sha256 = Buffer.alloc(32 * files);
    this.#journal = journal;
  }

  /** Opens the journal of a plan of so many files; a line that was cut by a kill counts as not written. */
  static async open(path: string, files: number): Promise<PackResults> {
    const partial = `${path}.partial`;
    const results = new PackResults(files, openSync(partial, 'w'));
    for await (const json of (await open(path, 'a+')).readLines()) {
      const line = lineSchema.safeParse(jsonFrom(json)).data;
      if (!line || line[0] >= files) continue;
      if (line.length === 5) {
        const [i, bytes, sha256, likeness, unusable] = line;
        results.obtained(i, { bytes, sha256, likeness: likeness ?? undefined, unusable: unusable ?? undefined });
      } else if (line[2]) results.missing(line[0], { reason: line[1], lasting: true });
    }
    renameSync(partial, path);
    return results;
  }

  /** Files that are here. */
  get count(): number {
    return this.#obtained;
  }

  get missingFiles(): ReadonlyMap<number, Missing> {
    return this.#missing;
  }

  /** Whether nothing is to be done about a file: it is here, or will never be. */
  isSettled(i: number): boolean {
    return this.#bytes[i]! > 0 || this.#missing.get(i)?.lasting === true;
  }

  at(i: number): Obtained | undefined {
    const bytes = this.#bytes[i]!;
    if (bytes === 0) return undefined;
    return { bytes, sha256: this.#sha256.toString('hex', 32 * i, 32 * (i + 1)), ...this.#extra.get(i) };
  }

  obtained(i: number, { bytes, sha256, likeness, unusable }: Obtained): void {
    if (this.#bytes[i] === 0) this.#obtained++;
    this.#bytes[i] = bytes;
    this.#sha256.write(sha256, 32 * i, 'hex');
    if (likeness !== undefined || unusable !== undefined) this.#extra.set(i, { likeness, unusable });
    this.#missing.delete(i);
    this.#write([i, bytes, sha256, likeness ?? null, unusable ?? null]);
  }

  missing(i: number, { reason, lasting }: Missing): void {
    this.#missing.set(i, { reason, lasting });
    this.#write([i, reason, lasting]);
  }

  /** What is here, summed up. */
  total(): { files: number; bytes: number } {
    return { files: this.#obtained, bytes: this.#bytes.reduce((sum, bytes) => sum + bytes, 0) };
  }

  /** Files that are here and that no run can use. */
  get unusable(): number {
    return [...this.#extra.values()].filter(({ unusable }) => unusable !== undefined).length;
  }

  /** Of the files that are here and of use, in the plan's order. */
  *likenesses(): Generator<[number: number, likeness: string]> {
    for (let i = 0; i < this.files; i++) {
      const { likeness, unusable } = this.#extra.get(i) ?? {};
      if (likeness !== undefined && unusable === undefined) yield [i, likeness];
    }
  }

  close(): void {
    closeSync(this.#journal);
  }

  #write(line: Line): void {
    writeSync(this.#journal, `${JSON.stringify(line)}\n`);
  }
}
