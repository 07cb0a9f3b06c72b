import { InputFault } from '../faults.ts';

/**
 * Why a file cannot be had. `lasting`: it will be the same tomorrow (not found, too large). `wrong`: what came is not what its publisher tells
 * (size, checksum): tried again a little, then lasting. `passing`: the way there (no answer, cut off, too many requests).
 */
export type FetchFaultKind = 'lasting' | 'wrong' | 'passing';

/** A file that cannot be had. It costs that file; without an index there is no pack. */
export class FetchFault extends InputFault {
  override name = 'FetchFault';
  readonly kind: FetchFaultKind;
  /** When the server says to come back, milliseconds from now. */
  readonly retryAfter: number | undefined;

  constructor(reason: string, kind: FetchFaultKind, retryAfter?: number) {
    super(reason);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }

  /** The same with the address it is about. */
  of(url: string): FetchFault {
    return new FetchFault(`${url}: ${this.message}`, this.kind, this.retryAfter);
  }
}
