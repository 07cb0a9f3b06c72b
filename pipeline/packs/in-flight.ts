/** Work that is done so many pieces at a time, while more is given out. */
export class InFlight {
  readonly #most: number;
  readonly #onError: (error: unknown) => void;
  readonly #running = new Set<Promise<void>>();
  #failed: { error: unknown } | undefined;

  /** @param onError called with the first error, so that others may stop. */
  constructor(most: number, onError: (error: unknown) => void) {
    this.#most = most;
    this.#onError = onError;
  }

  /** Takes up a piece of work, and returns when there is room for another. @throws the first error of any. */
  async add(work: Promise<void>): Promise<void> {
    const running = work
      .catch(error => {
        if (this.#failed) return;
        this.#failed = { error };
        this.#onError(error);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#failed) throw this.#failed.error;
  }

  /** Returns when all is done. @throws the first error of any. */
  async done(): Promise<void> {
    await this.settled();
    if (this.#failed) throw this.#failed.error;
  }

  /** Returns when nothing runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
