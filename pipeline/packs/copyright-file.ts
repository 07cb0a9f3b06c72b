import { InputFault } from '../faults.ts';

/**
 * Reader for the machine-readable copyright files of Debian packages (DEP-5,
 * https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/).
 */
const FORMAT = /copyright-format|dep-?5/i;

/** A `Files:` paragraph. */
export interface FilesStanza {
  readonly globs: readonly string[];
  /** Copyright holders, one a line of the file. */
  readonly copyright: readonly string[];
  /** Short name as written, such as `GPL-2+`, `public-domain`, `CC-BY-3.0 and CC0-1.0`. */
  readonly licence: string;
  readonly comment: string;
}

export interface CopyrightFile {
  /** Where the packaged work comes from: the header's `Source:`; empty when it says none. */
  readonly source: string;
  readonly stanzas: readonly FilesStanza[];
  /** Full texts of paragraphs that hold nothing but a licence, by short name. */
  readonly licenceTexts: ReadonlyMap<string, string>;
}

/**
 * Parses a copyright file.
 * @throws Error when it is not in the machine-readable format, or a `Files:` paragraph lacks its copyright or licence.
 */
export function parseCopyrightFile(text: string): CopyrightFile {
  const [header, ...paragraphs] = splitParagraphs(text);
  if (!header || !FORMAT.test(header.get('format') ?? '')) {
    throw new InputFault(
      'Expected a copyright file in the machine-readable Debian format 1.0, got one without its Format line',
    );
  }
  const licenceTexts = new Map<string, string>();
  const stanzas: FilesStanza[] = [];
  for (const fields of paragraphs) {
    if (fields.has('files')) stanzas.push(filesStanza(fields));
    else if (fields.has('license')) licenceTexts.set(...nameAndText(fields.get('license')!));
  }
  return { source: (header.get('source') ?? '').trim(), stanzas, licenceTexts };
}

/** The paragraph that holds for a path of the source package: the last one with a matching glob. */
export function stanzaFor(file: CopyrightFile, path: string): FilesStanza | undefined {
  return file.stanzas.findLast(({ globs }) => globs.some(glob => matchesGlob(glob, path)));
}

/** DEP-5 globs: `*` is any text, slashes too; `?` is one character; a backslash takes the next of `*?\` literally. */
export function matchesGlob(glob: string, path: string): boolean {
  const pattern = glob.replace(/\\([*?\\])|([*?])|([^*?])/g, (_, literal, wildcard, plain) => {
    if (wildcard) return wildcard === '*' ? '[^]*' : '[^]';
    return (literal ?? plain).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
  return new RegExp(`^${pattern}$`, 'u').test(path);
}

/** Debian's short names that SPDX writes in another way. */
const SPDX_NAMES: Record<string, string> = {
  CC0: 'CC0-1.0',
  Expat: 'MIT',
  'public-domain': 'LicenseRef-public-domain',
  'GFDL-NIV-1.2': 'GFDL-1.2-no-invariants-only',
  'GFDL-NIV-1.2+': 'GFDL-1.2-no-invariants-or-later',
};
const CREATIVE_COMMONS = /^(CC0|CC-BY(-NC)?(-ND|-SA)?)-\d\.\d$/;
const GNU = /^(A?GPL|LGPL|GFDL)-(\d)(?:\.(\d))?(\+)?$/;

/** An SPDX expression for a Debian licence name; a name that SPDX does not know becomes `LicenseRef-NAME`. */
export function toSpdx(licence: string): string {
  return licence
    .replaceAll(',', ' ')
    .trim()
    .split(/\s+/)
    .map(word => (/^(and|or|with)$/i.test(word) ? word.toUpperCase() : spdxName(word)))
    .join(' ');
}

function spdxName(name: string): string {
  if (SPDX_NAMES[name]) return SPDX_NAMES[name];
  if (CREATIVE_COMMONS.test(name)) return name;
  const [, family, major, minor = '0', later] = GNU.exec(name) ?? [];
  if (family) return `${family}-${major}.${minor}-${later ? 'or-later' : 'only'}`;
  return `LicenseRef-${name.replace(/[^A-Za-z0-9.-]/g, '-')}`;
}

/** A paragraph: field names in lower case; lines of a value without the blank that continues it, `.` lines empty. */
type Paragraph = ReadonlyMap<string, string>;

function splitParagraphs(text: string): Paragraph[] {
  return text
    .replace(/\r\n/g, '\n')
    .split(/\n(?:[ \t]*\n)+/)
    .map(readParagraph)
    .filter(fields => fields.size > 0);
}

function readParagraph(text: string): Paragraph {
  const fields = new Map<string, string>();
  let name = '';
  for (const line of text.split('\n')) {
    const start = /^([^\s:#][^\s:]*):\s*(.*)$/.exec(line);
    if (start) {
      name = start[1]!.toLowerCase();
      fields.set(name, start[2]!.trimEnd());
    } else if (/^\s/.test(line) && name) {
      fields.set(name, `${fields.get(name)}\n${line.trim() === '.' ? '' : line.trim()}`);
    }
  }
  return fields;
}

function filesStanza(fields: Paragraph): FilesStanza {
  const globs = (fields.get('files') ?? '').split(/\s+/).filter(glob => glob !== '');
  const copyright = (fields.get('copyright') ?? '').split('\n').filter(line => line !== '');
  const [licence] = nameAndText(fields.get('license') ?? '');
  if (copyright.length === 0 || licence === '') {
    throw new InputFault(
      `Expected a copyright and a licence in the paragraph "Files: ${globs[0]} …" of a copyright file`,
    );
  }
  return { globs, copyright, licence, comment: (fields.get('comment') ?? '').trim() };
}

/** A `License:` field is the short name on its first line and the text below. */
function nameAndText(value: string): [name: string, text: string] {
  const [name = '', ...lines] = value.split('\n');
  return [name.trim(), lines.join('\n').trim()];
}
