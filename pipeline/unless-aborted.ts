import { setMaxListeners } from 'node:events';

/**
 * Gives up waiting at the signal, for work that stops nowhere by itself. Any number may wait for one signal.
 * @throws the signal's reason, or the work's error.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  setMaxListeners(0, signal);
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    // A listener that stays would keep the answer for as long as the signal lives.
    const done = () => signal.removeEventListener('abort', giveUp);
    work.then(resolve, reject).then(done, done);
  });
}
