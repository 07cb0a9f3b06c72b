import { didYouMean, UsageError } from '../usage-error.ts';

/**
 * The parts of a source that `--subsets` names; all of them when it names none.
 * @throws UsageError for a name that is none of theirs.
 */
export function askedSubsets<Part extends { readonly subset: string }>(
  parts: readonly Part[],
  asked: readonly string[] | undefined,
): readonly Part[] {
  if (!asked) return parts;
  const names = parts.map(({ subset }) => subset);
  const unknown = asked.find(name => !names.includes(name));
  if (unknown === undefined) return parts.filter(({ subset }) => asked.includes(subset));
  throw new UsageError(
    `--subsets: expected some of ${names.join(', ')}, got "${unknown}"${didYouMean(unknown, names)}`,
  );
}
