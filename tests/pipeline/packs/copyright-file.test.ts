import { describe, expect, it } from 'vitest';
import { matchesGlob, parseCopyrightFile, stanzaFor, toSpdx } from '../../../pipeline/packs/copyright-file.ts';

const TEXT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: pictures
Source: https://example.org/pictures

Files: *
Copyright: 2010, 2011 by A. Person <a@example.org>
           2014 B. Person
License: GPL-3+

# A comment between paragraphs belongs to none.

Files: photos/*.jpg
 photos/extra/?.png
Copyright: C. Person
License: CC-BY-SA-3.0
Comment: https://example.org/c
\t
Files: photos/toad.jpg
Copyright: none
License: public-domain
 In the public domain.
 .
 For ever.

License: CC-BY-SA-3.0
 The first line.
 .
 The last line.
`;

describe('parseCopyrightFile', () => {
  const file = parseCopyrightFile(TEXT);

  it('reads the header and every Files paragraph with its continuation lines', () => {
    expect(file.source).toBe('https://example.org/pictures');
    expect(file.stanzas.map(stanza => stanza.globs)).toEqual([
      ['*'],
      ['photos/*.jpg', 'photos/extra/?.png'],
      ['photos/toad.jpg'],
    ]);
    expect(file.stanzas[0]!.copyright).toEqual(['2010, 2011 by A. Person <a@example.org>', '2014 B. Person']);
    expect(file.stanzas[1]!.comment).toBe('https://example.org/c');
  });

  it('takes the first line of a licence as its name, and keeps the texts of licences that stand alone', () => {
    expect(file.stanzas.map(stanza => stanza.licence)).toEqual(['GPL-3+', 'CC-BY-SA-3.0', 'public-domain']);
    expect([...file.licenceTexts]).toEqual([['CC-BY-SA-3.0', 'The first line.\n\nThe last line.']]);
  });

  it('lets the last matching paragraph hold', () => {
    expect(stanzaFor(file, 'photos/toad.jpg')?.licence).toBe('public-domain');
    expect(stanzaFor(file, 'photos/deep/frog.jpg')?.licence).toBe('CC-BY-SA-3.0');
    expect(stanzaFor(file, 'photos/extra/a.png')?.licence).toBe('CC-BY-SA-3.0');
    expect(stanzaFor(file, 'photos/toad.webp')?.licence).toBe('GPL-3+');
  });

  it('refuses what is not in the format, and a paragraph without a licence', () => {
    expect(() => parseCopyrightFile('This package was debianized by …')).toThrow(/machine-readable Debian format/);
    expect(() => parseCopyrightFile(`${TEXT}\nFiles: x\nCopyright: D\n`)).toThrow(/"Files: x …"/);
  });
});

describe('matchesGlob', () => {
  it.each([
    ['*', 'any/thing', true],
    ['a/*', 'a/b/c', true],
    ['a/*', 'b/a/c', false],
    ['sea?.jpg', 'sea1.jpg', true],
    ['sea?.jpg', 'sea12.jpg', false],
    ['a.jpg', 'abjpg', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['(x) [y].*', '(x) [y].png', true],
  ])('%s and %s: %s', (glob, path, expected) => {
    expect(matchesGlob(glob, path)).toBe(expected);
  });
});

describe('toSpdx', () => {
  it.each([
    ['GPL-2+', 'GPL-2.0-or-later'],
    ['GPL-3', 'GPL-3.0-only'],
    ['LGPL-2.1+', 'LGPL-2.1-or-later'],
    ['CC0', 'CC0-1.0'],
    ['CC-BY-SA-2.5', 'CC-BY-SA-2.5'],
    ['public-domain', 'LicenseRef-public-domain'],
    ['GFDL-NIV-1.2+', 'GFDL-1.2-no-invariants-or-later'],
    ['CC-BY-3.0 and CC0-1.0', 'CC-BY-3.0 AND CC0-1.0'],
    ['Digia_1.1', 'LicenseRef-Digia-1.1'],
  ])('%s is %s', (name, expected) => {
    expect(toSpdx(name)).toBe(expected);
  });
});
