import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TextFile } from '../text-file.ts';

/** A row of one of the lists that an export ends with: the list's path, and the row's text. */
export type Row = readonly [list: string, text: string];

/**
 * Takes what a part of an export is made of. Files are written as they come, with blocking calls: an asynchronous one takes several
 * times as long as the system needs for a file of this size, and the tar is read ahead meanwhile. As with `tar -x` nothing is
 * synced; a process may be killed at any moment, and after a power failure an export is better made anew.
 */
export class PartWriter {
  readonly #root: string;
  readonly #rows: TextFile;
  readonly #signal: AbortSignal;
  readonly #folders = new Set<string>();

  /** @param rows where the part's rows are kept until all parts are there: the part counts as written when this is. */
  constructor(root: string, rows: string, signal: AbortSignal) {
    this.#root = root;
    this.#rows = new TextFile(rows);
    this.#signal = signal;
  }

  /**
   * Writes a file, over whatever an attempt before left there.
   * @param path relative to the export's folder.
   * @throws the signal's reason when the work is to end.
   */
  file(path: string, bytes: Uint8Array): void {
    this.#signal.throwIfAborted();
    const full = join(this.#root, path);
    const folder = dirname(full);
    if (!this.#folders.has(folder)) {
      mkdirSync(folder, { recursive: true });
      this.#folders.add(folder);
    }
    writeFileSync(full, bytes);
  }

  /** A text file of the part's own, to be appended to. */
  text(path: string): TextFile {
    this.#signal.throwIfAborted();
    return new TextFile(join(this.#root, path));
  }

  /** @throws the signal's reason when the work is to end. */
  throwIfAborted(): void {
    this.#signal.throwIfAborted();
  }

  row(...row: Row): void {
    this.#rows.append(`${JSON.stringify(row)}\n`);
  }

  /** The part is complete. */
  finish(): void {
    this.#rows.finish();
  }

  abandon(): void {
    this.#rows.abandon();
  }
}
