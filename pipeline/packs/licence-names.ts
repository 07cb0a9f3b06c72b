const CREATIVE_COMMONS = /creativecommons\.org\/licenses\/(by(?:-nc)?(?:-sa|-nd)?)\/(\d\.\d)\/?$/i;

/**
 * The licence that an address stands for, as SPDX writes it; null: it is none of those that datasets name. A port to a country's law
 * (`by/3.0/us`) is another licence.
 */
export function licenceOfAddress(url: string): string | null {
  const [, terms, version] = CREATIVE_COMMONS.exec(url) ?? [];
  if (terms) return `CC-${terms.toUpperCase()}-${version}`;
  if (/creativecommons\.org\/publicdomain\/zero\/1\.0/i.test(url)) return 'CC0-1.0';
  if (/creativecommons\.org\/publicdomain\/mark\/1\.0/i.test(url)) return 'LicenseRef-public-domain';
  if (/flickr\.com\/commons\/usage/i.test(url)) return 'LicenseRef-no-known-copyright-restrictions';
  if (/usa\.gov\/(copyright|government-works)/i.test(url)) return 'LicenseRef-us-government-work';
  return null;
}
