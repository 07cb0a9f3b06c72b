/** Results that wait for an earlier one take so much at most, beside those that still hold their places. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Bounds what is in flight: work by its number, and results that wait for their turn by their bytes. So one slow photo does
 * not leave the other workers idle, and the results behind it do not fill the memory.
 */
export class Room<Result> {
  readonly #bytesOf: (result: Result) => number;
  #free: number;
  #waitingBytes = 0;
  /** Results that keep their places until their turn comes. */
  readonly #seated = new Set<Result>();
  readonly #waiting: (() => void)[] = [];

  /** @param places how much may be worked on at a time. */
  constructor(places: number, bytesOf: (result: Result) => number) {
    this.#free = places;
    this.#bytesOf = bytesOf;
  }

  /** Waits for a place. */
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
  }

  /** Keeps the result of what has entered: its place is free as soon as the work is done, if the bytes allow. */
  async keep(work: Promise<Result>): Promise<Result> {
    const result = await work;
    const bytes = this.#bytesOf(result);
    if (this.#waitingBytes + bytes <= MOST_WAITING_BYTES) this.#pass();
    else this.#seated.add(result);
    this.#waitingBytes += bytes;
    return result;
  }

  /** A result's turn has come. */
  leave(result: Result): void {
    this.#waitingBytes -= this.#bytesOf(result);
    if (this.#seated.delete(result)) this.#pass();
  }

  /** Lets everybody in: nothing is bounded any more. */
  open(): void {
    this.#free = Number.POSITIVE_INFINITY;
    for (const enter of this.#waiting.splice(0)) enter();
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
