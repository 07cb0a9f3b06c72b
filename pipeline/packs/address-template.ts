/**
 * An address with names in braces, as manifests have them: `https://…/{Subset}/{ImageID}.jpg`.
 * @returns a function that puts values in; a name without a value stays empty.
 */
export function addressTemplate(template: string): (values: Readonly<Record<string, string>>) => string {
  // Texts at even places, names at odd ones.
  const parts = template.split(/\{(\w+)\}/);
  return values => parts.map((part, i) => (i % 2 === 0 ? part : (values[part] ?? ''))).join('');
}
