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

/**
 * A file that shapemill wrote and that is not as it was: cut, changed, or gone. What is said of it is enough; the fault is
 * not the program's.
 */
export class DamagedFile extends Error {
  override name = 'DamagedFile';
}

/** Errors of the file system that say something about the file and not about the machine. */
const INPUT_CODES = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  // A path with a zero byte, from a list that is none.
  'ERR_INVALID_ARG_VALUE',
]);

/** Turns "no such file", "permission denied" … into an {@link InputFault}; returns other errors as they are. */
export function asInputFault(error: unknown, what: string): unknown {
  const code = (error as NodeJS.ErrnoException)?.code;
  return code !== undefined && INPUT_CODES.has(code) ? new InputFault(`${what}: ${code}`) : error;
}

/** Turns "no such file" into undefined; a file that may not be read is no missing file. */
export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
