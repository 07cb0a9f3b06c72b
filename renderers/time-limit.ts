/** What was waited for did not come, or gave no sign of life any more. */
export class TookTooLong extends Error {}

/**
 * Waits for something, but not for ever.
 * @param what it is, in the message. @param heard when there was a sign of life; the limit is for the silence after it, when given.
 * @throws TookTooLong
 */
export async function withLimit<T>(
  promise: Promise<T>,
  milliseconds: number,
  what: string,
  heard?: () => number,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const began = Date.now();
  const limit = new Promise<never>((_, reject) => {
    const look = () => {
      const left = (heard?.() ?? began) + milliseconds - Date.now();
      if (left > 0) timer = setTimeout(look, left);
      else reject(new TookTooLong(`${what} took longer than ${milliseconds / 1000} s`));
    };
    look();
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
