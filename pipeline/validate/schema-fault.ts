import type { z } from 'zod';

/** The first places where a value does not match its schema, in one line. */
export function schemaFault({ issues }: z.ZodError): string {
  const told = issues.slice(0, 2).map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  return [...told, ...(issues.length > 2 ? [`and ${issues.length - 2} more`] : [])].join('; ');
}
