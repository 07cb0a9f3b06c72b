/** What a licence asks of a dataset that is made from a work under it. */
export const DEMANDS = [
  'attribution',
  'share-alike',
  'non-commercial',
  'no-derivatives',
  'all-rights-reserved',
] as const;
export type Demand = (typeof DEMANDS)[number];

/** A licence, as far as a card has to know it. */
export interface LicenceTerms {
  /** SPDX identifier. */
  readonly id: string;
  /** Whether it is one of those below; of others nothing is said but that somebody has to read them. */
  readonly known: boolean;
  /** No rights are claimed (CC0, public domain). */
  readonly free: boolean;
  readonly demands: readonly Demand[];
  readonly url: string | null;
}

/** A licence that is not known: nobody stated one. */
export const UNKNOWN_LICENCE = 'LicenseRef-unknown';

const PUBLIC_DOMAIN: ReadonlySet<string> = new Set([
  'CC0-1.0',
  'CC-PDDC',
  'CC-PDM-1.0',
  'PDDL-1.0',
  'Unlicense',
  '0BSD',
  'LicenseRef-public-domain',
]);

/** Families of licences that ask for the notice to be kept, and those that ask for the same licence on top. */
const ATTRIBUTION =
  /^(MIT(-\d)?|ISC|Zlib|Apache-\d.*|BSD-\d-Clause.*|OFL-\d.*|CDLA-Permissive-\d.*|ODC-By-1\.0|OGL-(UK|Canada)-\d\.\d)$/;
const COPYLEFT = /^((A|L)?GPL-\d.*|GFDL-\d.*|LAL-1\.[23]|MPL-\d.*|EUPL-\d.*|ODbL-1\.0|CDLA-Sharing-1\.0)$/;
const CREATIVE_COMMONS = /^CC-BY(-NC)?(-ND|-SA)?-(\d\.\d)(-[A-Z]+)?$/;

/** What a licence asks, by its SPDX identifier. */
export function licenceTerms(id: string): LicenceTerms {
  const terms = (demands: readonly Demand[], url = id.startsWith('LicenseRef-') ? null : spdxUrl(id)) => ({
    id,
    known: true,
    free: false,
    demands,
    url,
  });
  if (PUBLIC_DOMAIN.has(id)) return { ...terms([]), free: true };
  const commons = CREATIVE_COMMONS.exec(id);
  if (commons) {
    const [, nonCommercial, form, version] = commons;
    const demands: Demand[] = ['attribution'];
    if (form === '-SA') demands.push('share-alike');
    if (nonCommercial) demands.push('non-commercial');
    if (form === '-ND') demands.push('no-derivatives');
    const name = id.slice('CC-'.length, id.indexOf(`-${version}`)).toLowerCase();
    return terms(demands, `https://creativecommons.org/licenses/${name}/${version}/`);
  }
  if (ATTRIBUTION.test(id)) return terms(['attribution']);
  if (COPYLEFT.test(id)) return terms(['attribution', 'share-alike']);
  if (id === 'LicenseRef-all-rights-reserved') return terms(['all-rights-reserved']);
  return { id, known: false, free: false, demands: [], url: id.startsWith('LicenseRef-') ? null : spdxUrl(id) };
}

const spdxUrl = (id: string) => `https://spdx.org/licenses/${id}.html`;

/** What an SPDX expression comes to. */
export interface ExpressionTerms {
  /** The licences it names, in its order. */
  readonly licences: readonly LicenceTerms[];
  /** What is asked whichever licence is chosen where it leaves a choice (OR). */
  readonly demands: readonly Demand[];
  /** Whether no rights are claimed. */
  readonly free: boolean;
  /** Whether all licences that bind are known. */
  readonly known: boolean;
}

/**
 * Reads an SPDX expression: what is joined by AND binds together, of what is joined by OR one may be chosen, an exception (WITH)
 * grants more and is left to the reader. What is no expression counts as one unknown licence.
 * @param expression null: none was stated.
 */
export function expressionTerms(expression: string | null): ExpressionTerms {
  if (expression === null) return ofOne(licenceTerms(UNKNOWN_LICENCE));
  const tokens = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const either = (): ExpressionTerms => {
    let left = both();
    while (tokens[at]?.toUpperCase() === 'OR') {
      at++;
      left = anyOf(left, both());
    }
    return left;
  };
  const both = (): ExpressionTerms => {
    let left = one();
    while (tokens[at]?.toUpperCase() === 'AND') {
      at++;
      left = allOf(left, one());
    }
    return left;
  };
  const one = (): ExpressionTerms => {
    const token = tokens[at++];
    if (token === '(') {
      const inner = either();
      if (tokens[at++] !== ')') throw new NoExpression();
      return inner;
    }
    if (token === undefined || token === ')' || /^(AND|OR|WITH)$/i.test(token)) throw new NoExpression();
    if (tokens[at]?.toUpperCase() === 'WITH') at += 2;
    return ofOne(licenceTerms(token));
  };
  try {
    const terms = either();
    if (at < tokens.length) throw new NoExpression();
    return terms;
  } catch (error) {
    if (error instanceof NoExpression)
      return ofOne({ id: expression, known: false, free: false, demands: [], url: null });
    throw error;
  }
}

class NoExpression extends Error {}

function ofOne(licence: LicenceTerms): ExpressionTerms {
  const { demands, free, known } = licence;
  return { licences: [licence], demands, free, known };
}

function allOf(a: ExpressionTerms, b: ExpressionTerms): ExpressionTerms {
  return {
    licences: distinct([...a.licences, ...b.licences]),
    demands: DEMANDS.filter(demand => a.demands.includes(demand) || b.demands.includes(demand)),
    free: a.free && b.free,
    known: a.known && b.known,
  };
}

function anyOf(a: ExpressionTerms, b: ExpressionTerms): ExpressionTerms {
  return {
    licences: distinct([...a.licences, ...b.licences]),
    demands: DEMANDS.filter(demand => a.demands.includes(demand) && b.demands.includes(demand)),
    free: a.free || b.free,
    known: a.known || b.known,
  };
}

function distinct(licences: readonly LicenceTerms[]): LicenceTerms[] {
  return licences.filter((licence, i) => licences.findIndex(({ id }) => id === licence.id) === i);
}

/** The licences of several works as one expression, each once, in alphabetical order. */
export function jointExpression(licences: Iterable<string | null>): string {
  const names = [...new Set([...licences].map(licence => licence ?? UNKNOWN_LICENCE))].sort();
  return names.map(name => (names.length > 1 && /\sOR\s/i.test(name) ? `(${name})` : name)).join(' AND ');
}
