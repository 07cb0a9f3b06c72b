/**
 * A property of the input that costs one item: a truncated photo, a mask of the wrong size. It is recorded in the shard's
 * sidecar and the run goes on. Every other error is an environment fault and never changes what is written.
 */
export class InputFault extends Error {
  override name = 'InputFault';
}

/** What a sidecar keeps of an {@link InputFault}: which item, and why. */
export interface Fault {
  readonly item: string;
  readonly reason: string;
}

/** Errors of the file system that say something about the file and not about the machine. */
const INPUT_CODES = new Set(['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Turns "no such file", "permission denied" … into an {@link InputFault}; returns other errors as they are. */
export function asInputFault(error: unknown, what: string): unknown {
  const code = (error as NodeJS.ErrnoException)?.code;
  return code !== undefined && INPUT_CODES.has(code) ? new InputFault(`${what}: ${code}`) : error;
}
