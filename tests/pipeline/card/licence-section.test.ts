import { describe, expect, it } from 'vitest';
import {
  type LicenceCounts,
  licenceChoice,
  licenceHeader,
  licenceSection as sectionOf,
} from '../../../pipeline/card/licence-section.ts';

const licenceSection = (counts: LicenceCounts, meetings?: ReadonlyMap<string, number>) =>
  sectionOf(counts, 'Labels name their own.', meetings);

const counts = (...licences: (string | null)[]) => new Map(licences.map((licence, i) => [licence, i + 1]));

describe('the header', () => {
  it('names a licence only where nothing is claimed', () => {
    expect(licenceHeader(counts('CC0-1.0'))).toEqual(['license: cc0-1.0']);
    expect(licenceHeader(counts('CC0-1.0', 'LicenseRef-public-domain'))).toEqual(['license: cc0-1.0']);
    for (const others of [counts('CC0-1.0', 'CC-BY-4.0'), counts('MIT'), counts(null), counts()]) {
      expect(licenceHeader(others)[0]).toBe('license: other');
    }
  });
});

describe('the section on licences', () => {
  it('says where a sample names its own', () => {
    expect(licenceSection(counts('CC0-1.0'))).toContain('as far as they are known. Labels name their own.');
  });

  it('says of CC0 alone that nothing is asked', () => {
    const text = licenceSection(counts('CC0-1.0'));
    expect(text).toContain('| [CC0-1.0](https://spdx.org/licenses/CC0-1.0.html) | 1 | nothing |');
    expect(text).toContain('No rights are claimed');
    expect(text).not.toContain('share-alike');
  });

  it('counts what must be attributed and what is share-alike', () => {
    const text = licenceSection(counts('CC-BY-4.0', 'CC-BY-SA-4.0'));
    expect(text).toContain('**3 sources** must be attributed');
    expect(text).toContain('**2 sources** ask that what is made from them is passed on under the same licence');
    expect(text).not.toContain('meet here');
    expect(text.indexOf('CC-BY-SA-4.0')).toBeLessThan(text.indexOf('CC-BY-4.0'));
  });

  it('says plainly where share-alike licences meet, and gives no answer', () => {
    const meetings = new Map([['CC-BY-SA-3.0 + GPL-2.0-only', 1234]]);
    const text = licenceSection(counts('CC-BY-SA-3.0', 'GPL-2.0-only'), meetings);
    expect(text).toContain('**Several share-alike licences meet here: CC-BY-SA-3.0, GPL-2.0-only.**');
    expect(text).toContain('is not decided here');
    expect(text).toContain('- CC-BY-SA-3.0 + GPL-2.0-only: 1,234');
    expect(licenceSection(counts('CC-BY-SA-3.0', 'GPL-2.0-only'), new Map())).toContain('No image is made from');
    expect(licenceSection(counts('CC-BY-SA-3.0 OR GPL-2.0-only'))).toContain('meet here');
    expect(licenceSection(counts('CC-BY-SA-3.0 OR CC0-1.0', 'GPL-2.0-only'))).not.toContain('meet here');
  });

  it.each([
    ['CC-BY-NC-4.0', 'may not be used commercially'],
    ['CC-BY-ND-4.0', 'may be passed on unchanged only'],
    ['LicenseRef-all-rights-reserved', 'reserves all rights'],
    ['LicenseRef-odd', 'does not know'],
    [null, 'nobody stated'],
  ])('flags %s', (licence, flag) => {
    expect(licenceSection(counts(licence))).toContain(flag);
    expect(licenceSection(counts('CC0-1.0', 'CC-BY-4.0'))).not.toContain(flag);
  });

  it('keeps a table whole whatever a licence is called', () => {
    const [head, , row] = licenceSection(counts('odd | name\nof two'))
      .split('\n')
      .filter(line => line.startsWith('|'));
    const cells = (line: string) => line.split(/(?<!\\)\|/).length;
    expect(cells(row!)).toBe(cells(head!));
  });
});

describe('the choice of a licence', () => {
  it.each([
    [counts('CC0-1.0'), /^one of your choice\.$/],
    [counts('CC0-1.0', 'CC-BY-4.0'), /asks for the attribution to be kept\.$/],
    [counts('CC-BY-NC-4.0'), /for use that is not commercial only\.$/],
    [counts('CC-BY-4.0', 'CC-BY-SA-4.0'), /^CC-BY-SA-4\.0, or one that it calls compatible/],
    [counts('CC-BY-SA-3.0', 'GPL-2.0-only'), /^none is sure/],
    [counts('CC0-1.0', null), /^first clear or leave out the 2 sources .*then one of your choice\.$/],
    [counts('CC-BY-ND-4.0'), /^first clear or leave out the 1 source that/],
  ])('of %j is as free as the sources are', (licences, said) => {
    expect(licenceChoice(licences)).toMatch(said);
  });
});
