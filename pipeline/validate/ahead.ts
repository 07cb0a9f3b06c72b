import { availableParallelism } from 'node:os';

/** What is worked on ahead of what is looked at: enough to keep libvips' threads busy, and little in memory. */
const AHEAD = 2 * availableParallelism();

/** Works on several values at once and gives the results in their order. */
export async function* ahead<Value, Result>(
  values: AsyncIterable<Value>,
  work: (value: Value) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  try {
    for await (const value of values) {
      begun.push(work(value));
      if (begun.length > AHEAD) yield await begun.shift()!;
    }
    while (begun.length > 0) yield await begun.shift()!;
  } finally {
    // Left early, or with an error: nobody waits for the others, and theirs are not to end the process.
    for (const other of begun) other.catch(() => {});
  }
}
