/** How much a finding weighs: an error makes the run wrong; a warning is something to know of. */
export type Severity = 'error' | 'warning';

/** Something that is not as it should be. */
export interface Finding {
  readonly severity: Severity;
  /** What is wrong, in words that are the same for all findings of the kind. */
  readonly kind: string;
  /** File that it was found in, relative to the run. */
  readonly file: string;
  /** Sample or bank item. */
  readonly key?: string;
  /** What this one has of its own: expected and actual values. */
  readonly detail?: string;
}

/** All findings of one kind: how many, and the first of them. */
export interface FindingGroup {
  readonly check: string;
  readonly severity: Severity;
  readonly kind: string;
  readonly count: number;
  readonly examples: readonly Omit<Finding, 'severity' | 'kind'>[];
}

/** Takes the findings of one check. */
export type Tell = (finding: Finding) => void;

/** Findings by check and kind. Of each kind the first few are kept, so that a run that is wrong all over costs no memory. */
export class Findings {
  readonly #groups = new Map<
    string,
    FindingGroup & { count: number; examples: Omit<Finding, 'severity' | 'kind'>[] }
  >();
  readonly #kept: number;

  /** @param kept findings of a kind that are kept, at least 1. */
  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Where a check tells what it found. */
  of(check: string): Tell {
    return ({ severity, kind, ...example }) => {
      const name = `${check}\0${severity}\0${kind}`;
      let group = this.#groups.get(name);
      if (!group) {
        group = { check, severity, kind, count: 0, examples: [] };
        this.#groups.set(name, group);
      }
      group.count++;
      if (group.examples.length < this.#kept) group.examples.push(example);
    };
  }

  /** Every kind that was found. @param checks names of the checks, in the order they are wanted in. */
  groups(checks: readonly string[]): FindingGroup[] {
    const place = ({ check, severity }: FindingGroup) => 2 * checks.indexOf(check) + (severity === 'error' ? 0 : 1);
    return [...this.#groups.values()].sort((a, b) => place(a) - place(b));
  }
}
