/** Text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}

/** A table; the first cell of each row is its head, all others but texts stand right. Scrolls sideways where it is too wide, by keys, too. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cell = (value: string | number, i: number) =>
    i === 0
      ? `<th scope="row">${escapeHtml(String(value))}</th>`
      : `<td${typeof value === 'number' ? ' class="number"' : ''}>${typeof value === 'number' ? grouped(value) : escapeHtml(value)}</td>`;
  // A column's head stands as its values do.
  const side = (i: number) => (i > 0 && rows.some(row => typeof row[i] === 'number') ? ' class="number"' : '');
  return (
    `<div class="wide" tabindex="0"><table><thead><tr>${head.map((text, i) => `<th scope="col"${side(i)}>${escapeHtml(text)}</th>`).join('')}</tr></thead>` +
    `<tbody>${rows.map(row => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}</tbody></table></div>`
  );
}

/** A part of the page with its heading; empty when nothing is in it. */
export function section(id: string, title: string, ...parts: readonly string[]): string {
  const inside = parts.filter(part => part !== '').join('\n');
  return inside === '' ? '' : `<section id="${id}">\n<h2>${escapeHtml(title)}</h2>\n${inside}\n</section>`;
}

export function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`;
}

/** 1,234,567 or 12.3. */
export function grouped(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}
