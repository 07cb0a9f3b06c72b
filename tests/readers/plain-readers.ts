/**
 * Readers of the formats that runs are exported to, written from the formats' descriptions alone: none of it is shared with what
 * writes them.
 */

/** RFC 4180, a character at a time: the records of a text, the first of them names. */
export function csvRecords(text: string): Record<string, string>[] {
  const records: string[][] = [[]];
  let value = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quoted) {
      if (char !== '"') value += char;
      else if (text[i + 1] === '"') value += text[++i];
      else quoted = false;
    } else if (char === '"' && value === '') quoted = true;
    else if (char === ',' || char === '\n') {
      records.at(-1)!.push(value);
      value = '';
      if (char === '\n') records.push([]);
    } else value += char;
  }
  if (quoted || value !== '' || records.at(-1)!.length > 0) throw new Error('the text ends within a record');
  const [names, ...rows] = records.slice(0, -1);
  return rows.map(row => {
    if (row.length !== names!.length) throw new Error(`expected ${names!.length} values, got ${row.length}: ${row}`);
    return Object.fromEntries(names!.map((name, i) => [name, row[i]!]));
  });
}

/** A TSV without quoting: the rows by the names in the first line. */
export function tsvRows(text: string): Record<string, string>[] {
  const [head, ...lines] = text.replace(/\n$/, '').split('\n');
  const names = head!.split('\t');
  return lines.map(line => {
    const cells = line.split('\t');
    if (cells.length !== names.length) throw new Error(`expected ${names.length} cells, got ${cells.length}`);
    return Object.fromEntries(names.map((name, i) => [name, cells[i]!]));
  });
}

export function jsonLines(text: string): Record<string, unknown>[] {
  if (!text.endsWith('\n')) throw new Error('expected a line end after the last line');
  return text
    .slice(0, -1)
    .split('\n')
    .map(line => JSON.parse(line));
}

/** A mask's pixels, row by row, 0 or 1, of COCO's compressed run lengths. */
export function cocoMask({ size, counts }: { size: [number, number]; counts: string }): number[] {
  const [height, width] = size;
  const numbers: number[] = [];
  for (let at = 0; at < counts.length; ) {
    let bits = 0;
    let shift = 0;
    let group: number;
    do {
      group = counts.charCodeAt(at++) - 48;
      bits += (group & 31) * 2 ** shift;
      shift += 5;
    } while (group >= 32);
    // Sign-extended from the highest bit of the last group.
    if (group >= 16) bits -= 2 ** shift;
    numbers.push(numbers.length > 2 ? bits + numbers[numbers.length - 2]! : bits);
  }
  const mask = new Array<number>(width * height).fill(0);
  let position = 0;
  for (const [i, count] of numbers.entries()) {
    for (let n = 0; n < count; n++, position++) {
      // Down the columns.
      if (i % 2 === 1) mask[(position % height) * width + Math.floor(position / height)] = 1;
    }
  }
  if (position !== width * height) throw new Error(`expected ${width * height} pixels, got ${position}`);
  return mask;
}

/** The YAML header of a Markdown file, as text, and what follows it. */
export function frontMatter(markdown: string): { header: string; body: string } {
  const [, header, body] = /^---\n(.*?\n)---\n(.*)$/s.exec(markdown) ?? [];
  if (header === undefined) throw new Error('expected a YAML header');
  return { header, body: body! };
}
