import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Characters that are kept back before they are written. */
const BUFFERED = 1 << 20;

/**
 * A text file that grows piece by piece, of any length in little memory. It has another name, `<path>.partial`, until it is finished, so that
 * its name never stands for half of it.
 */
export class TextFile {
  readonly #path: string;
  readonly #partial: string;
  readonly #file: number;
  #pieces: string[] = [];
  #length = 0;

  /** @param partial name until it is finished; of its own where several processes may write the same file. */
  constructor(path: string, partial = `${path}.partial`) {
    this.#path = path;
    this.#partial = partial;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(partial, 'w');
  }

  append(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length >= BUFFERED) this.#flush();
  }

  /** Writes what is left, and gives the file its name. */
  finish(): void {
    this.#flush();
    fsyncSync(this.#file);
    closeSync(this.#file);
    renameSync(this.#partial, this.#path);
  }

  /** Gives up; what was written is left behind under its partial name, and written over by the next attempt. */
  abandon(): void {
    closeSync(this.#file);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pieces.join(''));
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#pieces = [];
    this.#length = 0;
  }
}
