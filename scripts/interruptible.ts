import { ExitCode } from './exit-code.ts';

/** Aborts on the first Ctrl-C or termination; a second one ends the process at once. */
export function interruptible(): { signal: AbortSignal; stopListening: () => void } {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(ExitCode.interrupted);
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { signal: controller.signal, stopListening: () => void process.off('SIGINT', stop).off('SIGTERM', stop) };
}

/** Ends an interrupted command; any other error goes on. */
export function endInterrupted(error: unknown, signal: AbortSignal): never {
  if (!signal.aborted) throw error;
  console.error('\nshapemill: interrupted; the same command continues where this one stopped');
  // Decoding threads may still be at work on something nobody waits for.
  process.exit(ExitCode.interrupted);
}
