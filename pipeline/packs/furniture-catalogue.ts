/** A file's author by the file's path, as a furniture catalogue of Sweet Home 3D (a Java properties file) names them. */
export function readCatalogueAuthors(text: string): Map<string, string> {
  const models = new Map<string, string>();
  const creators = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, key, number, value] = /^(model|creator)#(\d+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key && number && value) (key === 'model' ? models : creators).set(number, withLetters(value.trim()));
  }
  return new Map(
    [...models].flatMap(([number, path]): [string, string][] => {
      const creator = creators.get(number);
      return creator ? [[path.replace(/^\//, ''), creator]] : [];
    }),
  );
}

/** Properties files write other letters than Latin ones as `\uXXXX`. */
function withLetters(value: string): string {
  return value.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
