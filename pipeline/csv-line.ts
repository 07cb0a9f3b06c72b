/** A value of a CSV file. */
export type CsvValue = string | number | null;

/**
 * One record of a CSV file by RFC 4180: values with commas, quotes, line ends, or blanks at their ends stand in quotes; null is
 * empty. Ends with LF.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(quoted).join(',')}\n`;
}

function quoted(value: CsvValue): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
