/** Requests to one host: so many at a time, and none while it asks for a pause. */
export class HostGate {
  readonly #most: number;
  #running = 0;
  #openAt = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for a place and runs the work in it. @throws what the work throws, and the signal's reason. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>(go => this.#waiting.push(go));
    else this.#running++;
    try {
      signal.throwIfAborted();
      await sleep(this.#openAt - Date.now(), signal);
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Nobody begins before so many milliseconds have passed. */
  pause(milliseconds: number): void {
    this.#openAt = Math.max(this.#openAt, Date.now() + milliseconds);
  }
}

/** Waits, when the time is above 0. @throws the signal's reason. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}
