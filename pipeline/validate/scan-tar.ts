import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { TAR_BLOCK } from '../tar.ts';

/** A member of a tar. */
export interface Member {
  readonly name: string;
  readonly data: Buffer;
}

/** Reads a shard as a stranger would: once, from the first byte to the last, trusting nothing that its writer says. */
export class TarScan {
  readonly #path: string;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #damage: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** What was found; complete after the last member. */
  get result(): { bytes: number; sha256: string; damage: string | undefined } {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex'), damage: this.#damage };
  }

  /** The regular members in order. A place that is no USTAR entry ends them; the rest of the file only counts and is hashed. */
  async *members(): AsyncGenerator<Member> {
    let pending: Buffer = Buffer.alloc(0);
    let at = 0;
    let ended = false;
    for await (const chunk of createReadStream(this.#path, { highWaterMark: 1 << 20 })) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      if (ended || this.#damage) {
        if (ended && !this.#damage && !isZero(chunk)) this.#damage = 'there is something behind its end';
        continue;
      }
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      let used = 0;
      while (pending.length - used >= TAR_BLOCK) {
        const header = pending.subarray(used, used + TAR_BLOCK);
        if (isZero(header)) {
          ended = true;
          if (!isZero(pending.subarray(used))) this.#damage = 'there is something behind its end';
          break;
        }
        const entry = parseHeader(header);
        if (typeof entry === 'string') {
          this.#damage = `byte ${at + used}: ${entry}`;
          break;
        }
        const length = TAR_BLOCK + Math.ceil(entry.size / TAR_BLOCK) * TAR_BLOCK;
        if (pending.length - used < length) break;
        yield { name: entry.name, data: pending.subarray(used + TAR_BLOCK, used + TAR_BLOCK + entry.size) };
        used += length;
      }
      at += used;
      pending = pending.subarray(used);
    }
    if (this.#damage) return;
    if (!ended) this.#damage = `cut off within the entry at byte ${at}`;
    else if (this.#bytes - at < 2 * TAR_BLOCK) this.#damage = 'does not end in two blocks of zeros';
  }
}

/** Name and size, or what is wrong with a header. */
function parseHeader(header: Buffer): { name: string; size: number } | string {
  if (header.toString('latin1', 257, 263) !== 'ustar\0') return 'expected a USTAR header';
  let sum = 8 * 0x20;
  for (let i = 0; i < TAR_BLOCK; i++) if (i < 148 || i >= 156) sum += header[i]!;
  if (octal(header, 148, 8) !== sum) return 'the checksum of the header does not fit';
  const type = header[156]!;
  if (type !== 0x30 && type !== 0) return `expected a regular file, found type "${String.fromCharCode(type)}"`;
  const size = octal(header, 124, 12);
  if (!Number.isSafeInteger(size)) return 'the size of an entry is no octal number';
  const text = (from: number, length: number) => header.toString('utf8', from, from + length).split('\0', 1)[0]!;
  const prefix = text(345, 155);
  return { name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`, size };
}

function octal(header: Buffer, at: number, length: number): number {
  return Number.parseInt(header.toString('latin1', at, at + length), 8);
}

function isZero(bytes: Buffer): boolean {
  return bytes.every(byte => byte === 0);
}
