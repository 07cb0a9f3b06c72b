/** A table: the first row is its head; columns of numbers are flush right. */
export function markdownTable(rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(cell).join(' | ')} |`;
  const [head, ...body] = rows;
  const rule = head!.map((_, i) => (body.every(cells => typeof cells[i] === 'number') ? '---:' : '---'));
  return [line(head!), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n');
}

/** Text that ends neither its cell nor its row. */
function cell(value: string | number): string {
  return (typeof value === 'number' ? value.toLocaleString('en') : value)
    .replace(/\|/g, '\\|')
    .replace(/\s*\n\s*/g, ' ');
}
