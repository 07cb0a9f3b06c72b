import { describe, expect, it } from 'vitest';
import { expressionTerms, jointExpression, licenceTerms } from '../../../pipeline/card/licence-terms.ts';
import { loadManifest } from '../../../pipeline/packs/manifest.ts';

describe('licenceTerms', () => {
  it.each([
    ['CC0-1.0', []],
    ['LicenseRef-public-domain', []],
    ['CC-BY-2.0', ['attribution']],
    ['CC-BY-SA-3.0', ['attribution', 'share-alike']],
    ['CC-BY-NC-4.0', ['attribution', 'non-commercial']],
    ['CC-BY-NC-SA-2.0', ['attribution', 'share-alike', 'non-commercial']],
    ['CC-BY-ND-4.0', ['attribution', 'no-derivatives']],
    ['CC-BY-NC-ND-3.0', ['attribution', 'non-commercial', 'no-derivatives']],
    ['GPL-2.0-only', ['attribution', 'share-alike']],
    ['GPL-3.0-or-later', ['attribution', 'share-alike']],
    ['LGPL-2.1-or-later', ['attribution', 'share-alike']],
    ['ODbL-1.0', ['attribution', 'share-alike']],
    ['MIT', ['attribution']],
    ['Apache-2.0', ['attribution']],
    ['LicenseRef-all-rights-reserved', ['all-rights-reserved']],
  ])('%s asks for %j', (id, demands) => {
    expect(licenceTerms(id)).toMatchObject({ id, known: true, demands });
  });

  it.each(['CC-BY-5', 'WTFPL', 'LicenseRef-Beerware', '', 'CC-BY-XX-4.0'])('knows nothing of "%s"', id => {
    expect(licenceTerms(id)).toMatchObject({ known: false, free: false, demands: [] });
  });

  it('has addresses', () => {
    expect(licenceTerms('CC-BY-SA-3.0').url).toBe('https://creativecommons.org/licenses/by-sa/3.0/');
    expect(licenceTerms('CC-BY-NC-ND-4.0').url).toBe('https://creativecommons.org/licenses/by-nc-nd/4.0/');
    expect(licenceTerms('MIT').url).toBe('https://spdx.org/licenses/MIT.html');
    expect(licenceTerms('LicenseRef-public-domain').url).toBeNull();
  });

  it('knows every licence of the manifest’s packs, but for those whose publishers tell each file’s own', async () => {
    const { packs } = await loadManifest();
    for (const { licence, obtained } of packs) {
      if (!('addresses' in obtained)) expect([licence, expressionTerms(licence).known]).toEqual([licence, true]);
    }
  });
});

describe('expressionTerms', () => {
  it('adds up what is joined by AND', () => {
    const { demands, licences, free } = expressionTerms('CC0-1.0 AND CC-BY-NC-4.0 AND GPL-2.0-only');
    expect(demands).toEqual(['attribution', 'share-alike', 'non-commercial']);
    expect(licences.map(({ id }) => id)).toEqual(['CC0-1.0', 'CC-BY-NC-4.0', 'GPL-2.0-only']);
    expect(free).toBe(false);
    expect(expressionTerms('CC0-1.0 AND LicenseRef-public-domain').free).toBe(true);
  });

  it('keeps of what is joined by OR what all ask', () => {
    expect(expressionTerms('CC-BY-SA-3.0 OR GPL-3.0-only').demands).toEqual(['attribution', 'share-alike']);
    expect(expressionTerms('CC-BY-4.0 OR CC-BY-NC-4.0').demands).toEqual(['attribution']);
    expect(expressionTerms('CC0-1.0 OR GPL-3.0-only')).toMatchObject({ demands: [], free: true });
    expect(expressionTerms('LicenseRef-odd OR MIT').known).toBe(true);
  });

  it('binds AND closer than OR, and brackets closest; exceptions are passed over', () => {
    expect(expressionTerms('CC-BY-4.0 AND MIT OR CC0-1.0').demands).toEqual([]);
    expect(expressionTerms('CC-BY-4.0 AND (CC-BY-SA-4.0 OR CC0-1.0)').demands).toEqual(['attribution']);
    expect(expressionTerms('GPL-2.0-only WITH Font-exception-2.0').licences.map(({ id }) => id)).toEqual([
      'GPL-2.0-only',
    ]);
  });

  it.each([null, 'all yours', 'MIT AND', '(MIT', 'OR MIT', 'MIT MIT', '', ')'])(
    'takes %j for one unknown licence',
    text => {
      const { licences, known, free } = expressionTerms(text);
      expect({ known, free, count: licences.length }).toEqual({ known: false, free: false, count: 1 });
    },
  );
});

describe('jointExpression', () => {
  it('names each once, with brackets where they are needed', () => {
    expect(jointExpression(['MIT', 'CC0-1.0', 'MIT'])).toBe('CC0-1.0 AND MIT');
    expect(jointExpression(['MIT OR GPL-3.0-only'])).toBe('MIT OR GPL-3.0-only');
    expect(jointExpression(['MIT OR GPL-3.0-only', null])).toBe('LicenseRef-unknown AND (MIT OR GPL-3.0-only)');
  });
});
